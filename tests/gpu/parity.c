/* gpu_parity [CASES [SEED [SIDE [WAVELET]]]]: compares the CUDA backend with the CPU's on random shapes: coefficients
 * and samples must be equal bit for bit, of the whole and of windows. Two concurrent host plans, with pageable and with
 * pinned planes, and the device path; all formats. WAVELET is a name as in messages, such as haar, "kernels" for CASES
 * of each named kernel, or "all" for these as well as 5/3 and 9/7, the default. Exits with 77 without a GPU, unless
 * L2K_REQUIRE_GPU=1. */
#include "require.h"
#include "parity_cases.h"

/* ---- Device plans -------------------------------------------------------------------------------------------- */

/* The picture in device memory, with its gaps and guards. */
static uint8_t *to_device(const test_case *t, const picture *p, l2k_plane planes[MAX_COMPONENTS])
{
    uint8_t *device = gpu_take(p->bytes);
    gpu_copy_in(device, p->memory, p->bytes);
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        planes[c] = p->planes[c];
        planes[c].data = device + ((uint8_t *)p->planes[c].data - p->memory);
    }
    return device;
}

static bool same_memory(const picture *p, const uint8_t *device)
{
    uint8_t *copy = malloc(p->bytes);
    if (!copy)
        exit(1);
    gpu_copy_out(copy, device, p->bytes);
    bool same = memcmp(copy, p->memory, p->bytes) == 0;
    free(copy);
    return same;
}

/* A view of the same coefficients on the host, to be freed by the caller. */
static l2k_coefficients host_copy(const l2k_coefficients *view)
{
    l2k_coefficients copy = *view;
    copy.on_device = false;
    copy.base = malloc(view_bytes(view));
    if (!copy.base)
        exit(1);
    gpu_copy_out(copy.base, view->base, view_bytes(view));
    return copy;
}

static bool check_device_view(const l2k_coefficients *expected, const l2k_coefficients *view)
{
    l2k_coefficients copy = host_copy(view);
    bool same = same_coefficients(expected, &copy) && guard_is_clean(view);
    free(copy.base);
    return same;
}

/* Inverse: copies the CPU's coefficients to the device. Forward: poisons the device's. */
static void give_coefficients(const test_case *t, const l2k_plan *cpu, const l2k_plan *plan)
{
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(plan, c);
        l2k_coefficients copy = host_copy(view);
        if (t->spec.direction == L2K_INVERSE)
            fill_coefficients(t, l2k_plan_coefficients(cpu, c), &copy);
        else
            poison(&copy);
        gpu_copy_in(view->base, copy.base, view_bytes(view));
        free(copy.base);
    }
}

/* Forward: the device's picture must not change. Inverse: it must equal the CPU's result in the same memory. */
static bool test_device(const l2k_context *context, test_case *t)
{
    t->spec.memory = L2K_PLAN_DEVICE;
    t->pinned = false;
    set_direction(t, below(2) ? L2K_INVERSE : L2K_FORWARD);
    if (l2k_plan_wavelet(&t->components[0])->is_float && !t->spec.component_transform && below(2))
        t->type = L2K_SAMPLE_F32;
    bool forward = t->spec.direction == L2K_FORWARD;
    l2k_plan *cpu = make_plan(context, t, L2K_BACKEND_CPU), *plan = make_plan(context, t, L2K_BACKEND_CUDA);
    picture p = make_picture(t, t->components[0].discard);
    l2k_plane planes[MAX_COMPONENTS];
    if (forward)
        fill_picture(t, &p);
    uint8_t *device = to_device(t, &p, planes);
    give_coefficients(t, cpu, plan);
    bool same = l2k_plan_run_on_device(plan, planes, NULL) == L2K_OK;
    same = l2k_plan_run(cpu, p.planes) == L2K_OK && same;
    gpu_wait();
    same = same && same_memory(&p, device);
    for (uint32_t c = 0; c < t->spec.num_components && same; c++)
        same = check_device_view(l2k_plan_coefficients(cpu, c), l2k_plan_coefficients(plan, c));
    if (!same)
        describe(t, "DEVICE PATH DIFFERS");
    gpu_give_back(device);
    free_picture(&p);
    l2k_plan_free(cpu);
    l2k_plan_free(plan);
    return same;
}

/* Whether the cases of a wavelet are asked for. */
static bool is_chosen(const char *name, int wavelet)
{
    const bool kernel = wavelet > L2K_WAVELET_9_7;
    if (strcmp(name, "all") == 0 || (kernel && strcmp(name, "kernels") == 0))
        return true;
    return wavelet < 0 ? !*name : strcmp(name, l2k_wavelet_get((l2k_wavelet)wavelet)->name) == 0;
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400, failed = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint32_t most = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 600;
    const char *name = argc > 4 ? argv[4] : "";
    l2k_context context = {.hooks = {.message = print_message}, .threads = l2k_thread_count(0)};
    bool any = false;
    int ending = gpu_missing();
    if (ending)
        return ending;
    for (int wavelet = -1; wavelet <= L2K_WAVELET_W4; wavelet++)
        if (is_chosen(name, wavelet)) {
            choose_wavelet(&context, wavelet);
            failed += run_cases(&context, L2K_BACKEND_CUDA, test_device, cases, seed, most);
            any = true;
        }
    if (!any)
        fprintf(stderr, "gpu_parity: there is no wavelet %s\n", name);
    return failed != 0 || !any;
}
