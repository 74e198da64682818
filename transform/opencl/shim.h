/* What the scalar headers take from C, for OpenCL C 1.2. The first include of each source there; the build embeds a
 * source with all that it includes (embed.cmake). */
#ifndef L2K_TRANSFORM_OPENCL_SHIM_H
#define L2K_TRANSFORM_OPENCL_SHIM_H

#pragma OPENCL FP_CONTRACT OFF

typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647

#define L2K_HD        static inline
#define __builtin_clz clz
#define fmaf          fma
#define fabsf         fabs
#define copysignf     copysign
#define rintf         rint

/* Of private memory. */
L2K_HD void l2k_copy_bytes(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uchar *)to)[i] = ((const uchar *)from)[i];
}

#define memcpy l2k_copy_bytes

#endif
