/* Synthesis of a level (F.3): subbands to samples, with the inverse quantiser before it, and component transform and
 * level shift behind it. A row is undone horizontally first. */
#define INVERSE 1
#include "transform/opencl/level.clh"

#if FLOATS
enum { DELAY = 2, WARM_UP = 4 };
#else
enum { DELAY = 1, WARM_UP = 2 };
#endif

/* ---- Coefficients -------------------------------------------------------------------------------------------- */

L2K_HD value value_of(COEFFICIENT c, float half_step)
{
#if QUANTISES
    return l2k_dequantise(c, half_step);
#else
    return (value)c;
#endif
}

/* A row of a component until its round: low and high columns; the low ones are coefficients, or LL between levels. */
typedef struct stored {
    uint even[LOW_WORDS], odd[COEFFICIENT_WORDS];
} stored;

/* The low and the high row of a round. A structure, since PoCL 3.1 keeps an array over barriers with the alignment
 * that only the first work-item's has. */
typedef struct stored_rows {
    stored of[2][COMPONENTS];
} stored_rows;

/* The columns of a parity in a row; 0 where there is no such row, or no such column: a line of one is of one subband.
 * Outside the row any value will do. */
L2K_HD void load_half(const subband_columns *from, const global uchar *row, bool is_there, int bytes, int parity,
                      uint *to)
{
    uint bits[N / 2];
    if (from->is_whole && (WHOLE || is_there)) {
        load_words(row + from->first[parity] * (long)bytes, N / 2 * bytes / 4, to);
        return;
    }
    UNROLLED
    for (int k = 0; k < N / 2; k++) {
        const int column = clamp(from->first[parity] + k, 0, from->count[parity] - 1);
        bits[k] = is_there && from->count[parity] > 0 ? load_bits(row + column * (long)bytes, bytes) : 0;
    }
    pack_bits(bits, N / 2, bytes, to);
}

/* The rows of pair t. */
L2K_HD void load_rows(const l2k_cl_level *level, const subband_columns *from, const global COEFFICIENT *all,
                      const global LOW *low, int t, stored_rows *to)
{
    UNROLLED
    for (int r = 0; r < 2; r++) {
        const int y = mirror(2 * t + r, level->first_y, level->end_y), o = r ? 2 : 0;
        const long row = r ? y / 2 : y / 2 - level->first_y;
        const bool is_there = (y & 1) == r; /* else the only row is of the other parity */
        UNROLLED
        for (int component = 0; component < COMPONENTS; component++) {
            const global COEFFICIENT *at = all + row * level->bands_stride;
            stored *s = &to->of[r][component];
            if (r || level->is_last)
                load_half(from, (const global uchar *)(at + level->bands_at[component][o]), is_there, sizeof *all, 0,
                          s->even);
            else
                load_half(from, (const global uchar *)(low + level->low_at[component] + row * level->low_stride),
                          is_there, sizeof *low, 0, s->even);
            load_half(from, (const global uchar *)(at + level->bands_at[component][o + 1]), is_there, sizeof *all, 1,
                      s->odd);
        }
    }
}

L2K_HD void to_values(const l2k_cl_level *level, int is_high, const stored from[COMPONENTS], value x[COMPONENTS][N])
{
    UNROLLED
    for (int component = 0; component < COMPONENTS; component++)
        UNROLLED
    for (int k = 0; k < N / 2; k++) {
        const float low_step = level->step[component][is_high ? 2 : 0],
                    high_step = level->step[component][is_high ? 3 : 1];
        x[component][2 * k] = is_high || level->is_last
                                  ? value_of(ELEMENT(COEFFICIENT, from[component].even, k), low_step)
                                  : (value)ELEMENT(LOW, from[component].even, k);
        x[component][2 * k + 1] = value_of(ELEMENT(COEFFICIENT, from[component].odd, k), high_step);
    }
}

/* ---- Lifting ------------------------------------------------------------------------------------------------- */

L2K_HD void lift_columns(value x[WIDTH])
{
    const int end = LENT + N;
#if FLOATS
    UNROLLED
    for (int i = LENT - 3; i < end + 4; i++)
        x[i] *= i % 2 ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
    UNROLLED
    for (int i = LENT - 2; i < end + 3; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_DELTA);
    UNROLLED
    for (int i = LENT - 1; i < end + 2; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_GAMMA);
    UNROLLED
    for (int i = LENT; i < end + 1; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_BETA);
    UNROLLED
    for (int i = LENT + 1; i < end; i += 2)
        x[i] = LIFT(x[i], x[i - 1], x[i + 1], -L2K_9_7_ALPHA);
#else
    UNROLLED
    for (int i = LENT; i < end + 1; i += 2)
        x[i] = l2k_5_3_unupdate(x[i], x[i - 1], x[i + 1]);
    UNROLLED
    for (int i = LENT + 1; i < end; i += 2)
        x[i] = l2k_5_3_unpredict(x[i], x[i - 1], x[i + 1]);
#endif
}

