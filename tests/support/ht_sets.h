/* Code-blocks of several HT sets at random (Annex B of T.814), as codestreams: each set on the bit-plane below the one
 * before, cut to one, two or three passes or empty, and the passes spread over layers at random. After any number of
 * layers the last set with a cleanup segment counts. */
#ifndef L2K_TESTS_SUPPORT_HT_SETS_H
#define L2K_TESTS_SUPPORT_HT_SETS_H

#include "ht_encode.h"
#include "ht_stream.h"

enum { HT_SETS_MOST = 30 };

typedef struct ht_set_of_block {
    unsigned passes;      /* that have bytes; 0 = an empty set */
    ht_source *samples;   /* cut to its bit-plane, with what the refinement passes find in `state` */
    uint8_t *bytes;       /* cleanup segment, then refinement segment */
    size_t cleanup_bytes; /* 0 without one */
    size_t sigprop_bytes, refinement_bytes;
} ht_set_of_block;

typedef struct ht_sets {
    ht_stream stream;
    ht_source *samples; /* complete */
    unsigned num_sets, num_passes;
    ht_set_of_block sets[HT_SETS_MOST];
    unsigned ends[HT_MOST_LAYERS]; /* passes up to the end of each layer */
} ht_sets;

/* What counts after some passes; none: passes 0. */
typedef struct ht_counting {
    unsigned set, passes;
} ht_counting;

static inline unsigned ht_sets_plane(const ht_sets *b, unsigned set)
{
    return b->stream.planes - 1 - b->stream.missing - set;
}

static inline ht_counting ht_sets_after(const ht_sets *b, unsigned passes)
{
    for (unsigned set = (passes + 2) / 3; set-- > 0;)
        if (b->sets[set].passes)
            return (ht_counting){set, l2k_min_u32(passes - 3 * set, 3)};
    return (ht_counting){0, 0};
}

/* ---- Making -------------------------------------------------------------------------------------------------- */

static inline ht_source *ht_cut(const ht_source *from, unsigned plane)
{
    ht_source *s = malloc(sizeof *s);
    assert_non_null(s);
    *s = *from;
    for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
        s->magnitude[i] >>= plane;
        s->negative[i] = s->negative[i] && s->magnitude[i];
    }
    return s;
}

static inline void ht_code_set(ht_sets *b, unsigned number)
{
    static ht_coded code;
    ht_set_of_block *set = &b->sets[number];
    const unsigned plane = ht_sets_plane(b, number);
    set->samples = ht_cut(b->samples, plane);
    ht_encode_cleanup(set->samples, &code);
    set->cleanup_bytes = code.cleanup_bytes;
    if (set->passes > 1) {
        ht_source *low = ht_cut(b->samples, plane - 1);
        ht_encode_refinement(set->samples, low, &code, b->stream.style & L2K_STYLE_VSC);
        set->sigprop_bytes = code.sigprop_bytes;
        set->refinement_bytes = set->passes > 2 ? code.refinement_bytes : code.sigprop_bytes;
        free(low);
    }
    set->bytes = malloc(set->cleanup_bytes + set->refinement_bytes);
    assert_non_null(set->bytes);
    memcpy(set->bytes, code.cleanup, set->cleanup_bytes);
    memcpy(set->bytes + set->cleanup_bytes, code.refinement, set->refinement_bytes);
}

/* A segment of refinement passes `first` to `first + count - 1` of a set, 1 being SigProp. */
static inline ht_part ht_refinement_part(const ht_set_of_block *set, unsigned first, unsigned count)
{
    const uint8_t *data = set->bytes ? set->bytes + set->cleanup_bytes : NULL;
    if (count == 2)
        return (ht_part){data, set->refinement_bytes, 2};
    /* MagRef's bytes may begin in the part of SigProp, but not the other way round. */
    size_t cut = set->sigprop_bytes, rest = set->refinement_bytes - cut;
    cut += rest ? rest / 3 : 0;
    return first == 1 ? (ht_part){data, cut, 1} : (ht_part){data ? data + cut : NULL, set->refinement_bytes - cut, 1};
}

/* Passes [from, to) as a layer. Up to the first bytes all passes to the last cleanup pass of a packet share a length;
 * *open is true until then. */
static inline ht_layer ht_sets_layer(const ht_sets *b, unsigned from, unsigned to, bool *open)
{
    ht_layer layer = {.num_parts = 0};
    if (*open && to > from) {
        const unsigned tail = (to - 1) % 3, last = to - 1 - tail; /* its last cleanup pass */
        const ht_set_of_block *set = &b->sets[last / 3];
        if (last < from || !set->passes) {
            layer.parts[layer.num_parts++] = (ht_part){NULL, 0, to - from};
            return layer;
        }
        *open = false;
        layer.parts[layer.num_parts++] = (ht_part){set->bytes, set->cleanup_bytes, last + 1 - from};
        from = last + 1;
    }
    while (from < to) {
        const ht_set_of_block *set = &b->sets[from / 3];
        const unsigned kind = from % 3, count = kind ? l2k_min_u32(3 - kind, to - from) : 1;
        assert_true(layer.num_parts < HT_MOST_PARTS);
        layer.parts[layer.num_parts++] =
            kind ? ht_refinement_part(set, kind, count) : (ht_part){set->bytes, set->cleanup_bytes, 1};
        from += count;
    }
    return layer;
}

