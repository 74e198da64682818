/* The launchers of inverse kernels by a named kernel: those of cuda_inverse.cuh with a wavelet made from its steps. */
#ifndef L2K_TRANSFORM_CUDA_CUDA_INVERSE_KERNEL_CUH
#define L2K_TRANSFORM_CUDA_CUDA_INVERSE_KERNEL_CUH

#include "dwt/kernel_cuda.cuh"
#include "transform/cuda/cuda_inverse.cuh"

namespace
{

/* The forms of the forward direction; int16 coefficients whose sums need 64 bits use the form for any layout. */
template <class W, class D> struct inverse_kernel_form {
    /* Warps of a multiprocessor. Fewer go further down, with fewer rows to warm up for. */
    enum {
        IS_16 = sizeof(D) == 2 && W::arithmetic::NARROW,
        IS_32 = sizeof(D) == 4 || W::arithmetic::FLOAT,
        OF_16 = W::ROWS <= 6                     ? 16
                : W::ROWS == 10 || W::ROWS == 11 ? 12
                                                 : 8
    };
    enum { PLAIN = IS_16 ? (int)OF_16 : W::ROWS <= 4 ? 16 : W::ROWS <= 10 ? 12 : 8, ANY = 8 };
    typedef l2k_packed_writer<W, typename l2k_sample_like_low<W, IS_16>::type, 1, 8> packed;

    static int launch(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        if (p.copies || p.joined)
            return cudaErrorInvalidValue; /* such plans take another kernel, or have a cpu_reason */
        if constexpr (IS_16 || IS_32)
            if (l2k_form_of(p) == (IS_16 ? L2K_FORM_16 : L2K_FORM_32) && stores_whole_lanes<packed>(p))
                return launch_iterator<packed, PLAIN>(p, stream);
        return launch_iterator<l2k_any_writer<W, 1, 8>, ANY>(p, stream);
    }

  private:
    template <class Writer, int WARPS> static int launch_iterator(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        return l2k_launch_iterator<inverse_iterator<W, Writer, D>, WARPS>(inverse_kernel<W, Writer, D, WARPS>, p,
                                                                          stream);
    }
};

template <class Kernel, bool WIDE, class D> int launch_inverse(const l2k_cuda_level_pass &p, cudaStream_t stream)
{
    return inverse_kernel_form<l2k_kernel_wavelet<Kernel, WIDE, true>, D>::launch(p, stream);
}

template <class Kernel> struct inverse_by_kernel {
    static int launch(const l2k_cuda_level_pass &p, cudaStream_t stream)
    {
        const bool is_16 = p.type == L2K_COEFFICIENT_INT16;
        if constexpr (!Kernel::kernel.reversible)
            return is_16                               ? launch_inverse<Kernel, false, int16_t>(p, stream)
                   : p.type == L2K_COEFFICIENT_FLOAT32 ? launch_inverse<Kernel, false, float>(p, stream)
                                                       : launch_inverse<Kernel, false, int32_t>(p, stream);
        else if (is_16)
            return p.wide_sums ? launch_inverse<Kernel, true, int16_t>(p, stream)
                               : launch_inverse<Kernel, false, int16_t>(p, stream);
        else if constexpr (l2k_is_always_wide(Kernel::kernel))
            return launch_inverse<Kernel, true, int32_t>(p, stream);
        else
            return p.wide_sums ? launch_inverse<Kernel, true, int32_t>(p, stream)
                               : launch_inverse<Kernel, false, int32_t>(p, stream);
    }
};

} // namespace

#endif
