/* Shared by the launchers of forward and inverse kernels: the form of a kernel that the planes of a level pass need,
 * how many warps it gets, and the launch itself. README.md in this folder has a table of the forms. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_LAUNCH_CUH
#define L2K_TRANSFORM_CUDA_CUDA_LAUNCH_CUH

#include "dwt/kernel_cuda.cuh"
#include "transform/cuda/cuda_strips.cuh"

#include <cuda_runtime.h>

extern "C" {
#include "base/sample.h"
#include "dwt/wavelet.h"
}

/* ---- Launches ------------------------------------------------------------------------------------------------ */

/* Divides a level pass's rounds among as many warps as the device holds at once, at most `most` rounds each: with fewer
 * rounds the device's warps work closer together in memory, at the cost of more warm-up rounds. */
static inline void l2k_share_rounds(l2k_cuda_level_pass *p, int inner_columns, int launches, int warps, int most)
{
    int all = p->end_round - p->first_round, chunks;
    p->strips = l2k_divide_up(p->x.end, inner_columns);
    chunks = warps / (p->strips * launches);
    p->rounds_each = l2k_divide_up(all, chunks < 1 ? 1 : chunks);
    p->rounds_each = p->rounds_each > most ? most : p->rounds_each;
    p->rounds_each = p->rounds_each < 1 ? 1 : p->rounds_each;
}

/* An attribute of the current device. */
static inline int l2k_attribute(cudaDeviceAttr which, int *value)
{
    int device = 0;
    const int error = cudaGetDevice(&device);
    return error == cudaSuccess ? cudaDeviceGetAttribute(value, which, device) : error;
}

/* A launch that nearly fills the device in one wave needs it empty: if it started while another still has warps there,
 * some of its own would wait for a second wave. */
static inline bool l2k_may_start_early(int blocks, int warps)
{
    return 2 * blocks < warps || blocks > 2 * warps;
}

/* Launches a kernel with blocks of `threads` threads. From compute capability 9.0 on, a launch that follows another of
 * the plan starts while that one still runs, and its kernel waits for the results (programmatic dependent launch). */
template <class Kernel, class Parameters>
static int l2k_launch(Kernel *kernel, dim3 grid, int threads, bool follows, const Parameters &p, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    int major = 0;
    const int error = l2k_attribute(cudaDevAttrComputeCapabilityMajor, &major);
    if (error != cudaSuccess)
        return error;
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    config.attrs = &attribute;
    if (follows && major >= 9) {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        config.numAttrs = 1;
    }
    return cudaLaunchKernelEx(&config, kernel, p);
}

/* Rows of many small components are short and mostly in the cache, so saving warm-up rounds counts for more. */
enum { L2K_MANY_ROUNDS = 12 };

/* A level pass by warps that go down strips, WARPS of them per multiprocessor. */
template <class Iterator, int WARPS> static int l2k_launch_iterator(l2k_cuda_level_pass p, cudaStream_t stream)
{
    int processors = 0;
    const int launches = p.components / Iterator::K, error = l2k_attribute(cudaDevAttrMultiProcessorCount, &processors);
    if (error != cudaSuccess)
        return error;
    const int warps = WARPS * processors;
    const int one = Iterator::MOST_ROUNDS, many = one < L2K_MANY_ROUNDS ? (int)L2K_MANY_ROUNDS : one;
    Iterator::set_rounds(&p);
    l2k_share_rounds(&p, (32 - 2 * Iterator::HALO) * Iterator::N, launches, warps,
                     p.components > L2K_CUDA_TOGETHER ? many : one);
    dim3 grid(p.strips * l2k_divide_up(p.end_round - p.first_round, p.rounds_each), launches);
    return l2k_launch(l2k_level_kernel<Iterator, WARPS>, grid, 32,
                      p.follows && l2k_may_start_early((int)grid.x * launches, warps), p, stream);
}

/* A level pass without a decomposition level, a thread per column. */
template <class Kernel> static int l2k_launch_columns(Kernel *kernel, const l2k_cuda_level_pass &p, cudaStream_t stream)
{
    int height = p.y.end - p.y.first;
    dim3 grid(l2k_divide_up(p.x.end - p.x.first, 128), height < 65535 ? height : 65535, p.joined ? 1 : p.components);
    return l2k_launch(kernel, grid, 128, false, p, stream);
}

