/* The launchers of a forward sweep by a named kernel: the walks of cuda_forward.cuh with a wavelet made from its steps.
 * Each file of forms/ instantiates them for one kernel. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_FORWARD_KERNEL_CUH
#define L2K_TRANSFORM_CUDA_CUDA_FORWARD_KERNEL_CUH

#include "dwt/kernel_packed_cuda.cuh"
#include "transform/cuda/cuda_forward.cuh"
#include "transform/cuda/cuda_forward_tiles.cuh"

namespace
{

/* Fewer forms than for Part 1's wavelets (README.md in this folder): packed samples as wide as the LL samples, or of 8
 * bits, and any layout; one component; two levels of int16 coefficients only. */
template <class W, class D, int LEVELS> struct forward_kernel_form {
    /* Warps of a multiprocessor. Fewer walk further, with fewer rows to warm up for: measured, bench/lab/README.md. */
    enum { FEW = W::FROM_STEPS && sizeof(D) == 2, OF_FEW = W::ROWS <= 6 ? 16 : 8 };
    enum { PLAIN = FEW ? (int)OF_FEW : W::ROWS <= 4 ? 16 : W::ROWS <= 10 ? 12 : 8, ANY = 8 };
    typedef typename l2k_wide_sample<W>::type wide;

    static int launch(l2k_cuda_sweep p, cudaStream_t stream)
    {
        if (p.levels < 1 || p.levels > LEVELS || p.joined)
            return cudaErrorInvalidValue; /* such plans have a cpu_reason, or groups of one level */
        const l2k_form form = l2k_form_of(p);
        if constexpr (sizeof(D) == 2 && W::arithmetic::NARROW) {
            if (form == L2K_FORM_8)
                return flipped<l2k_plane_reader<W, uint8_t, 8>>(p, stream);
            if (form == L2K_FORM_16)
                return flipped<l2k_plane_reader<W, uint16_t, 8>>(p, stream);
        } else if (form == L2K_FORM_32) {
            return flipped<l2k_plane_reader<W, wide, 8>>(p, stream);
        }
        return walk<l2k_any_reader<W, 1, 8>, ANY>(p, stream);
    }

  private:
    template <class Reader> static int flipped(l2k_cuda_sweep &p, cudaStream_t stream)
    {
        flip_signs(p.samples, p.components);
        return walk<Reader, PLAIN>(p, stream);
    }
    template <class Reader, int WARPS> static int walk(const l2k_cuda_sweep &p, cudaStream_t stream)
    {
        if (p.levels == LEVELS)
            return l2k_launch_walk<forward_walk<W, Reader, D, LEVELS>, WARPS>(
                forward_kernel<W, Reader, D, LEVELS, WARPS>, p, stream);
        return l2k_launch_walk<forward_walk<W, Reader, D, 1>, WARPS>(forward_kernel<W, Reader, D, 1, WARPS>, p, stream);
    }
};

/* LEVELS: of int16 coefficients and sums of 32 bits. */
template <class Kernel, bool WIDE, class D, int LEVELS = 1>
int launch_forward(const l2k_cuda_sweep &p, cudaStream_t stream)
{
    if constexpr (sizeof(D) == 2 && !WIDE && l2k_packs(Kernel::kernel))
        return forward_kernel_form<l2k_packed_wavelet<Kernel, false>, D, LEVELS>::launch(p, stream);
    else
        return forward_kernel_form<l2k_kernel_wavelet<Kernel, WIDE, false>, D, LEVELS>::launch(p, stream);
}

/* Values that fit int16 need no sums of 64 bits. */
template <class Kernel, int LEVELS> int forward_by_kernel(const l2k_cuda_sweep &p, cudaStream_t stream)
{
    if constexpr (!Kernel::kernel.reversible) {
        if (p.type == L2K_COEFFICIENT_FLOAT32)
            return launch_forward<Kernel, false, float>(p, stream);
        return p.type == L2K_COEFFICIENT_INT16 ? launch_forward<Kernel, false, int16_t>(p, stream)
                                               : launch_forward<Kernel, false, int32_t>(p, stream);
    } else {
        if constexpr (l2k_packs(Kernel::kernel))
            if (l2k_suits_tiles(p))
                return l2k_launch_tiles<l2k_tile<Kernel, false>>(forward_tiles_kernel<Kernel>, p, stream);
        if (p.type == L2K_COEFFICIENT_INT16)
            return launch_forward<Kernel, false, int16_t, LEVELS>(p, stream);
        if constexpr (!l2k_is_always_wide(Kernel::kernel))
            if (p.bits < 64)
                return launch_forward<Kernel, false, int32_t>(p, stream);
        return launch_forward<Kernel, true, int32_t>(p, stream);
    }
}

} // namespace

/* Defines a launcher of cuda_forms.h, of sweeps of up to `levels` levels (l2k_kernel_takes_two). */
#define L2K_CUDA_FORWARD_KERNEL(name, Kernel, levels)                                                                  \
    extern "C" int name(const l2k_cuda_sweep *sweep, void *stream)                                                     \
    {                                                                                                                  \
        return forward_by_kernel<Kernel, levels>(*sweep, (cudaStream_t)stream);                                        \
    }

#endif
