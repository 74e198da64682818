/* The library's own plans in the ladder: on the CPU as the reference that every rung must equal bit for bit, on the GPU
 * as the last rung. */
#ifndef L2K_BENCH_LAB_LIBRARY_CUH
#define L2K_BENCH_LAB_LIBRARY_CUH

#include "bench/lab/rung.cuh"

#include <cstring>

extern "C" {
#include "base/context.h"
#include "transform/plan.h"
}

/* A rung's template parameters as a plan's enums. */
static inline l2k_wavelet lab_wavelet(const lab_53 *)
{
    return L2K_WAVELET_5_3;
}
static inline l2k_wavelet lab_wavelet(const lab_97 *)
{
    return L2K_WAVELET_9_7;
}

static inline void lab_require(l2k_status status, const char *what)
{
    if (status == L2K_OK)
        return;
    fprintf(stderr, "%s failed with status %d\n", what, (int)status);
    exit(1);
}

template <class W> static l2k_plan *lab_plan(const l2k_context *context, l2k_backend backend, int n)
{
    l2k_plan_component component;
    l2k_plan_spec spec;
    l2k_plan *plan;
    memset(&component, 0, sizeof component);
    memset(&spec, 0, sizeof spec);
    component.rect = l2k_rect{0, 0, (uint32_t)n, (uint32_t)n};
    component.levels = LEVELS;
    component.wavelet = lab_wavelet((W *)0);
    component.precision = 9;
    component.is_signed = true; /* no level shift */
    spec.direction = L2K_FORWARD;
    spec.type = component.wavelet == L2K_WAVELET_5_3 ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_FLOAT32;
    spec.num_components = 1;
    spec.components = &component;
    spec.on_device = backend == L2K_BACKEND_CUDA;
    lab_require(l2k_plan_create(context, backend, &spec, &plan), "making a plan");
    return plan;
}

template <class W> static l2k_plane lab_plane(const typename W::S *samples, int n)
{
    l2k_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.data = const_cast<typename W::S *>(samples); /* a forward plan only reads */
    plane.row_stride = (ptrdiff_t)(n * sizeof *samples);
    plane.sample_stride = sizeof *samples;
    plane.type = lab_wavelet((W *)0) == L2K_WAVELET_5_3 ? L2K_SAMPLE_S16 : L2K_SAMPLE_F32;
    return plane;
}

/* The CPU's coefficients, n x n without padding. */
template <class W>
static std::vector<typename W::S> lab_reference(const l2k_context *context, const std::vector<typename W::S> &samples,
                                                int n)
{
    l2k_plan *plan = lab_plan<W>(context, L2K_BACKEND_CPU, n);
    l2k_plane plane = lab_plane<W>(samples.data(), n);
    lab_require(l2k_plan_forward(plan, &plane), "the transform on the CPU");
    const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
    const typename W::S *base = static_cast<const typename W::S *>(view->base);
    std::vector<typename W::S> coefficients((size_t)n * n);
    for (int y = 0; y < n; y++)
        memcpy(&coefficients[(size_t)y * n], base + y * view->stride, n * sizeof *base);
    l2k_plan_free(plan);
    return coefficients;
}

/* lift2k: the shipped kernels. Pictures and coefficients stay on the device. */
template <class W> static void shipped(l2k_plan *plan, const lab_job<W> &job, cudaStream_t stream)
{
    l2k_plane plane = lab_plane<W>(job.samples, job.n);
    lab_require(l2k_plan_run_on_device(plan, &plane, stream), "the shipped transform");
}

#endif
