/* What threads and lanes do in the MQ encoder on a device (codec/engine/cuda/mq/), done here by loops: code-blocks of
 * random shapes, styles and contents have the bytes, the lengths of passes and the distortions that the CPU's encoder
 * gives them, and stay within the memory that is provided for them. */
#include "support.h"

#include "codec/engine/cuda/mq/mq_lane.h"
#include "codec/engine/cuda/mq/mq_lists.h"
#include "codec/engine/cuda/mq/mq_tables.h"
#include "codec/blocks/mq/t1.h"

enum { BLOCKS = 3000, SAMPLES = 4096, PLANES = 32, CELLS = 600, GUARD = 64, POISON = 0xFF };

/* A block's samples, and what the kernels have of it in shared and in device memory. */
typedef struct subject {
    l2k_t1_block block;
    int32_t samples[SAMPLES];
    uint32_t words, across;
    uint32_t planes[PLANES][L2K_MQ_MOST_WORDS];
    uint32_t cells[4][CELLS], live[L2K_MQ_MOST_WORDS], refined[L2K_MQ_MOST_WORDS];
    l2k_mq_state state;
    uint32_t num_planes;
    mask_decisions decisions[L2K_MQ_MOST_WORDS];
    uint8_t *memory, *next; /* lists, and the code in their place */
    size_t bytes;
    l2k_pass_mark marks[L2K_MAX_PASSES];
    int64_t gains[L2K_MAX_PASSES];
} subject;

static subject s;

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void choose_shape(void)
{
    unsigned log2_width = random_between(2, 10), log2_height = random_between(2, 10);
    while (log2_width + log2_height > 12)
        *(random_below(2) && log2_width > 2 ? &log2_width : &log2_height) -= 1;
    log2_height = log2_height < 2 ? 2 : log2_height;
    while (log2_width + log2_height > 12)
        log2_width--;
    s.block.width = random_below(2) ? 1u << log2_width : random_between(1, 1u << log2_width);
    s.block.height = random_below(2) ? 1u << log2_height : random_between(1, 1u << log2_height);
}

static int32_t random_sample(unsigned bits, unsigned kind, unsigned density)
{
    const int64_t most = ((int64_t)1 << bits) - 1;
    int64_t v = (int64_t)(random_u64() & (uint64_t)most);
    if (kind == 0)
        v = most;
    if (kind == 1)
        v = v ? (int64_t)1 << random_below(bits) : 0;
    if (kind == 2)
        v >>= random_below(bits);
    if (random_below(16) >= density)
        v = 0;
    return (int32_t)(random_below(2) ? v : -v);
}

static void choose_block(void)
{
    memset(&s, 0, sizeof s);
    choose_shape();
    s.block.coefficients = s.samples;
    s.block.type = L2K_COEFFICIENT_INT32;
    s.block.stride = s.block.width;
    s.block.orientation = random_below(4);
    s.block.style = random_below(3) ? random_below(64) : 0;
    s.block.reversible = random_below(2);
    const unsigned bits = 1 + random_below(random_below(3) ? 10 : L2K_MAX_BIT_PLANES);
    const unsigned kind = random_below(6), density = random_below(17);
    for (size_t i = 0; i < s.block.stride * s.block.height; i++)
        s.samples[i] = random_sample(bits, kind, density);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static int cell_of(uint32_t word)
{
    return (int)((word / s.across + 1) * (s.across + 1) + word % s.across + 1);
}

/* Returns all magnitudes together. */
static uint32_t load_word(uint32_t word)
{
    const uint32_t x = word % s.across * 8, y = word / s.across * 4;
    uint32_t samples[32] = {0}, all = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (x + i / 4 >= s.block.width || y + i % 4 >= s.block.height)
            continue;
        const int32_t v = s.samples[(y + i % 4) * s.block.stride + x + i / 4];
        samples[i] = (uint32_t)(v < 0 ? -v : v);
        all |= samples[i];
        s.state.sign[cell_of(word)] |= (uint32_t)(v < 0) << i;
    }
    s.live[word] = l2k_mq_live(s.block.width - x, s.block.height - y);
    l2k_mq_transpose(samples);
    for (unsigned p = 0; p < PLANES; p++)
        s.planes[p][word] = samples[p];
    return all;
}

static void load(void)
{
    uint32_t all = 0;
    s.across = l2k_mq_cuda_words_across(s.block.width);
    s.words = l2k_mq_cuda_words(s.block.width, s.block.height);
    s.state = (l2k_mq_state){s.cells[0], s.cells[1], s.cells[2], s.cells[3]};
    assert_true(s.words <= L2K_MQ_MOST_WORDS && l2k_mq_cuda_cells(s.block.width, s.block.height) <= CELLS);
    for (uint32_t i = 0; i < s.words; i++)
        all |= load_word(i);
    while (s.num_planes < 32 && all >> s.num_planes)
        s.num_planes++;
}

