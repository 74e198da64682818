/* gpu_allocations [all]: every call that acquires a resource of a GPU fails once, alone and together with all later
 * ones; so does every host allocation of the CUDA backend. Then calls that give the device work or wait for it: some 50
 * of each scenario, or all. Linked with --wrap for the calls below.
 * Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "allocation_scenarios.h"

#include "device.h"
#include "require.h"
#include "volume_scenarios.h"

/* ---- CUDA, wrapped ------------------------------------------------------------------------------------------- */

static size_t calls, fail_at = SIZE_MAX, live; /* of resources */
static size_t orders, break_at = SIZE_MAX;     /* work, and waits */
static bool once, breaks_all;

enum { OUT_OF_MEMORY = 2, LAUNCH_FAILURE = 719 }; /* cudaErrorMemoryAllocation, cudaErrorLaunchFailure */

static bool fails(void)
{
    size_t n = calls++;
    return once ? n == fail_at : n >= fail_at;
}

static bool breaks(void)
{
    size_t n = orders++;
    return once ? n == break_at : n >= break_at;
}

/* int replaces cudaError_t, void * CUDA's handles. */
#define WRAP(name, parameters, arguments)                                                                              \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        if (fails())                                                                                                   \
            return OUT_OF_MEMORY;                                                                                      \
        int error = __real_##name arguments;                                                                           \
        live += error == 0;                                                                                            \
        return error;                                                                                                  \
    }

#define WRAP_END(name, type)                                                                                           \
    int __real_##name(type what);                                                                                      \
    int __wrap_##name(type what);                                                                                      \
    int __wrap_##name(type what)                                                                                       \
    {                                                                                                                  \
        live--;                                                                                                        \
        return __real_##name(what);                                                                                    \
    }

#define WRAP_ORDER(name, parameters, arguments)                                                                        \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        return breaks() ? LAUNCH_FAILURE : __real_##name arguments;                                                    \
    }

/* The device does nothing after a wait that fails. */
#define WRAP_WAIT(name)                                                                                                \
    int __real_##name(void *what);                                                                                     \
    int __wrap_##name(void *what);                                                                                     \
    int __wrap_##name(void *what)                                                                                      \
    {                                                                                                                  \
        const int error = __real_##name(what);                                                                         \
        return breaks() ? LAUNCH_FAILURE : error;                                                                      \
    }

WRAP(cudaMalloc, (void **block, size_t bytes), (block, bytes))
WRAP(cudaMallocHost, (void **block, size_t bytes), (block, bytes))
WRAP(cudaStreamCreateWithFlags, (void **stream, unsigned flags), (stream, flags))
WRAP(cudaGraphInstantiate, (void **exec, void *graph, unsigned long long flags), (exec, graph, flags))
WRAP(cudaEventCreateWithFlags, (void **event, unsigned flags), (event, flags))
WRAP_END(cudaFree, void *)
WRAP_END(cudaFreeHost, void *)
WRAP_END(cudaStreamDestroy, void *)
WRAP_END(cudaGraphExecDestroy, void *)
WRAP_END(cudaEventDestroy, void *)
WRAP_ORDER(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream),
           (to, from, bytes, kind, stream))
WRAP_ORDER(cudaMemcpy2DAsync,
           (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows, int kind,
            void *stream),
           (to, to_pitch, from, from_pitch, bytes, rows, kind, stream))
WRAP_ORDER(cudaMemsetAsync, (void *to, int value, size_t bytes, void *stream), (to, value, bytes, stream))
WRAP_ORDER(cudaGraphLaunch, (void *exec, void *stream), (exec, stream))
WRAP_ORDER(cudaLaunchKernelExC, (const void *config, const void *kernel, void **arguments), (config, kernel, arguments))
WRAP_ORDER(cudaEventRecord, (void *event, void *stream), (event, stream))
WRAP_ORDER(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))
WRAP_WAIT(cudaStreamSynchronize)
WRAP_WAIT(cudaEventSynchronize)

/* ---- Scenarios ----------------------------------------------------------------------------------------------- */

static l2k_plane device_planes[MOST_CHANNELS];

/* Before anything fails. */
static void make_device_planes(const picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        uint32_t width, height;
        l2k_component_size(&p->image, c, &width, &height);
        const size_t bytes = (size_t)p->planes[c].row_stride * height;
        device_planes[c] = p->planes[c];
        device_planes[c].data = gpu_take(bytes);
        gpu_copy_in(device_planes[c].data, p->planes[c].data, bytes);
    }
}

static void free_device_planes(const picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        gpu_give_back(device_planes[c].data);
}

static l2k_status encode_device_planes(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    return scenario_encode_whole(files, hooks, out, L2K_MEMORY_DEVICE, device_planes);
}

