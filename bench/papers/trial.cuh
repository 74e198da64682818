/* What the programs that time the papers' own methods share: pictures, buffers, and trials that are timed only if what
 * they make equals the CPU's bit for bit. */
#ifndef L2K_BENCH_PAPERS_TRIAL_CUH
#define L2K_BENCH_PAPERS_TRIAL_CUH

#include "bench/papers/levels.cuh"

#include <cstring>
#include <functional>
#include <string>

extern "C" {
#include "base/context.h"
#include "transform/device.h"
}

static bool any_wrong;
static l2k_context context;
static cudaStream_t stream;

static const char *const direction_names[2] = {"forward", "inverse"};

/* A wavelet as the library names it. */
template <class W> struct dwt_types;
template <> struct dwt_types<dwt_53> {
    static constexpr const char *NAME = "5/3 int16";
    static constexpr l2k_wavelet WAVELET = L2K_WAVELET_5_3;
    static constexpr l2k_coefficient_type COEFFICIENT = L2K_COEFFICIENT_INT16;
    static constexpr l2k_sample_type SAMPLE = L2K_SAMPLE_S16;
};
template <> struct dwt_types<dwt_97> {
    static constexpr const char *NAME = "9/7 float32";
    static constexpr l2k_wavelet WAVELET = L2K_WAVELET_9_7;
    static constexpr l2k_coefficient_type COEFFICIENT = L2K_COEFFICIENT_FLOAT32;
    static constexpr l2k_sample_type SAMPLE = L2K_SAMPLE_F32;
};

/* ---- The library's plans --------------------------------------------------------------------------------------- */

static inline void require(l2k_status status, const char *what)
{
    if (status == L2K_OK)
        return;
    fprintf(stderr, "%s failed with status %d\n", what, (int)status);
    exit(1);
}

template <class W> static l2k_plan *make_plan(l2k_backend backend, int n, int direction, unsigned levels)
{
    l2k_plan_component component;
    l2k_plan_spec spec;
    l2k_plan *plan;
    memset(&component, 0, sizeof component);
    memset(&spec, 0, sizeof spec);
    component.rect = l2k_rect{0, 0, (uint32_t)n, (uint32_t)n};
    component.levels = levels;
    component.wavelet = dwt_types<W>::WAVELET;
    component.precision = 9;
    component.is_signed = true; /* no level shift */
    spec.direction = (l2k_direction)direction;
    spec.type = dwt_types<W>::COEFFICIENT;
    spec.num_components = 1;
    spec.components = &component;
    spec.memory = backend == L2K_BACKEND_CUDA ? L2K_PLAN_DEVICE : L2K_PLAN_HOST;
    require(l2k_plan_create(&context, backend, &spec, &plan), "making a plan");
    return plan;
}

/* A forward plan only reads the samples. */
template <class W> static l2k_plane plane_of(const typename W::S *samples, int n)
{
    return l2k_plane{const_cast<typename W::S *>(samples), (ptrdiff_t)(n * sizeof *samples), sizeof *samples,
                     dwt_types<W>::SAMPLE};
}

/* What the CPU makes of n x n samples or coefficients without padding. */
template <class W>
static std::vector<typename W::S> transform_on_cpu(const std::vector<typename W::S> &in, int n, int direction,
                                                   unsigned levels)
{
    l2k_plan *plan = make_plan<W>(L2K_BACKEND_CPU, n, direction, levels);
    const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
    typename W::S *base = static_cast<typename W::S *>(view->base);
    std::vector<typename W::S> out(in.size());
    l2k_plane plane = plane_of<W>(direction ? out.data() : in.data(), n);
    for (int y = 0; y < n && direction; y++)
        memcpy(base + y * view->stride, &in[(size_t)y * n], n * sizeof *base);
    require(l2k_plan_run(plan, &plane), "the transform on the CPU");
    for (int y = 0; y < n && !direction; y++)
        memcpy(&out[(size_t)y * n], base + y * view->stride, n * sizeof *base);
    l2k_plan_free(plan);
    return out;
}

/* ---- Pictures and buffers -------------------------------------------------------------------------------------- */

/* Noise of the plans' 9 bits, with a fraction for the 9/7 so that low bits matter, too. */
static inline void set_noise(int16_t *sample, uint32_t random)
{
    *sample = (int16_t)((int)(random >> 23) - 256);
}
static inline void set_noise(float *sample, uint32_t random)
{
    *sample = (float)(random >> 8) / 32768.0f - 256.0f;
}

/* Noise, what the transform makes of it, and what the inverse makes of that: input and result of either direction. */
template <class W> struct picture {
    typedef std::vector<typename W::S> values;
    int n;
    unsigned levels;
    values input[2], result[2];

    picture(int size, unsigned num_levels) : n(size), levels(num_levels)
    {
        uint64_t state = 1;
        input[L2K_FORWARD].resize((size_t)n * n);
        for (typename W::S &sample : input[L2K_FORWARD])
            set_noise(&sample, (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 32));
        input[L2K_INVERSE] = result[L2K_FORWARD] = transform_on_cpu<W>(input[L2K_FORWARD], n, L2K_FORWARD, levels);
        result[L2K_INVERSE] = transform_on_cpu<W>(input[L2K_INVERSE], n, L2K_INVERSE, levels);
    }
    size_t bytes() const
    {
        return input[0].size() * sizeof(typename W::S);
    }
};

