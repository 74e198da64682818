#include "dwt/rows.h"

#include "base/vector.h"
#include "dwt/lifting.h"

/* A row is split into its low and high samples; then a step on sample i of one half reads samples i - 1 and i of the
 * other half where its own half holds the first sample of the row, else i and i + 1. `lead` is 1 in the second case.
 * Whatever is missing at an end is mirrored. x holds nx samples, o (the other half) no >= 1. */
#define STEP(name, type, ...)                                                                                          \
    static inline __attribute__((always_inline)) void name(type *restrict x, size_t nx, const type *restrict o,        \
                                                           size_t no, size_t lead)                                     \
    {                                                                                                                  \
        size_t first = 1 - lead, last = nx < no - lead ? nx : no - lead;                                               \
        if (nx == 0)                                                                                                   \
            return;                                                                                                    \
        if (!lead)                                                                                                     \
            x[0] = SCALAR(x[0], o[0], o[0], __VA_ARGS__);                                                              \
        L2K_INDEPENDENT                                                                                                \
        for (size_t i = first; i < last; i++)                                                                          \
            x[i] = SCALAR(x[i], o[i - first], o[i - first + 1], __VA_ARGS__);                                          \
        if (last < nx)                                                                                                 \
            x[last] = SCALAR(x[last], o[no - 1], o[no - 1], __VA_ARGS__);                                              \
    }

#define SCALAR(x, left, right, scalar) scalar(x, left, right)
STEP(update, int32_t, l2k_5_3_update)
STEP(unupdate, int32_t, l2k_5_3_unupdate)
STEP(unpredict, int32_t, l2k_5_3_unpredict)
#undef SCALAR
#define SCALAR(x, left, right, c) l2k_9_7_lift(x, left, right, c)
STEP(alpha, float, L2K_9_7_ALPHA)
STEP(beta, float, L2K_9_7_BETA)
STEP(gamma_, float, L2K_9_7_GAMMA)
STEP(delta, float, L2K_9_7_DELTA)
STEP(undelta, float, -L2K_9_7_DELTA)
STEP(ungamma, float, -L2K_9_7_GAMMA)
STEP(unbeta, float, -L2K_9_7_BETA)
STEP(unalpha, float, -L2K_9_7_ALPHA)
#undef SCALAR

/* Splits the row and predicts its high samples on the way; `first` is the row from its first low sample on. */
static inline __attribute__((always_inline)) void split_5_3(const int32_t *restrict first, size_t pairs,
                                                            int32_t *restrict low, int32_t *restrict high)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < pairs; i++) {
        low[i] = first[2 * i];
        high[i] = l2k_5_3_predict(first[2 * i + 1], first[2 * i], first[2 * i + 2]);
    }
}

L2K_VECTOR void l2k_row_forward_5_3(const int32_t *restrict row, size_t n, unsigned parity, int32_t *restrict low,
                                    int32_t *restrict high)
{
    if (n == 1) {
        *(parity ? high : low) = parity ? l2k_5_3_lone(row[0]) : row[0];
        return;
    }
    size_t lows = (n + 1 - parity) / 2, highs = n - lows, pairs = lows - 1;
    const int32_t *first = row + parity;
    if (parity)
        high[0] = l2k_5_3_predict(row[0], row[1], row[1]);
    split_5_3(first, pairs, low, high + parity);
    low[pairs] = first[2 * pairs];
    if (pairs + parity < highs) /* the row ends in a high sample */
        high[highs - 1] = l2k_5_3_predict(row[n - 1], row[n - 2], row[n - 2]);
    update(low, lows, high, highs, parity);
}

L2K_VECTOR void l2k_row_inverse_5_3(int32_t *restrict low, int32_t *restrict high, size_t n, unsigned parity,
                                    int32_t *restrict row)
{
    if (n == 1) {
        row[0] = parity ? l2k_5_3_unlone(high[0]) : low[0];
        return;
    }
    size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    unupdate(low, lows, high, highs, parity);
    unpredict(high, highs, low, lows, 1 - parity);
    const int32_t *restrict even = parity ? high : low, *restrict odd = parity ? low : high;
    L2K_INDEPENDENT
    for (size_t i = 0; i < n / 2; i++) {
        row[2 * i] = even[i];
        row[2 * i + 1] = odd[i];
    }
    if (n & 1)
        row[n - 1] = even[n / 2];
}

static inline __attribute__((always_inline)) void scale_row(float *restrict x, size_t n, float factor)
{
    L2K_INDEPENDENT
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

L2K_VECTOR void l2k_row_forward_9_7(const float *restrict row, size_t n, unsigned parity, float scale,
                                    float *restrict low, float *restrict high)
{
    if (n == 1) {
        float x = row[0] * scale;
        *(parity ? high : low) = parity ? l2k_9_7_lone(x) : x;
        return;
    }
    float *restrict even = parity ? high : low, *restrict odd = parity ? low : high;
    L2K_INDEPENDENT
    for (size_t i = 0; i < n / 2; i++) {
        even[i] = row[2 * i] * scale;
        odd[i] = row[2 * i + 1] * scale;
    }
    if (n & 1)
        even[n / 2] = row[n - 1] * scale;
    size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    alpha(high, highs, low, lows, 1 - parity);
    beta(low, lows, high, highs, parity);
    gamma_(high, highs, low, lows, 1 - parity);
    delta(low, lows, high, highs, parity);
    scale_row(low, lows, L2K_9_7_FORWARD_LOW);
    scale_row(high, highs, L2K_9_7_FORWARD_HIGH);
}

L2K_VECTOR void l2k_row_inverse_9_7(float *restrict low, float *restrict high, size_t n, unsigned parity, float scale,
                                    float *restrict row)
{
    if (n == 1) {
        row[0] = (parity ? l2k_9_7_unlone(high[0]) : low[0]) * scale;
        return;
    }
    size_t lows = (n + 1 - parity) / 2, highs = n - lows;
    scale_row(low, lows, L2K_9_7_INVERSE_LOW);
    scale_row(high, highs, L2K_9_7_INVERSE_HIGH);
    undelta(low, lows, high, highs, parity);
    ungamma(high, highs, low, lows, 1 - parity);
    unbeta(low, lows, high, highs, parity);
    unalpha(high, highs, low, lows, 1 - parity);
    const float *restrict even = parity ? high : low, *restrict odd = parity ? low : high;
    L2K_INDEPENDENT
    for (size_t i = 0; i < n / 2; i++) {
        row[2 * i] = even[i] * scale;
        row[2 * i + 1] = odd[i] * scale;
    }
    if (n & 1)
        row[n - 1] = even[n / 2] * scale;
}