static const scenario from_device = {"encode HT, one tile, device planes", encode_device_planes, true};

static memory_file with_ratio; /* as the CPU makes it */
static bool ratio_of_ht;

/* Two images on one encoder, of small code-blocks: their list of truncation points is long enough for the device. */
static l2k_status encode_ratio(const scenario_files *files, const l2k_hooks *hooks, memory_file *out, l2k_memory memory,
                               const l2k_plane *planes)
{
    static const double ratio = 3;
    const l2k_stream stream = stream_of(out);
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, false);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_STYLE, ratio_of_ht ? L2K_STYLE_HT : 0);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_WAVELET, ratio_of_ht ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_BLOCK_WIDTH, 4);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_BLOCK_HEIGHT, 4);
    if (status == L2K_OK)
        status = l2k_encoder_set_layers(e, L2K_TARGET_RATIO, &ratio, 1);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_MEMORY, memory);
    for (int i = 0; i < 2 && status == L2K_OK; i++) {
        out->size = 0;
        status = l2k_encoder_encode(e, &files->p.image, planes, &stream);
    }
    if (status != L2K_OK)
        out->size = 0;
    l2k_encoder_free(e);
    return status;
}

static l2k_status encode_device_ratio(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    const l2k_status status = encode_ratio(files, hooks, out, L2K_MEMORY_DEVICE, device_planes);
    if (status == L2K_OK)
        assert_true(out->size == with_ratio.size && memcmp(out->data, with_ratio.data, out->size) == 0);
    return status;
}

/* Before anything fails. */
static void make_with_ratio(const scenario_files *files)
{
    scenario_files on_cpu = *files;
    on_cpu.backend = L2K_BACKEND_CPU;
    with_ratio = memory_of(NULL, 0);
    assert_int_equal(encode_ratio(&on_cpu, NULL, &with_ratio, L2K_MEMORY_HOST, files->p.planes), L2K_OK);
}

static const scenario with_a_ratio = {"encode one tile, a ratio, device planes", encode_device_ratio, true};

/* Transcoding calls no device. */
static bool is_on_device(const scenario *s)
{
    return s->run != scenario_transcode_tiles && s->run != scenario_transcode_layers;
}

static void fail_each_call(const scenario *s, const scenario_files *files);

static void fail_each_way(const scenario *s, const scenario_files *files)
{
    for (int mode = 0; mode < 2; mode++) {
        once = mode;
        fail_each_call(s, files);
        scenario_fail_each(s, files, once);
        assert_int_equal(live, 0);
    }
}

static void fail_each_call(const scenario *s, const scenario_files *files)
{
    size_t runs = 0;
    for (size_t n = 0;; n++) {
        watch w = {.fail_at = SIZE_MAX};
        calls = live = 0;
        fail_at = n;
        l2k_status status = scenario_live(s, files, &w);
        bool failed = calls > n;
        fail_at = SIZE_MAX;
        assert_int_equal(live, 0);
        /* where there are cached plans, one that could not be made is tried again without them */
        assert_true(status == (failed ? L2K_ERROR_MEMORY : L2K_OK) || (once && status == L2K_OK));
        assert_true(status == L2K_OK || strstr(w.text, "CUDA"));
        if (!failed)
            break;
        runs++;
    }
    print_message("%s: %zu calls of CUDA failed %s\n", s->name, runs, once ? "alone" : "with all after them");
    assert_true(runs >= 4);
}

static void test_each(void **unused)
{
    (void)unused;
    scenario_files files;
    scenario_files_make(&files, L2K_BACKEND_CUDA);
    make_device_planes(&files.p);
    for (int i = 0; i < NUM_SCENARIOS; i++)
        if (is_on_device(&scenarios[i]))
            fail_each_way(&scenarios[i], &files);
    fail_each_way(&from_device, &files);
    free_device_planes(&files.p);
    scenario_files_free(&files);
}

static void test_volumes(void **unused)
{
    (void)unused;
    const scenario_files files = {.backend = L2K_BACKEND_CUDA};
    volume_case_make();
    for (int i = 0; i < NUM_VOLUME_SCENARIOS; i++)
        fail_each_way(&volume_scenarios[i], &files);
    volume_case_free();
}

/* AUTO does on the CPU what fails on the GPU, and gives the same. */
static void fall_back_each_way(scenario_run *run, const scenario_files *files)
{
    for (int mode = 0; mode < 2; mode++) {
        size_t failed = 0;
        for (bool again = true; again; failed++) {
            const scenario s = {"", run, true};
            watch w = {.fail_at = SIZE_MAX};
            once = mode;
            calls = live = 0;
            fail_at = failed;
            assert_int_equal(scenario_live(&s, files, &w), L2K_OK);
            again = calls > failed;
            fail_at = SIZE_MAX;
            assert_int_equal(live, 0);
            assert_int_equal(w.errors, 0);
        }
        assert_true(failed > 4);
    }
}

