/* Fuzz target: the block decoders, HT and MQ, without codestreams around them. The first HEAD bytes choose a block and
 * how its bytes arrive, the others are its bytes. Every instruction set must give the same coefficients, and none may
 * write outside the block. */
#include "fuzz.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "codec/blocks/block_coder.h"

enum { HEAD = 40, MOST_PARTS = 12, MARGIN = 3, POISON = 0x5A };

/* A code-block, all of its subband and tile-component, and its contributions. */
typedef struct subject {
    l2k_component_coding coding;
    l2k_tile_component component;
    l2k_resolution resolution;
    l2k_subband *band;
    l2k_coefficients view;
    l2k_block block;
    l2k_contribution parts[MOST_PARTS];
    unsigned num_parts;
} subject;

/* ---- The block ----------------------------------------------------------------------------------------------- */

static void choose_size(fuzz_bytes *b, subject *s)
{
    static const uint16_t most[][2] = {{64, 64}, {1024, 4}, {4, 1024}, {32, 32}, {8, 8}, {256, 16}};
    const uint16_t *m = most[fuzz_byte(b) % 6];
    const l2k_rect rect = {0, 0, fuzz_between(b, 1, m[0]), fuzz_between(b, 1, m[1])};
    s->block.rect = rect;
    s->band->rect = rect;
    s->view.width = rect.x1;
    s->view.height = rect.y1;
    s->view.stride = (size_t)rect.x1 + MARGIN;
    s->view.num_bands = 1;
    s->view.bands[0] = (l2k_band_view){.width = rect.x1, .height = rect.y1};
}

/* int16 only where all values fit, as in a plan. */
static void choose_planes(fuzz_bytes *b, subject *s, bool ht)
{
    const uint32_t kind = fuzz_byte(b), extra = kind & 1 ? fuzz_byte(b) % 40 : 0;
    const unsigned most = ht && kind & 2 ? 120 : 30;
    s->block.num_planes = (uint8_t)fuzz_between(b, 1, kind & 4 ? most : 12);
    s->coding.wavelet = (uint8_t)(kind & 8 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3);
    s->coding.roi_shift = (uint8_t)(kind & 16 ? fuzz_byte(b) % 38 : 0);
    s->band->max_planes = (uint16_t)(s->block.num_planes + extra);
    s->view.type = s->band->max_planes <= 14 && !(kind & 32) ? L2K_COEFFICIENT_INT16 : L2K_COEFFICIENT_INT32;
}

static void add_part(subject *s, fuzz_bytes *b, fuzz_bytes *data, unsigned passes, bool starts, bool empty)
{
    const uint32_t size = fuzz_word(b), left = (uint32_t)(data->size - data->at);
    l2k_contribution *part = &s->parts[s->num_parts++];
    *part = (l2k_contribution){.data = data->data + data->at, .passes = (uint8_t)passes, .starts_segment = starts};
    part->bytes = empty ? 0 : size < left ? size : left;
    data->at += part->bytes;
    s->block.num_passes = (uint8_t)(s->block.num_passes + passes);
    s->block.received.bytes += part->bytes;
    if (s->block.received.last)
        s->block.received.last->next = part;
    else
        s->block.received.first = part;
    s->block.received.last = part;
}

/* As packets bring them (B.1 to B.3 of T.814): placeholder passes, then up to a cleanup pass, and then cleanup passes
 * and refinement passes in turn. */
static void choose_ht_parts(fuzz_bytes *b, fuzz_bytes *data, subject *s)
{
    const unsigned placeholders = fuzz_byte(b) % 32, parts = 1 + fuzz_byte(b) % MOST_PARTS;
    s->block.kind = L2K_BLOCK_HT;
    if (placeholders & 1)
        add_part(s, b, data, placeholders, true, true);
    add_part(s, b, data, 3 - (s->block.num_passes + 2) % 3, true, false);
    while (s->num_parts < parts) {
        const unsigned done = s->block.num_passes % 3, left = done ? 3 - done : 1, choice = fuzz_byte(b);
        add_part(s, b, data, left > 1 && choice & 1 ? 1 : left, done < 2, choice & 2);
    }
}

