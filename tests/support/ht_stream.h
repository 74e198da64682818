/* Codestreams of one HT code-block for tests: packet by packet, with the segments that the caller lists. */
#ifndef L2K_TESTS_SUPPORT_HT_STREAM_H
#define L2K_TESTS_SUPPORT_HT_STREAM_H

#include "stream_edit.h"

#include "codec/tile/bits.h"

/* A segment, or a part of one, and the passes that it has. */
typedef struct ht_part {
    const uint8_t *data;
    size_t size;
    unsigned passes;
} ht_part;

enum { HT_MOST_PARTS = 64, HT_MOST_LAYERS = 32 };

/* What a layer contributes; none: num_parts 0. */
typedef struct ht_layer {
    ht_part parts[HT_MOST_PARTS];
    unsigned num_parts;
} ht_layer;

typedef struct ht_stream {
    uint32_t width, height;
    unsigned planes;  /* Mb, with one guard bit */
    unsigned missing; /* bit-planes above the first pass */
    unsigned style;
    unsigned num_layers;
    ht_layer layers[HT_MOST_LAYERS];
} ht_stream;

/* Ccap15: HTONLY or MIXED, several sets, and the parameter of the magnitude bound B. */
static inline unsigned ht_capabilities(const ht_stream *s)
{
    unsigned bound = s->planes < 8 ? 0 : s->planes < 28 ? s->planes - 8 : 19 + (s->planes - 27 + 3) / 4;
    return 0x2000 | (s->style & L2K_STYLE_HT_MIXED ? 0xC000 : 0) | bound;
}

static inline void ht_put_header(l2k_buffer *out, const ht_stream *s)
{
    static const uint8_t none[2] = {0};
    l2k_buffer_put(out, 0xFF4F, 2);
    l2k_buffer_put(out, 0xFF51, 2);
    l2k_buffer_put(out, 41, 2);
    l2k_buffer_put(out, 0x4000, 2);
    l2k_buffer_put(out, s->width, 4);
    l2k_buffer_put(out, s->height, 4);
    l2k_buffer_put(out, 0, 8);
    l2k_buffer_put(out, s->width, 4);
    l2k_buffer_put(out, s->height, 4);
    l2k_buffer_put(out, 0, 8);
    l2k_buffer_put(out, 1, 2);
    l2k_buffer_put(out, 0x80 | s->planes, 1); /* signed, so that there is no level shift */
    l2k_buffer_put(out, 0x0101, 2);
    l2k_buffer_put(out, 0xFF50000800020000, 8); /* CAP */
    l2k_buffer_put(out, ht_capabilities(s), 2);
    l2k_buffer_put(out, 0xFF52, 2);
    l2k_buffer_put(out, 12, 2);
    l2k_buffer_put(out, 0, 2);
    l2k_buffer_put(out, s->num_layers, 2);
    l2k_buffer_append(out, none, 2); /* no component transform, no levels */
    l2k_buffer_put(out, 0x0404, 2);
    l2k_buffer_put(out, s->style, 1);
    l2k_buffer_put(out, 1, 1);
    l2k_buffer_put(out, 0xFF5C000420, 5);
    l2k_buffer_put(out, s->planes << 3, 1);
}

/* Table B.4. */
static inline void ht_put_passes(l2k_bit_writer *bits, unsigned passes)
{
    if (passes == 1)
        l2k_bits_put(bits, 0, 1);
    else if (passes == 2)
        l2k_bits_put(bits, 2, 2);
    else if (passes < 6)
        l2k_bits_put(bits, 12 | (passes - 3), 4);
    else if (passes < 37)
        l2k_bits_put(bits, 0x1E0 | (passes - 6), 9);
    else
        l2k_bits_put(bits, 0xFF80 | (passes - 37), 16);
}

/* Lblock becomes great enough for all parts; where MQ blocks may occur, also so great that the first length has a
 * leading 0, which makes the block HT. */
static inline void ht_put_lengths(const ht_stream *s, const ht_layer *layer, l2k_bit_writer *bits, unsigned *lblock)
{
    unsigned needed = *lblock;
    for (unsigned i = 0; i < layer->num_parts; i++) {
        unsigned pass_bits = l2k_log2(layer->parts[i].passes), size = (unsigned)layer->parts[i].size;
        unsigned length = size ? l2k_log2(size) + 1 + !!(s->style & L2K_STYLE_HT_MIXED) : 0;
        needed = length > needed + pass_bits ? length - pass_bits : needed;
    }
    if (s->style & L2K_STYLE_HT_MIXED && needed == 3)
        needed = 4;
    for (; *lblock < needed; ++*lblock)
        l2k_bits_put(bits, 1, 1);
    l2k_bits_put(bits, 0, 1);
    for (unsigned i = 0; i < layer->num_parts; i++)
        l2k_bits_put(bits, (uint32_t)layer->parts[i].size, *lblock + l2k_log2(layer->parts[i].passes));
}

static inline void ht_put_packet(l2k_buffer *out, const ht_stream *s, const ht_layer *layer, bool *known,
                                 unsigned *lblock)
{
    l2k_bit_writer bits = l2k_bits_to(out);
    unsigned passes = 0;
    l2k_bits_put(&bits, 1, 1);
    l2k_bits_put(&bits, layer->num_parts > 0, 1); /* the tag tree of one node is as good as a bit */
    for (unsigned i = 0; i < layer->num_parts; i++)
        passes += layer->parts[i].passes;
    if (passes) {
        if (!*known)
            l2k_bits_put(&bits, 1, s->missing + 1);
        *known = true;
        ht_put_passes(&bits, passes);
        ht_put_lengths(s, layer, &bits, lblock);
    }
    l2k_bits_flush(&bits);
    for (unsigned i = 0; i < layer->num_parts; i++)
        l2k_buffer_append(out, layer->parts[i].data, layer->parts[i].size);
}

/* The whole codestream; the caller frees its data. */
static inline memory_file ht_write(const ht_stream *s)
{
    static const l2k_context context;
    l2k_buffer out = {.context = &context};
    bool known = false;
    unsigned lblock = 3;
    ht_put_header(&out, s);
    size_t sot = out.size;
    l2k_buffer_put(&out, 0xFF90000A, 4);
    l2k_buffer_put(&out, 0, 6);
    l2k_buffer_put(&out, 1, 2);
    l2k_buffer_put(&out, 0xFF93, 2);
    for (unsigned i = 0; i < s->num_layers; i++)
        ht_put_packet(&out, s, &s->layers[i], &known, &lblock);
    l2k_buffer_patch(&out, sot + 6, out.size - sot, 4);
    l2k_buffer_put(&out, 0xFFD9, 2);
    memory_file file = memory_of(NULL, 0);
    memory_write(&file, out.data, out.size);
    l2k_buffer_release(&out);
    return file;
}

#endif
