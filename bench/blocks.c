/* blocks: the CPU's block coders alone, on one thread, by coder and instruction set: nanoseconds a sample, best of
 * several runs, in which all coders and sets take turns.
 *
 *     blocks [-b ht|mq] [-c CPU] [-n RUNS] [-p HT_PASSES] [-q HALVINGS] [-w 9-7] PICTURE.pnm
 *
 * The picture (5 levels, code-blocks of 64 x 64) is transformed once; its code-blocks are encoded, then decoded and,
 * with the 5/3, compared. -w 9-7 quantises, with -q by steps that are 2^HALVINGS times as large. The hash is that of
 * all bytes of all blocks, so it must not depend on the set. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "base/cpu.h"
#include "bench/bench.h"
#include "bench/pnm.h"
#include "codec/blocks/block_coder.h"
#include "quant/steps.h"

enum { LEVELS = 5, MOST_COMPONENTS = 3, MOST_WAYS = 16, MOST_PARTS = 256 };

static void die(const char *text)
{
    fprintf(stderr, "blocks: %s\n", text);
    exit(1);
}

static void must(l2k_status status)
{
    if (status != L2K_OK)
        die("failed");
}

static void *take(size_t bytes)
{
    void *memory = calloc(bytes + !bytes, 1);
    if (!memory)
        die("out of memory");
    return memory;
}

typedef struct arguments {
    const char *coder;
    l2k_cpu cpu; /* AUTO: all sets */
    unsigned runs, passes, halvings;
    l2k_wavelet wavelet;
} arguments;

static bool has_set(const arguments *a, int cpu)
{
    return l2k_cpu_usable((l2k_cpu)cpu) && (a->cpu == L2K_CPU_AUTO || a->cpu == (l2k_cpu)cpu);
}

/* ---- Its tile -------------------------------------------------------------------------------------------------- */

typedef struct subject {
    l2k_siz siz;
    l2k_component components[MOST_COMPONENTS];
    l2k_component_coding codings[MOST_COMPONENTS];
    l2k_tile_coding coding;
    l2k_tile tile;
    l2k_plan *plan, *unquantised; /* the latter for HT and the 9/7 */
    l2k_coefficients decoded[MOST_COMPONENTS];
    l2k_block_place *places;
    size_t num_places;
    l2k_coded_block *coded;
    l2k_contribution *parts;
    double samples;
} subject;

static const l2k_context plain = {.hooks = {.message = report_message}, .threads = 1};

static void set_coding(const arguments *a, unsigned precision, l2k_component_coding *k)
{
    *k = (l2k_component_coding){.levels = LEVELS,
                                .log2_block_width = 6,
                                .log2_block_height = 6,
                                .wavelet = (uint8_t)a->wavelet,
                                .quantisation = a->wavelet == L2K_WAVELET_9_7 ? L2K_QUANT_EXPOUNDED : L2K_QUANT_NONE,
                                .guard_bits = 3,
                                .ht_passes = (uint8_t)a->passes};
    memset(k->log2_precinct_width, 15, sizeof k->log2_precinct_width);
    memset(k->log2_precinct_height, 15, sizeof k->log2_precinct_height);
    l2k_steps_choose(l2k_wavelet_get(a->wavelet), precision, LEVELS, k->steps);
    for (unsigned b = 0; b <= 3 * LEVELS; b++)
        k->steps[b].exponent = (uint8_t)(k->steps[b].exponent > a->halvings ? k->steps[b].exponent - a->halvings : 1);
}

static void make_tile(const arguments *a, const pnm *p, subject *s)
{
    *s = (subject){
        .siz = {.grid = {{0, 0, p->width, p->height}, 0, 0, p->width, p->height}, .num_components = p->components},
        .samples = (double)p->width * p->height * p->components};
    s->siz.components = s->components;
    s->coding = (l2k_tile_coding){.num_layers = 1, .components = s->codings, .component_transform = p->components == 3};
    for (uint32_t c = 0; c < p->components; c++) {
        s->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = p->precision};
        set_coding(a, p->precision, &s->codings[c]);
    }
    must(l2k_tile_create(&plain, &s->siz, &s->coding, 0, UINT64_MAX, &s->tile));
    for (uint32_t c = 0; c < p->components; c++)
        for (uint32_t r = 0; r <= LEVELS; r++)
            for (uint32_t i = 0; i < s->tile.components[c].resolutions[r].num_precincts; i++)
                must(l2k_precinct_prepare(&plain, &s->tile, &s->tile.components[c], r, i));
    must(l2k_tile_list_blocks(&plain, &s->tile, UINT32_MAX, 0, &s->places, &s->num_places));
    s->coded = take(s->num_places * sizeof *s->coded);
    s->parts = take(s->num_places * MOST_PARTS * sizeof *s->parts);
}

