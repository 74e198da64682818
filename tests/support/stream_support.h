/* Small codestreams to be taken apart (stream_edit.h), and checks of the pictures that they decode to. */
#ifndef L2K_TESTS_SUPPORT_STREAM_SUPPORT_H
#define L2K_TESTS_SUPPORT_STREAM_SUPPORT_H

#include "stream_edit.h"

#include "codec/decode/decoder.h"

static inline l2k_encoder *new_encoder(uint32_t levels)
{
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    assert_non_null(encoder);
    l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(encoder, L2K_ENCODER_LEVELS, levels);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_WIDTH, 16);
    l2k_encoder_set(encoder, L2K_ENCODER_BLOCK_HEIGHT, 16);
    l2k_encoder_set(encoder, L2K_ENCODER_SOP, 1);
    l2k_encoder_set(encoder, L2K_ENCODER_EPH, 1);
    return encoder;
}

static inline memory_file finish_encoder(l2k_encoder *encoder, const picture *p)
{
    memory_file file = memory_of(NULL, 0);
    assert_int_equal(run_encoder(encoder, p, &file), L2K_OK);
    l2k_encoder_free(encoder);
    return file;
}

static inline void expect(const picture *p, const memory_file *file, unsigned warnings)
{
    watch w;
    picture got;
    l2k_hooks hooks = watch_hooks(&w);
    l2k_status status = decode_bytes(&hooks, file->data, file->size, &got);
    if (status != L2K_OK)
        print_message("%s\n", w.text);
    assert_int_equal(status, L2K_OK);
    assert_true(picture_equal(p, &got));
    assert_int_equal(w.warnings, warnings);
    assert_int_equal(w.live, 0);
    picture_free(&got);
}

static inline void decode_region(const memory_file *file, const uint32_t *r, uint32_t reduce, picture *got)
{
    l2k_decoder *decoder = new_decoder(NULL, 1);
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, reduce);
    assert_int_equal(l2k_decoder_set_region(decoder, r[0], r[1], r[2], r[3]), L2K_OK);
    assert_int_equal(run_decoder(decoder, file->data, file->size, got), L2K_OK);
    l2k_decoder_free(decoder);
}

static inline void set_layers(l2k_encoder *encoder, size_t count)
{
    static const double ratios[] = {20, 8, 4, 1};
    l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios + 4 - count, count);
}

#endif
