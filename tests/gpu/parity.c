/* gpu_parity [CASES [SEED [SIDE [WAVELET]]]]: compares the CUDA backend with the CPU's on random shapes: coefficients
 * and samples must be equal bit for bit, of the whole and of windows. Two concurrent host plans, with pageable and with
 * pinned planes, and the device path; all formats. WAVELET is a name as in messages, such as haar, "kernels" for CASES
 * of each named kernel, or "all" for these as well as 5/3 and 9/7, the default. Exits with 77 without a GPU, unless
 * L2K_REQUIRE_GPU=1. */
#include "gpu_cases.h"
#include "gpu_require.h"
#include "transform/device.h"

/* A plan for the case; exits if it cannot be created. */
static l2k_plan *make_plan(const l2k_context *context, const test_case *t, l2k_backend backend)
{
    l2k_plan_spec spec = t->spec;
    l2k_plan *plan;
    spec.on_device = spec.on_device && backend == L2K_BACKEND_CUDA;
    if (l2k_plan_create(context, backend, &spec, &plan) == L2K_OK)
        return plan;
    describe(t, "no plan");
    exit(1);
}

static void choose_side(uint32_t first, uint32_t end, uint32_t *low, uint32_t *high)
{
    const uint32_t all = end - first;
    *low = below(4) ? first + below(below(2) ? all : all < 12 ? all : 12) : first;
    *high = below(4) ? *low + 1 + below(end - *low) : end;
}

/* Half of the inverse plans have a window. */
static void choose_window(test_case *t)
{
    l2k_plan_component *c = t->components;
    const l2k_rect r = l2k_resolution_rect(c->rect, c->discard);
    c->window = (l2k_rect){0};
    c->cell_log2_width = c->cell_log2_height = 0;
    if (t->spec.direction == L2K_INVERSE && !l2k_rect_empty(r) && below(2)) {
        choose_side(r.x0, r.x1, &c->window.x0, &c->window.x1);
        choose_side(r.y0, r.y1, &c->window.y0, &c->window.y1);
        c->cell_log2_width = (uint8_t)(below(2) ? 6 : below(4));
        c->cell_log2_height = (uint8_t)(below(2) ? 6 : below(4));
    }
    for (uint32_t i = 1; i < t->spec.num_components; i++) {
        t->components[i].window = c->window;
        t->components[i].cell_log2_width = c->cell_log2_width;
        t->components[i].cell_log2_height = c->cell_log2_height;
    }
}

/* The most bits of coefficients, up to nine, with which LL fits int16; 0: none. */
static unsigned narrow_bits(const test_case *t, unsigned discard)
{
    uint8_t bits[L2K_MAX_SUBBANDS];
    l2k_plan_component component = t->components[0];
    component.discard = discard;
    for (unsigned most = 9; most > 0; most--) {
        memset(bits, (int)most, sizeof bits);
        if (l2k_low_fits_int16(&component, bits))
            return most;
    }
    return 0;
}

static void set_direction(test_case *t, l2k_direction direction)
{
    unsigned discard = direction == L2K_INVERSE ? below(t->components[0].levels + 1) / 2 : 0;
    t->narrow_bits = direction == L2K_INVERSE && below(2) ? narrow_bits(t, discard) : 0;
    const bool narrow = t->narrow_bits > 0;
    t->spec.direction = direction;
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        t->components[c].discard = discard;
        t->components[c].narrow_low = narrow && (c == 0 || below(3)); /* values are as small in any case */
    }
    choose_window(t);
}

/* ---- Host plans, two concurrent --------------------------------------------------------------------- */

static bool run_both(l2k_plan *const plans[2], const picture pictures[2])
{
    bool ok = true;
    for (int i = 0; i < 2; i++)
        ok = l2k_plan_begin(plans[i], pictures[i].planes) == L2K_OK && ok;
    for (int i = 0; i < 2; i++)
        ok = l2k_plan_finish(plans[i]) == L2K_OK && ok;
    return ok;
}

static bool test_forward(const l2k_context *context, test_case *t)
{
    set_direction(t, L2K_FORWARD);
    l2k_plan *cpu = make_plan(context, t, L2K_BACKEND_CPU), *plans[2];
    picture pictures[2];
    for (int i = 0; i < 2; i++) {
        plans[i] = make_plan(context, t, L2K_BACKEND_CUDA);
        pictures[i] = make_picture(t, 0);
        fill_picture(t, &pictures[i]);
        for (uint32_t c = 0; c < t->spec.num_components; c++)
            poison(l2k_plan_coefficients(plans[i], c));
    }
    bool same = run_both(plans, pictures);
    for (int i = 0; i < 2; i++) {
        same = l2k_plan_forward(cpu, pictures[i].planes) == L2K_OK && same;
        for (uint32_t c = 0; c < t->spec.num_components && same; c++)
            same = same_coefficients(l2k_plan_coefficients(cpu, c), l2k_plan_coefficients(plans[i], c)) &&
                   guard_is_clean(l2k_plan_coefficients(plans[i], c));
        l2k_plan_free(plans[i]);
        free_picture(&pictures[i]);
    }
    if (!same)
        describe(t, "FORWARD DIFFERS");
    l2k_plan_free(cpu);
    return same;
}

