/* Detects the instruction sets of build and processor, and chooses the one that L2K_CPU_AUTO stands for. */
#include "base/cpu.h"

#include <stdatomic.h>

#ifdef L2K_WITH_AVX2
#include <cpuid.h>

/* Some compilers' __builtin_cpu_supports do not know LZCNT. All processors with BMI2 have LZCNT, but a virtual machine
 * may hide it; without it, the opcode runs as BSR, with other results. */
static bool has_lzcnt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 5 & 1;
}
#endif

/* Bits of facts() above those of the usable sets, which l2k_cpu numbers. A set is usable with all the subsets that the
 * build compiles for (CMakeLists.txt). */
enum { DEPOSITS = 1 << 30, ASKED = 1 << 29 };

static unsigned ask(void)
{
    unsigned found = ASKED | 1u << L2K_CPU_AUTO;
#ifndef L2K_WITHOUT_C
    found |= 1u << L2K_CPU_C;
#endif
#ifdef L2K_WITH_AVX2
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt") && has_lzcnt())
        found |= 1u << L2K_CPU_AVX2;
    if (__builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h") && !__builtin_cpu_is("bdver4"))
        found |= DEPOSITS;
#endif
#ifdef L2K_WITH_AVX512
    if (found >> L2K_CPU_AVX2 & 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        found |= 1u << L2K_CPU_AVX512;
#endif
#ifdef L2K_WITH_NEON
    found |= 1u << L2K_CPU_NEON; /* part of every aarch64 */
#endif
#ifdef L2K_WITH_SIMD128
    found |= 1u << L2K_CPU_SIMD128; /* else the module would not load */
#endif
    return found;
}

/* Asked once: a hypervisor traps CPUID, which then takes as long as a small tile. */
static unsigned facts(void)
{
    static atomic_uint known;
    unsigned found = atomic_load_explicit(&known, memory_order_relaxed);
    if (!found) {
        found = ask();
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found;
}

bool l2k_cpu_usable(l2k_cpu cpu)
{
    return cpu >= L2K_CPU_AUTO && cpu <= L2K_CPU_SIMD128 && facts() >> cpu & 1;
}

l2k_cpu l2k_cpu_best(void)
{
    static const l2k_cpu fastest_first[] = {L2K_CPU_AVX512, L2K_CPU_AVX2, L2K_CPU_NEON, L2K_CPU_SIMD128};
    for (size_t i = 0; i < sizeof fastest_first / sizeof *fastest_first; i++)
        if (l2k_cpu_usable(fastest_first[i]))
            return fastest_first[i];
    return L2K_CPU_C;
}

bool l2k_cpu_deposits(void)
{
    return facts() & DEPOSITS;
}

l2k_cpu l2k_cpu_resolve(l2k_cpu cpu)
{
    return cpu != L2K_CPU_AUTO && l2k_cpu_usable(cpu) ? cpu : l2k_cpu_best();
}

const char *l2k_cpu_name(l2k_cpu cpu)
{
    static const char *const names[] = {"auto", "C", "AVX2", "AVX-512", "NEON", "SIMD128"};
    return (unsigned)cpu < sizeof names / sizeof *names ? names[cpu] : "unknown";
}

l2k_status l2k_cpu_check(const l2k_context *context)
{
    if (l2k_cpu_usable(context->cpu))
        return L2K_OK;
    return l2k_fail(context, L2K_ERROR_BACKEND, "this processor or this build has no %s", l2k_cpu_name(context->cpu));
}
