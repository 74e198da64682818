/* Writes the marker segments of the main and tile-part headers (Annex A). */
#include "codec/codestream/codestream_write.h"

#include <string.h>

#include "codec/codestream/markers.h"

/* Starts a marker segment; returns the offset of its length, for end_segment. */
static size_t start_segment(l2k_buffer *out, unsigned marker)
{
    l2k_buffer_put(out, marker, 2);
    l2k_buffer_put(out, 0, 2);
    return out->size - 2;
}

static void end_segment(l2k_buffer *out, size_t length_at)
{
    l2k_buffer_patch(out, length_at, out->size - length_at, 2);
}

static void write_siz(l2k_buffer *out, const l2k_siz *siz)
{
    const l2k_tile_grid *grid = &siz->grid;
    const uint32_t sizes[] = {grid->image.x1,   grid->image.y1,    grid->image.x0, grid->image.y0,
                              grid->tile_width, grid->tile_height, grid->tile_x0,  grid->tile_y0};
    size_t start = start_segment(out, L2K_SIZ);
    l2k_buffer_put(out, siz->profile, 2);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        l2k_buffer_put(out, sizes[i], 4);
    l2k_buffer_put(out, siz->num_components, 2);
    for (uint32_t c = 0; c < siz->num_components; c++) {
        const l2k_component *component = &siz->components[c];
        l2k_buffer_put(out, (component->precision - 1) | (component->is_signed ? 0x80u : 0), 1);
        l2k_buffer_put(out, component->dx, 1);
        l2k_buffer_put(out, component->dy, 1);
    }
    end_segment(out, start);
}

/* CAP (A.5.2) for Part 15; returns the offset of Ccap15. */
static size_t write_cap(l2k_buffer *out, const l2k_capabilities *capabilities)
{
    size_t start = start_segment(out, L2K_CAP);
    l2k_buffer_put(out, capabilities->parts, 4);
    l2k_buffer_put(out, capabilities->ht, 2);
    end_segment(out, start);
    return out->size - 2;
}

/* CPF (A.6 of T.814) of a number of 16 bits. */
static void write_cpf(l2k_buffer *out, const l2k_capabilities *capabilities)
{
    size_t start = start_segment(out, L2K_CPF);
    l2k_buffer_put(out, (uint32_t)capabilities->corresponding_profile, 2);
    end_segment(out, start);
}

/* SPcod and SPcoc (Table A.15); `levels` is their number, or the index of a DFS. */
static void write_component_style(l2k_buffer *out, const l2k_component_coding *coding, unsigned levels, bool precincts)
{
    l2k_buffer_put(out, levels, 1);
    l2k_buffer_put(out, coding->log2_block_width - 2u, 1);
    l2k_buffer_put(out, coding->log2_block_height - 2u, 1);
    l2k_buffer_put(out, coding->style, 1);
    l2k_buffer_put(out, l2k_coding_wavelet(coding)->code, 1);
    for (unsigned r = 0; precincts && r <= coding->levels; r++)
        l2k_buffer_put(out, coding->log2_precinct_width[r] | (unsigned)coding->log2_precinct_height[r] << 4, 1);
}

static void put_float(l2k_buffer *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    l2k_buffer_put(out, bits, 4);
}

/* Writes a step's taps; of symmetric ones, the second half, from the changed sample on. */
static void write_kernel_step(l2k_buffer *out, const l2k_kernel *kernel, const l2k_kernel_step *step, bool symmetric)
{
    const unsigned first = symmetric ? step->num_taps / 2u : 0;
    if (!symmetric)
        l2k_buffer_put(out, (uint8_t)step->offset, 1);
    if (kernel->reversible) {
        l2k_buffer_put(out, step->shift, 1);
        l2k_buffer_put(out, (uint16_t)step->rounding, 2);
    }
    l2k_buffer_put(out, step->num_taps - first, 1);
    for (unsigned k = first; k < step->num_taps; k++)
        if (kernel->reversible)
            l2k_buffer_put(out, (uint16_t)(int16_t)step->taps[k], 2);
        else
            put_float(out, step->taps[k]);
}