/* Device buffers of one run, of either direction. */
template <class W> struct buffers {
    typedef typename W::S S;
    int n;
    S *in[2], *out, *scratch, *low[2];
    l2k_plan *plans[2];

    dwt_level<W> level() const
    {
        return dwt_level<W>{in[L2K_FORWARD], n, out, n, out, n, n};
    }
    dwt_source<W> source() const
    {
        return dwt_source<W>{out, n, in[L2K_INVERSE], n, in[L2K_INVERSE], n, n};
    }
    dwt_job<W> job() const
    {
        return dwt_job<W>{n, in[L2K_FORWARD], out, {low[0], low[1]}, scratch, in[L2K_INVERSE], out};
    }
};

template <class W> static buffers<W> make_buffers(const picture<W> &p)
{
    const size_t row = p.n * sizeof(typename W::S);
    buffers<W> b;
    b.n = p.n;
    for (int d = 0; d < 2; d++) {
        CHECK(cudaMalloc(&b.in[d], p.bytes()));
        CHECK(cudaMemcpy(b.in[d], p.input[d].data(), p.bytes(), cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&b.low[d], dwt_stride(p.n / 2) * row / 2));
        b.plans[d] = make_plan<W>(L2K_BACKEND_CUDA, p.n, d, p.levels);
    }
    CHECK(cudaMalloc(&b.out, p.bytes()));
    CHECK(cudaMalloc(&b.scratch, dwt_stride(p.n) * row));
    const l2k_coefficients *view = l2k_plan_coefficients(b.plans[L2K_INVERSE], 0);
    CHECK(cudaMemcpy2D(view->base, view->stride * sizeof(typename W::S), b.in[L2K_INVERSE], row, row, p.n,
                       cudaMemcpyDeviceToDevice));
    return b;
}

template <class W> static void free_buffers(buffers<W> &b)
{
    CHECK(cudaFree(b.out));
    CHECK(cudaFree(b.scratch));
    for (int d = 0; d < 2; d++) {
        CHECK(cudaFree(b.in[d]));
        CHECK(cudaFree(b.low[d]));
        l2k_plan_free(b.plans[d]);
    }
}

/* A picture with enough buffers that no run finds its samples in a cache, and the time of a copy. */
template <class W> struct scene {
    picture<W> of;
    std::vector<buffers<W>> sets;
    double copy;

    scene(int n, unsigned levels) : of(n, levels)
    {
        const unsigned count = cold_sets(of.bytes(), of.bytes());
        copy = copy_us(stream, of.bytes(), of.bytes(), count);
        for (unsigned i = 0; i < count; i++)
            sets.push_back(make_buffers(of));
    }
    ~scene()
    {
        for (buffers<W> &b : sets)
            free_buffers(b);
    }
};

/* ---- Trials ---------------------------------------------------------------------------------------------------- */

template <class W> struct trial {
    typedef std::function<void(const buffers<W> &, cudaStream_t)> launch;
    std::string name;
    int direction;
    launch run;
    launch checked; /* null, or what leaves at b.out what is compared */
};

template <class W> static bool is_right(const trial<W> &t, const buffers<W> &b, const picture<W> &p)
{
    const typename picture<W>::values &expected = p.result[t.direction];
    typename picture<W>::values seen(expected.size());
    size_t differ = 0;
    CHECK(cudaMemset(b.out, 0x5A, p.bytes()));
    (t.checked ? t.checked : t.run)(b, stream);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(seen.data(), b.out, p.bytes(), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < seen.size(); i++)
        differ += memcmp(&seen[i], &expected[i], sizeof seen[i]) != 0;
    if (differ)
        fprintf(stderr, "%s, %s, %s, %d: WRONG: %zu of %zu values differ\n", t.name.c_str(), dwt_types<W>::NAME,
                direction_names[t.direction], p.n, differ, seen.size());
    any_wrong |= differ > 0;
    return differ == 0;
}

/* Microseconds, or less than 0 if the trial is wrong. */
template <class W> static double time_trial(const trial<W> &t, const scene<W> &s)
{
    if (!is_right(t, s.sets[0], s.of))
        return -1;
    std::vector<cudaGraphExec_t> graphs;
    for (const buffers<W> &b : s.sets)
        graphs.push_back(record_graph(stream, [&] { t.run(b, stream); }));
    double us = median_us(stream, [&](int i) { CHECK(cudaGraphLaunch(graphs[i % graphs.size()], stream)); });
    for (cudaGraphExec_t graph : graphs)
        CHECK(cudaGraphExecDestroy(graph));
    return us;
}

/* For compute-sanitizer: the least size; levels of odd multiples of 2; more than one of everything. */
template <class W> static void check_trials(const std::vector<trial<W>> &trials, unsigned levels)
{
    for (int n : {96, 352, 1056}) {
        const picture<W> p(n, levels);
        buffers<W> b = make_buffers(p);
        for (const trial<W> &t : trials)
            is_right(t, b, p);
        free_buffers(b);
    }
}

/* Microseconds, and in brackets how many copies. */
static inline std::string time_cell(double us, double copy)
{
    char text[64];
    snprintf(text, sizeof text, "%.1f (%.2f)", us, us / copy);
    return us < 0 ? "WRONG" : text;
}

static inline int report_check(void)
{
    printf("%s\n", any_wrong ? "some kernels are WRONG" : "all kernels equal the CPU");
    return any_wrong;
}

static inline void set_up(void)
{
    context.hooks.message = report_message;
    context.threads = l2k_thread_count(0);
    CHECK(cudaStreamCreate(&stream));
}

#endif
