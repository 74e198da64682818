/* Marker segments with values at and past the limits of their ranges. */
#include "stream_support.h"

enum { SSIZ = 42 }; /* offset of the first component's in the file */

/* In a reversible file the precision only affects level shift and clamping, so it can be raised. */
static void test_precision(void **unused)
{
    (void)unused;
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        picture p, got;
        picture_shape(&p, 40, 30, 1);
        p.components[0].precision = 24;
        p.components[0].is_signed = is_signed;
        picture_fill(&p, 0);
        memory_file file = finish_encoder(new_encoder(2), &p);
        for (uint32_t precision = 25; precision <= 40; precision++) {
            int32_t raised = is_signed ? 0 : (int32_t)((1ull << (precision - 1)) - (1u << 23));
            file.data[SSIZ] = (uint8_t)((is_signed ? 0x80 : 0) | (precision - 1));
            l2k_status status = decode_bytes(NULL, file.data, file.size, &got);
            assert_int_equal(status, precision > 38   ? L2K_ERROR_CORRUPT
                                     : precision > 31 ? L2K_ERROR_UNSUPPORTED
                                                      : L2K_OK);
            for (uint32_t i = 0; status == L2K_OK && i < 40 * 30; i++)
                assert_int_equal(got.samples[0][i], p.samples[0][i] + raised);
            if (status == L2K_OK)
                picture_free(&got);
        }
        free(file.data);
        picture_free(&p);
    }
}

/* The smallest precincts: one sample in the lowest resolution, 2 x 2 in the others. */
static void test_least_precincts(void **unused)
{
    (void)unused;
    static const l2k_size least[] = {{2, 2}, {2, 2}, {1, 1}};
    static edit e;
    for (int order = 0; order < 5; order++) {
        picture p;
        picture_make(&p, 23, 18, 2);
        p.components[1].dx = 3;
        free(p.samples[1]);
        picture_fill(&p, 1);
        l2k_encoder *encoder = new_encoder(2);
        l2k_encoder_set(encoder, L2K_ENCODER_PROGRESSION, order);
        assert_int_equal(l2k_encoder_set_precincts(encoder, least, 3), L2K_OK);
        memory_file file = finish_encoder(encoder, &p);
        edit_open(&e, &file);
        assert_int_equal(e.num_packets, 6 * 5 + 12 * 9 + 6 * 5 + 2 * 5 + 4 * 9 + 2 * 5);
        expect(&p, &file, 0);
        free(file.data);
        picture_free(&p);
    }
}

/* ---- Invalid segments ---------------------------------------------------------------------------------------- */

static l2k_status decode_watched(const memory_file *file, watch *w)
{
    picture got;
    l2k_hooks hooks = watch_hooks(w);
    l2k_status status = decode_bytes(&hooks, file->data, file->size, &got);
    if (status == L2K_OK || status == L2K_INCOMPLETE)
        picture_free(&got);
    assert_int_equal(w->live, 0);
    assert_false(w->bad_line);
    return status;
}

/* Decodes the stream with a segment added; expects a status and, if it fails, one error that names the segment. */
static void check_segment(const edit *e, const char *name, edit_bytes segment, bool in_part, l2k_status expected)
{
    watch w;
    edit_plan plan = {.eph = true};
    *(in_part ? &plan.part_extra : &plan.main_extra) = segment;
    memory_file file = edit_write(e, &plan);
    l2k_status status = decode_watched(&file, &w);
    if (status != expected)
        print_message("%s of %zu bytes: %s\n", name, segment.size, w.text);
    assert_int_equal(status, expected);
    assert_int_equal(w.errors, expected != L2K_OK);
    if (expected != L2K_OK)
        assert_int_equal(strncmp(w.text, name, strlen(name)), 0);
    free(file.data);
}

/* Up to four levels, and a COC that names them. */
#define DFS(index, levels, directions) 0xFF, 0x72, 0, 6, 0, index, levels, directions
#define COC_DFS(index)                 0xFF, 0x53, 0, 9, 0, 0, 0x80 | (index), 2, 2, 0, 1

/* HT code-blocks where the style says so, magnitudes of 8 bits. */
#define CAP_HT 0xFF, 0x50, 0, 8, 0, 2, 0, 0, 0x80, 0