/* ATK (T.801, A.3), with integers of 16 bits or floats of 32; steps in the order of the reconstruction. */
static void write_atk(l2k_buffer *out, const l2k_wavelet_descriptor *wavelet)
{
    const l2k_kernel *kernel = &wavelet->kernel;
    const bool symmetric = l2k_kernel_is_symmetric(kernel);
    const size_t start = start_segment(out, L2K_ATK);
    unsigned satk = wavelet->code | (kernel->reversible ? L2K_ATK_INTEGER_16 : L2K_ATK_FLOAT_32) << L2K_ATK_TYPE_SHIFT;
    satk |= (symmetric ? L2K_ATK_SYMMETRIC : 0) | (kernel->reversible ? L2K_ATK_REVERSIBLE : 0);
    satk |= kernel->steps[kernel->num_steps - 1].high ? L2K_ATK_ODD_FIRST : 0;
    satk |= kernel->mirrors || !l2k_kernel_has_borders(kernel) ? L2K_ATK_MIRRORS : 0;
    l2k_buffer_put(out, satk, 2);
    if (!kernel->reversible)
        put_float(out, kernel->scale);
    l2k_buffer_put(out, kernel->num_steps, 1);
    for (unsigned s = kernel->num_steps; s-- > 0;)
        write_kernel_step(out, kernel, &kernel->steps[s], symmetric);
    end_segment(out, start);
}

/* Part 2's kernels, which are the encoder's own one or those of a codestream. */
static void write_kernels(l2k_buffer *out, const l2k_tile_coding *coding)
{
    if (!coding->kernels && coding->components[0].own)
        write_atk(out, coding->components[0].own);
    for (unsigned code = 2; coding->kernels && code <= UINT8_MAX; code++) {
        const l2k_wavelet_descriptor *wavelet = l2k_kernels_find(coding->kernels, code);
        if (wavelet)
            write_atk(out, wavelet);
    }
}

/* DFS (T.801, A.3). */
static void write_dfs(l2k_buffer *out, unsigned index, unsigned levels, l2k_unsplit unsplit)
{
    const size_t start = start_segment(out, L2K_DFS);
    uint8_t ddfs[(L2K_MAX_LEVELS + 3) / 4] = {0};
    for (unsigned i = 0; i < levels; i++) {
        const unsigned split = !l2k_splits_across(unsplit, i + 1) ? L2K_DDFS_DOWN
                               : !l2k_splits_down(unsplit, i + 1) ? L2K_DDFS_ACROSS
                                                                  : L2K_DDFS_BOTH;
        ddfs[i / 4] |= (uint8_t)(split << (6 - 2 * (i % 4)));
    }
    l2k_buffer_put(out, index, 2);
    l2k_buffer_put(out, levels, 1);
    l2k_buffer_append(out, ddfs, (levels + 3u) / 4);
    end_segment(out, start);
}

/* Describes component 0, unless COD has another number of levels, for COC with DFS; component 0 then has COC as well. */
static void write_cod(l2k_buffer *out, const l2k_tile_coding *coding)
{
    const l2k_component_coding *first = &coding->components[0];
    const bool precincts = first->user_precincts && first->levels == coding->levels;
    size_t start = start_segment(out, L2K_COD);
    l2k_buffer_put(out, (precincts ? 1u : 0) | (coding->sop ? 2u : 0) | (coding->eph ? 4u : 0), 1);
    l2k_buffer_put(out, coding->progression, 1);
    l2k_buffer_put(out, coding->num_layers, 2);
    l2k_buffer_put(out, coding->component_transform, 1);
    write_component_style(out, first, coding->levels, precincts);
    end_segment(out, start);
}

static void write_coc(l2k_buffer *out, const l2k_siz *siz, uint32_t c, const l2k_component_coding *coding)
{
    size_t start = start_segment(out, L2K_COC);
    l2k_buffer_put(out, c, l2k_component_index_bytes(siz->num_components));
    l2k_buffer_put(out, coding->user_precincts, 1);
    write_component_style(out, coding, coding->split_style ? L2K_COC_DFS | coding->split_style : coding->levels,
                          coding->user_precincts);
    end_segment(out, start);
}

