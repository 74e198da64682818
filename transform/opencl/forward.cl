/* Analysis of a level (F.4): samples to subbands, with level shift and component transform before it, and the quantiser
 * behind it. The outer work-items of a group lend their columns to their neighbours. */
#define INVERSE 0
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
    int u;         /* the first column */
    bool is_whole; /* they are vectors */
} reader;

L2K_HD void open_reader(const l2k_cl_level *level, const planes *p, int u, reader *from)
{
    from->p = *p;
    from->u = WHOLE ? clamp(u, 0, level->end_x - N) : u; /* outside the row any vector will do */
    from->is_whole = WHOLE || (are_inside(level, u) && are_vectors(level, p, u - level->first_x));
}

L2K_HD const global uchar *find_sample(const l2k_cl_level *level, const reader *from, int y, int x, int component)
{
    const int row = mirror(y, level->first_y, level->end_y) - level->first_y;
    return from->p.at[component] + row * level->row_stride[component] +
           (x - level->first_x) * level->sample_stride[component];
}

/* Row y; interleaved components as they lie there. */
L2K_HD void load_row(const l2k_cl_level *level, const reader *from, int y, uint to[COMPONENTS][SAMPLE_WORDS])
{
    uint bits[COMPONENTS * N];
    if (from->is_whole) {
        UNROLLED
        for (int component = 0; component < COMPONENTS; component++) {
            const global uchar *first = find_sample(level, from, y, level->first_x, TRIPLES ? 0 : component);
            const long column = (TRIPLES ? 3 : 1) * (long)(from->u - level->first_x) + TRIPLES * N * component;
            load_words(first + column * (long)sizeof(SAMPLE), SAMPLE_WORDS, to[component]);
        }
        return;
    }
    UNROLLED
    for (int k = 0; k < COMPONENTS * N; k++) {
        const int x = clamp(from->u + (TRIPLES ? k / 3 : k % N), level->first_x, level->end_x - 1);
        bits[k] = load_bits(find_sample(level, from, y, x, TRIPLES ? k % 3 : k / N), sizeof(SAMPLE));
    }
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        pack_bits(bits + component * N, N, sizeof(SAMPLE), to[component]);
}

L2K_HD value value_of(SAMPLE sample, const l2k_cl_level *level, int component)
{
#if PIXELS
    return (value)l2k_shift_down(sample, shift_of(level, component));
#else
    return (value)sample;
#endif
}

L2K_HD void to_values(const l2k_cl_level *level, const uint raw[COMPONENTS][SAMPLE_WORDS], value x[COMPONENTS][N])
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N; k++) {
        const int i = TRIPLES ? 3 * k + component : component * N + k;
        x[component][k] = value_of(ELEMENT(SAMPLE, raw[i / N], i % N), level, component);
    }
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

L2K_HD void lift_columns(value x[WIDTH])
{
    const int end = LENT + N;
#if FLOATS
    UNROLLED
    for (int i = LENT - 3; i < end + 2; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_ALPHA);
    UNROLLED
    for (int i = LENT - 2; i < end + 1; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_BETA);
    UNROLLED
    for (int i = LENT - 1; i < end; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_GAMMA);
    UNROLLED
    for (int i = LENT; i < end; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], L2K_9_7_DELTA);
    UNROLLED
    for (int k = 0; k < N; k++)
        x[LENT + k] *= k % 2 ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW;
#else
    UNROLLED
    for (int i = LENT - 1; i < end; i += 2)
        x[i] = l2k_5_3_predict(x[i], x[i - 1], x[i + 1]);
    UNROLLED
    for (int i = LENT; i < end; i += 2)
        x[i] = l2k_5_3_update(x[i], x[i - 1], x[i + 1]);
#endif
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

/* The coefficients of a parity in a row of `count`, from `first` on: as a vector, or those that exist. */
#define STORE_HALF(row, vector, half, is_whole, first, count)                                                          \
    do {                                                                                                               \
        if (is_whole)                                                                                                  \
            *(global vector *)((row) + (first)) = (vector)(JOIN(LIST, HALF)(half));                                    \
        UNROLLED                                                                                                       \
        for (int k = 0; k < N / 2; k++)                                                                                \
            if (!(is_whole) && (first) + k >= 0 && (first) + k < (count))                                              \
                (row)[(first) + k] = half[k];                                                                          \
    } while (0)