/* Undoes the rows of a round horizontally. */
L2K_HD void undo_columns(const l2k_cl_level *level, const local edge_row *edges, int u, value rows[2][COMPONENTS][N])
{
    UNROLLED
    for (int r = 0; r < 2; r++)
        UNROLLED
    for (int component = 0; component < COMPONENTS; component++) {
        value x[WIDTH], *row = rows[r][component];
        borrow_columns(level, edges[r * COMPONENTS + component], u, row, x);
        if (is_lone(level->first_x, level->end_x))
            lone_columns(x);
        else
            lift_columns(x);
        UNROLLED
        for (int k = 0; k < N; k++) {
            row[k] = x[LENT + k];
#if FLOATS
            if (!is_lone(level->first_y, level->end_y))
                row[k] *= r ? L2K_9_7_INVERSE_HIGH : L2K_9_7_INVERSE_LOW;
#endif
        }
    }
}

/* What vertical lifting keeps: the last high row, then, upwards, a row of each step. */
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

/* Rows y and y + 1 of those columns that are kept. */
L2K_HD void store_rows(const l2k_cl_level *level, const planes *p, bool is_whole, int u, int y,
                       value x[2][COMPONENTS][N])
{
    const long column = u - level->kept_x0;
    SAMPLE all[2][COMPONENTS * N];
    UNROLLED
    for (int r = 0; r < 2; r++) {
#if COMPONENTS == 3
        UNROLLED
        for (int k = 0; k < N; k++)
            JOIN_INVERSE(&x[r][0][k], &x[r][1][k], &x[r][2][k]);
#endif
        UNROLLED
        for (int i = 0; i < COMPONENTS * N; i++)
            all[r][i] =
                TRIPLES ? sample_of(x[r][i % 3][i / 3], level, i % 3) : sample_of(x[r][i / N][i % N], level, i / N);
    }
    UNROLLED
    for (int i = 0; i < 2 * COMPONENTS; i++) {
        const int r = i % 2, component = i / 2;
        const long row = (y + r - level->kept_y0) * level->row_stride[component];
        if (y + r < level->kept_y0 || y + r >= level->kept_y1)
            continue;
        if (is_whole) {
            global SAMPLE *first = (global SAMPLE *)(p->at[TRIPLES ? 0 : component] + row) + (TRIPLES ? 3 : 1) * column;
            ((global samples *)first)[TRIPLES * component] = (samples)(JOIN(LIST, COLUMNS)(all[r] + component * N));
            continue;
        }
        UNROLLED
        for (int k = 0; k < N; k++)
            if (u + k >= level->kept_x0 && u + k < level->kept_x1)
                *(global SAMPLE *)(p->at[component] + row + (column + k) * level->sample_stride[component]) =
                    all[r][TRIPLES ? 3 * k + component : component * N + k];
    }
}

/* Whether the columns from u on are kept and vectors. */
L2K_HD bool are_kept_vectors(const l2k_cl_level *level, const planes *p, int u)
{
    return u >= level->kept_x0 && u + N <= level->kept_x1 && are_vectors(level, p, u - level->kept_x0);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------- */

KERNEL synthesise(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
                  global LOW *low, l2k_cl_level level)
{
    PICK_COMPONENT(level);
    local edge_row edges[2][2 * COMPONENTS];
    const int u = first_column(), pairs = (level.end_y + 1) / 2;
    const int begin = (int)get_group_id(1) * level.rounds, end = min(begin + level.rounds, pairs);
    const bool stores = is_inner() && u < level.kept_x1 && u + N > level.kept_x0;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    const bool is_whole = WHOLE || are_kept_vectors(&level, &p, u);
    const subband_columns from = find_columns(&level, all, low, u);
    stored_rows ahead;
    state s = {{{{0}}}};
    load_rows(&level, &from, all, low, begin + DELAY - WARM_UP, &ahead);
    for (int t = begin - WARM_UP; t < end; t++) {
        value in[2][COMPONENTS][N], out[2][COMPONENTS][N];
        to_values(&level, 0, ahead.of[0], in[0]);
        to_values(&level, 1, ahead.of[1], in[1]);
        load_rows(&level, &from, all, low, t + DELAY + 1, &ahead);
        lend_columns(edges[t & 1], in); /* who is still reading reads the others */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (stores) {
            undo_columns(&level, edges[t & 1], u, in);
            lift_rows(&s, in[0], in[1], out);
            if (is_lone(level.first_y, level.end_y))
                lone_rows(in[0], in[1], out);
            if (t >= begin)
                store_rows(&level, &p, is_whole, u, 2 * t, out);
        }
    }
}

/* No decomposition: subband 0 to samples. */
KERNEL copy_out(global uchar *plane0, global uchar *plane1, global uchar *plane2, global COEFFICIENT *all,
                global LOW *low, l2k_cl_level level)
{
    PICK_COMPONENT(level);
    const int u = (int)get_global_id(0) * N, begin = (int)get_group_id(1) * level.rounds;
    const planes p = planes_of(&level, plane0, plane1, plane2);
    (void)low;
    for (int y = begin; y < min(begin + level.rounds, level.end_y) && u < level.end_x; y += 2) {
        value x[2][COMPONENTS][N] = {{{0}}};
        for (int i = 0; i < 2 * COMPONENTS; i++) {
            const int row = min(y + i % 2, level.end_y - 1);
            const global COEFFICIENT *at = all + level.bands_at[i / 2][0] + (long)row * level.bands_stride;
            for (int k = 0; k < N && u + k < level.end_x; k++)
                x[i % 2][i / 2][k] = value_of(at[u + k], level.step[i / 2][0]);
        }
        store_rows(&level, &p, are_kept_vectors(&level, &p, u), u, y, x);
    }
}
