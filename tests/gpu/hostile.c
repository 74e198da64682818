/* gpu_hostile, opencl_hostile: damaged codestreams decoded on the backend and on the CPU give the same status and the same
 * samples, and nothing is written beside them. Small codestreams of MQ, HT and mixed code-blocks are made here; each
 * case flips bits, overwrites, cuts, inserts, deletes, splices two of them, or lies about a length. Then the time of
 * one code-block of bytes that no encoder makes, with as many passes as there can be.
 *
 *     gpu_hostile [CASES [FIRST]]
 *
 * With fewer than 100 cases, for compute-sanitizer, these times are left out. Exits with 77 without a device,
 * unless L2K_REQUIRE_GPU=1 or L2K_REQUIRE_OPENCL=1. */
#define _POSIX_C_SOURCE 200112L
#include <time.h>

#include "conformance/ht/made.h"
#include "planes.h"
#include "require.h"
#include "made_blocks.h"

enum { ENCODED = 72, MADE = 24, ORIGINALS = ENCODED + MADE, MOST_SAMPLES = 1 << 20, REPEATS = 5, FEW = 100 };

typedef struct original {
    bytes file;
    size_t body; /* behind the first SOD */
} original;

static original originals[ORIGINALS];
static bytes cut_file; /* the case */
static talk said;
static bool lost; /* the device: no call succeeds any more */
static unsigned long statuses[L2K_ERROR_CANCELLED + 1];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "gpu_hostile: %s failed\n", what);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---- Originals ------------------------------------------------------------------------------------------------- */

static size_t find_marker(const bytes *file, size_t from, unsigned code)
{
    while (from + 1 < file->size && !(file->data[from] == 0xFF && file->data[from + 1] == code))
        from++;
    return from;
}

/* From HT of all kinds to MQ of all styles. */
static void encode_original(unsigned number, bytes *file)
{
    rng r = {number * 7727 + 1};
    shape s = random_shape(&r, 100, 3, 12);
    s.width = s.width < 20 ? s.width + 40 : s.width;
    picture *p = picture_make(&s);
    coding o = random_coding(&r, p, 4);
    o.irreversible = number % 5 == 1;
    o.threads = 1;
    if (number % 2) {
        o.ht_passes = number % 3 + 1;
        o.style = L2K_STYLE_HT | (number % 8 == 1 && o.ht_passes > 1 ? L2K_STYLE_VSC : 0);
    } else if (number % 3 == 0) {
        o.num_targets = 3;
        o.targets[0] = 40, o.targets[1] = 8, o.targets[2] = 1;
    }
    char message[MESSAGE_BYTES] = "";
    o.tile_parts = L2K_TILE_PARTS_ONE;
    require(lift_encode(p, &o, L2K_FORMAT_CODESTREAM, file, message) == L2K_OK, message);
    picture_free(p);
}

/* MQ code-blocks become those of a tile that may have both kinds: CAP, and the style in COD. */
static void declare_mixed(bytes *file)
{
    static const uint8_t cap[] = {0xFF, 0x50, 0, 8, 0, 2, 0, 0, 0xF8, 0x23};
    bytes mixed = {0};
    const size_t siz_end = 4 + (size_t)(file->data[4] << 8 | file->data[5]);
    bytes_append(&mixed, file->data, siz_end);
    bytes_append(&mixed, cap, sizeof cap);
    bytes_append(&mixed, file->data + siz_end, file->size - siz_end);
    mixed.data[6] |= 0x40;
    mixed.data[find_marker(&mixed, siz_end, 0x52) + 12] = L2K_STYLE_HT | L2K_STYLE_HT_MIXED;
    bytes_free(file);
    *file = mixed;
}

static void make_originals(void)
{
    static const unsigned styles[] = {L2K_STYLE_HT, L2K_STYLE_HT | L2K_STYLE_VSC, L2K_STYLE_HT | L2K_STYLE_HT_MIXED};
    for (unsigned i = 0; i < ORIGINALS; i++) {
        bytes *file = &originals[i].file;
        if (i < ENCODED) {
            encode_original(i, file);
            if (i % 12 == 4)
                declare_mixed(file);
        } else {
            ht_made *made = ht_made_new(i, styles[i % 3]);
            file->data = ht_made_file(made, &file->size);
            ht_made_free(made);
        }
        originals[i].body = find_marker(file, 0, 0x93) + 2;
        require(originals[i].body < file->size, "a codestream with a body");
    }
}

/* ---- Damage ---------------------------------------------------------------------------------------------------- */

/* A place in the body, as a rule, or anywhere. */
static size_t random_place(rng *r, const original *o)
{
    const size_t from = rng_below(r, 12) && o->body < cut_file.size ? o->body : 0;
    return from + rng_below(r, (uint32_t)(cut_file.size - from));
}

