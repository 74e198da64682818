/* The decoder of Dirac and VC-2 by its interface: bytes in portions, states and limits, damaged streams. The frames
 * themselves are checked by tests/cli/dirac.sh.
 *
 *     unit_video [MUTATIONS]
 *
 * damages streams 400 times, or as often as asked; 10000 are for a build with sanitizers (-DL2K_SANITIZE=ON). */
#include "support.h"

#include "lift2k/lift2k.h"

static const char *const names[] = {"inter_haar0", "intra_daub97",     "mvprec_3", "blocks_3_overlap_2",
                                    "vc2_main",    "lowdelay_profile", "depth1",   "vc2hq_9_7_yuv420p10le_32x16"};
enum { NUM_NAMES = sizeof names / sizeof *names };

static uint8_t *read_stream(unsigned number, size_t *bytes)
{
    char path[512];
    uint8_t *data = malloc(1 << 20);
    snprintf(path, sizeof path, "%s/dirac/%s.drc", L2K_TEST_DATA, names[number % NUM_NAMES]);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(data);
    *bytes = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

static uint64_t hash_of(const l2k_video_frame *frame)
{
    uint64_t hash = frame->number;
    for (uint32_t c = 0; c < frame->image.num_components; c++) {
        const l2k_component *k = &frame->image.components[c];
        for (uint32_t y = 0; y < k->height; y++) {
            const uint8_t *row = (const uint8_t *)frame->planes[c].data + (ptrdiff_t)y * frame->planes[c].row_stride;
            for (size_t x = 0; x < k->width * (size_t)frame->planes[c].sample_stride; x++)
                hash = (hash ^ row[x]) * 0x100000001b3;
        }
    }
    return hash;
}

typedef struct outcome {
    unsigned frames, incomplete, errors;
    uint64_t hash;
} outcome;

static outcome decode(l2k_video_decoder *decoder, const uint8_t *data, size_t bytes, size_t portion)
{
    outcome o = {0};
    const l2k_video_frame *frame;
    for (size_t at = 0, n;; at += n) {
        n = bytes - at < portion ? bytes - at : portion;
        assert_int_equal(l2k_video_decoder_push(decoder, data + at, n), L2K_OK);
        for (unsigned failed = 0; failed < 2;) {
            const l2k_status status = l2k_video_decoder_pull(decoder, &frame);
            if (frame)
                o.hash = o.hash * 31 + hash_of(frame);
            o.frames += frame != NULL;
            o.incomplete += status == L2K_INCOMPLETE;
            o.errors += !frame && status != L2K_OK;
            failed = frame ? 0 : status == L2K_OK ? 2 : failed + (status == L2K_ERROR_FORMAT);
        }
        if (n == 0)
            return o;
    }
}

static void test_portions(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < NUM_NAMES; i++) {
        size_t bytes;
        uint8_t *data = read_stream(i, &bytes);
        outcome whole = {0};
        for (unsigned round = 0; round < 4; round++) {
            const size_t portions[] = {bytes, 1000, 13, bytes / 2 + 1};
            l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
            assert_non_null(decoder);
            const outcome o = decode(decoder, data, bytes, portions[round]);
            assert_int_equal(o.incomplete + o.errors, 0);
            whole = round ? whole : o;
            assert_int_equal(o.frames, whole.frames);
            assert_true(o.hash == whole.hash);
            l2k_video_decoder_free(decoder);
        }
        assert_true(whole.frames > 0);
        free(data);
    }
}

/* Two streams one after the other, with bytes between them, are two sequences. */
static void test_sequences(void **unused)
{
    (void)unused;
    size_t bytes, more;
    uint8_t *data = read_stream(0, &bytes), *second = read_stream(4, &more);
    l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
    uint8_t *both = malloc(bytes + more + 5);
    assert_non_null(both);
    memcpy(both, data, bytes);
    memcpy(both + bytes, "BBCxx", 5);
    memcpy(both + bytes + 5, second, more);
    const outcome o = decode(decoder, both, bytes + more + 5, 10000);
    assert_int_equal(o.frames, 25);
    assert_int_equal(o.incomplete + o.errors, 0);
    l2k_video_decoder_free(decoder);
    free(both);
    free(data);
    free(second);
}

static void test_states(void **unused)
{
    (void)unused;
    size_t bytes;
    uint8_t *data = read_stream(0, &bytes);
    const l2k_video_frame *frame;
    l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
    l2k_video_decoder_free(NULL);
    assert_int_equal(l2k_video_decoder_set(decoder, L2K_VIDEO_NUM_OPTIONS, 0), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_decoder_set(decoder, L2K_VIDEO_LIMIT_SAMPLES, -1), L2K_ERROR_ARGUMENT);
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_OK);
    assert_null(frame);
    assert_int_equal(l2k_video_decoder_set(decoder, L2K_VIDEO_LIMIT_SAMPLES, 352 * 288 * 3 / 2 - 1), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, data, bytes), L2K_OK);
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_ERROR_LIMIT);
    assert_int_equal(l2k_video_decoder_push(decoder, NULL, 0), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, data, bytes), L2K_ERROR_STATE);
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_ERROR_FORMAT);
    assert_null(frame);
    l2k_video_decoder_free(decoder);

    decoder = l2k_video_decoder_new(NULL);
    assert_int_equal(l2k_video_decoder_set(decoder, L2K_VIDEO_LIMIT_MEMORY, (int64_t)bytes * 4), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, data, bytes), L2K_OK);
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_ERROR_LIMIT);
    l2k_video_decoder_free(decoder);

    decoder = l2k_video_decoder_new(NULL);
    assert_int_equal(l2k_video_decoder_push(decoder, (const uint8_t *)"no stream", 9), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, NULL, 0), L2K_OK);
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_ERROR_FORMAT);
    l2k_video_decoder_free(decoder);
    free(data);
}

