/* Analysis of a level (F.4): samples to subbands, with level shift and component transform before it, and the quantiser
 * behind it. The outer work-items of a group lend their columns to their neighbours. */
#include "transform/opencl/level.clh"

#if FLOATS
enum { LEFT = 4, RIGHT = 3, DELAY = 1, WARM_UP = 3 };
#else
enum { LEFT = 2, RIGHT = 1, DELAY = 0, WARM_UP = 1 };
#endif

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* N columns of row y, from column u on. */
L2K_HD void load_row(const l2k_cl_level *level, const planes *p, int u, int y, samples raw[COMPONENTS])
{
    const long row = mirror(y, level->first_y, level->end_y) - level->first_y;
    const bool inside = u >= level->first_x && u + N <= level->end_x && are_side_by_side(level);
    const long column = u - level->first_x;
#if TRIPLES
    const global SAMPLE *at = (const global SAMPLE *)(p->at[0] + row * level->row_stride[0]);
    const global samples *whole = (const global samples *)(at + 3 * column);
    SAMPLE all[3 * N];
    if (inside && IS_ALIGNED(whole, samples)) {
        UNROLLED
        for (int i = 0; i < 3; i++)
            raw[i] = whole[i];
        return;
    }
    UNROLLED
    for (int k = 0; k < N; k++) {
        const global SAMPLE *pixel = at + 3 * (long)(mirror(u + k, level->first_x, level->end_x) - level->first_x);
        UNROLLED
        for (int i = 0; i < 3; i++)
            all[3 * k + i] = pixel[i];
    }
    UNROLLED
    for (int i = 0; i < 3; i++)
        raw[i] = GATHER(samples, (all + i * N));
#else
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
        const global uchar *at = p->at[component] + row * level->row_stride[component];
        const global samples *whole = (const global samples *)((const global SAMPLE *)at + column);
        SAMPLE one[N];
        if (inside && IS_ALIGNED(whole, samples)) {
            raw[component] = *whole;
            continue;
        }
        UNROLLED
        for (int k = 0; k < N; k++) {
            const long x = mirror(u + k, level->first_x, level->end_x) - level->first_x;
            one[k] = *(const global SAMPLE *)(at + x * level->sample_stride[component]);
        }
        raw[component] = GATHER(samples, one);
    }
#endif
}

L2K_HD value value_of(SAMPLE sample, const l2k_cl_level *level, int component)
{
#if PIXELS
    return (value)l2k_shift_down(sample, shift_of(level, component));
#else
    return (value)sample;
#endif
}

L2K_HD void to_values(const l2k_cl_level *level, const samples raw[COMPONENTS], value x[COMPONENTS][N])
{
    SAMPLE one[COMPONENTS * N];
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        SPREAD((one + component * N), raw[component]);
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++)
        x[component][k] = value_of(one[TRIPLES ? 3 * k + component : component * N + k], level, component);
#if COMPONENTS == 3
    UNROLLED
    for (int k = 0; k < N; k++)
        JOIN_FORWARD(&x[0][k], &x[1][k], &x[2][k]);
#endif
}

/* ---- Lifting ------------------------------------------------------------------------------------------------- */

/* Vertical lifting keeps from round to round: the last sample row, then, from there upwards, a row of each step but the
 * last. */
typedef struct state {
    value even[COMPONENTS][N], rows[FLOATS ? 3 : 1][COMPONENTS][N];
} state;

/* Round t: rows 2t + 1 and 2t + 2 enter, and the low and high row of pair t - DELAY leave. */
L2K_HD void lift_rows(state *s, value odd[COMPONENTS][N], value next[COMPONENTS][N], value out[2][COMPONENTS][N])
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++) {
        const value x0 = s->even[component][k], x1 = odd[component][k], x2 = next[component][k];
#if FLOATS
        const value a0 = s->rows[0][component][k], b0 = s->rows[1][component][k], g0 = s->rows[2][component][k];
        const value a = LIFT(x1, x0, x2, L2K_9_7_ALPHA), b = LIFT(x0, a0, a, L2K_9_7_BETA);
        const value g = LIFT(a0, b0, b, L2K_9_7_GAMMA), d = LIFT(b0, g0, g, L2K_9_7_DELTA);
        s->rows[0][component][k] = a;
        s->rows[1][component][k] = b;
        s->rows[2][component][k] = g;
        out[0][component][k] = d * L2K_9_7_FORWARD_LOW;
        out[1][component][k] = g * L2K_9_7_FORWARD_HIGH;
#else
        const value high = l2k_5_3_predict(x1, x0, x2);
        out[0][component][k] = l2k_5_3_update(x0, s->rows[0][component][k], high);
        out[1][component][k] = high;
        s->rows[0][component][k] = high;
#endif
        s->even[component][k] = x2;
    }
}

/* A level of one row: `x` is that row. */
L2K_HD void lone_rows(value x[COMPONENTS][N], value out[2][COMPONENTS][N])
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++) {
        out[0][component][k] = x[component][k];
        out[1][component][k] = LONE(x[component][k]);
    }
}

/* A row with LEFT and RIGHT of its neighbours' columns. */
L2K_HD void lift_columns(value x[LEFT + N + RIGHT])
{
#if FLOATS
    UNROLLED
    for (int i = 1; i < N + 6; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_ALPHA);
    UNROLLED
    for (int i = 2; i < N + 5; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_BETA);
    UNROLLED
    for (int i = 3; i < N + 4; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_GAMMA);
    UNROLLED
    for (int i = 4; i < N + 3; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_DELTA);
    UNROLLED
    for (int k = 0; k < N; k++)
        x[LEFT + k] *= k % 2 ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW;
#else
    UNROLLED
    for (int i = 1; i < N + 2; i += 2)
        x[i] = l2k_5_3_predict(x[i], x[i - 1], x[i + 1]);
    UNROLLED
    for (int i = 2; i < N + 1; i += 2)
        x[i] = l2k_5_3_update(x[i], x[i - 1], x[i + 1]);
#endif
}

L2K_HD void lone_columns(value x[LEFT + N + RIGHT])
{
    UNROLLED
    for (int k = 1; k < N; k += 2)
        x[LEFT + k] = LONE(x[LEFT + k]);
}

/* ---- Coefficients -------------------------------------------------------------------------------------------- */

/* l2k_quantise without its division (quant/quantiser.h). */
L2K_HD COEFFICIENT coefficient_of(value v, float step, float reciprocal)
{
#if QUANTISES
    l2k_quantiser_step s;
    s.step = step;
    s.reciprocal = reciprocal;
    const float near = v * reciprocal;
    const float quotient = fabs(near) < 67108864.0f ? l2k_quotient(v, s) : near; /* beyond, products overflow */
    return (COEFFICIENT)(l2k_round_f32(quotient * 64.0f) / 64);
#else
    return (COEFFICIENT)v;
#endif
}

/* Every other value of x becomes coefficients first .. first + HALF - 1 of a row of `count`. */
#define STORE_HALF(row, type, vector, x, first, count, convert)                                                        \
    do {                                                                                                               \
        type half_row[HALF];                                                                                           \
        UNROLLED for (int k = 0; k < HALF; k++) half_row[k] = convert((x)[2 * k]);                                     \
        if ((first) >= 0 && (first) + HALF <= (count) && IS_ALIGNED((row) + (first), vector))                          \
            *(global vector *)((row) + (first)) = GATHER_HALF(vector, half_row);                                       \
        else                                                                                                           \
            UNROLLED for (int k = 0; k < HALF; k++) if ((first) + k >= 0 && (first) + k < (count))(row)[(first) + k] = \
                half_row[k];                                                                                           \
    } while (0)

#define TO_LOW(v)         ((LOW)(v))
#define TO_COEFFICIENT(v) coefficient_of(v, step, reciprocal)

L2K_HD void store_band(const l2k_cl_level *level, int component, int orientation, global COEFFICIENT *all, long y,
                       const value *x, int first, int count)
{
    const float step = level->step[component][orientation], reciprocal = level->reciprocal[component][orientation];
    global COEFFICIENT *row = all + level->bands_at[component][orientation] + y * level->bands_stride;
    STORE_HALF(row, COEFFICIENT, coefficients, x, first, count, TO_COEFFICIENT);
}

/* The row of pair t that is low (0) or high (1) vertically. */
L2K_HD void store_row(const l2k_cl_level *level, int component, int is_high, global COEFFICIENT *all, global LOW *low,
                      int u, int t, const value x[N])
{
    const int y = is_high ? t : t - level->first_y;
    const int low_first = u / 2 - level->first_x, low_count = (level->end_x + 1) / 2 - level->first_x;
    const int high_first = u / 2, high_count = level->end_x / 2;
    if (2 * t + is_high < level->first_y || 2 * t + is_high >= level->end_y)
        return;
    if (is_high || level->is_last) {
        store_band(level, component, is_high ? 2 : 0, all, y, x, low_first, low_count);
    } else {
        global LOW *row = low + level->low_at[component] + (long)y * level->low_stride;
        STORE_HALF(row, LOW, lows, x, low_first, low_count, TO_LOW);
    }
    store_band(level, component, is_high ? 3 : 1, all, y, x + 1, high_first, high_count);
}

/* ---- Rounds -------------------------------------------------------------------------------------------------- */

/* The position in a strip: the number of the next round, and its rows, loaded a round ahead of their use. */
typedef struct cursor {
    int t;
    samples odd[COMPONENTS], even[COMPONENTS];
    state s;
} cursor;

L2K_HD void start(const l2k_cl_level *level, const planes *p, int u, cursor *c)
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++)
        UNROLLED
    for (int i = 0; i < (FLOATS ? 3 : 1); i++)
        c->s.rows[i][component][k] = 0;
    load_row(level, p, u, 2 * c->t, c->even);
    to_values(level, c->even, c->s.even);
    load_row(level, p, u, 2 * c->t + 1, c->odd);
    load_row(level, p, u, 2 * c->t + 2, c->even);
}

L2K_HD void advance(const l2k_cl_level *level, const planes *p, int u, cursor *c, value rows[2][COMPONENTS][N])
{
    value odd[COMPONENTS][N], next[COMPONENTS][N];
    to_values(level, c->odd, odd);
    to_values(level, c->even, next);
    c->t++;
    load_row(level, p, u, 2 * c->t + 1, c->odd);
    load_row(level, p, u, 2 * c->t + 2, c->even);
    lift_rows(&c->s, odd, next, rows);
    if (is_lone(level->first_y, level->end_y))
        lone_rows(next, rows);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

typedef value edge_row[LEFT + RIGHT][GROUP];

L2K_HD void lend_columns(local edge_row *edges, int item, value rows[2][COMPONENTS][N])
{
    UNROLLED
    for (int r = 0; r < 2 * COMPONENTS; r++) {
        UNROLLED
        for (int k = 0; k < LEFT; k++)
            edges[r][k][item] = rows[r / COMPONENTS][r % COMPONENTS][N - LEFT + k];
        UNROLLED
        for (int k = 0; k < RIGHT; k++)
            edges[r][LEFT + k][item] = rows[r / COMPONENTS][r % COMPONENTS][k];
    }
}

L2K_HD void finish_rows(const l2k_cl_level *level, const local edge_row *edges, int item, int u, int t,
                        value rows[2][COMPONENTS][N], global COEFFICIENT *all, global LOW *low)
{
    UNROLLED
    for (int r = 0; r < 2 * COMPONENTS; r++) {
        value x[LEFT + N + RIGHT];
        UNROLLED
        for (int k = 0; k < LEFT; k++)
            x[k] = edges[r][k][item - 1];
        UNROLLED
        for (int k = 0; k < N; k++)
            x[LEFT + k] = rows[r / COMPONENTS][r % COMPONENTS][k];
        UNROLLED
        for (int k = 0; k < RIGHT; k++)
            x[LEFT + N + k] = edges[r][LEFT + k][item + 1];
        if (is_lone(level->first_x, level->end_x))
            lone_columns(x);
        else
            lift_columns(x);
        store_row(level, r % COMPONENTS, r / COMPONENTS, all, low, u, t, x + LEFT);
    }
}

KERNEL analyse(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
               global LOW *low, l2k_cl_level level)
{
    PICK_LANE(level);
    local edge_row edges[2][2 * COMPONENTS];
    const int item = get_local_id(0);
    const int u = ((int)get_group_id(0) * (GROUP - 2) + item - 1) * N;
    const int begin = (int)get_group_id(1) * level.rounds, end = min(begin + level.rounds, (level.end_y + 1) / 2);
    const bool stores = item > 0 && item < GROUP - 1 && u < level.end_x;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    cursor c;
    value rows[2][COMPONENTS][N];
    c.t = begin + DELAY - WARM_UP;
    start(&level, &p, u, &c);
    for (int t = 0; t < WARM_UP; t++)
        advance(&level, &p, u, &c, rows);
    for (int t = begin; t < end; t++) {
        advance(&level, &p, u, &c, rows);
        lend_columns(edges[t & 1], item, rows); /* slower work-items still read the other edges */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (stores)
            finish_rows(&level, edges[t & 1], item, u, t, rows, all, low);
    }
}

/* No decomposition: samples to subband 0. */
KERNEL copy_in(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
               global LOW *low, l2k_cl_level level)
{
    PICK_LANE(level);
    const int u = (int)get_global_id(0) * N, begin = (int)get_group_id(1) * level.rounds;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    (void)low;
    for (int y = begin; y < min(begin + level.rounds, level.end_y) && u < level.end_x; y++) {
        samples raw[COMPONENTS];
        value x[COMPONENTS][N];
        load_row(&level, &p, u, y, raw);
        to_values(&level, raw, x);
        for (int component = 0; component < COMPONENTS; component++)
            for (int k = 0; k < N && u + k < level.end_x; k++)
                all[level.bands_at[component][0] + (long)y * level.bands_stride + u + k] =
                    coefficient_of(x[component][k], level.step[component][0], level.reciprocal[component][0]);
    }
}