static void spread_significance(uint32_t below)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < s.words; i++) {
            uint32_t *visited = &s.state.visited[cell_of(i)];
            const uint32_t now = l2k_mq_spread(&s.state, cell_of(i), (int)s.across + 1, below);
            again = again || now != *visited;
            *visited = now;
        }
    }
}

static void begin_plane(uint32_t plane, uint32_t below)
{
    uint32_t *const before = s.state.before;
    s.state.before = s.state.after;
    s.state.after = s.state.visited;
    s.state.visited = before;
    for (uint32_t i = 0; i < s.words; i++) {
        const uint32_t significant = s.state.before[cell_of(i)];
        s.state.after[cell_of(i)] = significant | s.planes[plane][i];
        s.state.visited[cell_of(i)] = significant;
    }
    if (plane + 1 < s.num_planes)
        spread_significance(below);
}

static l2k_mq_counts decide(uint32_t plane, uint32_t below, bool raw, int64_t gains[PASS_TYPES])
{
    l2k_mq_counts all = {0, 0, 0};
    for (uint32_t i = 0; i < s.words; i++) {
        mask_decisions *d = &s.decisions[i];
        int64_t own[PASS_TYPES];
        l2k_mq_decide(&s.state, cell_of(i), (int)s.across + 1, below, s.live[i], s.refined[i], s.planes[plane][i],
                      s.block.orientation, raw, d);
        const l2k_mq_counts n = l2k_mq_count_decisions(d);
        all.significance += n.significance;
        all.refinement += n.refinement;
        all.cleanup += n.cleanup;
        l2k_mq_measure(&s.planes[0][i], L2K_MQ_MOST_WORDS, plane, d, s.block.reversible, own);
        for (int k = 0; k < PASS_TYPES; k++)
            gains[k] += own[k];
        s.refined[i] = s.state.before[cell_of(i)];
    }
    return all;
}

/* A list of `count` decisions, filled up. */
static uint8_t *take_list(uint32_t decisions)
{
    uint8_t *list = s.next;
    const uint32_t words = decisions ? (decisions + 3) / 4 : 1;
    memset(list, L2K_MQ_FILLER & 0xFF, 4 * words);
    s.next += 4 * words;
    return list;
}

static void list_plane(uint32_t plane)
{
    static uint32_t entries[L2K_MQ_ENTRY_WORDS];
    const bool first = plane + 1 == s.num_planes, symbol = s.block.style & L2K_STYLE_SEGSYM;
    const uint32_t below = s.block.style & L2K_STYLE_VSC ? 0 : ~0u, pass = 3 * (s.num_planes - 1 - plane);
    int64_t gains[PASS_TYPES] = {0, 0, 0};
    uint8_t *lists[PASS_TYPES] = {NULL, NULL, NULL}, *ends[PASS_TYPES];
    begin_plane(plane, below);
    const l2k_mq_counts all = decide(plane, below, !first && l2k_pass_is_raw(s.block.style, pass - 2), gains);
    for (int k = first ? PASS_CLEANUP : 0; k < PASS_TYPES; k++) {
        lists[k] = take_list(k == PASS_CLEANUP      ? all.cleanup + (symbol ? 4 : 0)
                             : k == PASS_REFINEMENT ? all.refinement
                                                    : all.significance);
        ends[k] = s.next;
        s.gains[pass - 2 + k] = gains[k];
    }
    for (uint32_t i = 0; i < s.words; i++) {
        const l2k_mq_counts n = l2k_mq_count_decisions(&s.decisions[i]);
        l2k_mq_write_word(&s.decisions[i], (uint8_t *)entries, 4, lists[0], lists[1], lists[2]);
        lists[0] += n.significance;
        lists[1] += n.refinement;
        lists[2] += n.cleanup;
    }
    for (int i = 0; symbol && i < 4; i++)
        *lists[2]++ = (uint8_t)(L2K_CONTEXT_UNIFORM | (~i & 1) << L2K_MQ_DECISION_AT);
    for (int k = first ? PASS_CLEANUP : 0; k < PASS_TYPES; k++)
        ends[k][-1] |= 0x80;
}

/* ---- Code -------------------------------------------------------------------------------------------------------- */

static void make_lists(void)
{
    s.bytes = 16 * (size_t)l2k_mq_cuda_list_units(s.block.width, s.block.height, s.num_planes);
    s.memory = aligned_alloc(16, s.bytes + GUARD);
    assert_non_null(s.memory);
    memset(s.memory, POISON, s.bytes + GUARD);
    s.next = s.memory + l2k_mq_cuda_lead(s.num_planes);
    for (uint32_t plane = s.num_planes; plane-- > 0;)
        list_plane(plane);
    memset(s.next, L2K_MQ_FILLER & 0xFF, 4 * L2K_MQ_WORDS_AHEAD);
    assert_true(s.next + 4 * L2K_MQ_WORDS_AHEAD <= s.memory + s.bytes);
}