/* The stream has one component, one level, one layer. */
static void test_segments(void **unused)
{
    (void)unused;
    const struct {
        const char *name;
        edit_bytes segment;
        bool in_part;
        l2k_status expected;
    } cases[] = {
        {"RGN", SEGMENT(0xFF, 0x5E, 0, 5, 0, 0, 0), false, L2K_OK},
        {"RGN", SEGMENT(0xFF, 0x5E, 0, 5, 0, 1, 0), false, L2K_ERROR_UNSUPPORTED}, /* style */
        {"RGN", SEGMENT(0xFF, 0x5E, 0, 5, 1, 0, 0), false, L2K_ERROR_CORRUPT},     /* component */
        {"RGN", SEGMENT(0xFF, 0x5E, 0, 4, 0, 0), false, L2K_ERROR_CORRUPT},        /* length */
        {"RGN", SEGMENT(0xFF, 0x5E, 0, 3, 0), true, L2K_ERROR_CORRUPT},            /* length */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 2, 1, 4), false, L2K_OK},
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 2, 0, 4), true, L2K_OK},            /* 0 = all components */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 2, 1, 5), true, L2K_ERROR_CORRUPT}, /* order */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 2, 0, 0, 1, 2, 1, 0), true, L2K_ERROR_CORRUPT}, /* resolutions */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 0, 1, 0, 1, 2, 1, 0), true, L2K_ERROR_CORRUPT}, /* components */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 0, 0, 0, 0, 2, 1, 0), true, L2K_ERROR_CORRUPT}, /* layers */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 8, 0, 0, 0, 1, 2, 1), true, L2K_ERROR_CORRUPT},    /* length */
        {"POC", SEGMENT(0xFF, 0x5F, 0, 2), false, L2K_ERROR_CORRUPT},
        {"POC", SEGMENT(0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 2, 1, 0, 0xFF, 0x5F, 0, 9, 0, 0, 0, 1, 2, 1, 0), true,
         L2K_ERROR_CORRUPT}, /* twice */
        {"PPM", SEGMENT(0xFF, 0x60, 0, 2), false, L2K_ERROR_CORRUPT},
        {"PPM", SEGMENT(0xFF, 0x60, 0, 4, 0, 0), false, L2K_ERROR_CORRUPT},             /* half an Nppm */
        {"PPM", SEGMENT(0xFF, 0x60, 0, 8, 0, 0, 0, 0, 9, 0), false, L2K_ERROR_CORRUPT}, /* share too long */
        {"PPM", SEGMENT(0xFF, 0x60, 0, 3, 0), true, L2K_ERROR_CORRUPT},                 /* place */
        {"PPT", SEGMENT(0xFF, 0x61, 0, 2), true, L2K_ERROR_CORRUPT},
        {"PPT", SEGMENT(0xFF, 0x61, 0, 3, 7, 0xFF, 0x61, 0, 3, 7), true, L2K_ERROR_CORRUPT}, /* index twice */
        {"PPT", SEGMENT(0xFF, 0x61, 0, 3, 0), false, L2K_ERROR_CORRUPT},                     /* place */
        {"COC", SEGMENT(0xFF, 0x53, 0, 9, 0, 2, 1, 2, 2, 0, 1), false, L2K_ERROR_CORRUPT},   /* style */
        {"COC", SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 33, 2, 2, 0, 1), false, L2K_ERROR_CORRUPT},  /* levels */
        {"COC", SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 5, 4, 0, 1), false, L2K_ERROR_CORRUPT},   /* block size */
        {"COC", SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 2, 2, 0x80, 1), false, L2K_ERROR_CORRUPT},
        {"component 0", SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 2, 2, 0x40, 1), false, L2K_ERROR_CORRUPT}, /* HT, no CAP */
        {"COC", SEGMENT(CAP_HT, 0xFF, 0x53, 0, 9, 0, 0, 1, 2, 2, 0xC1, 1), false, L2K_ERROR_UNSUPPORTED}, /* bypass */
        {"component 0", SEGMENT(0xFF, 0x53, 0, 9, 0, 0, 1, 2, 2, 0, 2), false, L2K_ERROR_CORRUPT},        /* no ATK */
        {"COC", SEGMENT(0xFF, 0x53, 0, 11, 0, 1, 1, 2, 2, 0, 1, 0x11, 0x01), true, L2K_ERROR_CORRUPT},    /* precinct */
        {"QCC", SEGMENT(0xFF, 0x5D, 0, 4, 0, 3), false, L2K_ERROR_CORRUPT},                               /* style */
        {"QCC", SEGMENT(0xFF, 0x5D, 0, 4, 0, 0x40), false, L2K_ERROR_CORRUPT},                            /* no steps */
        {"component 0", SEGMENT(0xFF, 0x5D, 0, 7, 0, 0x40, 8, 8, 8), false, L2K_ERROR_CORRUPT}, /* too few steps */
        {"CAP", SEGMENT(CAP_HT), false, L2K_OK},
        {"CAP", SEGMENT(CAP_HT), true, L2K_ERROR_CORRUPT},                                     /* place */
        {"CAP", SEGMENT(0xFF, 0x50, 0, 5, 0, 2, 0), false, L2K_ERROR_CORRUPT},                 /* length */
        {"CAP", SEGMENT(0xFF, 0x50, 0, 6, 0, 2, 0, 0), false, L2K_ERROR_CORRUPT},              /* no Ccap15 */
        {"CAP", SEGMENT(0xFF, 0x50, 0, 10, 0, 2, 0, 0, 0, 0, 0, 0), false, L2K_ERROR_CORRUPT}, /* one too many */
        {"CAP", SEGMENT(0xFF, 0x50, 0, 8, 0, 1, 0, 0, 0, 0), false, L2K_ERROR_UNSUPPORTED},    /* Part 16 */
        {"CAP", SEGMENT(0xFF, 0x50, 0, 10, 0x40, 2, 0, 0, 0, 0, 0x80, 0), false, L2K_OK},      /* Parts 2, 15 */
        {"PRF", SEGMENT(0xFF, 0x56, 0, 4, 0, 1), false, L2K_OK},
        {"PRF", SEGMENT(0xFF, 0x56, 0, 3, 0), false, L2K_ERROR_CORRUPT}, /* length */
        {"CPF", SEGMENT(0xFF, 0x59, 0, 4, 0, 1), false, L2K_OK},
        {"CPF", SEGMENT(0xFF, 0x59, 0, 2), false, L2K_ERROR_CORRUPT}, /* length */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 19, 17, 2, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF), false,
         L2K_OK}, /* a kernel without a reference */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 19, 17, 0, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF), false,
         L2K_ERROR_CORRUPT}, /* index 0 */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 19, 17, 1, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF), false,
         L2K_ERROR_CORRUPT}, /* index 1 */
        {"ATK",
         SEGMENT(0xFF, 0x79, 0, 19, 17, 2, 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0x79, 0, 19, 17, 2,
                 2, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0xFF, 0xFF),
         false, L2K_ERROR_CORRUPT},                                                                      /* twice */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 5, 17, 2, 0), false, L2K_ERROR_CORRUPT},                          /* no steps */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 10, 17, 2, 1, 0, 1, 0, 1, 0), false, L2K_ERROR_CORRUPT},          /* no taps */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 13, 17, 2, 1, 0, 1, 0, 1, 1, 0, 1, 0), false, L2K_ERROR_CORRUPT}, /* too long */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 11, 17, 2, 1, 0, 1, 0, 1, 1, 0), false, L2K_ERROR_CORRUPT},       /* too short */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 2), false, L2K_ERROR_CORRUPT},                                    /* empty */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 0, 0, 0, 0, 1, 1, 63, 0, 0, 0), false, L2K_ERROR_CORRUPT}, /* K 0 */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 0x7F, 0x80, 0, 0, 1, 1, 63, 0, 0, 0), false,
         L2K_ERROR_CORRUPT}, /* K infinite */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 0x7F, 0xC0, 0, 0, 1, 1, 63, 0, 0, 0), false,
         L2K_ERROR_CORRUPT}, /* K no number */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 14, 74, 2, 63, 0x80, 0, 0, 1, 1, 0x7F, 0xC0, 0, 0), false,
         L2K_ERROR_CORRUPT}, /* a tap that is no number */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 32, 1, 0, 1, 1, 0, 1), false, L2K_ERROR_CORRUPT}, /* offset 32 */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 0xE0, 1, 0, 1, 1, 0, 1), false,
         L2K_ERROR_CORRUPT}, /* offset -32 */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 19, 17, 2, 2, 31, 1, 0, 1, 1, 0, 1, 31, 0, 0, 0, 1, 0xFF, 0xFF), false,
         L2K_ERROR_CORRUPT},                                                                           /* support */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 0, 16, 0, 1, 1, 0, 1), false, L2K_ERROR_CORRUPT}, /* shift */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 14, 90, 2, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0), false,
         L2K_ERROR_CORRUPT}, /* reversible floats */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 12, 21, 2, 1, 0, 1, 0, 1, 1, 0, 1), false, L2K_ERROR_CORRUPT},      /* type 5 */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 1, 0, 1, 0, 1, 33, 0, 1), false, L2K_ERROR_UNSUPPORTED}, /* 33 taps */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 12, 17, 2, 9, 0, 1, 0, 1, 1, 0, 1), false, L2K_ERROR_UNSUPPORTED},  /* 9 steps */
        {"ATK", SEGMENT(0xFF, 0x79, 0, 2), true, L2K_ERROR_UNSUPPORTED},                                   /* place */
        {"DFS", SEGMENT(DFS(1, 1, 0x80)), false, L2K_OK}, /* one without a reference */
        {"DFS", SEGMENT(DFS(0, 1, 0x80)), false, L2K_ERROR_CORRUPT},
        {"DFS", SEGMENT(DFS(16, 1, 0x80)), false, L2K_ERROR_CORRUPT},
        {"DFS", SEGMENT(DFS(1, 1, 0x80), DFS(1, 1, 0xC0)), false, L2K_ERROR_CORRUPT},              /* twice */
        {"DFS", SEGMENT(0xFF, 0x72, 0, 2), false, L2K_ERROR_CORRUPT},                              /* empty */
        {"DFS", SEGMENT(0xFF, 0x72, 0, 5, 0, 1, 0), false, L2K_ERROR_CORRUPT},                     /* no levels */
        {"DFS", SEGMENT(DFS(1, 5, 0x55)), false, L2K_ERROR_CORRUPT},                               /* too short */
        {"DFS", SEGMENT(0xFF, 0x72, 0, 7, 0, 1, 4, 0x55, 0x55), false, L2K_ERROR_CORRUPT},         /* too long */
        {"DFS: level 2", SEGMENT(DFS(1, 2, 0x40)), false, L2K_ERROR_UNSUPPORTED},                  /* splits nothing */
        {"DFS", SEGMENT(DFS(1, 1, 0x80)), true, L2K_ERROR_UNSUPPORTED},                            /* place */
        {"component 0: levels 1", SEGMENT(COC_DFS(1)), false, L2K_ERROR_CORRUPT},                  /* no DFS */
        {"component 0: levels 2", SEGMENT(DFS(1, 1, 0x80), COC_DFS(2)), false, L2K_ERROR_CORRUPT}, /* another one */
        {"COC: DFS 0", SEGMENT(COC_DFS(0)), false, L2K_ERROR_CORRUPT},
        {"COD", SEGMENT(DFS(1, 1, 0x80), 0xFF, 0x52, 0, 12, 0, 0, 0, 1, 0, 0x81, 2, 2, 0, 1), false,
         L2K_ERROR_CORRUPT}, /* only COC can name it */
        {"component 0: a DFS of 1 level",
         SEGMENT(COC_DFS(1), DFS(1, 1, 0x80), 0xFF, 0x52, 0, 12, 0, 0, 0, 1, 0, 2, 2, 2, 0, 1), false,
         L2K_ERROR_CORRUPT},
        {"component 0: precincts", SEGMENT(DFS(1, 1, 0x80), 0xFF, 0x53, 0, 12, 0, 1, 0x81, 2, 2, 0, 1, 17, 17, 17),
         false, L2K_ERROR_CORRUPT}, /* of two levels, but there is one */
        {"component 0: a precinct", SEGMENT(DFS(1, 1, 0x80), 0xFF, 0x53, 0, 11, 0, 1, 0x81, 2, 2, 0, 1, 17, 16), false,
         L2K_ERROR_CORRUPT}, /* of one column, where columns are split */
        {"component 0: derived", SEGMENT(DFS(1, 1, 0x80), COC_DFS(1), 0xFF, 0x5D, 0, 6, 0, 0x41, 0x40, 0), false,
         L2K_ERROR_UNSUPPORTED},
        {"marker FF5A QPD", SEGMENT(0xFF, 0x5A, 0, 2), false, L2K_ERROR_UNSUPPORTED}, /* Part 2 */
        {"SIZ", SEGMENT(0xFF, 0x51, 0, 2), false, L2K_ERROR_CORRUPT},
        {"marker FF74", SEGMENT(0xFF, 0x74, 0, 2), false, L2K_ERROR_UNSUPPORTED}, /* Part 2 */
        {"COM", SEGMENT(0xFF, 0x64, 0, 1), false, L2K_ERROR_CORRUPT},
        {"a marker without parameters", SEGMENT(0xFF, 0x30), false, L2K_OK},
    };
    static edit e;
    picture p;
    picture_make(&p, 20, 20, 1);
    memory_file file = finish_encoder(new_encoder(1), &p);
    edit_open(&e, &file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_segment(&e, cases[i].name, cases[i].segment, cases[i].in_part, cases[i].expected);
    free(file.data);
    picture_free(&p);
}