static void test_fall_back(void **unused)
{
    (void)unused;
    static scenario_run *const runs[] = {scenario_encode_ht,  scenario_encode_ratio, scenario_encode_psnr,
                                         scenario_decode_ht,  scenario_encode_tiles, scenario_encode_ht_whole,
                                         encode_device_planes};
    scenario_files files;
    scenario_files_make(&files, L2K_BACKEND_AUTO);
    make_device_planes(&files.p);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        fall_back_each_way(runs[i], &files);
    free_device_planes(&files.p);
    scenario_files_free(&files);
}

/* A picture that is large enough for the ratio to be met on the device. */
static void test_ratio(void **unused)
{
    (void)unused;
    scenario_files files = {.backend = L2K_BACKEND_CUDA};
    picture_make(&files.p, 150, 110, 3);
    make_device_planes(&files.p);
    for (int ht = 0; ht < 2; ht++) {
        ratio_of_ht = ht;
        make_with_ratio(&files);
        files.backend = L2K_BACKEND_CUDA;
        fail_each_way(&with_a_ratio, &files);
        files.backend = L2K_BACKEND_AUTO;
        fall_back_each_way(encode_device_ratio, &files);
        free(with_ratio.data);
    }
    free_device_planes(&files.p);
    picture_free(&files.p);
}

/* ---- Work that fails ------------------------------------------------------------------------------------------- */

/* What a scenario gives if call number `at` breaks, and every one after it unless `once`. */
static l2k_status run_breaking(scenario_run *run, const scenario_files *files, size_t at, watch *w, memory_file *out)
{
    const l2k_hooks hooks = {watch_allocate, watch_release, watch_message, NULL, w};
    *w = (watch){.fail_at = SIZE_MAX};
    *out = memory_of(NULL, 0);
    orders = live = 0;
    break_at = at;
    const l2k_status status = run(files, &hooks, out);
    break_at = SIZE_MAX;
    assert_int_equal(live, 0);
    assert_int_equal(w->live, 0);
    return status;
}

/* Calls `check` for some of the calls, or all. */
static void break_each(scenario_run *run, const scenario_files *files,
                       void (*check)(l2k_status status, const watch *w, const memory_file *out,
                                     const memory_file *right))
{
    watch w;
    memory_file right, out;
    assert_int_equal(run_breaking(run, files, SIZE_MAX, &w, &right), L2K_OK);
    const size_t count = orders, step = breaks_all ? 1 : count / 50 + 1;
    assert_true(count > 8);
    for (int mode = 0; mode < 2; mode++)
        for (size_t at = 0; at < count; at += step) {
            once = mode;
            check(run_breaking(run, files, at, &w, &out), &w, &out, &right);
            free(out.data);
        }
    free(right.data);
}

static void check_same(l2k_status status, const watch *w, const memory_file *out, const memory_file *right)
{
    assert_int_equal(status, L2K_OK);
    assert_int_equal(w->errors, 0);
    assert_int_equal(out->size, right->size);
    assert_true(out->size == 0 || memcmp(out->data, right->data, out->size) == 0);
}

/* What was only sent ahead may fail without consequence. */
static void check_fails(l2k_status status, const watch *w, const memory_file *out, const memory_file *right)
{
    if (status == L2K_OK)
        check_same(status, w, out, right);
    else
        assert_true(status == L2K_ERROR_BACKEND && w->errors > 0 && strstr(w->text, "CUDA"));
}

static void test_device_breaks(void **unused)
{
    (void)unused;
    scenario_files files;
    scenario_files_make(&files, L2K_BACKEND_CUDA);
    for (int i = 0; i < NUM_SCENARIOS; i++)
        if (is_on_device(&scenarios[i]))
            break_each(scenarios[i].run, &files, check_fails);
    volume_case_make();
    for (int i = 0; i < NUM_VOLUME_SCENARIOS; i++)
        break_each(volume_scenarios[i].run, &files, check_fails);
    volume_case_free();
    scenario_files_free(&files);
}

/* AUTO gives the same on the CPU, wherever the device broke. */
static void test_fall_back_when_broken(void **unused)
{
    (void)unused;
    static scenario_run *const runs[] = {scenario_encode_ht,       scenario_encode_ratio, scenario_encode_psnr,
                                         scenario_encode_ht_whole, scenario_encode_tiles, scenario_encode_layers,
                                         scenario_decode_ht,       scenario_decode_tiles, scenario_decode_region,
                                         scenario_decode_layers};
    scenario_files files;
    scenario_files_make(&files, L2K_BACKEND_AUTO);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        break_each(runs[i], &files, check_same);
    scenario_files_free(&files);
}

