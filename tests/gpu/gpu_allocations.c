/* gpu_allocations: every call that acquires a resource of a GPU fails once, alone and together with all later ones; so
 * does every host allocation of the CUDA backend. Linked with --wrap for the calls below.
 * Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "allocation_scenarios.h"

#include "gpu_device.h"
#include "gpu_require.h"

/* ---- CUDA, wrapped ------------------------------------------------------------------------------------------- */

static size_t calls, fail_at = SIZE_MAX, live;
static bool once;

enum { OUT_OF_MEMORY = 2 }; /* cudaErrorMemoryAllocation */

static bool fails(void)
{
    size_t n = calls++;
    return once ? n == fail_at : n >= fail_at;
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

WRAP(cudaMalloc, (void **block, size_t bytes), (block, bytes))
WRAP(cudaMallocHost, (void **block, size_t bytes), (block, bytes))
WRAP(cudaStreamCreateWithFlags, (void **stream, unsigned flags), (stream, flags))
WRAP(cudaGraphInstantiate, (void **exec, void *graph, unsigned long long flags), (exec, graph, flags))
WRAP_END(cudaFree, void *)
WRAP_END(cudaFreeHost, void *)
WRAP_END(cudaStreamDestroy, void *)
WRAP_END(cudaGraphExecDestroy, void *)

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
        assert_true(status == (failed ? L2K_ERROR_MEMORY : L2K_OK));
        assert_true(!failed || strstr(w.text, "CUDA"));
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
        fail_each_way(&scenarios[i], &files);
    fail_each_way(&from_device, &files);
    free_device_planes(&files.p);
    scenario_files_free(&files);
}

/* AUTO does on the CPU what fails on the GPU, and gives the same. */
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
        for (int mode = 0; mode < 2; mode++) {
            size_t failed = 0;
            for (bool again = true; again; failed++) {
                const scenario s = {"", runs[i], true};
                watch w = {.fail_at = SIZE_MAX};
                once = mode;
                calls = live = 0;
                fail_at = failed;
                assert_int_equal(scenario_live(&s, &files, &w), L2K_OK);
                again = calls > failed;
                fail_at = SIZE_MAX;
                assert_int_equal(live, 0);
                assert_int_equal(w.errors, 0);
            }
            assert_true(failed > 4);
        }
    free_device_planes(&files.p);
    scenario_files_free(&files);
}

int main(void)
{
    int missing = gpu_missing();
    if (missing)
        return missing;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each), cmocka_unit_test(test_fall_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
