/* The seed corpus: VC-2 of all wavelets, both profiles, frames and fields, with and without a limit of bytes. Dirac, which
 * no encoder here writes, is in tests/data/dirac. */
#include "corpus.h"

static void save(unsigned i)
{
    static uint16_t samples[3][32 * 16];
    memory_file file = memory_of(NULL, 0);
    const uint8_t tail[24] = {(uint8_t)(i & 1), (uint8_t)(i % 4 * 5), 0, 0, 0, 0, (uint8_t)(i % 5 == 4 ? i : 0)};
    const l2k_stream stream = stream_of(&file);
    const l2k_video_sequence sequence = {.profile = i & 1 ? 0 : 3,
                                         .width = 32,
                                         .height = 16,
                                         .chroma_x = i % 3 > 0,
                                         .chroma_y = i % 3 > 1,
                                         .depth = {8 + i % 3, 8 + i % 3},
                                         .fields = i % 4 > 1};
    l2k_plane planes[3];
    char name[40];
    l2k_video_encoder *encoder = l2k_video_encoder_new(NULL);
    assert_non_null(encoder);
    assert_int_equal(l2k_video_encoder_set(encoder, L2K_VIDEO_ENCODER_WAVELET, i % 7), L2K_OK);
    assert_int_equal(l2k_video_encoder_set(encoder, L2K_VIDEO_ENCODER_LEVELS, 1 + i % 3), L2K_OK);
    if (i % 4 > 0)
        assert_int_equal(l2k_video_encoder_set(encoder, L2K_VIDEO_ENCODER_PICTURE_BYTES, 200 + 40 * i), L2K_OK);
    assert_int_equal(l2k_video_encoder_begin(encoder, &sequence, &stream), L2K_OK);
    for (unsigned frame = 0; frame < 3; frame++) {
        for (unsigned c = 0; c < 3; c++) {
            for (unsigned n = 0; n < 32 * 16; n++)
                samples[c][n] = (uint16_t)((n % 32 * 5 + n / 32 * 3 + frame * 9 + random_below(8)) % 256);
            planes[c] = (l2k_plane){samples[c], 2 * (32 >> (c ? sequence.chroma_x : 0)), 2, L2K_SAMPLE_U16};
        }
        assert_int_equal(l2k_video_encoder_encode(encoder, planes), L2K_OK);
    }
    assert_int_equal(l2k_video_encoder_end(encoder), L2K_OK);
    l2k_video_encoder_free(encoder);
    memory_write(&file, tail, sizeof tail);
    snprintf(name, sizeof name, "vc2-%02u", i);
    corpus_save("videos", name, file.data, file.size);
    free(file.data);
}

void corpus_videos(void)
{
    for (unsigned i = 0; i < 28; i++)
        save(i);
}