static void choose_mq_parts(fuzz_bytes *b, fuzz_bytes *data, subject *s)
{
    const unsigned passes = 1 + fuzz_byte(b) % (3 * s->block.num_planes);
    s->coding.style |= fuzz_byte(b) & 63;
    while (s->block.num_passes < passes && s->num_parts < MOST_PARTS) {
        const unsigned first = s->block.num_passes;
        unsigned next = first + 1;
        while (next < passes && !l2k_mq_on_cpu.ends_segment(s->coding.style, next - 1))
            next++;
        add_part(s, b, data, next - first, first == 0 || l2k_mq_on_cpu.ends_segment(s->coding.style, first - 1), false);
    }
}

static void make_subject(subject *s, fuzz_bytes *b, fuzz_bytes *data)
{
    const uint32_t kind = fuzz_byte(b);
    memset(s, 0, sizeof *s);
    s->component = (l2k_tile_component){.num_resolutions = 1,
                                        .resolutions = &s->resolution,
                                        .coding = &s->coding,
                                        .view = &s->view,
                                        .dx = 1,
                                        .dy = 1,
                                        .precision = 8};
    s->resolution.num_bands = 1;
    s->band = &s->resolution.bands[0];
    s->band->component = &s->component;
    const bool ht = kind % 4 != 3;
    s->coding.style = (uint8_t)(L2K_STYLE_HT | L2K_STYLE_HT_MIXED | (kind & 4 ? L2K_STYLE_VSC : 0));
    choose_size(b, s);
    choose_planes(b, s, ht);
    (ht ? choose_ht_parts : choose_mq_parts)(b, data, s);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

typedef struct outcome {
    l2k_status status;
    bool damaged;
    uint8_t *bytes;
} outcome;

static size_t view_bytes(const subject *s)
{
    return s->view.stride * s->view.height * l2k_coefficient_bytes(s->view.type);
}

static void check_margin(const subject *s, const uint8_t *bytes)
{
    const size_t size = l2k_coefficient_bytes(s->view.type), row = s->view.stride * size, used = s->view.width * size;
    for (uint32_t y = 0; y < s->view.height; y++)
        for (size_t i = used; i < row; i++)
            FUZZ_EXPECT(bytes[y * row + i] == POISON);
}

static outcome decode(subject *s, l2k_cpu cpu)
{
    fuzz_watch w;
    const l2k_hooks hooks = fuzz_hooks(&w, (size_t)1 << 28);
    const l2k_context context = {.hooks = hooks, .threads = 1, .cpu = cpu};
    atomic_bool damaged = false;
    const l2k_block_place place = {&s->block, s->band};
    const l2k_block_batch batch = {.places = &place, .num_places = 1, .damaged = &damaged};
    l2k_block_coder *coder = NULL;
    outcome o = {.bytes = malloc(view_bytes(s))};
    FUZZ_EXPECT(o.bytes && l2k_block_coder_create(&context, &l2k_ht_on_cpu, &coder) == L2K_OK);
    memset(o.bytes, POISON, view_bytes(s));
    s->view.base = o.bytes;
    o.status = coder->table->begin_decode(coder, &batch);
    if (o.status == L2K_OK)
        o.status = coder->table->finish(coder);
    FUZZ_EXPECT(o.status == L2K_OK || o.status == L2K_ERROR_UNSUPPORTED || o.status == L2K_ERROR_CORRUPT);
    fuzz_reported(&w, o.status);
    l2k_block_coder_free(coder);
    FUZZ_EXPECT(w.live == 0);
    check_margin(s, o.bytes);
    o.damaged = atomic_load(&damaged);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const size_t head = bytes < HEAD ? bytes : HEAD;
    fuzz_bytes choices = {data, head, 0}, code = {data + head, bytes - head, 0};
    subject s;
    make_subject(&s, &choices, &code);
    outcome plain = decode(&s, L2K_CPU_C);
    for (l2k_cpu cpu = L2K_CPU_C + 1; cpu <= L2K_CPU_SIMD128; cpu++) {
        if (!l2k_cpu_usable(cpu))
            continue;
        outcome other = decode(&s, cpu);
        FUZZ_EXPECT(other.status == plain.status && other.damaged == plain.damaged);
        FUZZ_EXPECT(plain.status != L2K_OK || memcmp(other.bytes, plain.bytes, view_bytes(&s)) == 0);
        free(other.bytes);
    }
    free(plain.bytes);
    return 0;
}