/* ---- Forms --------------------------------------------------------------------------------------------------- */

/* Whether planes, one or three, have one type and lie interleaved in aligned memory. */
static inline bool l2k_are_interleaved(const l2k_cuda_plane *planes, int count)
{
    const int bytes = (int)l2k_sample_bytes(planes[0].type);
    for (int c = 0; c < count; c++)
        if (planes[c].type != planes[0].type || planes[c].sample_stride != count * bytes ||
            planes[c].data != planes[0].data + c * bytes || planes[c].row_stride != planes[0].row_stride)
            return false;
    return ((uintptr_t)planes[0].data | (uintptr_t)planes[0].row_stride) % bytes == 0;
}

/* How kernels access the planes of a level pass: packed samples of 8, 16 or 32 bits (the latter integers for the 5/3,
 * floats for the 9/7), interleaved triples or three planes of 8 or 16 bits with a component transform, or any layout. */
enum l2k_form {
    L2K_FORM_8,
    L2K_FORM_16,
    L2K_FORM_32,
    L2K_FORM_TRIPLES_8,
    L2K_FORM_TRIPLES_16,
    L2K_FORM_JOINED_8,
    L2K_FORM_JOINED_16,
    L2K_FORM_ANY
};

static inline l2k_form l2k_form_of_plane(const l2k_cuda_plane &plane, l2k_sample_type wide)
{
    const size_t bytes = l2k_sample_bytes(plane.type);
    if (!l2k_are_interleaved(&plane, 1))
        return L2K_FORM_ANY;
    return bytes == 1 ? L2K_FORM_8 : bytes == 2 ? L2K_FORM_16 : plane.type == wide ? L2K_FORM_32 : L2K_FORM_ANY;
}

/* The form that fits all planes. */
static inline l2k_form l2k_form_of(const l2k_cuda_level_pass &p)
{
    const l2k_sample_type wide = l2k_wavelet_get(p.wavelet)->is_float ? L2K_SAMPLE_F32 : L2K_SAMPLE_S32;
    const size_t bytes = l2k_sample_bytes(p.samples[0].type);
    const l2k_form form = l2k_form_of_plane(p.samples[0], wide);
    if (p.joined && bytes <= 2 && l2k_are_interleaved(p.samples, 3))
        return bytes == 1 ? L2K_FORM_TRIPLES_8 : L2K_FORM_TRIPLES_16;
    for (int c = 1; c < p.components; c++)
        if (l2k_form_of_plane(p.samples[c], wide) != form)
            return L2K_FORM_ANY;
    if (p.joined)
        return form == L2K_FORM_8 ? L2K_FORM_JOINED_8 : form == L2K_FORM_16 ? L2K_FORM_JOINED_16 : L2K_FORM_ANY;
    return form;
}

/* ---- Named kernels ------------------------------------------------------------------------------------------- */

/* The launches of a direction by a named kernel, whose forms have a wavelet made from its steps. Forward, values that fit
 * int16 need no sums of 64 bits. */
template <template <class, class> class Form, class Kernel, bool INVERSE> struct l2k_by_kernel {
    static int launch(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        if (p.copies || p.joined)
            return cudaErrorInvalidValue; /* such plans take another kernel, or have a cpu_reason */
        if constexpr (!Kernel::kernel.reversible)
            return p.type == L2K_COEFFICIENT_INT16     ? launch_sums<false, int16_t>(p, stream)
                   : p.type == L2K_COEFFICIENT_FLOAT32 ? launch_sums<false, float>(p, stream)
                                                       : launch_sums<false, int32_t>(p, stream);
        else if (p.type == L2K_COEFFICIENT_INT16)
            return p.wide_sums ? launch_sums<INVERSE, int16_t>(p, stream) : launch_sums<false, int16_t>(p, stream);
        else if constexpr (l2k_is_always_wide(Kernel::kernel))
            return launch_sums<true, int32_t>(p, stream);
        else
            return p.wide_sums ? launch_sums<true, int32_t>(p, stream) : launch_sums<false, int32_t>(p, stream);
    }

  private:
    template <bool WIDE, class D> static int launch_sums(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        return Form<l2k_kernel_wavelet<Kernel, WIDE, INVERSE>, D>::launch(p, stream);
    }
};

#endif
