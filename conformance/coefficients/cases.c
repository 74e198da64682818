/* The trials: pictures and the options with which they are coded. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/coefficients/coefficients.h"

/* ---- Descriptions ---- */

typedef struct text {
    char *data;
    size_t size, used;
} text;

static void add(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->data + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
    t->used += n > 0 && (size_t)n < t->size - t->used ? (size_t)n : 0;
}

static void add_picture(text *to, const picture *p)
{
    const l2k_image *m = &p->image;
    add(to, "%ux%u", m->x1 - m->x0, m->y1 - m->y0);
    if (m->x0 || m->y0)
        add(to, "+%u+%u", m->x0, m->y0);
    for (uint32_t c = 0; c < m->num_components; c++) {
        const l2k_component *k = &m->components[c];
        add(to, "%s%u%s", c ? "," : " ", k->precision, k->is_signed ? "s" : "");
        if (k->dx > 1 || k->dy > 1)
            add(to, "@%ux%u", k->dx, k->dy);
    }
}

void describe_trial(const trial *t, char *data, size_t size)
{
    text to = {data, size, 0};
    const coding *o = &t->o;
    add_picture(&to, t->p);
    add(&to, " %s L%u", o->irreversible ? "9/7" : "5/3", coding_levels(o));
    if (o->tile.width)
        add(&to, " t%u,%u", o->tile.width, o->tile.height);
    if (o->tile_x0 || o->tile_y0)
        add(&to, "+%u+%u", o->tile_x0, o->tile_y0);
    if (o->block.width)
        add(&to, " b%u,%u", o->block.width, o->block.height);
    if (o->num_precincts)
        add(&to, " c%u,%u", o->precincts[0].width, o->precincts[0].height);
    if (o->style)
        add(&to, " s%u", o->style);
    if (o->no_mct)
        add(&to, " no-mct");
    for (unsigned i = 0; i < o->num_targets; i++)
        add(&to, "%s%g", i ? "," : " r", o->targets[i]);
    if (t->d.reduce)
        add(&to, " reduce %u", t->d.reduce);
    if (t->d.layers)
        add(&to, " layers %u", t->d.layers);
}

/* ---- Given pictures ---- */

trial picture_trial(const char *name, picture *p, unsigned i)
{
    static const struct {
        coding o;
        decoding d;
    } ways[PICTURE_TRIALS] = {
        {{.irreversible = false}, {0}},
        {{.irreversible = true}, {0}},
        {{.irreversible = true, .num_targets = 3, .targets = {40, 20, 10}}, {.layers = 2}},
        {{.irreversible = true, .resolutions = 9}, {.reduce = 3}},
        {{.irreversible = false, .tile = {127, 93}, .resolutions = 4, .block = {32, 32}}, {.reduce = 1}},
        {{.irreversible = true, .tile = {128, 128}, .resolutions = 4, .no_mct = true, .style = 41}, {0}},
        {{.irreversible = false, .style = L2K_STYLE_BYPASS | L2K_STYLE_TERMALL | L2K_STYLE_PTERM}, {0}},
        {{.irreversible = false, .style = 63, .block = {16, 256}, .num_targets = 2, .targets = {12, 1}}, {.layers = 1}},
    };
    trial t = {.p = p, .o = ways[i].o, .d = ways[i].d};
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

/* ---- Random trials --------------------------------------------------------------------------------------------- */

/* Reduces levels and enlarges tiles until OpenJPEG can write it. */
static void settle(trial *t)
{
    while (coding_levels(&t->o) && opj_cannot_encode(t->p, &t->o))
        t->o.resolutions = coding_levels(&t->o);
    if (opj_cannot_encode(t->p, &t->o) || has_empty_tile_component(t->p, &t->o, 0)) {
        t->o.tile = (l2k_size){0, 0};
        t->o.tile_x0 = t->o.tile_y0 = 0;
        t->o.tile_parts = L2K_TILE_PARTS_ONE;
    }
    if (opj_cannot_encode(t->p, &t->o))
        t->o.irreversible = false;
    if (t->d.reduce > coding_levels(&t->o))
        t->d.reduce = coding_levels(&t->o);
    while (t->d.reduce && has_empty_tile_component(t->p, &t->o, t->d.reduce))
        t->d.reduce--;
}

static void random_layers(rng *r, trial *t)
{
    if (rng_below(r, 3))
        return;
    t->o.num_targets = rng_between(r, 1, 3);
    for (unsigned i = 0; i < t->o.num_targets; i++)
        t->o.targets[i] = (double)((t->o.num_targets - i) * rng_between(r, 2, 9));
    t->d.layers = rng_below(r, t->o.num_targets + 1);
}

/* A tile much larger than the image lets OpenJPEG use many levels on few samples. */
static void random_levels(rng *r, trial *t)
{
    t->o.resolutions = 1 + rng_between(r, 0, 8);
    if (t->o.tile.width || rng_below(r, 2))
        return;
    t->o.tile = (l2k_size){t->p->image.x1 + 256, t->p->image.y1 + 256};
    t->o.tile_x0 = t->o.tile_y0 = 0;
}

trial random_trial(uint64_t seed)
{
    rng r = {seed};
    trial t = {.d = {.threads = 1}};
    shape s = random_shape(&r, rng_below(&r, 8) ? 150 : 300, 4, 16);
    s.mixed = rng_below(&r, 4) == 0;
    t.p = picture_make(&s);
    t.o = random_coding(&r, t.p, 8);
    t.o.irreversible = rng_below(&r, 2);
    t.o.no_mct = t.o.no_mct || s.mixed; /* OpenJPEG would transform them nevertheless */
    random_levels(&r, &t);
    random_layers(&r, &t);
    t.d.reduce = rng_below(&r, 3) ? 0 : rng_below(&r, coding_levels(&t.o) + 1);
    /* At the lowest resolution levels OpenJPEG's precinct sizes reach 1, which only resolution level 0 may have. */
    while (t.o.num_precincts && t.o.resolutions > t.o.num_precincts + 3)
        t.o.resolutions--;
    settle(&t);
    snprintf(t.name, sizeof t.name, "seed %llu", (unsigned long long)seed);
    return t;
}

trial line_trial(uint32_t length, bool irreversible)
{
    rng r = {length};
    trial t = {.d = {.threads = 1}};
    const shape s = {.width = 1,
                     .height = length,
                     .y0 = rng_below(&r, 3) ? rng_below(&r, 65) : 0,
                     .num_components = 1,
                     .precision = rng_between(&r, 8, 16),
                     .is_signed = rng_below(&r, 2),
                     .sampling = {{1, 1}},
                     .seed = length};
    t.p = picture_make(&s);
    t.o = (coding){.irreversible = irreversible, .resolutions = 1 + rng_between(&r, 0, 6)};
    settle(&t);
    snprintf(t.name, sizeof t.name, "line of %u", length);
    return t;
}