static void code_lists(void)
{
    static uint32_t states[L2K_MQ_STATES << L2K_MQ_STATES_APART >> 2];
    static uint32_t contexts[L2K_MQ_CUDA_CONTEXTS << L2K_MQ_CONTEXTS_APART >> 2];
    l2k_mq_cuda_tables tables;
    l2k_mq_cuda_make_tables(&tables);
    for (unsigned i = 0; i < L2K_MQ_STATES; i++)
        states[i << L2K_MQ_STATES_APART >> 2] = tables.states[i];
    l2k_mq_lane lane = {.contexts = (uint8_t *)contexts, .states = (uint8_t *)states, .first = tables.first};
    l2k_mq_lane_code(&lane, s.memory, s.num_planes, s.block.style,
                     s.block.style & (L2K_STYLE_BYPASS | L2K_STYLE_RESET | L2K_STYLE_TERMALL), s.marks);
    for (size_t i = 0; i < GUARD; i++)
        assert_true(s.memory[s.bytes + i] == POISON);
}

static void compare(const l2k_t1_code *code)
{
    const uint8_t *start = s.memory + L2K_MQ_CODE_AT;
    const uint32_t most = (uint32_t)s.marks[code->num_passes - 1].at;
    uint32_t bound = most, lengths[L2K_MAX_PASSES];
    for (unsigned i = code->num_passes; i-- > 0;) {
        const l2k_pass_mark *mark = &s.marks[i];
        const uint32_t bytes = mark->open ? l2k_shortest_cut(mark, start, most) : (uint32_t)mark->at;
        bound = lengths[i] = bytes < bound ? bytes : bound;
    }
    l2k_gains gains = {0, 0};
    for (unsigned i = 0; i < code->num_passes; i++) {
        const uint32_t bytes = lengths[i] && start[lengths[i] - 1] == 0xFF ? lengths[i] - 1 : lengths[i];
        l2k_gains_add_of_plane(&gains, s.gains[i], s.num_planes - 1 - (i + 2) / 3);
        assert_int_equal(bytes, code->passes[i].bytes);
        assert_true(l2k_gains_value(gains) == code->passes[i].distortion);
    }
    assert_true(memcmp(start, code->bytes, code->passes[code->num_passes - 1].bytes) == 0);
}

static void test_blocks(void **unused)
{
    (void)unused;
    const l2k_context context = {.threads = 1};
    l2k_t1 *t1 = NULL;
    l2k_t1_code code;
    assert_int_equal(l2k_t1_create(&context, &t1), L2K_OK);
    for (int i = 0; i < BLOCKS; i++) {
        choose_block();
        load();
        assert_int_equal(l2k_t1_encode(t1, &s.block, true, &code), L2K_OK);
        assert_int_equal(s.num_planes, code.num_planes);
        assert_int_equal(l2k_mq_cuda_passes(s.num_planes), code.num_passes);
        if (s.num_planes == 0)
            continue;
        make_lists();
        code_lists();
        compare(&code);
        free(s.memory);
    }
    l2k_t1_free(t1);
}

/* Why the code may take the place of the lists (mq_cuda.h): bits that a context's decisions shift out, beyond 7.5 for
 * each, in half bits; at most this many whatever the decisions, from each first state. */
static void test_room(void **unused)
{
    (void)unused;
    enum { STATES = L2K_MQ_STATES - 1, FIRST = -1000000 };
    l2k_mq_cuda_tables tables;
    int most[STATES];
    l2k_mq_cuda_make_tables(&tables);
    for (int i = 0; i < STATES; i++)
        most[i] = FIRST;
    for (int i = 0; i < L2K_NUM_CONTEXTS; i++)
        for (int k = 0; k < STATES; k++)
            if (tables.states[k] == tables.first[i])
                most[k] = 0;
    for (int round = 0; round < 400; round++)
        for (int i = 0; i < STATES; i++) {
            const uint32_t qe = tables.states[i] >> 16;
            const int more = (int)(tables.states[i] & 127), less = (int)(tables.states[i] >> 7 & 127);
            const int shift = __builtin_clz(qe) - 16 > 2 ? __builtin_clz(qe) - 16 : 2;
            if (most[i] == FIRST)
                continue;
            assert_true(most[i] <= 0);
            if (most[more] < most[i] + 2 * 2 - 15) /* the more probable symbol: two bits at most */
                most[more] = most[i] + 2 * 2 - 15;
            if (most[less] < most[i] + 2 * shift - 15)
                most[less] = most[i] + 2 * shift - 15;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