/* The row x of pair t that is low (0) or high (1) vertically: its coefficients, and LL for the next level. */
L2K_HD void store_row(const l2k_cl_level *level, int component, int is_high, const subband_columns *to, int t, const value x[N],
                      global COEFFICIENT *all, global LOW *low)
{
    const int o = is_high ? 2 : 0;
    const bool is_kept = is_high || level->is_last;
    const long y = is_high ? t : t - level->first_y;
    global COEFFICIENT *at = all + y * level->bands_stride;
    global COEFFICIENT *even = at + level->bands_at[component][o], *odd = at + level->bands_at[component][o + 1];
    global LOW *between = low + level->low_at[component] + y * level->low_stride;
    COEFFICIENT evens[N / 2] = {0}, odds[N / 2];
    LOW betweens[N / 2];
    UNROLLED
    for (int k = 0; k < N / 2; k++) {
        betweens[k] = (LOW)x[2 * k];
        if (!QUANTISES || is_kept)
            evens[k] = coefficient_of(x[2 * k], level->step[component][o], level->reciprocal[component][o]);
        odds[k] = coefficient_of(x[2 * k + 1], level->step[component][o + 1], level->reciprocal[component][o + 1]);
    }
    if (is_kept)
        STORE_HALF(even, coefficients, evens, to->is_whole, to->first[0], to->count[0]);
    else
        STORE_HALF(between, lows, betweens, to->is_whole, to->first[0], to->count[0]);
    STORE_HALF(odd, coefficients, odds, to->is_whole, to->first[1], to->count[1]);
}

/* ---- Rounds -------------------------------------------------------------------------------------------------- */

/* Down a strip: rows, which are loaded a round ahead of their use. A structure, since PoCL 3.1 keeps an array over
 * barriers with the alignment that only the first work-item's has. */
typedef struct cursor {
    uint ahead[2][COMPONENTS][SAMPLE_WORDS];
    state s;
} cursor;

/* Before the round at which pair t enters. */
L2K_HD void start(const l2k_cl_level *level, const reader *from, int t, cursor *c)
{
    uint first[COMPONENTS][SAMPLE_WORDS];
    load_row(level, from, 2 * t, first);
    load_row(level, from, 2 * t + 1, c->ahead[0]);
    load_row(level, from, 2 * t + 2, c->ahead[1]);
    to_values(level, first, c->s.even);
}

L2K_HD void advance(const l2k_cl_level *level, const reader *from, int t, cursor *c, value rows[2][COMPONENTS][N])
{
    value odd[COMPONENTS][N], next[COMPONENTS][N];
    to_values(level, c->ahead[0], odd);
    to_values(level, c->ahead[1], next);
    load_row(level, from, 2 * t + 3, c->ahead[0]);
    load_row(level, from, 2 * t + 4, c->ahead[1]);
    lift_rows(&c->s, odd, next, rows);
    if (is_lone(level->first_y, level->end_y))
        lone_rows(next, next, rows);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

/* The rows of pair t. */
L2K_HD void finish_rows(const l2k_cl_level *level, const local edge_row *edges, const subband_columns *to, int u, int t,
                        value rows[2][COMPONENTS][N], global COEFFICIENT *all, global LOW *low)
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int r = 0; r < 2; r++) {
        value x[WIDTH];
        borrow_columns(level, edges[r * COMPONENTS + component], u, rows[r][component], x);
        if (is_lone(level->first_x, level->end_x))
            lone_columns(x);
        else
            lift_columns(x);
        if (r ? 2 * t + 1 < level->end_y : t >= level->first_y)
            store_row(level, component, r, to, t, x + LENT, all, low);
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
    const subband_columns to = find_columns(&level, all, low, u);
    reader from;
    cursor c = {{{{0}}}};
    open_reader(&level, &p, u, &from);
    start(&level, &from, begin - WARM_UP + DELAY, &c);
    for (int t = begin - WARM_UP; t < end; t++) {
        value rows[2][COMPONENTS][N];
        advance(&level, &from, t + DELAY, &c, rows);
        lend_columns(edges[t & 1], rows); /* who is still reading reads the others */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (stores && t >= begin)
            finish_rows(&level, edges[t & 1], &to, u, t, rows, all, low);
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
        uint raw[COMPONENTS][SAMPLE_WORDS];
        value x[COMPONENTS][N];
        load_row(&level, &from, y, raw);
        to_values(&level, raw, x);
        for (int component = 0; component < COMPONENTS; component++)
            for (int k = 0; k < N && u + k < level.end_x; k++)
                all[level.bands_at[component][0] + (long)y * level.bands_stride + u + k] =
                    coefficient_of(x[component][k], level.step[component][0], level.reciprocal[component][0]);
    }
}