/* QCD of component 0, QCC of others, with Sqcd and SPqcd (Tables A.28 to A.30). */
static void write_steps(l2k_buffer *out, const l2k_siz *siz, uint32_t c, const l2k_component_coding *coding,
                        unsigned more_guard_bits)
{
    const size_t start = start_segment(out, c ? L2K_QCC : L2K_QCD);
    if (c)
        l2k_buffer_put(out, c, l2k_component_index_bytes(siz->num_components));
    l2k_buffer_put(out, coding->quantisation | (coding->guard_bits + more_guard_bits) << 5, 1);
    for (unsigned i = 0; i < coding->num_steps; i++) {
        l2k_step step = coding->steps[i];
        if (coding->quantisation == L2K_QUANT_NONE)
            l2k_buffer_put(out, (unsigned)step.exponent << 3, 1);
        else
            l2k_buffer_put(out, (unsigned)step.exponent << 11 | step.mantissa, 2);
    }
    end_segment(out, start);
}

static bool same_style(const l2k_component_coding *a, const l2k_component_coding *b)
{
    const size_t precincts = a->levels + (size_t)1;
    return a->levels == b->levels && a->split_style == b->split_style && a->log2_block_width == b->log2_block_width &&
           a->log2_block_height == b->log2_block_height && a->style == b->style &&
           l2k_coding_wavelet(a)->code == l2k_coding_wavelet(b)->code && a->user_precincts == b->user_precincts &&
           memcmp(a->log2_precinct_width, b->log2_precinct_width, precincts) == 0 &&
           memcmp(a->log2_precinct_height, b->log2_precinct_height, precincts) == 0;
}

static bool same_quantisation(const l2k_component_coding *a, const l2k_component_coding *b)
{
    return a->quantisation == b->quantisation && a->guard_bits == b->guard_bits && a->levels == b->levels &&
           l2k_same_splits(a->unsplit, b->unsplit, a->levels) && l2k_coding_same_steps(a, b);
}

static void write_styles(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding)
{
    const l2k_component_coding *components = coding->components;
    write_cod(out, coding);
    for (uint32_t c = 0; c < siz->num_components; c++)
        if (components[c].split_style || components[c].levels != coding->levels ||
            !same_style(&components[0], &components[c]))
            write_coc(out, siz, c, &components[c]);
}

void l2k_write_quantisation(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding,
                            unsigned more_guard_bits)
{
    const l2k_component_coding *components = coding->components;
    for (uint32_t c = 0; c < siz->num_components; c++)
        if (c == 0 || !same_quantisation(&components[0], &components[c]))
            write_steps(out, siz, c, &components[c], more_guard_bits);
}

size_t l2k_write_main_header(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding)
{
    l2k_buffer_put(out, L2K_SOC, 2);
    write_siz(out, siz);
    size_t ht_at = coding->capabilities.parts ? write_cap(out, &coding->capabilities) : 0;
    if (coding->capabilities.corresponding_profile)
        write_cpf(out, &coding->capabilities);
    write_kernels(out, coding);
    for (unsigned i = 1; i <= L2K_MOST_DFS; i++)
        if (coding->splits.levels[i])
            write_dfs(out, i, coding->splits.levels[i], coding->splits.of[i]);
    write_styles(out, siz, coding);
    l2k_write_quantisation(out, siz, coding, 0);
    return ht_at;
}

void l2k_write_regions(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding, const l2k_tile_coding *main)
{
    for (uint32_t c = 0; c < siz->num_components; c++)
        if (coding->components[c].roi_shift != (main ? main->components[c].roi_shift : 0))
            l2k_write_rgn(out, siz, c, coding->components[c].roi_shift);
}

void l2k_write_tile_header(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *main, const l2k_tile_coding *own)
{
    bool style = own->sop != main->sop || own->eph != main->eph || own->progression != main->progression ||
                 own->num_layers != main->num_layers || own->component_transform != main->component_transform ||
                 own->levels != main->levels,
         steps = false;
    for (uint32_t c = 0; c < siz->num_components; c++) {
        style = style || !same_style(&own->components[c], &main->components[c]);
        steps = steps || !same_quantisation(&own->components[c], &main->components[c]);
    }
    if (style)
        write_styles(out, siz, own);
    if (steps)
        l2k_write_quantisation(out, siz, own, 0);
    l2k_write_regions(out, siz, own, main);
    if (!l2k_same_changes(own, main))
        l2k_write_poc(out, siz, own);
}