/* Clears both views but for some parts, of which the plan is told. */
static void hold_parts(const test_case *t, const l2k_plan *cpu, l2k_plan *plan)
{
    l2k_plan_hold_nothing(plan);
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        const l2k_coefficients *of_cpu = l2k_plan_coefficients(cpu, c), *view = l2k_plan_coefficients(plan, c);
        const size_t size = l2k_coefficient_bytes(view->type);
        uint8_t *kept = calloc(view_bytes(view) + 1, 1);
        if (!kept)
            exit(1);
        for (unsigned n = view->width && view->height ? below(6) : 0; n > 0; n--) {
            l2k_band_view part = {.x = below(view->width), .y = below(view->height)};
            part.width = below(l2k_min_u32(view->width - part.x, 200) + 1);
            part.height = below(l2k_min_u32(view->height - part.y, 200) + 1);
            for (uint32_t y = part.y; y < part.y + part.height; y++)
                memset(kept + (y * view->stride + part.x) * size, 255, part.width * size);
            l2k_plan_hold(plan, c, &part);
        }
        for (size_t i = 0; i < view_bytes(view); i++) {
            ((uint8_t *)of_cpu->base)[i] &= kept[i];
            ((uint8_t *)view->base)[i] &= kept[i];
        }
        free(kept);
    }
}

static bool test_inverse(const l2k_context *context, test_case *t)
{
    set_direction(t, L2K_INVERSE);
    l2k_plan *cpu = make_plan(context, t, L2K_BACKEND_CPU), *plans[2];
    picture expected[2], pictures[2];
    bool same = true;
    for (int i = 0; i < 2; i++) {
        plans[i] = make_plan(context, t, L2K_BACKEND_CUDA);
        expected[i] = make_picture(t, t->components[0].discard);
        pictures[i] = make_picture(t, t->components[0].discard);
        for (uint32_t c = 0; c < t->spec.num_components; c++)
            fill_coefficients(t, l2k_plan_coefficients(cpu, c), l2k_plan_coefficients(plans[i], c));
        if (below(2))
            hold_parts(t, cpu, plans[i]);
        same = l2k_plan_inverse(cpu, expected[i].planes) == L2K_OK && same;
    }
    same = run_both(plans, pictures) && same;
    for (int i = 0; i < 2; i++) {
        /* The whole memory: samples, and the gaps and guards, which must not change. */
        same = same && memcmp(expected[i].memory, pictures[i].memory, pictures[i].bytes) == 0;
        l2k_plan_free(plans[i]);
        free_picture(&pictures[i]);
        free_picture(&expected[i]);
    }
    if (!same)
        describe(t, "INVERSE DIFFERS");
    l2k_plan_free(cpu);
    return same;
}

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
    t->spec.on_device = true;
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
    same = (forward ? l2k_plan_forward(cpu, p.planes) : l2k_plan_inverse(cpu, p.planes)) == L2K_OK && same;
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

/* So large that two levels of a window may be cut alike. */
static void enlarge(test_case *t)
{
    const uint32_t width = 2100 + below(400), height = 2100 + below(400);
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        l2k_rect *r = &t->components[c].rect;
        *r = (l2k_rect){r->x0, r->y0, r->x0 + width, r->y0 + height};
    }
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "lift2k: %s\n", text);
}

static unsigned run_cases(const l2k_context *context, unsigned cases, uint64_t seed, uint32_t most)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < cases && failed < 20; i++) {
        test_case t;
        state = (seed << 32) + i;
        make_case(&t, i % 16 == 0 ? 2000 : most);
        if (i % 64 == 63)
            enlarge(&t);
        failed += !test_forward(context, &t);
        failed += !test_inverse(context, &t);
        failed += !test_device(context, &t);
    }
    printf("%s: %u cases forward and inverse, host and device, %u differ\n",
           chosen_wavelet < 0 ? "5/3 and 9/7" : l2k_wavelet_get((l2k_wavelet)chosen_wavelet)->name, cases, failed);
    fflush(stdout);
    return failed;
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
            failed += run_cases(&context, cases, seed, most);
            any = true;
        }
    if (!any)
        fprintf(stderr, "gpu_parity: there is no wavelet %s\n", name);
    return failed != 0 || !any;
}
