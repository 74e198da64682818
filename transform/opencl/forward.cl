/* Analysis of a level (F.4): samples to subbands, with level shift and component transform before it, and the quantiser
 * behind it. The outer work-items of a group lend their columns to their neighbours. */
#include "transform/opencl/level.clh"

#if FLOATS
enum { DELAY = 1, WARM_UP = 3 };
#else
enum { DELAY = 0, WARM_UP = 1 };
#endif

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* A work-item's columns of the samples. */
typedef struct reader {
    planes p;
    bool is_whole;  /* they are vectors */
    int columns[N]; /* from the first sample on; mirrored */
} reader;

L2K_HD void open_reader(const l2k_cl_level *level, const planes *p, int u, reader *from)
{
    from->p = *p;
    mirror_columns(level, u, from->columns);
    UNROLLED
    for (int k = 0; k < N; k++)
        from->columns[k] -= level->first_x;
    from->is_whole = are_inside(level, u) && are_vectors(level, p, from->columns[0]);
}

L2K_HD const global uchar *find_row(const l2k_cl_level *level, const reader *from, int y, int component)
{
    const int row = mirror(y, level->first_y, level->end_y) - level->first_y;
    return from->p.at[component] + row * level->row_stride[component];
}

/* Rows from y on; interleaved components as they lie there. */
L2K_HD void load_rows(const l2k_cl_level *level, const reader *from, int y, int count, sample_words to[][COMPONENTS])
{
    if (from->is_whole) {
        UNROLLED
        for (int i = 0; i < count; i++)
            UNROLLED
        for (int component = 0; component < COMPONENTS; component++) {
            const global SAMPLE *at = (const global SAMPLE *)find_row(level, from, y + i, TRIPLES ? 0 : component);
            to[i][component] =
                ((const global sample_words *)(at + (TRIPLES ? 3 : 1) * (long)from->columns[0]))[TRIPLES * component];
        }
        return;
    }
    UNROLLED
    for (int i = 0; i < count; i++)
        UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
        SAMPLE one[N];
        UNROLLED
        for (int k = 0; k < N; k++) {
            const int column = TRIPLES ? (N * component + k) / 3 : k;
            const int of = TRIPLES ? (N * component + k) % 3 : component;
            one[k] = *(const global SAMPLE *)(find_row(level, from, y + i, of) +
                                              from->columns[column] * level->sample_stride[of]);
        }
        to[i][component] = TO_WORDS(SAMPLE, 4)(GATHER(samples, one));
    }
}

L2K_HD value value_of(SAMPLE sample, const l2k_cl_level *level, int component)
{
#if PIXELS
    return (value)l2k_shift_down(sample, shift_of(level, component));
#else
    return (value)sample;
#endif
}

L2K_HD void to_values(const l2k_cl_level *level, const sample_words raw[COMPONENTS], value x[COMPONENTS][N])
{
    SAMPLE one[COMPONENTS * N];
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
        const samples four = FROM_WORDS(SAMPLE, 4)(raw[component]);
        SPREAD((one + component * N), four);
    }
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

/* The state of vertical lifting between rounds: the last sample row, then, from there upwards, a row of each step but the
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

L2K_HD void lift_columns(value x[WIDTH])
{
#if FLOATS
    UNROLLED
    for (int i = N - 3; i < 2 * N + 2; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_ALPHA);
    UNROLLED
    for (int i = N - 2; i < 2 * N + 1; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_BETA);
    UNROLLED
    for (int i = N - 1; i < 2 * N; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_GAMMA);
    UNROLLED
    for (int i = N; i < 2 * N; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_DELTA);
    UNROLLED
    for (int k = 0; k < N; k++)
        x[N + k] *= k % 2 ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW;
#else
    UNROLLED
    for (int i = N - 1; i < 2 * N; i += 2)
        x[i] = l2k_5_3_predict(x[i], x[i - 1], x[i + 1]);
    UNROLLED
    for (int i = N; i < 2 * N; i += 2)
        x[i] = l2k_5_3_update(x[i], x[i - 1], x[i + 1]);
#endif
}

L2K_HD void lone_columns(value x[WIDTH])
{
    UNROLLED
    for (int k = 1; k < N; k += 2)
        x[N + k] = LONE(x[N + k]);
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

/* A work-item's columns of the subbands. */
typedef struct writer {
    int low_first, low_count, high_first, high_count;
    bool is_whole; /* those of a parity are vectors */
} writer;

L2K_HD void open_writer(const l2k_cl_level *level, const global COEFFICIENT *all, const global LOW *low, int u,
                        writer *to)
{
    to->low_first = u / 2 - level->first_x;
    to->low_count = (level->end_x + 1) / 2 - level->first_x;
    to->high_first = u / 2;
    to->high_count = level->end_x / 2;
    to->is_whole = are_inside(level, u) && are_subbands_vectors(level, all, low, to->low_first, to->high_first);
}

/* Two coefficients of a row of `count`, from `first` on: as a vector, or those that exist. */
#define STORE_HALF(row, vector, half, is_whole, first, count)                                                          \
    do {                                                                                                               \
        if (is_whole) {                                                                                                \
            *(global vector *)((row) + (first)) = half;                                                                \
            break;                                                                                                     \
        }                                                                                                              \
        if ((first) >= 0 && (first) < (count))                                                                         \
            (row)[first] = half.s0;                                                                                    \
        if ((first) + 1 >= 0 && (first) + 1 < (count))                                                                 \
            (row)[(first) + 1] = half.s1;                                                                              \
    } while (0)

/* A row that leaves: coefficients of its even and odd columns, or LL for the next level. */
typedef struct finished {
    coefficients even, odd;
    lows between;
} finished;

L2K_HD finished finish_row(const l2k_cl_level *level, int component, int is_high, const value x[N])
{
    const int low = is_high ? 2 : 0, high = is_high ? 3 : 1;
    const float low_step = level->step[component][low], low_reciprocal = level->reciprocal[component][low];
    const float high_step = level->step[component][high], high_reciprocal = level->reciprocal[component][high];
    finished row;
    row.between = (lows)((LOW)x[0], (LOW)x[2]);
    row.even = 0;
    if (is_high || level->is_last)
        row.even = (coefficients)(coefficient_of(x[0], low_step, low_reciprocal),
                                  coefficient_of(x[2], low_step, low_reciprocal));
    row.odd = (coefficients)(coefficient_of(x[1], high_step, high_reciprocal),
                             coefficient_of(x[3], high_step, high_reciprocal));
    return row;
}

/* The row of pair t that is low (0) or high (1) vertically. */
L2K_HD void store_row(const l2k_cl_level *level, int component, int is_high, global COEFFICIENT *all, global LOW *low,
                      const writer *to, bool is_whole, int t, finished row)
{
    const long y = is_high ? t : t - level->first_y;
    global COEFFICIENT *at = all + y * level->bands_stride;
    global COEFFICIENT *even = at + level->bands_at[component][is_high ? 2 : 0];
    global COEFFICIENT *odd = at + level->bands_at[component][is_high ? 3 : 1];
    global LOW *between = low + level->low_at[component] + y * level->low_stride;
    if (is_high || level->is_last)
        STORE_HALF(even, coefficients, row.even, is_whole, to->low_first, to->low_count);
    else
        STORE_HALF(between, lows, row.between, is_whole, to->low_first, to->low_count);
    STORE_HALF(odd, coefficients, row.odd, is_whole, to->high_first, to->high_count);
}

/* ---- Rounds -------------------------------------------------------------------------------------------------- */

/* Down a strip: the number of the next round, and its rows, which are loaded a round ahead of their use. */
typedef struct cursor {
    int t;
    sample_words ahead[2][COMPONENTS];
    state s;
} cursor;

