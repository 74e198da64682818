/* How hot row loops ask for the vector unit: plain loops, compiled a second time for AVX2 and chosen when the program
 * is loaded. AVX2 alone does not bring FMA, and contraction is off, so both copies give the same bits. */
#ifndef L2K_BASE_VECTOR_H
#define L2K_BASE_VECTOR_H

#include <stdint.h> /* tells __GLIBC__: the choice at load time needs its indirect functions */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && !defined(L2K_SANITIZE) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define L2K_VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define L2K_VECTOR
#endif

/* Before a loop whose iterations touch nothing that another one writes: spares checks at run time, or failing them. */
#if defined(__GNUC__) && !defined(__clang__)
#define L2K_INDEPENDENT _Pragma("GCC ivdep")
#else
#define L2K_INDEPENDENT
#endif

#endif