/* SOT with one byte changed: offset, value, expected status. A Psot past the end is harmless if all data is present. */
static void test_sot(void **unused)
{
    (void)unused;
    static const struct {
        size_t at;
        uint8_t value;
        l2k_status expected;
    } cases[] = {{3, 11, L2K_ERROR_CORRUPT}, {5, 1, L2K_ERROR_CORRUPT}, {9, 13, L2K_ERROR_CORRUPT},
                 {10, 1, L2K_ERROR_CORRUPT}, {11, 9, L2K_OK},           {6, 1, L2K_OK}};
    picture p;
    picture_make(&p, 8, 8, 1);
    memory_file file = finish_encoder(new_encoder(1), &p);
    size_t sot = 0;
    while (!edit_at(file.data + sot, file.data + file.size, 0x90))
        sot++;
    assert_int_equal(l2k_get_be(file.data + sot + 6, 3), 0); /* Psot has one byte */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        watch w;
        uint8_t *byte = file.data + sot + cases[i].at, kept = *byte;
        *byte = cases[i].value;
        assert_int_equal(decode_watched(&file, &w), cases[i].expected);
        assert_int_equal(w.errors, cases[i].expected == L2K_ERROR_CORRUPT);
        *byte = kept;
    }
    free(file.data);
    picture_free(&p);
}

