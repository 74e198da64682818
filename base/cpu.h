/* Instruction sets of the CPU. Row functions are plain C loops, compiled once for each set (CMakeLists.txt) into one
 * table of functions each; a plan picks its tables when it is made. Contraction is off in every copy, so all give
 * the same bits. */
#ifndef L2K_BASE_CPU_H
#define L2K_BASE_CPU_H

#include "base/context.h"

/* Whether this build has a set's row functions, and the processor and system can run them. True for L2K_CPU_AUTO. */
bool l2k_cpu_usable(l2k_cpu cpu);

/* The fastest usable set; never L2K_CPU_AUTO. */
l2k_cpu l2k_cpu_best(void);

/* `cpu` itself if it names a usable set, else the best one. */
l2k_cpu l2k_cpu_resolve(l2k_cpu cpu);

/* Whether bit deposits (BMI2, which comes with AVX2) pay off: some early processors take a step for each bit. */
bool l2k_cpu_deposits(void);

/* A name such as "AVX2"; never NULL. */
const char *l2k_cpu_name(l2k_cpu cpu);

/* Reports L2K_ERROR_BACKEND if context->cpu is not usable. */
l2k_status l2k_cpu_check(const l2k_context *context);

/* ---- For the files of row functions ---------------------------------------------------------------------------- */

/* The name of a table in this copy of the file: l2k_pixel_rows becomes l2k_pixel_rows_avx2. The build sets L2K_ROWS_SET
 * for all copies but that of L2K_CPU_C, which also holds the choice between the tables. */
#ifndef L2K_ROWS_SET
#define L2K_ROWS_SET c
#define L2K_ROWS_BASE
#endif
#define L2K_JOIN_(name, set)  name##_##set
#define L2K_JOIN(name, set)   L2K_JOIN_(name, set)
#define L2K_ROWS_TABLE(table) L2K_JOIN(table, L2K_ROWS_SET)

/* An initialiser with the tables that this build has, indexed by l2k_cpu; and the declarations of these tables. */
#define L2K_CPU_TABLES(table)                                                                                          \
    {                                                                                                                  \
        L2K_CPU_C_TABLE(table)                                                                                         \
        L2K_CPU_AVX2_TABLE(table) L2K_CPU_AVX512_TABLE(table) L2K_CPU_NEON_TABLE(table) L2K_CPU_SIMD128_TABLE(table)   \
    }
#define L2K_CPU_DECLARE(table) extern const table table##_c, table##_avx2, table##_avx512, table##_neon, table##_simd128

/* The WebAssembly modules leave plain C out: their one set runs wherever they load. */
#ifdef L2K_WITHOUT_C
#define L2K_CPU_C_TABLE(table)
#else
#define L2K_CPU_C_TABLE(table) [L2K_CPU_C] = &table##_c,
#endif
#ifdef L2K_WITH_AVX2
#define L2K_CPU_AVX2_TABLE(table) [L2K_CPU_AVX2] = &table##_avx2,
#else
#define L2K_CPU_AVX2_TABLE(table)
#endif
#ifdef L2K_WITH_AVX512
#define L2K_CPU_AVX512_TABLE(table) [L2K_CPU_AVX512] = &table##_avx512,
#else
#define L2K_CPU_AVX512_TABLE(table)
#endif
#ifdef L2K_WITH_NEON
#define L2K_CPU_NEON_TABLE(table) [L2K_CPU_NEON] = &table##_neon,
#else
#define L2K_CPU_NEON_TABLE(table)
#endif
#ifdef L2K_WITH_SIMD128
#define L2K_CPU_SIMD128_TABLE(table) [L2K_CPU_SIMD128] = &table##_simd128,
#else
#define L2K_CPU_SIMD128_TABLE(table)
#endif

/* Goes before a loop whose iterations write nothing that another one reads or writes: saves the compiler's checks for
 * overlap at run time. */
#ifdef __clang__
#define L2K_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define L2K_INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif
