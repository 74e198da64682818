/* What the tables' kernels must equal, on the CPU, by the plainest code: passes of one level along rows or columns, by
 * lifting or by convolution, forward and inverse, and what the parts of a tile's kernel make. A whole level is the
 * library's (library.cuh). */
#ifndef L2K_BENCH_LAB_ONE_LEVEL_CPU_CUH
#define L2K_BENCH_LAB_ONE_LEVEL_CPU_CUH

#include "bench/lab/passes.cuh"

enum lab_pass { LAB_ROWS, LAB_COLUMNS, LAB_ROWS_CONVOLVED };

/* Where sample i of a line of n is among its coefficients. */
static inline int lab_parted(int i, int n)
{
    return i / 2 + (i & 1) * (n / 2);
}

/* ---- Lifting ---------------------------------------------------------------------------------------------------- */

/* Every lifting step on a line, step 0 first, on the samples from `first` on that have the parity of `first`. */
template <class W> static void lab_lift_line(std::vector<typename W::T> &v, int n, int first)
{
    for (int k = 0; k < W::STEPS; k++)
        for (int i = (first + k) & 1; i < n; i += 2)
            v[i] = W::step(k, v[i], v[i > 0 ? i - 1 : 1], v[i + 1 < n ? i + 1 : n - 2]);
}

/* A line of n samples, `apart` from each other, to its halves. */
template <class W>
static void lab_part_line(const typename W::S *from, typename W::S *to, int n, size_t apart,
                          std::vector<typename W::T> &v)
{
    for (int i = 0; i < n; i++)
        v[i] = from[i * apart];
    lab_lift_line<W>(v, n, 1);
    for (int i = 0; i < n; i++)
        to[lab_parted(i, n) * apart] = (typename W::S)W::scale(v[i], i & 1);
}

/* And back. */
template <class W>
static void lab_join_line(const typename W::S *from, typename W::S *to, int n, size_t apart,
                          std::vector<typename W::T> &v)
{
    for (int i = 0; i < n; i++)
        v[i] = W::unscale(from[lab_parted(i, n) * apart], i & 1);
    lab_lift_line<lab_undo<W>>(v, n, 0);
    for (int i = 0; i < n; i++)
        to[i * apart] = (typename W::S)v[i];
}

/* ---- Convolution ------------------------------------------------------------------------------------------------ */

/* What an impulse `distance` samples from position 12, as long as `steps` are done in turn on samples of the parity of
 * `first` and of the other, contributes there. */
static inline double lab_response(const double (&steps)[4], int first, int at, int distance)
{
    double v[24] = {};
    v[at + distance] = 1;
    for (int k = 0; k < 4; k++)
        for (int i = 2 - ((first + k) & 1); i < 23; i += 2)
            v[i] += steps[k] * (v[i - 1] + v[i + 1]);
    return v[at];
}

/* In the precision of a double. */
static inline lab_taps lab_taps_of_97(void)
{
    static const double forward[4] = {L2K_9_7_ALPHA, L2K_9_7_BETA, L2K_9_7_GAMMA, L2K_9_7_DELTA};
    static const double inverse[4] = {-forward[3], -forward[2], -forward[1], -forward[0]};
    static const double unscale[2] = {L2K_9_7_INVERSE_LOW, L2K_9_7_INVERSE_HIGH};
    lab_taps taps;
    for (int k = 0; k < 5; k++) {
        taps.low[k] = (float)(lab_response(forward, 1, 12, k) * L2K_9_7_FORWARD_LOW);
        taps.odd[k] = (float)(lab_response(inverse, 0, 13, k) * unscale[(k + 1) & 1]);
    }
    for (int k = 0; k < 4; k++) {
        taps.high[k] = (float)(lab_response(forward, 1, 13, k) * L2K_9_7_FORWARD_HIGH);
        taps.even[k] = (float)(lab_response(inverse, 0, 12, k) * unscale[k & 1]);
    }
    return taps;
}

static inline int lab_mirrored(int i, int n)
{
    return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
}

static inline void lab_convolve_line(const float *from, float *to, int n, int direction, std::vector<float> &v)
{
    static const lab_taps taps = lab_taps_of_97();
    for (int i = -4; i < n + 4; i++)
        v[i + 4] = from[direction ? lab_parted(lab_mirrored(i, n), n) : lab_mirrored(i, n)];
    for (int i = 0; i < n; i++)
        if (direction)
            to[i] = i & 1 ? lab_convolve(taps.odd, &v[i + 4]) : lab_convolve(taps.even, &v[i + 4]);
        else
            to[lab_parted(i, n)] = i & 1 ? lab_convolve(taps.high, &v[i + 4]) : lab_convolve(taps.low, &v[i + 4]);
}

static inline void lab_convolve_rows(const std::vector<float> &in, std::vector<float> &out, int n, int direction)
{
    std::vector<float> line(n + 8);
    for (int i = 0; i < n; i++)
        lab_convolve_line(&in[(size_t)i * n], &out[(size_t)i * n], n, direction, line);
}
template <class S> static void lab_convolve_rows(const std::vector<S> &, std::vector<S> &, int, int)
{
}

/* ---- n x n samples or coefficients ------------------------------------------------------------------------------ */

template <class W>
static std::vector<typename W::S> lab_pass_on_cpu(const std::vector<typename W::S> &in, int n, lab_pass which,
                                                  int direction)
{
    std::vector<typename W::S> out(in.size());
    std::vector<typename W::T> line(n);
    auto lift = direction ? lab_join_line<W> : lab_part_line<W>;
    if (which == LAB_ROWS_CONVOLVED)
        lab_convolve_rows(in, out, n, direction);
    for (int i = 0; i < n && which == LAB_ROWS; i++)
        lift(&in[(size_t)i * n], &out[(size_t)i * n], n, 1, line);
    for (int i = 0; i < n && which == LAB_COLUMNS; i++)
        lift(&in[i], &out[i], n, n, line);
    return out;
}

/* Samples where memory_alone leaves them, and coefficients where its inverse does. */
template <class S> static std::vector<S> lab_moved_on_cpu(const std::vector<S> &in, int n, int direction)
{
    std::vector<S> out(in.size());
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const size_t sample = (size_t)y * n + x, coefficient = (size_t)lab_parted(y, n) * n + lab_parted(x, n);
            out[direction ? sample : coefficient] = in[direction ? coefficient : sample];
        }
    return out;
}

/* Lifts `length` values, `apart` from each other, the first of them of parity `odd`, where both neighbours are there.
 */
template <class W> static void lab_lift_inside(typename W::T *at, int length, int apart, int odd)
{
    for (int k = 0; k < W::STEPS; k++)
        for (int i = 1 + ((k + odd) & 1); i + 1 < length; i += 2)
            at[i * apart] = W::step(k, at[i * apart], at[(i - 1) * apart], at[(i + 1) * apart]);
}

/* A tile of `rows` equal rows of the numbers 0 to 63, lifted as far as that does not need other tiles. */
template <class W> static std::vector<typename W::T> lab_made_up_tile(int rows, int direction)
{
    std::vector<typename W::T> v(rows * 64);
    for (int i = 0; i < rows * 64; i++)
        v[i] = (typename W::T)(i % 64);
    for (int x = 0; x < 64 && !direction; x++)
        lab_lift_inside<W>(&v[x], rows, 64, 0);
    for (int i = 0; i < rows * 64; i++)
        v[i] = direction ? W::unscale(v[i], i & 1) : W::scale(v[i], i / 64 & 1);
    for (int y = 0; y < rows; y++)
        if (direction)
            lab_lift_inside<lab_undo<W>>(&v[y * 64], 64, 1, 1);
        else
            lab_lift_inside<W>(&v[y * 64], 64, 1, 0);
    for (int i = 0; i < rows * 64; i++)
        v[i] = direction ? W::unscale(v[i], !(i / 64 & 1)) : W::scale(v[i], i & 1);
    for (int x = 0; x < 64 && direction; x++)
        lab_lift_inside<lab_undo<W>>(&v[x], rows, 64, 0);
    return v;
}

/* Every tile of arithmetic_alone. */
template <class W> static std::vector<typename W::S> lab_made_up_on_cpu(int n, int out_rows, int direction)
{
    enum { HALO = 2 * ((W::STEPS + 1) / 2) };
    const std::vector<typename W::T> v = lab_made_up_tile<W>(out_rows + 2 * W::STEPS - 1, direction);
    std::vector<typename W::S> out((size_t)n * n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            out[direction ? (size_t)y * n + x : (size_t)lab_parted(y, n) * n + lab_parted(x, n)] =
                (typename W::S)v[(W::STEPS - direction + y % out_rows) * 64 + HALO + x % (64 - 2 * HALO)];
    return out;
}

#endif