static void flip(rng *r, const original *o)
{
    for (uint32_t n = rng_between(r, 1, 12); n-- > 0;)
        cut_file.data[random_place(r, o)] ^= (uint8_t)(1u << rng_below(r, 8));
}

static void overwrite(rng *r, const original *o)
{
    const size_t at = random_place(r, o);
    const uint32_t kind = rng_below(r, 3);
    for (size_t i = at, n = at + rng_between(r, 1, 40); i < n && i < cut_file.size; i++)
        cut_file.data[i] = kind == 0 ? 0 : kind == 1 ? 0xFF : (uint8_t)rng_below(r, 256);
}

/* Replaces some bytes by others, by those of another codestream, or by nothing. */
static void splice(rng *r, const original *o)
{
    const original *other = &originals[rng_below(r, ORIGINALS)];
    const size_t at = random_place(r, o), gone = rng_below(r, 3) ? rng_below(r, 60) : 0;
    const size_t from = other->body + rng_below(r, (uint32_t)(other->file.size - other->body));
    size_t count = rng_below(r, 3) ? rng_below(r, 200) : 0;
    const size_t rest = at + gone < cut_file.size ? at + gone : cut_file.size;
    bytes all = {0};
    count = count < other->file.size - from ? count : other->file.size - from;
    bytes_append(&all, cut_file.data, at);
    bytes_append(&all, other->file.data + from, count);
    bytes_append(&all, cut_file.data + rest, cut_file.size - rest);
    bytes_free(&cut_file);
    cut_file = all;
}

static void cut(rng *r, const original *o)
{
    cut_file.size = random_place(r, o) + 1;
}

/* Psot, which goes from tile-part to tile-part, or the first bytes of packets, where lengths of blocks are. */
static void lie(rng *r, const original *o)
{
    const bool in_packet = rng_below(r, 3);
    const size_t sot = find_marker(&cut_file, rng_below(r, (uint32_t)cut_file.size), 0x90);
    const size_t sop = find_marker(&cut_file, random_place(r, o), 0x91);
    if (in_packet) {
        const size_t at = (sop + 14 < cut_file.size ? sop + 6 : o->body) + rng_below(r, 8);
        if (at < cut_file.size)
            cut_file.data[at] = (uint8_t)rng_below(r, 256);
    } else if (sot + 10 < cut_file.size) {
        cut_file.data[sot + 6 + rng_below(r, 4)] = (uint8_t)rng_below(r, 256);
    }
}

static void damage(uint64_t seed)
{
    static void (*const kinds[])(rng * r, const original *o) = {flip, overwrite, splice, cut, lie, flip, lie};
    rng r = {seed * 1000003 + 11};
    const original *o = &originals[rng_below(&r, ORIGINALS)];
    cut_file.size = 0;
    bytes_append(&cut_file, o->file.data, o->file.size);
    for (uint32_t n = rng_between(&r, 1, 4); n-- > 0 && cut_file.size > 0;)
        kinds[rng_below(&r, sizeof kinds / sizeof *kinds)](&r, o);
}

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

static l2k_decoder *new_decoder(void)
{
    const l2k_hooks hooks = {.message = talk_message, .user = &said};
    l2k_decoder *d = l2k_decoder_new(&hooks);
    require(d && l2k_decoder_set(d, L2K_DECODER_LIMIT_SAMPLES, MOST_SAMPLES) == L2K_OK &&
                l2k_decoder_set(d, L2K_DECODER_THREADS, 1) == L2K_OK,
            "making a decoder");
    return d;
}

/* NULL, or what differs. */
static const char *compare_places(l2k_decoder *d, const bytes *file, place where, uint64_t seed, double *ms)
{
    outcome expected = decode_at(d, file, ON_CPU, seed);
    const double from = now_ms();
    outcome got = decode_at(d, file, where, seed);
    *ms = now_ms() - from;
    const char *what = outcomes_differ(&expected, &got);
    if (what)
        printf("FAILED: %s, %s: %s; %s\n", l2k_strerror(expected.status), l2k_strerror(got.status), what, said.error);
    lost |= what && got.status == L2K_ERROR_BACKEND;
    statuses[expected.status]++;
    outcome_free(&expected);
    outcome_free(&got);
    return what;
}

static void print_statuses(void)
{
    for (unsigned i = 0; i <= L2K_ERROR_CANCELLED; i++)
        if (statuses[i])
            printf("%s: %lu; ", l2k_strerror((l2k_status)i), statuses[i]);
    printf("\n");
}

