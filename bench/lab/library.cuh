/* The library's own plans in the ladder: on the CPU as the reference that every rung must equal bit for bit, on the GPU
 * as the last rung. */
#ifndef L2K_BENCH_LAB_LIBRARY_CUH
#define L2K_BENCH_LAB_LIBRARY_CUH

#include "bench/lab/rung.cuh"

#include <cstring>

extern "C" {
#include "base/context.h"
#include "transform/device.h"
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

static inline l2k_coefficient_type lab_coefficient_type(const int16_t *)
{
    return L2K_COEFFICIENT_INT16;
}
static inline l2k_coefficient_type lab_coefficient_type(const int32_t *)
{
    return L2K_COEFFICIENT_INT32;
}
static inline l2k_coefficient_type lab_coefficient_type(const float *)
{
    return L2K_COEFFICIENT_FLOAT32;
}
static inline l2k_sample_type lab_sample_type(const int16_t *)
{
    return L2K_SAMPLE_S16;
}
static inline l2k_sample_type lab_sample_type(const int32_t *)
{
    return L2K_SAMPLE_S32;
}
static inline l2k_sample_type lab_sample_type(const float *)
{
    return L2K_SAMPLE_F32;
}

/* Noise of the plans' 9 bits, with a fraction for the 9/7 so that low bits matter too. */
template <class S> static inline void lab_set_noise(S *sample, uint32_t random)
{
    *sample = (S)((int)(random >> 23) - 256);
}
template <> inline void lab_set_noise(float *sample, uint32_t random)
{
    *sample = (float)(random >> 8) / 32768.0f - 256.0f;
}

/* n x n samples. */
template <class W> static std::vector<typename W::S> lab_noise(int n)
{
    std::vector<typename W::S> samples((size_t)n * n);
    uint64_t state = 1;
    for (typename W::S &sample : samples) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        lab_set_noise(&sample, (uint32_t)(state >> 32));
    }
    return samples;
}

static inline void lab_require(l2k_status status, const char *what)
{
    if (status == L2K_OK)
        return;
    fprintf(stderr, "%s failed with status %d\n", what, (int)status);
    exit(1);
}

template <class W>
static l2k_plan *lab_plan(const l2k_context *context, l2k_backend backend, int n, l2k_direction direction,
                          unsigned levels)
{
    l2k_plan_component component;
    l2k_plan_spec spec;
    l2k_plan *plan;
    memset(&component, 0, sizeof component);
    memset(&spec, 0, sizeof spec);
    component.rect = l2k_rect{0, 0, (uint32_t)n, (uint32_t)n};
    component.levels = levels;
    component.wavelet = lab_wavelet((W *)0);
    component.precision = 9;
    component.is_signed = true; /* no level shift */
    spec.direction = direction;
    spec.type = lab_coefficient_type((typename W::S *)0);
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
    plane.data = const_cast<typename W::S *>(samples); /* a forward plan only reads; an inverse one is given its own */
    plane.row_stride = (ptrdiff_t)(n * sizeof *samples);
    plane.sample_stride = sizeof *samples;
    plane.type = lab_sample_type((typename W::S *)0);
    return plane;
}

/* The CPU's coefficients, n x n without padding. */
template <class W>
static std::vector<typename W::S> lab_reference(const l2k_context *context, const std::vector<typename W::S> &samples,
                                                int n, unsigned levels = LEVELS)
{
    l2k_plan *plan = lab_plan<W>(context, L2K_BACKEND_CPU, n, L2K_FORWARD, levels);
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

/* The samples that the CPU makes of coefficients, n x n without padding. */
template <class W>
static std::vector<typename W::S> lab_restored(const l2k_context *context,
                                               const std::vector<typename W::S> &coefficients, int n,
                                               unsigned levels = LEVELS)
{
    l2k_plan *plan = lab_plan<W>(context, L2K_BACKEND_CPU, n, L2K_INVERSE, levels);
    const l2k_coefficients *view = l2k_plan_coefficients(plan, 0);
    typename W::S *base = static_cast<typename W::S *>(view->base);
    for (int y = 0; y < n; y++)
        memcpy(base + y * view->stride, &coefficients[(size_t)y * n], n * sizeof *base);
    std::vector<typename W::S> samples((size_t)n * n);
    l2k_plane plane = lab_plane<W>(samples.data(), n);
    lab_require(l2k_plan_inverse(plan, &plane), "the inverse on the CPU");
    l2k_plan_free(plan);
    return samples;
}

/* lift2k: the shipped kernels. Pictures and coefficients stay on the device. */
template <class W> static void shipped(l2k_plan *plan, const typename W::S *samples, int n, cudaStream_t stream)
{
    l2k_plane plane = lab_plane<W>(samples, n);
    lab_require(l2k_plan_run_on_device(plan, &plane, stream), "the shipped transform");
}

#endif