/* REpoc is a byte, CEpoc one or two: 256 components are 0 in one (Table A.32). */
void l2k_write_poc(l2k_buffer *out, const l2k_siz *siz, const l2k_tile_coding *coding)
{
    const unsigned index_bytes = l2k_component_index_bytes(siz->num_components);
    size_t start = start_segment(out, L2K_POC);
    for (size_t i = 0; i < coding->num_changes; i++) {
        const l2k_poc *change = &coding->changes[i];
        l2k_buffer_put(out, change->resolution_start, 1);
        l2k_buffer_put(out, change->component_start, index_bytes);
        l2k_buffer_put(out, change->layer_end, 2);
        l2k_buffer_put(out, change->resolution_end, 1);
        l2k_buffer_put(out, change->component_end, index_bytes);
        l2k_buffer_put(out, change->progression, 1);
    }
    end_segment(out, start);
}

size_t l2k_poc_bytes(const l2k_siz *siz, const l2k_tile_coding *coding)
{
    return 4 + coding->num_changes * (5 + 2 * (size_t)l2k_component_index_bytes(siz->num_components));
}

void l2k_write_rgn(l2k_buffer *out, const l2k_siz *siz, uint32_t component, unsigned shift)
{
    size_t start = start_segment(out, L2K_RGN);
    l2k_buffer_put(out, component, l2k_component_index_bytes(siz->num_components));
    l2k_buffer_put(out, 0, 1); /* implicit, the only kind */
    l2k_buffer_put(out, shift, 1);
    end_segment(out, start);
}

void l2k_write_comment(l2k_buffer *out, const char *text)
{
    size_t start = start_segment(out, L2K_COM);
    l2k_buffer_put(out, 1, 2);
    l2k_buffer_append(out, text, strlen(text));
    end_segment(out, start);
}

bool l2k_write_tlm(l2k_buffer *out, const l2k_tile_part *parts, size_t count, uint32_t num_tiles)
{
    unsigned index_bytes = num_tiles <= 256 ? 1 : 2;
    size_t most = (65535 - 4) / (index_bytes + 4);
    for (size_t at = 0, index = 0; at < count; index++) {
        if (index > 255)
            return false;
        size_t start = start_segment(out, L2K_TLM);
        l2k_buffer_put(out, index, 1);
        l2k_buffer_put(out, 0x40 | index_bytes << 4, 1);
        for (size_t end = count - at > most ? at + most : count; at < end; at++) {
            l2k_buffer_put(out, parts[at].tile, index_bytes);
            l2k_buffer_put(out, parts[at].bytes, 4);
        }
        end_segment(out, start);
    }
    return true;
}

/* A length in groups of seven bits, the highest first (A.7.3). */
static unsigned packet_length_bytes(uint32_t bytes)
{
    unsigned groups = 1;
    while (bytes >>= 7)
        groups++;
    return groups;
}

bool l2k_write_plt(l2k_buffer *out, const uint32_t *packet_bytes, size_t count)
{
    for (size_t at = 0, index = 0; at < count; index++) {
        if (index > 255)
            return false;
        size_t start = start_segment(out, L2K_PLT);
        l2k_buffer_put(out, index, 1);
        for (; at < count; at++) {
            unsigned groups = packet_length_bytes(packet_bytes[at]);
            if (out->size - start + groups > 65535)
                break;
            while (groups-- > 0)
                l2k_buffer_put(out, (packet_bytes[at] >> 7 * groups & 0x7F) | (groups ? 0x80u : 0), 1);
        }
        end_segment(out, start);
    }
    return true;
}

size_t l2k_write_sot(l2k_buffer *out, uint32_t tile, uint32_t part, uint32_t num_parts)
{
    size_t start = start_segment(out, L2K_SOT);
    l2k_buffer_put(out, tile, 2);
    l2k_buffer_put(out, 0, 4);
    l2k_buffer_put(out, part, 1);
    l2k_buffer_put(out, num_parts, 1);
    end_segment(out, start);
    return start + 4;
}
