/* Synthesis of a level (F.3): subbands to samples, with the inverse quantiser before it, and component transform and
 * level shift behind it. Horizontal lifting comes first and needs coefficients of the neighbours: a work-item loads
 * these as well, so that work-items are independent of each other. */
#include "transform/opencl/level.clh"

#if FLOATS
enum { LEFT = 4, RIGHT = 4, DELAY = 2, WARM_UP = 4 };
#else
enum { LEFT = 2, RIGHT = 2, DELAY = 1, WARM_UP = 2 };
#endif

enum { WIDTH = LEFT + N + RIGHT, EDGE = LEFT / 2 };

/* ---- Coefficients -------------------------------------------------------------------------------------------- */

L2K_HD value value_of(COEFFICIENT c, float half_step)
{
#if QUANTISES
    return l2k_dequantise(c, half_step);
#else
    return (value)c;
#endif
}

/* Half of a row's columns, from column `from` of `x` on: coefficients first .. first + HALF - 1 of `row`, and the
 * neighbours that lifting needs; inside the subband. */
#define LOAD_INSIDE(row, type, vector, x, from, first, convert)                                                        \
    do {                                                                                                               \
        const global type *at = (row) + (first);                                                                       \
        type own[HALF];                                                                                                \
        vector whole;                                                                                                  \
        if (IS_ALIGNED(at, vector))                                                                                    \
            whole = *(const global vector *)at;                                                                        \
        else                                                                                                           \
            whole = GATHER_HALF(vector, at);                                                                           \
        SPREAD_HALF(own, whole);                                                                                       \
        UNROLLED for (int k = 0; k < HALF; k++)(x)[LEFT + (from) + 2 * k] = convert(own[k]);                           \
        UNROLLED for (int k = (from) ? 0 : 1; k < EDGE; k++)(x)[(from) + 2 * k] = convert(at[k - EDGE]);               \
        UNROLLED for (int k = 0; k < RIGHT / 2; k++)(x)[LEFT + N + (from) + 2 * k] = convert(at[HALF + k]);            \
    } while (0)

/* The same anywhere: `u` is the first column, `offset` the coordinate of coefficient 0, halved. */
#define LOAD_MIRRORED(row, x, from, u, first_x, end_x, convert)                                                        \
    UNROLLED for (int i = (from); i < WIDTH; i += 2)                                                                   \
    {                                                                                                                  \
        const int m = mirror((u)-LEFT + i, first_x, end_x);                                                            \
        (x)[i] = (m & 1) == (from) ? convert((row)[m / 2 - ((from) ? 0 : (first_x))]) : 0;                             \
    }

#define LOAD(row, type, vector, x, from, convert)                                                                      \
    do {                                                                                                               \
        if (u - LEFT >= level->first_x && u + N + RIGHT <= level->end_x)                                               \
            LOAD_INSIDE(row, type, vector, x, from, u / 2 - ((from) ? 0 : level->first_x), convert);                   \
        else                                                                                                           \
            LOAD_MIRRORED(row, x, from, u, level->first_x, level->end_x, convert);                                     \
    } while (0)

#define FROM_LOW(v)         ((value)(v))
#define FROM_COEFFICIENT(v) value_of(v, half_step)

/* Columns of one parity of row y of a subband. */
L2K_HD void load_low(const l2k_cl_level *level, int component, int orientation, const global COEFFICIENT *all, long y,
                     int u, value x[WIDTH])
{
    const float half_step = level->step[component][orientation];
    const global COEFFICIENT *row = all + level->bands_at[component][orientation] + y * level->bands_stride;
    LOAD(row, COEFFICIENT, coefficients, x, 0, FROM_COEFFICIENT);
}

L2K_HD void load_high(const l2k_cl_level *level, int component, int orientation, const global COEFFICIENT *all, long y,
                      int u, value x[WIDTH])
{
    const float half_step = level->step[component][orientation];
    const global COEFFICIENT *row = all + level->bands_at[component][orientation] + y * level->bands_stride;
    LOAD(row, COEFFICIENT, coefficients, x, 1, FROM_COEFFICIENT);
}

L2K_HD void load_between(const l2k_cl_level *level, int component, const global LOW *low, long y, int u, value x[WIDTH])
{
    const global LOW *row = low + level->low_at[component] + y * level->low_stride;
    LOAD(row, LOW, lows, x, 0, FROM_LOW);
}

/* ---- Lifting ------------------------------------------------------------------------------------------------- */

L2K_HD void lift_columns(value x[WIDTH])
{
#if FLOATS
    UNROLLED
    for (int i = 1; i < WIDTH; i++)
        x[i] *= i % 2 ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
    UNROLLED
    for (int i = 2; i < WIDTH - 1; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_DELTA);
    UNROLLED
    for (int i = 3; i < WIDTH - 2; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_GAMMA);
    UNROLLED
    for (int i = 4; i < WIDTH - 3; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_BETA);
    UNROLLED
    for (int i = 5; i < WIDTH - 4; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_ALPHA);
#else
    UNROLLED
    for (int i = 2; i < WIDTH - 1; i += 2)
        x[i] = l2k_5_3_unupdate(x[i], x[i - 1], x[i + 1]);
    UNROLLED
    for (int i = 3; i < WIDTH - 2; i += 2)
        x[i] = l2k_5_3_unpredict(x[i], x[i - 1], x[i + 1]);
#endif
}

/* The row with coordinate y of all components, undone horizontally. */
L2K_HD void load_row(const l2k_cl_level *level, const global COEFFICIENT *all, const global LOW *low, int u, int y,
                     int is_high, value out[COMPONENTS][N])
{
    const int m = mirror(y, level->first_y, level->end_y), row = is_high ? m / 2 : m / 2 - level->first_y;
    if ((m & 1) != is_high) /* the only row is of the other parity */
        return;
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
        value x[WIDTH];
        if (is_high || level->is_last)
            load_low(level, component, is_high ? 2 : 0, all, row, u, x);
        else
            load_between(level, component, low, row, u, x);
        load_high(level, component, is_high ? 3 : 1, all, row, u, x);
        if (is_lone(level->first_x, level->end_x))
            UNROLLED
        for (int k = 1; k < N; k += 2)
            x[LEFT + k] = UNLONE(x[LEFT + k]);
        else lift_columns(x);
        UNROLLED
        for (int k = 0; k < N; k++) {
            out[component][k] = x[LEFT + k];
#if FLOATS
            if (!is_lone(level->first_y, level->end_y))
                out[component][k] *= is_high ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
#endif
        }
    }
}

/* Vertical lifting keeps the last high row, then, upwards, a row of each step. */
typedef struct state {
    value rows[FLOATS ? 4 : 2][COMPONENTS][N];
} state;

/* Round t: the low and high row of pair t enter, and the rows of pair t - DELAY leave. */
L2K_HD void lift_rows(state *s, value low[COMPONENTS][N], value high[COMPONENTS][N], value out[2][COMPONENTS][N])
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++) {
        const value h0 = s->rows[0][component][k], e0 = s->rows[1][component][k];
#if FLOATS
        const value o0 = s->rows[2][component][k], f0 = s->rows[3][component][k];
        const value e = LIFT(low[component][k], h0, high[component][k], -L2K_9_7_DELTA);
        const value o = LIFT(h0, e0, e, -L2K_9_7_GAMMA), f = LIFT(e0, o0, o, -L2K_9_7_BETA);
        out[0][component][k] = f0;
        out[1][component][k] = LIFT(o0, f0, f, -L2K_9_7_ALPHA);
        s->rows[2][component][k] = o;
        s->rows[3][component][k] = f;
#else
        const value e = l2k_5_3_unupdate(low[component][k], h0, high[component][k]);
        out[0][component][k] = e0;
        out[1][component][k] = l2k_5_3_unpredict(h0, e0, e);
#endif
        s->rows[0][component][k] = high[component][k];
        s->rows[1][component][k] = e;
    }
}

L2K_HD void lone_rows(value low[COMPONENTS][N], value high[COMPONENTS][N], value out[2][COMPONENTS][N])
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++) {
        out[0][component][k] = low[component][k];
        out[1][component][k] = UNLONE(high[component][k]);
    }
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

L2K_HD SAMPLE sample_of(value v, const l2k_cl_level *level, int component)
{
#if PIXELS && FLOATS
    return (SAMPLE)l2k_shift_up_f32(v, shift_of(level, component));
#elif PIXELS
    return (SAMPLE)l2k_shift_up(v, shift_of(level, component));
#else
    return (SAMPLE)v;
#endif
}

/* Those columns of row y that are kept. */
L2K_HD void store_row(const l2k_cl_level *level, const planes *p, int u, int y, value x[COMPONENTS][N])
{
    const long row = y - level->kept_y0, column = u - level->kept_x0;
    const bool inside = u >= level->kept_x0 && u + N <= level->kept_x1 && are_side_by_side(level);
    SAMPLE all[COMPONENTS * N];
    if (y < level->kept_y0 || y >= level->kept_y1)
        return;
#if COMPONENTS == 3
    UNROLLED
    for (int k = 0; k < N; k++)
        JOIN_INVERSE(&x[0][k], &x[1][k], &x[2][k]);
#endif
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++)
        all[TRIPLES ? 3 * k + component : component * N + k] = sample_of(x[component][k], level, component);
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
#if TRIPLES
        global uchar *at = p->at[0] + row * level->row_stride[0];
        global samples *whole = (global samples *)((global SAMPLE *)at + 3 * column) + component;
#else
        global uchar *at = p->at[component] + row * level->row_stride[component];
        global samples *whole = (global samples *)((global SAMPLE *)at + column);
#endif
        if (inside && IS_ALIGNED(whole, samples)) {
            *whole = GATHER(samples, (all + component * N));
            continue;
        }
        UNROLLED
        for (int k = 0; k < N; k++)
            if (u + k >= level->kept_x0 && u + k < level->kept_x1) {
#if TRIPLES
                ((global SAMPLE *)at)[3 * (column + k) + component] = all[3 * k + component];
#else
                *(global SAMPLE *)(at + (column + k) * level->sample_stride[component]) = all[component * N + k];
#endif
            }
    }
}

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

KERNEL synthesise(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
                  global LOW *low, l2k_cl_level level)
{
    PICK_LANE(level);
    const int u = (int)get_global_id(0) * N, pairs = (level.end_y + 1) / 2;
    const int begin = (int)get_group_id(1) * level.rounds, end = min(begin + level.rounds, pairs);
    const planes p = planes_of(&level, plane0, plane1, plane2);
    state s = {{{{0}}}};
    if (u >= level.end_x || u + N <= level.kept_x0 || u >= level.kept_x1)
        return;
    for (int t = begin + DELAY - WARM_UP; t < end + DELAY; t++) {
        value low_row[COMPONENTS][N] = {{0}}, high_row[COMPONENTS][N] = {{0}}, rows[2][COMPONENTS][N];
        load_row(&level, all, low, u, 2 * t, 0, low_row);
        load_row(&level, all, low, u, 2 * t + 1, 1, high_row);
        lift_rows(&s, low_row, high_row, rows);
        if (is_lone(level.first_y, level.end_y))
            lone_rows(low_row, high_row, rows);
        if (t < begin + DELAY)
            continue;
        store_row(&level, &p, u, 2 * (t - DELAY), rows[0]);
        store_row(&level, &p, u, 2 * (t - DELAY) + 1, rows[1]);
    }
}

/* No decomposition: subband 0 to samples. */
KERNEL copy_out(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
                global LOW *low, l2k_cl_level level)
{
    PICK_LANE(level);
    const int u = (int)get_global_id(0) * N, begin = (int)get_group_id(1) * level.rounds;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    (void)low;
    for (int y = begin; y < min(begin + level.rounds, level.end_y) && u < level.end_x; y++) {
        value x[COMPONENTS][N] = {{0}};
        for (int component = 0; component < COMPONENTS; component++)
            for (int k = 0; k < N && u + k < level.end_x; k++)
                x[component][k] = value_of(all[level.bands_at[component][0] + (long)y * level.bands_stride + u + k],
                                           level.step[component][0]);
        store_row(&level, &p, u, y, x);
    }
}