/* ---- Damage -------------------------------------------------------------------------------------------------- */

static void *counting_allocate(void *user, size_t bytes)
{
    ++*(long *)user;
    return malloc(bytes);
}

static void *filling_allocate(void *user, size_t bytes)
{
    void *block = counting_allocate(user, bytes);
    return block ? memset(block, 0x55, bytes) : NULL;
}

static void counting_release(void *user, void *block)
{
    --*(long *)user;
    free(block);
}

static unsigned long mutations = 400;

/* Whatever is damaged, memory comes back, and what follows a damaged picture is decoded. */
static void test_mutations(void **unused)
{
    (void)unused;
    unsigned long frames = 0, incomplete = 0;
    for (unsigned i = 0; i < mutations; i++) {
        long blocks = 0;
        size_t bytes;
        const l2k_hooks hooks = {.allocate = counting_allocate, .release = counting_release, .user = &blocks};
        uint8_t *data = read_stream(i, &bytes);
        for (uint32_t n = random_between(1, 20); n > 0; n--) {
            const size_t at = random_below(random_below(3) ? bytes : 200);
            data[at] = random_below(2) ? (uint8_t)random_u64() : (uint8_t)(data[at] ^ 1u << random_below(8));
        }
        bytes = random_below(4) ? bytes : random_between(1, (uint32_t)bytes);
        l2k_video_decoder *decoder = l2k_video_decoder_new(&hooks);
        assert_int_equal(l2k_video_decoder_set(decoder, L2K_VIDEO_LIMIT_SAMPLES, 1 << 20), L2K_OK);
        assert_int_equal(l2k_video_decoder_set(decoder, L2K_VIDEO_CPU, i % 2 ? L2K_CPU_C : L2K_CPU_AUTO), L2K_OK);
        const outcome o = decode(decoder, data, bytes, random_between(1000, 100000));
        frames += o.frames, incomplete += o.incomplete;
        l2k_video_decoder_free(decoder);
        assert_int_equal(blocks, 0);
        free(data);
    }
    print_message("%lu mutations: %lu frames, %lu of them incomplete\n", mutations, frames, incomplete);
    assert_true(frames > mutations);
    assert_true(incomplete > mutations / 10);
}

/* A picture that ends early, by its last bytes or by most of them, is told. */
static void test_ends(void **unused)
{
    (void)unused;
    enum { PARSE_INFO = 13 };
    for (unsigned i = 0; i < 2 * NUM_NAMES; i++) {
        size_t bytes, last = 0;
        uint8_t *data = read_stream(i / 2, &bytes);
        for (size_t at = 0; at + PARSE_INFO <= bytes; at++) /* the last picture */
            if (memcmp(data + at, "BBCD", 4) == 0 && data[at + 4] & 8)
                last = at;
        assert_true(last > 0);
        l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
        const size_t length = (size_t)data[last + 6] << 16 | data[last + 7] << 8 | data[last + 8];
        const size_t end = last + (i % 2 ? PARSE_INFO + 7 : length - 20);
        const outcome o = decode(decoder, data, end, bytes);
        assert_true(o.frames > 0 && o.incomplete == 1);
        l2k_video_decoder_free(decoder);
        free(data);
    }
}

/* An intra picture that ends in its header, in a stream without references, is grey. */
static void test_grey(void **unused)
{
    (void)unused;
    size_t bytes, first = 0;
    uint8_t *data = read_stream(4, &bytes); /* VC-2 */
    const l2k_video_frame *frame;
    while (memcmp(data + first, "BBCD", 4) != 0 || !(data[first + 4] & 8))
        first++;
    long blocks = 0;
    const l2k_hooks hooks = {.allocate = filling_allocate, .release = counting_release, .user = &blocks};
    l2k_video_decoder *decoder = l2k_video_decoder_new(&hooks);
    assert_int_equal(l2k_video_decoder_push(decoder, data, first + 13), L2K_OK);
    assert_int_equal(l2k_video_decoder_push(decoder, NULL, 0), L2K_OK);
    assert_int_equal(l2k_video_decoder_pull(decoder, &frame), L2K_INCOMPLETE);
    for (uint32_t c = 0; c < 3; c++)
        assert_int_equal(*(const uint8_t *)frame->planes[c].data, 128);
    l2k_video_decoder_free(decoder);
    free(data);
}

int main(int count, char **arguments)
{
    char *end = "";
    if (count > 1)
        mutations = strtoul(arguments[1], &end, 10);
    if (count > 2 || *end || mutations == 0) {
        fprintf(stderr, "unit_video [MUTATIONS]: how often streams are damaged; 400\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_portions), cmocka_unit_test(test_sequences),
                                       cmocka_unit_test(test_states),   cmocka_unit_test(test_mutations),
                                       cmocka_unit_test(test_ends),     cmocka_unit_test(test_grey)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