/* Very many progression changes over very many precincts. */
static void test_many_changes(void **unused)
{
    (void)unused;
    enum { CHANGES = 8191 };
    picture p;
    watch w;
    picture_make(&p, 600, 600, 1); /* 180000 precincts */
    l2k_encoder *encoder = new_encoder(1);
    const l2k_size least[] = {{2, 2}, {1, 1}};
    assert_int_equal(l2k_encoder_set_precincts(encoder, least, 2), L2K_OK);
    l2k_encoder_set(encoder, L2K_ENCODER_SOP, 0);
    l2k_encoder_set(encoder, L2K_ENCODER_EPH, 0);
    memory_file file = finish_encoder(encoder, &p), out = memory_of(NULL, 0);
    size_t sot = 0;
    while (!edit_at(file.data + sot, file.data + file.size, 0x90))
        sot++;
    edit_append(&out, (edit_bytes){file.data, sot});
    edit_put(&out, 0xFF5F, 2);
    edit_put(&out, 2 + 7 * CHANGES, 2);
    for (int i = 0; i < CHANGES; i++)
        edit_put(&out, 0x00000001, 4), edit_put(&out, 0x020100, 3); /* everything, LRCP */
    edit_append(&out, (edit_bytes){file.data + sot, file.size - sot});
    assert_int_equal(decode_watched(&out, &w), L2K_ERROR_TRUNCATED);
    assert_non_null(strstr(w.text, "headers promise"));
    free(out.data);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precision), cmocka_unit_test(test_least_precincts), cmocka_unit_test(test_segments),
        cmocka_unit_test(test_sot),       cmocka_unit_test(test_many_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