static unsigned long run_cases(uint64_t cases, uint64_t first)
{
    unsigned long failures = 0;
    double ms, worst = 0;
    uint64_t worst_seed = first;
    l2k_decoder *d = new_decoder();
    for (uint64_t seed = first; seed < first + cases && !lost; seed++) {
        damage(seed);
        said = (talk){.notes = 0};
        if (compare_places(d, &cut_file, GPU_PLANES && seed % 2 ? FROM_DEVICE : FROM_HOST, seed, &ms)) {
            printf("case %llu\n", (unsigned long long)seed);
            failures++;
            l2k_decoder_free(d);
            d = new_decoder();
        }
        if (ms > worst)
            worst = ms, worst_seed = seed;
    }
    l2k_decoder_free(d);
    printf("%llu damaged codestreams, %lu failures; the longest call %.1f ms (case %llu)\n", (unsigned long long)cases,
           failures, worst, (unsigned long long)worst_seed);
    print_statuses();
    return failures;
}

/* ---- Times ----------------------------------------------------------------------------------------------------- */

static double least_ms(l2k_decoder *d, const bytes *file, place where)
{
    double least = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        const double from = now_ms();
        outcome o = decode_at(d, file, where, 0);
        const double ms = now_ms() - from;
        least = ms < least ? ms : least;
        outcome_free(&o);
    }
    return least;
}

static bytes stream_of(const made_block *b)
{
    bytes file = {0};
    file.data = made_block_stream(b, &file.size);
    file.capacity = file.size;
    return file;
}

/* The slowest filler of a kind of block; a block without passes in the same image is what the call takes anyway. */
static unsigned long time_kind(l2k_decoder *d, const char *name, made_block b)
{
    static const char *const fillers[] = {"zeros", "ones", "stripes", "random"};
    made_block none = b;
    none.passes = 0;
    bytes empty = stream_of(&none);
    double ms, on_device = 0, on_cpu = 0;
    const double call = least_ms(d, &empty, FROM_HOST);
    made_filler slowest = FILL_ZEROS;
    unsigned long failures = 0;
    for (b.filler = FILL_ZEROS; b.filler < MADE_FILLERS && !lost; b.filler++) {
        bytes file = stream_of(&b);
        statuses[L2K_OK] = statuses[L2K_INCOMPLETE] = 0;
        failures += compare_places(d, &file, FROM_HOST, 0, &ms) != NULL;
        if (statuses[L2K_OK] + statuses[L2K_INCOMPLETE] != 1)
            printf("FAILED: %s: not decoded: %s\n", name, said.error), failures++;
        ms = least_ms(d, &file, FROM_HOST);
        if (ms > on_device) {
            on_device = ms, slowest = b.filler;
            on_cpu = least_ms(d, &file, ON_CPU);
        }
        bytes_free(&file);
    }
    printf("| %s | %u x %u | %u | %u | %zu | %s | %.2f | %.2f | %.2f |\n", name, 1u << b.log2_width,
           1u << b.log2_height, b.planes, b.passes, b.size, fillers[slowest], on_device, call, on_cpu);
    bytes_free(&empty);
    return failures;
}

static unsigned long time_blocks(void)
{
    static const unsigned shapes[][2] = {{6, 6}, {10, 2}, {2, 10}};
    static const struct {
        const char *name;
        made_block block;
    } kinds[] = {
        {"MQ", {.planes = 30, .passes = 88, .size = 40000}},
        {"MQ, few bytes", {.planes = 30, .passes = 88, .size = 40}},
        {"MQ, bypass, termall", {.planes = 21, .passes = 61, .size = 30500, .style = 5}},
        {"MQ, segsym, vsc, reset", {.planes = 30, .passes = 88, .size = 40000, .style = 42}},
        {"HT, cleanup", {.planes = 30, .passes = 1, .size = 20000, .style = L2K_STYLE_HT}},
        {"HT, three passes", {.planes = 30, .passes = 3, .size = 20000, .style = L2K_STYLE_HT}},
    };
    unsigned long failures = 0;
    l2k_decoder *d = new_decoder();
    printf("\nOne code-block of an image, the slowest of four fillers; ms of the call.\n\n"
           "| block | size | bit-planes | passes | bytes | filler | GPU | GPU, no passes | CPU |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            made_block b = kinds[i].block;
            b.log2_width = shapes[k][0];
            b.log2_height = shapes[k][1];
            failures += time_kind(d, kinds[i].name, b);
        }
    l2k_decoder_free(d);
    return failures;
}

int main(int count, char **arguments)
{
    const uint64_t cases = count > 1 ? strtoull(arguments[1], NULL, 10) : 1000;
    const uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
    const int missing = gpu_missing();
    if (missing)
        return missing;
    make_originals();
    unsigned long failures = run_cases(cases, first);
    if (!lost && cases >= FEW)
        failures += time_blocks();
    printf("%lu failures\n", failures);
    return failures ? 1 : 0;
}