static l2k_plan *transformed(const pnm *p, const subject *s, l2k_coefficient_type type)
{
    l2k_plan_component components[MOST_COMPONENTS];
    l2k_plane planes[MOST_COMPONENTS];
    l2k_plan_spec spec = {.direction = L2K_FORWARD, .type = type};
    l2k_plan *plan;
    l2k_coding_plan_spec(&s->siz, &s->coding, s->tile.rect, 0, components, &spec);
    must(l2k_plan_create(&plain, L2K_BACKEND_CPU, &spec, &plan));
    for (uint32_t c = 0; c < p->components; c++)
        planes[c] = (l2k_plane){p->samples + c * pnm_plane_bytes(p), (ptrdiff_t)(p->width * p->bytes), p->bytes,
                                p->bytes == 2 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
    must(l2k_plan_forward(plan, planes));
    return plan;
}

static void transform(const arguments *a, const pnm *p, subject *s)
{
    s->plan = transformed(p, s, p->precision > 8 ? L2K_COEFFICIENT_INT32 : L2K_COEFFICIENT_INT16);
    if (a->wavelet == L2K_WAVELET_9_7)
        s->unquantised = transformed(p, s, L2K_COEFFICIENT_FLOAT32);
    for (uint32_t c = 0; c < p->components; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(s->plan, c);
        s->decoded[c] = *view;
        s->decoded[c].base = take(view->stride * view->height * l2k_coefficient_bytes(view->type));
    }
}

/* ---- Runs ------------------------------------------------------------------------------------------------------ */

typedef struct way {
    const l2k_block_coder_table *table;
    l2k_context context;
    l2k_block_coder *coder;
    unsigned style;
    double encode, decode; /* best times so far */
    uint64_t bytes, hash;
} way;

static double timed(subject *s, way *w, l2k_status (*begin)(l2k_block_coder *coder, const l2k_block_batch *batch))
{
    l2k_block_batch batch = {.places = s->places, .num_places = s->num_places};
    double start = 1e9 * now();
    must(begin(w->coder, &batch));
    must(w->table->finish(w->coder));
    return 1e9 * now() - start;
}

/* What packets would have brought of a block: a contribution for each codeword segment. */
static void deliver(l2k_block *block, const l2k_coded_block *coded, l2k_contribution *part, way *w)
{
    uint32_t at = 0, first = 0;
    block->received = (l2k_received_block){0};
    block->kind = w->style & L2K_STYLE_HT ? L2K_BLOCK_HT : L2K_BLOCK_MQ;
    for (uint32_t i = 0; i < block->num_passes; i++) {
        uint32_t end = coded->pass_bytes[i] & ~L2K_PASS_TERMINATED;
        if (end == coded->pass_bytes[i])
            continue;
        *part = (l2k_contribution){NULL, coded->bytes + at, end - at, (uint16_t)(i + 1 - first), true};
        if (block->received.last)
            block->received.last->next = part;
        else
            block->received.first = part;
        block->received.last = part++;
        at = end;
        first = i + 1;
    }
    block->received.bytes = at;
    w->bytes += at;
    for (uint32_t i = 0; i < at; i++)
        w->hash = (w->hash ^ coded->bytes[i]) * 0x100000001B3u;
}

static void compare(const subject *s, uint32_t c)
{
    const l2k_coefficients *a = l2k_plan_coefficients(s->plan, c), *b = &s->decoded[c];
    const size_t bytes = l2k_coefficient_bytes(a->type);
    for (uint32_t y = 0; y < a->height; y++)
        if (memcmp((uint8_t *)a->base + y * a->stride * bytes, (uint8_t *)b->base + y * b->stride * bytes,
                   a->width * bytes) != 0)
            die("the coefficients have changed");
}

static void run(const arguments *a, subject *s, way *w)
{
    const l2k_plan *plan = w->style & L2K_STYLE_HT && s->unquantised ? s->unquantised : s->plan;
    for (uint32_t c = 0; c < s->siz.num_components; c++) {
        s->codings[c].style = (uint8_t)w->style;
        s->tile.components[c].view = l2k_plan_coefficients(plan, c);
    }
    w->table->forget(w->coder);
    for (size_t i = 0; i < s->num_places; i++)
        s->places[i].block->coded = (l2k_coded_block){0};
    double encode = timed(s, w, w->table->begin_encode);
    w->bytes = 0;
    w->hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < s->num_places; i++) {
        s->coded[i] = s->places[i].block->coded;
        deliver(s->places[i].block, &s->coded[i], s->parts + i * MOST_PARTS, w);
    }
    for (uint32_t c = 0; c < s->siz.num_components; c++)
        s->tile.components[c].view = &s->decoded[c];
    double decode = timed(s, w, w->table->begin_decode);
    for (uint32_t c = 0; a->wavelet == L2K_WAVELET_5_3 && a->passes < 2 && c < s->siz.num_components; c++)
        compare(s, c);
    w->encode = encode < w->encode ? encode : w->encode;
    w->decode = decode < w->decode ? decode : w->decode;
}

