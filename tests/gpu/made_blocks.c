/* Codestreams of one code-block with any bytes, by the writer of the unit tests (tests/support/ht_stream.h). A file of
 * its own, because the unit tests have pictures of another kind. */
#define L2K_OWN_ASSERTS
#include "base/integer.h"
#include "ht_stream.h"

#include "made_blocks.h"

/* In the writer's header, from the start of the codestream on. */
enum { RSIZ = 6, SSIZ = 42, CAP = 45, CAP_BYTES = 10, COD_BLOCK = CAP + CAP_BYTES + 10 };

static uint8_t fill_byte(made_filler filler, size_t i)
{
    switch (filler) {
    case FILL_ZEROS:
        return 0;
    case FILL_ONES:
        return i % 2 ? 0x8F : 0xFF; /* as many ones as there can be without a marker */
    case FILL_STRIPES:
        return 0x55;
    default:
        return (uint8_t)random_below(256);
    }
}

/* Of an HT cleanup segment, the last two bytes say how long its second half is (T.814, 7.1.2). */
static void set_suffix(uint8_t *data, size_t size)
{
    const unsigned length = size < 8000 ? (unsigned)size / 2 : 4000;
    data[size - 1] = (uint8_t)(length >> 4);
    data[size - 2] = (uint8_t)((data[size - 2] & 0xF0) | (length & 15));
}

/* With TERMALL each pass is a segment; of an HT block, the cleanup pass and the rest; otherwise all passes are one. */
static void share_out(const made_block *b, uint8_t *data, ht_layer *layer)
{
    const bool ht = b->style & L2K_STYLE_HT;
    unsigned left = b->passes, count = b->style & L2K_STYLE_TERMALL ? b->passes : ht && b->passes > 1 ? 2 : 1;
    if (count > HT_MOST_PARTS)
        count = HT_MOST_PARTS, left = HT_MOST_PARTS;
    for (unsigned i = 0; i < count; i++) {
        const unsigned passes = i + 1 == count ? left : 1;
        layer->parts[i] = (ht_part){data + i * (b->size / count), b->size / count, passes};
        left -= passes;
    }
    layer->num_parts = count;
    if (ht)
        set_suffix(data, b->size / count);
}

uint8_t *made_block_stream(const made_block *b, size_t *size)
{
    ht_stream s = {.width = 1u << b->log2_width, .height = 1u << b->log2_height, .planes = b->planes, .num_layers = 1};
    uint8_t *data = malloc(b->size ? b->size : 1);
    assert_non_null(data);
    random_state = b->planes * 131 + b->passes;
    for (size_t i = 0; i < b->size; i++)
        data[i] = fill_byte(b->filler, i);
    s.style = b->style;
    if (b->passes)
        share_out(b, data, &s.layers[0]);
    memory_file file = ht_write(&s);
    file.data[SSIZ] = 0x80 | 15; /* 16 bits, whatever the coefficients have */
    file.data[COD_BLOCK] = (uint8_t)(b->log2_width - 2);
    file.data[COD_BLOCK + 1] = (uint8_t)(b->log2_height - 2);
    if (!(b->style & L2K_STYLE_HT)) { /* Part 1 */
        file.data[RSIZ] = 0;
        memmove(file.data + CAP, file.data + CAP + CAP_BYTES, file.size - CAP - CAP_BYTES);
        file.size -= CAP_BYTES;
    }
    free(data);
    *size = file.size;
    return file.data;
}
