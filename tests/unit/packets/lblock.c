/* A codestream of an encoder that restarts Lblock at 3 in the second layer, where B.10.7.1 keeps it: the decoder says
 * from which packet on headers are damaged, and gives the layer before. The stream is one of lift2k's whose second
 * layer's packet headers are written anew. Each precinct has one code-block of each subband, so tag trees have one
 * node. */
#include "api_support.h"
#include "codec/packets/packet_codes.h"
#include "codec/tile/bits.h"

#include <string.h>

enum { SIDE = 256, LEVELS = 2, LAYERS = 2, MOST_BLOCKS = 84 * 3 };

typedef struct block {
    bool included;
    unsigned lblock, restarted;
} block;

static unsigned get_passes(l2k_bit_reader *bits)
{
    if (!l2k_bits_get(bits, 1))
        return 1;
    if (!l2k_bits_get(bits, 1))
        return 2;
    unsigned n = l2k_bits_get(bits, 2);
    if (n < 3)
        return 3 + n;
    n = l2k_bits_get(bits, 5);
    return n < 31 ? 6 + n : 37 + l2k_bits_get(bits, 7);
}

static void put_passes(l2k_bit_writer *bits, unsigned n)
{
    if (n == 1)
        l2k_bits_put(bits, 0, 1);
    else if (n == 2)
        l2k_bits_put(bits, 2, 2);
    else if (n < 6)
        l2k_bits_put(bits, 0xC | (n - 3), 4);
    else if (n < 37)
        l2k_bits_put(bits, 0x1E0 | (n - 6), 9);
    else
        l2k_bits_put(bits, 0xFF80 | (n - 37), 16);
}

/* The header of a code-block from one packet to the other; its bytes. */
static uint32_t copy_block(block *b, bool restarts, l2k_bit_reader *in, l2k_bit_writer *out)
{
    const bool now = l2k_bits_get(in, 1);
    l2k_bits_put(out, now, 1);
    if (!now)
        return 0;
    if (!b->included) {
        while (!l2k_bits_get(in, 1))
            l2k_bits_put(out, 0, 1);
        l2k_bits_put(out, 1, 1);
        b->included = true;
    }
    const unsigned passes = get_passes(in);
    put_passes(out, passes);
    while (l2k_bits_get(in, 1))
        b->lblock++;
    const unsigned pass_bits = l2k_pass_bits(passes);
    const uint32_t bytes = l2k_bits_get(in, b->lblock + pass_bits);
    const unsigned before = restarts ? 3 : b->restarted;
    b->restarted = l2k_lblock_for(before, passes, bytes);
    l2k_bits_put(out, (uint32_t)((UINT64_C(2) << (b->restarted - before)) - 2), b->restarted - before + 1);
    l2k_bits_put(out, bytes, b->restarted + pass_bits);
    return bytes;
}

/* A packet of `count` code-blocks; where the next one begins. */
static const uint8_t *copy_packet(block *blocks, unsigned count, bool restarts, const uint8_t *at, const uint8_t *end,
                                  l2k_buffer *out)
{
    l2k_bit_reader in = l2k_bits_from(at, end);
    l2k_bit_writer header = l2k_bits_to(out);
    uint32_t bytes = 0;
    const bool any = l2k_bits_get(&in, 1);
    l2k_bits_put(&header, any, 1);
    for (unsigned i = 0; any && i < count; i++)
        bytes += copy_block(&blocks[i], restarts, &in, &header);
    l2k_bits_align(&in);
    l2k_bits_flush(&header);
    l2k_buffer_append(out, in.next, bytes);
    return in.next + bytes;
}

/* The codestream with Lblock restarted in the second layer, or, to try the copying, as it was. */
static void copy_stream(const memory_file *from, bool restarts, l2k_buffer *out)
{
    static block blocks[MOST_BLOCKS];
    const uint8_t *sod = from->data, *end = from->data + from->size - 2; /* EOC */
    for (int i = 0; i < MOST_BLOCKS; i++)
        blocks[i] = (block){.lblock = 3, .restarted = 3};
    while (!(sod[0] == 0xFF && sod[1] == 0x93))
        sod++;
    const size_t sot = (size_t)(sod - from->data) - 12;
    l2k_buffer_append(out, from->data, (size_t)(sod + 2 - from->data));
    const uint8_t *at = sod + 2;
    for (int layer = 0; layer < LAYERS; layer++)
        for (unsigned r = 0, place = 0; r <= LEVELS; r++)
            for (unsigned precincts = 4u << 2 * r, k = 0, count = r ? 3 : 1; k < precincts; k++, place += count)
                at = copy_packet(blocks + place, count, restarts && layer, at, end, out);
    assert_ptr_equal(at, end);
    l2k_buffer_patch(out, sot + 6, out->size - sot, 4);
    l2k_buffer_append(out, end, 2);
}

static char said[256];

static void keep_message(void *user, l2k_severity severity, const char *text)
{
    (void)user, (void)severity;
    snprintf(said, sizeof said, "%s", text);
}

static l2k_status decode(const uint8_t *data, size_t bytes, int layers, int strict, picture *got)
{
    const l2k_hooks hooks = {.message = keep_message};
    l2k_decoder *decoder = new_decoder(&hooks, 1);
    said[0] = 0;
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_LAYERS, layers), L2K_OK);
    assert_int_equal(l2k_decoder_set(decoder, L2K_DECODER_STRICT, strict), L2K_OK);
    const l2k_status status = run_decoder(decoder, data, bytes, got);
    l2k_decoder_free(decoder);
    return status;
}

static void test_restarted(void **unused)
{
    (void)unused;
    static const double ratios[LAYERS] = {8, 1};
    static const l2k_size precincts[LEVELS + 1] = {{32, 32}, {32, 32}, {32, 32}};
    static const l2k_context context = {.threads = 1};
    picture p, whole, first, got;
    memory_file file = memory_of(NULL, 0);
    l2k_buffer same = {.context = &context}, wrong = {.context = &context};
    picture_make(&p, SIDE, SIDE, 1);
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, LEVELS);
    l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    assert_int_equal(l2k_encoder_set_precincts(encoder, precincts, LEVELS + 1), L2K_OK);
    assert_int_equal(l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios, LAYERS), L2K_OK);
    assert_int_equal(run_encoder(encoder, &p, &file), L2K_OK);

    copy_stream(&file, false, &same);
    assert_int_equal(same.size, file.size);
    assert_memory_equal(same.data, file.data, file.size);
    copy_stream(&file, true, &wrong);

    assert_int_equal(decode(file.data, file.size, 0, 0, &whole), L2K_OK);
    assert_int_equal(decode(file.data, file.size, 1, 0, &first), L2K_OK);
    assert_int_equal(decode(wrong.data, wrong.size, 0, 0, &got), L2K_INCOMPLETE);
    assert_non_null(strstr(said, "has damaged packet headers from packet "));
    assert_non_null(strstr(said, " of layer 1 on: more coding passes than bit-planes allow"));
    assert_true(picture_equal(&first, &got));
    assert_false(picture_equal(&whole, &got));
    picture_free(&got);
    assert_int_equal(decode(wrong.data, wrong.size, 0, 1, &got), L2K_ERROR_CORRUPT);
    picture_free(&whole), picture_free(&first), picture_free(&p);
    l2k_buffer_release(&same), l2k_buffer_release(&wrong);
    l2k_encoder_free(encoder);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_restarted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
