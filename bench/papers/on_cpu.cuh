/* What the passes must equal, on the CPU, by the plainest code. */
#ifndef L2K_BENCH_PAPERS_ON_CPU_CUH
#define L2K_BENCH_PAPERS_ON_CPU_CUH

#include "bench/papers/passes.cuh"

enum dwt_pass { DWT_ROWS, DWT_COLUMNS, DWT_ROWS_CONVOLVED };

/* Where sample i of a line of n is among its coefficients. */
static inline int dwt_parted(int i, int n)
{
    return i / 2 + (i & 1) * (n / 2);
}

/* ---- Lifting ---------------------------------------------------------------------------------------------------- */

/* Every lifting step on a line. */
template <class W> static void dwt_lift_line(std::vector<typename W::T> &v, int n)
{
    for (int k = 0; k < W::STEPS; k++)
        for (int i = (1 + k) & 1; i < n; i += 2)
            v[i] = W::step(k, v[i], v[i > 0 ? i - 1 : 1], v[i + 1 < n ? i + 1 : n - 2]);
}

/* A line of n samples, `apart` from each other, to its halves. */
template <class W>
static void dwt_part_line(const typename W::S *from, typename W::S *to, int n, size_t apart,
                          std::vector<typename W::T> &v)
{
    for (int i = 0; i < n; i++)
        v[i] = from[i * apart];
    dwt_lift_line<W>(v, n);
    for (int i = 0; i < n; i++)
        to[dwt_parted(i, n) * apart] = (typename W::S)W::scale(v[i], i & 1);
}

/* ---- Convolution ------------------------------------------------------------------------------------------------ */

/* What an impulse `distance` samples from position `at` contributes there, before scaling. */
static inline double dwt_response(int at, int distance)
{
    static const double steps[4] = {L2K_9_7_ALPHA, L2K_9_7_BETA, L2K_9_7_GAMMA, L2K_9_7_DELTA};
    double v[24] = {};
    v[at + distance] = 1;
    for (int k = 0; k < 4; k++)
        for (int i = 2 - ((1 + k) & 1); i < 23; i += 2)
            v[i] += steps[k] * (v[i - 1] + v[i + 1]);
    return v[at];
}

/* In the precision of a double. */
static inline dwt_taps dwt_taps_of_97(void)
{
    dwt_taps taps;
    for (int k = 0; k < 5; k++)
        taps.low[k] = (float)(dwt_response(12, k) * L2K_9_7_FORWARD_LOW);
    for (int k = 0; k < 4; k++)
        taps.high[k] = (float)(dwt_response(13, k) * L2K_9_7_FORWARD_HIGH);
    return taps;
}

static inline int dwt_mirrored(int i, int n)
{
    return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
}

static inline void dwt_convolve_line(const float *from, float *to, int n, std::vector<float> &v)
{
    static const dwt_taps taps = dwt_taps_of_97();
    for (int i = -4; i < n + 4; i++)
        v[i + 4] = from[dwt_mirrored(i, n)];
    for (int i = 0; i < n; i++)
        to[dwt_parted(i, n)] = i & 1 ? dwt_convolve(taps.high, &v[i + 4]) : dwt_convolve(taps.low, &v[i + 4]);
}

/* ---- n x n samples ---------------------------------------------------------------------------------------------- */

static inline std::vector<float> dwt_pass_on_cpu(const std::vector<float> &in, int n, dwt_pass which)
{
    std::vector<float> out(in.size()), line(n + 8);
    for (int i = 0; i < n; i++)
        if (which == DWT_ROWS_CONVOLVED)
            dwt_convolve_line(&in[(size_t)i * n], &out[(size_t)i * n], n, line);
        else if (which == DWT_ROWS)
            dwt_part_line<dwt_97>(&in[(size_t)i * n], &out[(size_t)i * n], n, 1, line);
        else
            dwt_part_line<dwt_97>(&in[i], &out[i], n, n, line);
    return out;
}

#endif
