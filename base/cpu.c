/* Which instruction sets this build and this processor have, and which of them L2K_CPU_AUTO stands for. */
#include "base/cpu.h"

#ifdef L2K_WITH_AVX2
#include <cpuid.h>

/* Not every compiler's __builtin_cpu_supports knows it. All processors with BMI2 have it, but a virtual machine may
 * hide it, and where it is missing it is another instruction, with other results. */
static bool has_lzcnt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 5 & 1;
}
#endif

/* Each with the subsets that the build compiles for (CMakeLists.txt). */
static bool has_avx2(void)
{
#ifdef L2K_WITH_AVX2
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && has_lzcnt();
#else
    return false;
#endif
}

static bool has_avx512(void)
{
#ifdef L2K_WITH_AVX512
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static bool has_neon(void)
{
#ifdef L2K_WITH_NEON
    return true; /* part of every aarch64 */
#else
    return false;
#endif
}

bool l2k_cpu_usable(l2k_cpu cpu)
{
    switch (cpu) {
    case L2K_CPU_AUTO:
    case L2K_CPU_C:
        return true;
    case L2K_CPU_AVX2:
        return has_avx2();
    case L2K_CPU_AVX512:
        return has_avx512();
    case L2K_CPU_NEON:
        return has_neon();
    }
    return false;
}

l2k_cpu l2k_cpu_best(void)
{
    static const l2k_cpu fastest_first[] = {L2K_CPU_AVX512, L2K_CPU_AVX2, L2K_CPU_NEON};
    for (size_t i = 0; i < sizeof fastest_first / sizeof *fastest_first; i++)
        if (l2k_cpu_usable(fastest_first[i]))
            return fastest_first[i];
    return L2K_CPU_C;
}

bool l2k_cpu_deposits(void)
{
#ifdef L2K_WITH_AVX2
    __builtin_cpu_init();
    return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h") && !__builtin_cpu_is("bdver4");
#else
    return false;
#endif
}

l2k_cpu l2k_cpu_resolve(l2k_cpu cpu)
{
    return cpu != L2K_CPU_AUTO && l2k_cpu_usable(cpu) ? cpu : l2k_cpu_best();
}

const char *l2k_cpu_name(l2k_cpu cpu)
{
    switch (cpu) {
    case L2K_CPU_AUTO:
        return "auto";
    case L2K_CPU_C:
        return "C";
    case L2K_CPU_AVX2:
        return "AVX2";
    case L2K_CPU_AVX512:
        return "AVX-512";
    case L2K_CPU_NEON:
        return "NEON";
    }
    return "unknown";
}

l2k_status l2k_cpu_check(const l2k_context *context)
{
    if (l2k_cpu_usable(context->cpu))
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_BACKEND, "this processor or this build has no %s", l2k_cpu_name(context->cpu));
}