/* ---- Several images with one decoder, into device memory ------------------------------------------------------- */

typedef struct device_case {
    memory_file file; /* HT code-blocks in one tile */
    const picture *p;
    uint8_t *device; /* interleaved, 32 bits a sample */
    size_t bytes;
} device_case;

static void make_device_case(device_case *k, const scenario_files *files)
{
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_non_null(e);
    assert_int_equal(scenario_set(e, files, false), L2K_OK);
    assert_int_equal(l2k_encoder_set(e, L2K_ENCODER_STYLE, L2K_STYLE_HT), L2K_OK);
    k->file = memory_of(NULL, 0);
    k->p = &files->p;
    assert_int_equal(run_encoder(e, k->p, &k->file), L2K_OK);
    l2k_encoder_free(e);
    k->bytes = (size_t)k->p->width[0] * k->p->height[0] * 3 * sizeof(int32_t);
    k->device = gpu_take(k->bytes);
}

static void free_device_case(device_case *k)
{
    free(k->file.data);
    gpu_give_back(k->device);
}

static l2k_status decode_to_device(l2k_decoder *d, const device_case *k)
{
    l2k_plane planes[3];
    for (uint32_t c = 0; c < 3; c++)
        planes[c] = (l2k_plane){k->device + c * sizeof(int32_t), (ptrdiff_t)(k->p->width[0] * 3 * sizeof(int32_t)),
                                3 * sizeof(int32_t), L2K_SAMPLE_S32};
    l2k_image image;
    l2k_status status = l2k_decoder_open_memory(d, k->file.data, k->file.size);
    if (status == L2K_OK)
        status = l2k_decoder_image(d, &image);
    return status == L2K_OK ? l2k_decoder_decode(d, planes) : status;
}

static void check_device(const device_case *k)
{
    int32_t *samples = malloc(k->bytes);
    assert_non_null(samples);
    gpu_copy_out(samples, k->device, k->bytes);
    for (size_t i = 0; i < k->bytes / sizeof *samples; i++)
        assert_int_equal(samples[i], k->p->samples[i % 3][i / 3]);
    free(samples);
}

static l2k_decoder *device_decoder(const l2k_hooks *hooks, const scenario_files *files)
{
    l2k_decoder *d = l2k_decoder_new(hooks);
    assert_non_null(d);
    assert_int_equal(scenario_set_decoder(d, files), L2K_OK);
    assert_int_equal(l2k_decoder_set(d, L2K_DECODER_MEMORY, L2K_MEMORY_DEVICE), L2K_OK);
    return d;
}

/* From the second image on neither the hook nor CUDA is asked for anything. */
static void test_nothing_new(void **unused)
{
    (void)unused;
    watch w;
    const l2k_hooks hooks = watch_hooks(&w);
    scenario_files files;
    device_case k;
    scenario_files_make(&files, L2K_BACKEND_CUDA);
    make_device_case(&k, &files);
    l2k_decoder *d = device_decoder(&hooks, &files);
    for (int image = 0; image < 4; image++) {
        const size_t allocations = w.allocations, called = calls;
        assert_int_equal(decode_to_device(d, &k), L2K_OK);
        check_device(&k);
        assert_true(image < 2 || (w.allocations == allocations && calls == called));
    }
    l2k_decoder_free(d);
    assert_int_equal(w.live, 0);
    free_device_case(&k);
    scenario_files_free(&files);
}

/* Each call fails once, during the first image or the second. */
static void test_device_planes(void **unused)
{
    (void)unused;
    scenario_files files;
    device_case k;
    scenario_files_make(&files, L2K_BACKEND_CUDA);
    make_device_case(&k, &files);
    bool failed = true;
    for (size_t n = 0; failed; n++) {
        once = true;
        calls = live = 0;
        l2k_decoder *d = device_decoder(NULL, &files);
        fail_at = n;
        l2k_status status = L2K_OK;
        for (int image = 0; image < 3; image++) {
            status = decode_to_device(d, &k);
            assert_true(status == L2K_OK || status == L2K_ERROR_MEMORY);
            if (status == L2K_OK)
                check_device(&k);
        }
        assert_int_equal(status, L2K_OK); /* the decoder can be used again */
        failed = calls > n;
        fail_at = SIZE_MAX;
        l2k_decoder_free(d);
        assert_int_equal(live, 0);
    }
    free_device_case(&k);
    scenario_files_free(&files);
}

int main(int argc, char **argv)
{
    breaks_all = argc > 1 && strcmp(argv[1], "all") == 0;
    int missing = gpu_missing();
    if (missing)
        return missing;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),          cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_fall_back),     cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_device_breaks), cmocka_unit_test(test_fall_back_when_broken),
        cmocka_unit_test(test_nothing_new),   cmocka_unit_test(test_device_planes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