static unsigned list_ways(const arguments *a, way *ways)
{
    static const struct {
        const char *name;
        const l2k_block_coder_table *table;
        unsigned style;
    } coders[] = {{"ht", &l2k_ht_on_cpu, L2K_STYLE_HT}, {"mq", &l2k_mq_on_cpu, 0}};
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++)
        for (int cpu = L2K_CPU_C; cpu <= L2K_CPU_NEON; cpu++)
            if (has_set(a, cpu) && (!a->coder || strcmp(a->coder, coders[i].name) == 0)) {
                way *w = &ways[count++];
                *w = (way){.table = coders[i].table, .context = plain, .style = coders[i].style};
                w->context.cpu = (l2k_cpu)cpu;
                w->encode = w->decode = 1e30;
                must(l2k_block_coder_create(&w->context, w->table, &w->coder));
            }
    return count;
}

static void run_picture(const arguments *a, const pnm *p)
{
    static subject s;
    static way ways[MOST_WAYS];
    make_tile(a, p, &s);
    transform(a, p, &s);
    const unsigned count = list_ways(a, ways);
    for (unsigned i = 0; i < a->runs; i++)
        for (unsigned k = 0; k < count; k++)
            run(a, &s, &ways[k]);
    printf("%.0f samples\n%-18s %-8s %9s %9s %11s %8s\n", s.samples, "coder", "set", "encode ns", "decode ns", "bytes",
           "hash");
    for (unsigned k = 0; k < count; k++) {
        const way *w = &ways[k];
        printf("%-18s %-8s %9.2f %9.2f %11llu %08llx\n", w->table->name, l2k_cpu_name(w->context.cpu),
               w->encode / s.samples, w->decode / s.samples, (unsigned long long)w->bytes,
               (unsigned long long)(w->hash >> 32));
        l2k_block_coder_free(w->coder);
    }
    l2k_plan_free(s.plan);
    l2k_plan_free(s.unquantised);
    l2k_tile_release(&plain, &s.tile);
}

/* ---------------------------------------------------------------------------------------------------------------- */

int main(int count, char **values)
{
    arguments a = {.runs = 5, .passes = 1};
    for (int o; (o = getopt(count, values, "b:c:n:p:q:w:")) != -1;)
        switch (o) {
        case 'b':
            a.coder = optarg;
            break;
        case 'c':
            a.cpu = cpu_named(optarg);
            break;
        case 'n':
            a.runs = (unsigned)atoi(optarg);
            break;
        case 'p':
            a.passes = (unsigned)atoi(optarg);
            break;
        case 'q':
            a.halvings = (unsigned)atoi(optarg);
            break;
        case 'w':
            a.wavelet = strcmp(optarg, "9-7") == 0 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3;
            break;
        default:
            die("see the head of bench/blocks.c");
        }
    if (optind + 1 != count)
        die("one picture is wanted");
    pnm p = pnm_read(values[optind], 1, 1);
    run_picture(&a, &p);
    free(p.samples);
    return 0;
}
