/* The launchers of an inverse sweep by a named kernel: the walks of cuda_inverse.cuh with a wavelet made from its
 * steps. Each file of forms/ instantiates them for one kernel. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_INVERSE_KERNEL_CUH
#define L2K_TRANSFORM_CUDA_CUDA_INVERSE_KERNEL_CUH

#include "dwt/kernel_packed_cuda.cuh"
#include "transform/cuda/cuda_inverse.cuh"
#include "transform/cuda/cuda_inverse_tiles.cuh"

namespace
{

/* The forms of the forward direction. */
template <class W, class D, int LEVELS> struct inverse_kernel_form {
    /* Warps of a multiprocessor. Fewer walk further, with fewer rows to warm up for: measured, bench/lab/README.md. */
    enum {
        FEW = W::FROM_STEPS && sizeof(D) == 2,
        OF_FEW = W::ROWS <= 6                     ? 16
                 : W::ROWS == 10 || W::ROWS == 11 ? 12
                                                  : 8
    };
    enum { PLAIN = FEW ? (int)OF_FEW : W::ROWS <= 4 ? 16 : W::ROWS <= 10 ? 12 : 8, ANY = 8 };
    typedef typename l2k_wide_sample<W>::type wide;

    static int launch(const l2k_cuda_sweep &p, cudaStream_t stream)
    {
        if (p.levels < 1 || p.levels > LEVELS || p.joined)
            return cudaErrorInvalidValue; /* such plans have a cpu_reason, or groups of one level */
        const l2k_form form = l2k_form_of(p);
        if constexpr (sizeof(D) == 2 && W::arithmetic::NARROW) {
            if (form == L2K_FORM_8)
                return if_whole<l2k_plane_writer<W, uint8_t, 8>>(p, stream);
            if (form == L2K_FORM_16)
                return if_whole<l2k_plane_writer<W, uint16_t, 8>>(p, stream);
        } else if constexpr (sizeof(D) == 4 || W::arithmetic::FLOAT) {
            if (form == L2K_FORM_32)
                return if_whole<l2k_plane_writer<W, wide, 8>>(p, stream);
        }
        return any(p, stream);
    }
    static int any(const l2k_cuda_sweep &p, cudaStream_t stream)
    {
        if (p.levels < 1 || p.levels > LEVELS)
            return cudaErrorInvalidValue;
        return walk<l2k_any_writer<W, 1, 8>, ANY>(p, stream);
    }

  private:
    template <class Writer> static int if_whole(const l2k_cuda_sweep &p, cudaStream_t stream)
    {
        return stores_whole_lanes<Writer>(p) ? walk<Writer, PLAIN>(p, stream) : any(p, stream);
    }
    template <class Writer, int WARPS> static int walk(const l2k_cuda_sweep &p, cudaStream_t stream)
    {
        if (p.levels == LEVELS)
            return l2k_launch_walk<inverse_walk<W, Writer, D, LEVELS>, WARPS>(
                inverse_kernel<W, Writer, D, LEVELS, WARPS>, p, stream);
        return l2k_launch_walk<inverse_walk<W, Writer, D, 1>, WARPS>(inverse_kernel<W, Writer, D, 1, WARPS>, p, stream);
    }
};

/* LEVELS: of int16 coefficients and sums of 32 bits. */
template <class Kernel, bool WIDE, class D, int LEVELS = 1>
int launch_inverse(const l2k_cuda_sweep &p, cudaStream_t stream)
{
    if constexpr (sizeof(D) == 2 && !WIDE && l2k_packs(Kernel::kernel))
        return inverse_kernel_form<l2k_packed_wavelet<Kernel, true>, D, LEVELS>::launch(p, stream);
    else
        return inverse_kernel_form<l2k_kernel_wavelet<Kernel, WIDE, true>, D, LEVELS>::launch(p, stream);
}

template <class Kernel, int LEVELS> int inverse_by_kernel(const l2k_cuda_sweep &p, cudaStream_t stream)
{
    if constexpr (!Kernel::kernel.reversible) {
        if (p.type == L2K_COEFFICIENT_FLOAT32)
            return launch_inverse<Kernel, false, float>(p, stream);
        return p.type == L2K_COEFFICIENT_INT16 ? launch_inverse<Kernel, false, int16_t>(p, stream)
                                               : launch_inverse<Kernel, false, int32_t>(p, stream);
    } else {
        if constexpr (l2k_packs(Kernel::kernel))
            if (l2k_suits_tiles(p))
                return l2k_launch_tiles<l2k_tile<Kernel, true>>(inverse_tiles_kernel<Kernel>, p, stream);
        if (p.type == L2K_COEFFICIENT_INT16 && p.bits == 64)
            return launch_inverse<Kernel, true, int16_t>(p, stream);
        if constexpr (l2k_packs(Kernel::kernel) && !l2k_is_always_wide(Kernel::kernel))
            if (p.type == L2K_COEFFICIENT_INT16 && p.bits == 32)
                return inverse_kernel_form<l2k_kernel_wavelet<Kernel, false, true>, int16_t, 1>::any(p, stream);
        if (p.type == L2K_COEFFICIENT_INT16)
            return launch_inverse<Kernel, false, int16_t, LEVELS>(p, stream);
        if constexpr (!l2k_is_always_wide(Kernel::kernel))
            if (p.bits < 64)
                return launch_inverse<Kernel, false, int32_t>(p, stream);
        return launch_inverse<Kernel, true, int32_t>(p, stream);
    }
}

} // namespace

/* Defines a launcher of cuda_forms.h, of sweeps of up to `levels` levels (l2k_kernel_takes_two). */
#define L2K_CUDA_INVERSE_KERNEL(name, Kernel, levels)                                                                  \
    extern "C" int name(const l2k_cuda_sweep *sweep, void *stream)                                                     \
    {                                                                                                                  \
        return inverse_by_kernel<Kernel, levels>(*sweep, (cudaStream_t)stream);                                        \
    }

#endif