L2K_HD void start(const l2k_cl_level *level, const reader *from, cursor *c)
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++)
        UNROLLED
    for (int i = 0; i < (FLOATS ? 3 : 1); i++)
        c->s.rows[i][component][k] = 0;
    load_rows(level, from, 2 * c->t, 1, c->ahead);
    to_values(level, c->ahead[0], c->s.even);
    load_rows(level, from, 2 * c->t + 1, 2, c->ahead);
}

L2K_HD void advance(const l2k_cl_level *level, const reader *from, cursor *c, value rows[2][COMPONENTS][N])
{
    value odd[COMPONENTS][N], next[COMPONENTS][N];
    to_values(level, c->ahead[0], odd);
    to_values(level, c->ahead[1], next);
    c->t++;
    load_rows(level, from, 2 * c->t + 1, 2, c->ahead);
    lift_rows(&c->s, odd, next, rows);
    if (is_lone(level->first_y, level->end_y))
        lone_rows(next, rows);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

L2K_HD void finish_rows(const l2k_cl_level *level, const local edge_row *edges, const writer *to, bool stores, int t,
                        value rows[2][COMPONENTS][N], global COEFFICIENT *all, global LOW *low)
{
    const bool has_low = t >= level->first_y, has_high = 2 * t + 1 < level->end_y;
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
        finished done[2];
        UNROLLED
        for (int r = 0; r < 2; r++) {
            value x[WIDTH];
            borrow_columns(edges[r * COMPONENTS + component], rows[r][component], x);
            if (is_lone(level->first_x, level->end_x))
                lone_columns(x);
            else
                lift_columns(x);
            done[r] = finish_row(level, component, r, x + N);
        }
        if (stores && to->is_whole && has_low && has_high) {
            store_row(level, component, 0, all, low, to, true, t, done[0]);
            store_row(level, component, 1, all, low, to, true, t, done[1]);
            continue;
        }
        if (stores && has_low)
            store_row(level, component, 0, all, low, to, false, t, done[0]);
        if (stores && has_high)
            store_row(level, component, 1, all, low, to, false, t, done[1]);
    }
}

KERNEL analyse(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
               global LOW *low, l2k_cl_level level)
{
    PICK_COMPONENT(level);
    local edge_row edges[2][2 * COMPONENTS];
    const int u = first_column();
    const int begin = (int)get_group_id(1) * level.rounds, end = min(begin + level.rounds, (level.end_y + 1) / 2);
    const bool stores = is_inner() && u < level.end_x;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    reader from;
    writer to;
    cursor c;
    value rows[2][COMPONENTS][N];
    open_reader(&level, &p, u, &from);
    open_writer(&level, all, low, u, &to);
    c.t = begin + DELAY - WARM_UP;
    start(&level, &from, &c);
    for (int t = 0; t < WARM_UP; t++)
        advance(&level, &from, &c, rows);
    for (int t = begin; t < end; t++) {
        advance(&level, &from, &c, rows);
        lend_columns(edges[t & 1], rows); /* who is still reading reads the others */
        barrier(CLK_LOCAL_MEM_FENCE);
        finish_rows(&level, edges[t & 1], &to, stores, t, rows, all, low);
    }
}

/* No decomposition: samples to subband 0. */
KERNEL copy_in(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
               global LOW *low, l2k_cl_level level)
{
    PICK_COMPONENT(level);
    const int u = (int)get_global_id(0) * N, begin = (int)get_group_id(1) * level.rounds;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    reader from;
    (void)low;
    open_reader(&level, &p, u, &from);
    for (int y = begin; y < min(begin + level.rounds, level.end_y) && u < level.end_x; y++) {
        sample_words raw[1][COMPONENTS];
        value x[COMPONENTS][N];
        load_rows(&level, &from, y, 1, raw);
        to_values(&level, raw[0], x);
        for (int component = 0; component < COMPONENTS; component++)
            for (int k = 0; k < N && u + k < level.end_x; k++)
                all[level.bands_at[component][0] + (long)y * level.bands_stride + u + k] =
                    coefficient_of(x[component][k], level.step[component][0], level.reciprocal[component][0]);
    }
}
