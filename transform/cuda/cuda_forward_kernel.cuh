/* The launchers of forward kernels by a named kernel: those of cuda_forward.cuh with a wavelet made from its steps. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_FORWARD_KERNEL_CUH
#define L2K_TRANSFORM_CUDA_CUDA_FORWARD_KERNEL_CUH

#include "dwt/kernel_cuda.cuh"
#include "transform/cuda/cuda_forward.cuh"

namespace
{

/* Fewer forms than for Part 1's wavelets (README.md in this folder): one component, packed samples as wide
 * as the LL samples, or any layout. */
template <class W, class D> struct forward_kernel_form {
    /* Warps of a multiprocessor. Fewer go further down, with fewer rows to warm up for. */
    enum { IS_16 = sizeof(D) == 2 && W::arithmetic::NARROW, OF_16 = W::ROWS <= 6 ? 16 : 8 };
    enum { PLAIN = IS_16 ? (int)OF_16 : W::ROWS <= 4 ? 16 : W::ROWS <= 10 ? 12 : 8, ANY = 8 };
    typedef typename l2k_sample_like_low<W, IS_16>::type sample;

    static int launch(l2k_cuda_level_pass p, cudaStream_t stream)
    {
        if (p.copies || p.joined)
            return cudaErrorInvalidValue; /* such plans take another kernel, or have a cpu_reason */
        if (l2k_form_of(p) != (IS_16 ? L2K_FORM_16 : L2K_FORM_32))
            return launch_iterator<l2k_any_reader<W, 1, 8>, ANY>(p, stream);
        flip_signs(p.samples, p.components);
        return launch_iterator<l2k_packed_reader<W, sample, 1, 8>, PLAIN>(p, stream);
    }

  private:
    template <class Reader, int WARPS> static int launch_iterator(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        return l2k_launch_iterator<forward_iterator<W, Reader, D>, WARPS>(forward_kernel<W, Reader, D, WARPS>, p,
                                                                          stream);
    }
};

template <class Kernel, bool WIDE, class D> int launch_forward(const l2k_cuda_level_pass &p, cudaStream_t stream)
{
    return forward_kernel_form<l2k_kernel_wavelet<Kernel, WIDE, false>, D>::launch(p, stream);
}

/* Values that fit int16 need no sums of 64 bits. */
template <class Kernel> struct forward_by_kernel {
    static int launch(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        if (p.type == L2K_COEFFICIENT_INT16)
            return launch_forward<Kernel, false, int16_t>(p, stream);
        if constexpr (!Kernel::kernel.reversible)
            return p.type == L2K_COEFFICIENT_FLOAT32 ? launch_forward<Kernel, false, float>(p, stream)
                                                     : launch_forward<Kernel, false, int32_t>(p, stream);
        else if constexpr (l2k_is_always_wide(Kernel::kernel))
            return launch_forward<Kernel, true, int32_t>(p, stream);
        else
            return p.wide_sums ? launch_forward<Kernel, true, int32_t>(p, stream)
                               : launch_forward<Kernel, false, int32_t>(p, stream);
    }
};

} // namespace

#endif
