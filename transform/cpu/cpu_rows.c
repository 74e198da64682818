/* The rows that each level takes in a strip of a plan by rows: forward as many as its input allows, inverse as many as
 * the level above asks for. */
#include "dwt/kernel.h"
#include "transform/cpu/cpu.h"
#include "transform/window.h"

/* Of a level behind another. */
#define LEAST_ROWS 32

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Rows of a vertically low (high) subband that belong to the first `rows` rows of a level's samples. */
static int64_t rows_of_band(const l2k_level_pass *pass, unsigned orientation, int64_t rows)
{
    const int64_t low = pass->shape.unsplit_y ? rows : (rows + 1 - pass->shape.parity_y) / 2;
    return orientation & L2K_LH ? rows - low : low;
}

/* ---- Shapes -------------------------------------------------------------------------------------------------- */

unsigned l2k_cpu_count_passes(const l2k_plan_spec *spec, uint32_t c)
{
    const l2k_plan_component *component = &spec->components[c];
    const unsigned discard = l2k_discarded(spec->direction, component);
    return component->levels > discard ? component->levels - discard : 1;
}

static bool is_joined(const l2k_plan_spec *spec, uint32_t c)
{
    return spec->component_transform && c < L2K_MAX_JOINED;
}

static void shape_band(l2k_level_pass *s, unsigned orientation, const l2k_rect *held, const l2k_rect *read)
{
    s->bands[orientation] = (l2k_band_rows){.x = read->x0 - held->x0,
                                            .width = l2k_rect_width(*read),
                                            .y0 = read->y0,
                                            .held_y0 = held->y0,
                                            .held_y1 = held->y1};
}

static void shape_pass(const l2k_plan_component *component, l2k_level_pass *s, const l2k_rect *held,
                       const l2k_rect *read)
{
    const unsigned first = 3 * (s->levels - s->level);
    if (s->level == s->levels)
        shape_band(s, L2K_LL, &held[0], &read[0]);
    if (s->level == s->discard) {
        const uint32_t width = l2k_rect_width(read[0]), height = l2k_rect_height(read[0]);
        s->shape = (l2k_level){
            .width = width, .height = height, .unsplit_x = 1, .unsplit_y = 1, .passed = {0, 0, width, height}};
        s->y0 = read[0].y0;
        return;
    }
    s->shape = l2k_level_of(component, s->level);
    s->reach = s->shape.unsplit_y ? 0 : l2k_kernel_reach(&s->wavelet->kernel);
    for (unsigned o = L2K_HL; o <= L2K_HH; o++)
        shape_band(s, o, &held[first + o], &read[first + o]);
}

/* The component transform joins its components at the level next to the pixels. */
void l2k_cpu_shape_passes(const l2k_plan_spec *spec, uint32_t c, l2k_level_pass *passes,
                          l2k_rect held[L2K_MAX_SUBBANDS])
{
    const l2k_plan_component *component = &spec->components[c];
    const unsigned discard = l2k_discarded(spec->direction, component), count = l2k_cpu_count_passes(spec, c);
    l2k_rect read[L2K_MAX_SUBBANDS];
    for (unsigned band = 0; band < l2k_plan_bands(spec->direction, component); band++) {
        read[band] = l2k_read_part(component, band);
        held[band] = l2k_has_window(component) ? l2k_held_part(component, band) : read[band];
    }
    for (unsigned i = 0; i < count; i++) {
        const bool joined = i == 0 && is_joined(spec, c);
        passes[i] = (l2k_level_pass){.first = c,
                                     .num_joined = !joined  ? 1
                                                   : c == 0 ? L2K_MAX_JOINED
                                                            : 0,
                                     .levels = component->levels,
                                     .discard = discard,
                                     .level = component->levels > discard ? discard + 1 + i : discard,
                                     .wavelet = l2k_plan_wavelet(component)};
        shape_pass(component, &passes[i], held, read);
    }
    if (component->levels > discard)
        passes[0].y0 = l2k_level_rect(component, discard + 1).y0;
}

/* ---- Strips --------------------------------------------------------------------------------------------------- */

static uint32_t distance_of(const l2k_plan_component *component)
{
    return component->dy ? component->dy : 1;
}

static uint32_t cell_of(const l2k_plan_component *component, unsigned resolution)
{
    const unsigned lower = component->row_cells[resolution];
    return (uint32_t)1 << (lower ? lower : component->cell_log2_height);
}

static uint32_t cell_in_band(const l2k_plan_component *component, const l2k_level_pass *s, unsigned orientation)
{
    return cell_of(component, s->levels - s->level + (orientation != L2K_LL));
}

/* Rows y0 * distance .. y1 * distance of the reference grid that hold all outputs. */
static uint64_t first_row(const l2k_plan_spec *spec, uint64_t *end)
{
    uint64_t first = UINT64_MAX;
    *end = 0;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        const l2k_rect out = l2k_plan_output(spec->direction, &spec->components[c]);
        const uint64_t distance = distance_of(&spec->components[c]), y0 = out.y0 * distance, y1 = out.y1 * distance;
        first = y0 < first ? y0 : first;
        *end = y1 > *end ? y1 : *end;
    }
    return first;
}

/* Strips end where the first level's code-blocks do, if components are not sub-sampled. */
l2k_cpu_strips l2k_cpu_strips_of(const l2k_plan_spec *spec)
{
    uint64_t samples = 1, unit = 1, margin = 0, end;
    for (uint32_t c = 0; c < spec->num_components; c++) {
        const l2k_plan_component *component = &spec->components[c];
        const uint64_t distance = distance_of(component),
                       rows = 2 * distance *
                              cell_of(component, component->levels - l2k_discarded(spec->direction, component));
        samples += l2k_rect_width(l2k_plan_output(spec->direction, component)) / distance;
        unit = (uint64_t)most((int64_t)unit, (int64_t)rows);
        margin =
            (uint64_t)most((int64_t)margin, l2k_kernel_reach(&l2k_plan_wavelet(component)->kernel) * (int64_t)distance);
    }
    const uint64_t wanted = (spec->strip_samples ? spec->strip_samples : L2K_STRIP_SAMPLES) / samples;
    const uint64_t rows = wanted < unit ? unit : wanted / unit * unit, first = first_row(spec, &end);
    if (!spec->by_rows || end <= first || end - first <= rows + rows / 2)
        return (l2k_cpu_strips){0};
    return (l2k_cpu_strips){rows, first / rows, margin};
}

void l2k_cpu_rewind(l2k_level_pass *passes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        passes[i].done = passes[i].goal = passes[i].shape.passed.y0;
        for (unsigned o = L2K_LL; o <= L2K_HH; o++)
            passes[i].bands[o].first = passes[i].bands[o].held_y0;
    }
}

/* A level behind another waits for some rows, since each of its stripes reads some twice; but for no more than complete
 * a cell. */
static int64_t at_least(const l2k_plan_component *component, const l2k_level_pass *s, int64_t goal, int64_t end,
                        bool wait)
{
    const int64_t rows = least(LEAST_ROWS, 2 * (int64_t)cell_in_band(component, s, L2K_HH));
    if (goal >= end || goal - s->done >= rows)
        return least(goal, end);
    return wait || goal <= s->done ? s->done : least(s->done + rows, end);
}

/* Goals from the number of rows of the first level that there are. */
static void advance_forward(const l2k_plan_component *component, l2k_level_pass *passes, unsigned count, int64_t rows)
{
    for (unsigned i = 0; i < count; i++) {
        l2k_level_pass *s = &passes[i];
        const int64_t end = s->shape.height;
        if (i == 0)
            s->goal = least(rows, end);
        else
            s->goal = at_least(component, s, rows >= end ? end : rows - s->reach, end, true);
        rows = rows_of_band(s, L2K_LL, s->goal);
    }
}

/* Goals from the goal of the first level. */
static void advance_inverse(const l2k_plan_component *component, l2k_level_pass *passes, unsigned count, int64_t rows)
{
    for (unsigned i = 0; i < count; i++) {
        l2k_level_pass *s = &passes[i];
        const int64_t end = s->shape.passed.y1;
        if (i == 0)
            s->goal = least(most(rows, s->done), end);
        else
            s->goal = at_least(component, s, s->shape.passed.y0 + rows, end, false);
        rows = s->goal > s->shape.passed.y0 ? rows_of_band(s, L2K_LL, least(s->goal + s->reach, s->shape.height)) : 0;
    }
}

uint64_t l2k_cpu_strip_end(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint64_t strip)
{
    const uint64_t end = strip * strips->rows;
    if (strips->rows == 0)
        return UINT64_MAX;
    if (spec->direction == L2K_FORWARD)
        return end + strips->margin;
    return end > strips->margin ? end - strips->margin : 0;
}

int64_t l2k_cpu_rows_before(const l2k_plan_spec *spec, uint64_t end, uint32_t c, const l2k_level_pass *first)
{
    const uint32_t distance = distance_of(&spec->components[c]);
    return end == UINT64_MAX ? INT64_MAX : most((int64_t)((end + distance - 1) / distance) - first->y0, 0);
}

void l2k_cpu_set_goals(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint64_t strip, uint32_t c,
                       l2k_level_pass *passes)
{
    const unsigned count = l2k_cpu_count_passes(spec, c);
    const bool forward = spec->direction == L2K_FORWARD;
    const uint64_t end = l2k_cpu_strip_end(spec, strips, strip);
    int64_t rows = l2k_cpu_rows_before(spec, end, c, &passes[0]);
    if (forward && rows < passes[0].shape.height) /* the last rows wait for no more */
        rows = l2k_cpu_rows_before(spec, end - strips->margin, c, &passes[0]);
    for (unsigned i = 0; i < count; i++)
        passes[i].done = passes[i].goal;
    if (forward)
        advance_forward(&spec->components[c], passes, count, rows);
    else
        advance_inverse(&spec->components[c], passes, count, rows);
}