/* Whether a decoder that stops after these passes has all bytes of those that count. Refinement passes without any
 * bytes do not (B.3). */
static inline bool ht_sets_may_end(const ht_sets *b, unsigned passes)
{
    const ht_counting counting = ht_sets_after(b, passes);
    return counting.passes <= b->sets[counting.set].passes || b->sets[counting.set].passes == 1;
}

/* Layers of random lengths. The first set with bytes must be the last set of its packet: what comes before in that
 * packet are placeholders. */
static inline void ht_sets_make_layers(ht_sets *b)
{
    unsigned first = 0, from = 0;
    bool open = true;
    const unsigned rarity = 1 + random_below(8);
    while (!b->sets[first].passes)
        first++;
    const unsigned forced = 3 * first + b->sets[first].passes;
    b->stream.num_layers = 0;
    for (unsigned to = 1; to <= b->num_passes; to++) {
        const bool last = to == b->num_passes || to == forced;
        const bool room = b->stream.num_layers + 3 < HT_MOST_LAYERS;
        if (!last && (!room || random_below(rarity) || !ht_sets_may_end(b, to)))
            continue;
        if (room && random_below(8) == 0) { /* a layer without this block */
            b->ends[b->stream.num_layers] = from;
            b->stream.layers[b->stream.num_layers++] = (ht_layer){.num_parts = 0};
        }
        b->ends[b->stream.num_layers] = to;
        b->stream.layers[b->stream.num_layers++] = ht_sets_layer(b, from, to, &open);
        from = to;
    }
}

/* Any block of at most 4096 samples, of 1 to 30 bit-planes, with one to five sets that have bytes; `whole`: each has
 * all its passes. */
static inline void ht_sets_make(ht_sets *b, uint32_t width, uint32_t height, unsigned style, bool whole)
{
    memset(b, 0, sizeof *b);
    const unsigned planes = 1 + random_below(random_below(2) ? 30 : 10), missing = random_below((planes + 1) / 2);
    b->stream = (ht_stream){.width = width, .height = height, .planes = planes, .missing = missing, .style = style};
    b->samples = malloc(sizeof *b->samples);
    assert_non_null(b->samples);
    ht_fill(b->samples, width, height, planes - missing);
    b->num_sets = 1 + random_below(planes - missing);
    for (unsigned coded = 1 + random_below(5); coded > 0; coded--) {
        const unsigned set = coded == 1 ? b->num_sets - 1 : random_below(b->num_sets);
        b->sets[set].passes = ht_sets_plane(b, set) > 0 ? whole ? 3 : 1 + random_below(3) : 1;
    }
    for (unsigned set = 0; set < b->num_sets; set++)
        if (b->sets[set].passes)
            ht_code_set(b, set);
    b->num_passes = 3 * (b->num_sets - 1) + b->sets[b->num_sets - 1].passes;
    ht_sets_make_layers(b);
}

static inline void ht_sets_free(ht_sets *b)
{
    for (unsigned set = 0; set < b->num_sets; set++) {
        free(b->sets[set].samples);
        free(b->sets[set].bytes);
    }
    free(b->samples);
}

/* The set that counts on its own: with the sets before it as `placeholders`, or as bit-planes that are missing. */
static inline ht_stream ht_sets_alone(const ht_sets *b, ht_counting counting, bool placeholders)
{
    const ht_set_of_block *set = &b->sets[counting.set];
    ht_stream s = b->stream;
    const unsigned before = placeholders ? 3 * counting.set : 0;
    s.missing += placeholders ? 0 : counting.set;
    s.num_layers = 1;
    s.layers[0] = (ht_layer){{{set->bytes, set->cleanup_bytes, before + 1}}, 1};
    if (counting.passes > 1)
        s.layers[0].parts[s.layers[0].num_parts++] = ht_refinement_part(set, 1, counting.passes - 1);
    return s;
}

/* ---- What must come out -------------------------------------------------------------------------------------- */

/* Sample i, reconstructed in the middle of its interval. */
static inline int32_t ht_sets_value(const ht_sets *b, ht_counting counting, size_t i)
{
    if (!counting.passes)
        return 0;
    const ht_source *cut = b->sets[counting.set].samples;
    const unsigned passes = b->sets[counting.set].refinement_bytes ? counting.passes : 1;
    const unsigned state = passes > 1 ? cut->state[i] : 0;
    const bool refined = state == 2 || (state == 1 && passes > 2);
    const unsigned plane = ht_sets_plane(b, counting.set) - refined;
    const uint64_t magnitude = b->samples->magnitude[i] >> plane;
    if (!magnitude || (!refined && !cut->magnitude[i]))
        return 0;
    const int32_t value = (int32_t)(magnitude << plane | ((uint64_t)1 << plane) >> 1);
    return b->samples->negative[i] ? -value : value;
}

#endif
