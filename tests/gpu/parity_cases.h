/* What the comparisons of a device's transform with the CPU's have in common: random cases forward and inverse, of the
 * whole and of windows, with planes in host memory. */
#ifndef L2K_TESTS_GPU_PARITY_CASES_H
#define L2K_TESTS_GPU_PARITY_CASES_H

#include "cases.h"
#include "transform/device.h"

/* A plan for the case; exits if it cannot be created. */
static l2k_plan *make_plan(const l2k_context *context, const test_case *t, l2k_backend backend)
{
    l2k_plan_spec spec = t->spec;
    l2k_plan *plan;
    spec.memory = backend == L2K_BACKEND_CPU ? L2K_PLAN_HOST : spec.memory;
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

static bool test_forward(const l2k_context *context, test_case *t, l2k_backend backend)
{
    set_direction(t, L2K_FORWARD);
    l2k_plan *cpu = make_plan(context, t, L2K_BACKEND_CPU), *plans[2];
    picture pictures[2];
    for (int i = 0; i < 2; i++) {
        plans[i] = make_plan(context, t, backend);
        pictures[i] = make_picture(t, 0);
        fill_picture(t, &pictures[i]);
        for (uint32_t c = 0; c < t->spec.num_components; c++)
            poison(l2k_plan_coefficients(plans[i], c));
    }
    bool same = run_both(plans, pictures);
    for (int i = 0; i < 2; i++) {
        same = l2k_plan_run(cpu, pictures[i].planes) == L2K_OK && same;
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

static bool test_inverse(const l2k_context *context, test_case *t, l2k_backend backend)
{
    set_direction(t, L2K_INVERSE);
    l2k_plan *cpu = make_plan(context, t, L2K_BACKEND_CPU), *plans[2];
    picture expected[2], pictures[2];
    bool same = true;
    for (int i = 0; i < 2; i++) {
        plans[i] = make_plan(context, t, backend);
        expected[i] = make_picture(t, t->components[0].discard);
        pictures[i] = make_picture(t, t->components[0].discard);
        for (uint32_t c = 0; c < t->spec.num_components; c++)
            fill_coefficients(t, l2k_plan_coefficients(cpu, c), l2k_plan_coefficients(plans[i], c));
        same = l2k_plan_run(cpu, expected[i].planes) == L2K_OK && same;
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

/* ---- All cases ----------------------------------------------------------------------------------------------- */

/* So that rows of all levels are whole vectors. */
static void align_columns(test_case *t)
{
    for (uint32_t c = 0; c < t->spec.num_components; c++) {
        l2k_rect *r = &t->components[c].rect;
        r->x0 = r->x0 / 256 * 256;
        r->x1 = r->x0 + (r->x1 - r->x0 + 255) / 256 * 256;
    }
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    (void)severity;
    fprintf(stderr, "lift2k: %s\n", text);
}

typedef bool device_test(const l2k_context *context, test_case *t);

static unsigned run_cases(const l2k_context *context, l2k_backend backend, device_test *test_device, unsigned cases,
                          uint64_t seed, uint32_t most)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < cases && failed < 20; i++) {
        test_case t;
        state = (seed << 32) + i;
        make_case(&t, i % 16 == 0 ? 2000 : most);
        if (i % 2)
            align_columns(&t);
        failed += !test_forward(context, &t, backend);
        failed += !test_inverse(context, &t, backend);
        failed += !test_device(context, &t);
    }
    printf("%s: %u cases forward and inverse, host and device, %u differ\n",
           chosen_wavelet < 0 ? "5/3 and 9/7" : l2k_wavelet_get((l2k_wavelet)chosen_wavelet)->name, cases, failed);
    fflush(stdout);
    return failed;
}

#endif