/* ---- Cells --------------------------------------------------------------------------------------------------- */

uint32_t l2k_cpu_cells_end(const l2k_plan_spec *spec, const l2k_level_pass *pass, unsigned orientation, int64_t y)
{
    const l2k_band_rows *band = &pass->bands[orientation];
    const bool forward = spec->direction == L2K_FORWARD;
    const int64_t rows = forward ? y : least(y + pass->reach, pass->shape.height);
    if (y == pass->shape.passed.y0 && y < pass->shape.passed.y1)
        return band->held_y0;
    if (y == pass->shape.passed.y1 || rows == pass->shape.height)
        return band->held_y1;
    const uint64_t cell = cell_in_band(&spec->components[pass->first], pass, orientation),
                   end = band->y0 + (uint64_t)rows_of_band(pass, orientation, rows);
    const uint64_t whole = forward ? end / cell * cell : (end + cell - 1) / cell * cell;
    return (uint32_t)most(least((int64_t)whole, band->held_y1), band->held_y0);
}

uint32_t l2k_cpu_first_row(const l2k_plan_spec *spec, const l2k_level_pass *pass, unsigned orientation)
{
    const uint32_t first = l2k_cpu_cells_end(spec, pass, orientation, pass->done);
    if (spec->direction == L2K_FORWARD)
        return first;
    const int64_t read = rows_of_band(pass, orientation, most(pass->done - pass->reach, 0));
    return (uint32_t)least(first, pass->bands[orientation].y0 + read);
}

uint32_t l2k_cpu_rows_end(const l2k_plan_spec *spec, const l2k_level_pass *pass, unsigned orientation, int64_t y)
{
    if (spec->direction == L2K_INVERSE)
        return l2k_cpu_cells_end(spec, pass, orientation, y);
    return pass->bands[orientation].y0 + (uint32_t)rows_of_band(pass, orientation, y);
}

/* The rows of a subband that are in use in the present strip. */
static uint32_t rows_in_use(const l2k_plan_spec *spec, const l2k_level_pass *s, unsigned orientation)
{
    return l2k_cpu_rows_end(spec, s, orientation, s->goal) - l2k_cpu_first_row(spec, s, orientation);
}

/* The rows of the first level that the next strip reads from the planes of this one and earlier ones. */
static int64_t rows_kept(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint64_t strip, uint32_t c,
                         const l2k_level_pass *first)
{
    const int64_t end = l2k_cpu_rows_before(spec, l2k_cpu_strip_end(spec, strips, strip), c, first);
    return spec->direction == L2K_FORWARD ? least(end, first->shape.height) - most(first->goal - first->reach, 0) : 0;
}

/* The rows of a level's samples that are in use in the present strip; also those that it only writes, as stripes write
 * in any order. */
static int64_t samples_in_use(l2k_direction direction, const l2k_level_pass *before, const l2k_level_pass *s)
{
    if (direction == L2K_FORWARD)
        return rows_of_band(before, L2K_LL, before->goal) - most(s->done - s->reach, 0);
    const int64_t read = s->shape.passed.y0 + rows_of_band(before, L2K_LL, most(before->done - before->reach, 0));
    return s->goal - least(read, s->done);
}

static void settle_band(l2k_band_rows *band)
{
    if (band->rows >= band->held_y1 - band->held_y0)
        band->rows = 0;
}

void l2k_cpu_measure_rows(const l2k_plan_spec *spec, const l2k_cpu_strips *strips, uint32_t c, l2k_level_pass *passes)
{
    const unsigned count = l2k_cpu_count_passes(spec, c);
    uint64_t strip = strips->first;
    l2k_cpu_rewind(passes, count);
    while (passes[0].goal < passes[0].shape.passed.y1) {
        l2k_cpu_set_goals(spec, strips, ++strip, c, passes);
        for (unsigned i = 0; i < count; i++) {
            l2k_level_pass *s = &passes[i];
            for (unsigned o = L2K_LL; o <= L2K_HH; o++)
                s->bands[o].rows = (uint32_t)most(s->bands[o].rows, rows_in_use(spec, s, o));
            const int64_t rows = i > 0          ? samples_in_use(spec->direction, &passes[i - 1], s)
                                 : strips->rows ? rows_kept(spec, strips, strip, c, s)
                                                : 0;
            s->num_rows = (size_t)most((int64_t)s->num_rows, rows);
        }
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned o = L2K_LL; o <= L2K_HH; o++)
            settle_band(&passes[i].bands[o]);
}
