/* gpu_images, opencl_images: random images through encoder and decoder on the CUDA backend, from and into host and
 * device memory, or on that of OpenCL, from and into host memory, one at a time and in batches: the CPU's bytes and samples, and nothing written beside them. Sizes, components,
 * precisions, wavelets and named kernels, block styles of MQ and HT, tiles, precincts, progressions, layers by ratio
 * and PSNR, steps; decoding also of regions, fewer resolutions, fewer layers, single components.
 *
 *     gpu_images [CASES [FIRST]]
 *
 * Encoders and decoders are used for all cases, and fresh ones for a case that fails. Exits with 77 without a
 * device, unless L2K_REQUIRE_GPU=1 or L2K_REQUIRE_OPENCL=1. */
#include "planes.h"
#include "require.h"

enum { MOST_ITEMS = 5 };

typedef struct objects {
    l2k_encoder *encoder;
    l2k_decoder *decoder;
    talk talk;
} objects;

typedef struct trial {
    uint64_t seed;
    shape shape;
    picture *p;
    coding coding;
    l2k_format format;
    decoding decoding;
    bytes expected;
    l2k_status status; /* of the CPU's encoder */
} trial;

static unsigned long on_cpu;  /* calls of which tiles went to the CPU */
static unsigned long refused; /* images whose options contradict each other, as the CPU's encoder says */

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "gpu_images: %s failed\n", what);
    exit(1);
}

static objects *new_objects(void)
{
    objects *o = calloc(1, sizeof *o);
    require(o, "memory");
    const l2k_hooks hooks = {.message = talk_message, .user = &o->talk};
    o->encoder = l2k_encoder_new(&hooks);
    o->decoder = l2k_decoder_new(&hooks);
    require(o->encoder && o->decoder, "memory");
    return o;
}

static void free_objects(objects *o)
{
    l2k_encoder_free(o->encoder);
    l2k_decoder_free(o->decoder);
    free(o);
}

/* ---- Cases ----------------------------------------------------------------------------------------------------- */

/* From the coarsest layer to the finest. */
static void random_targets(rng *r, coding *o, unsigned most)
{
    const bool psnr = rng_below(r, 2);
    double value = psnr ? rng_between(r, 15, 30) : rng_between(r, 10, 100);
    o->target_kind = psnr ? L2K_TARGET_PSNR : L2K_TARGET_RATIO;
    o->num_targets = rng_below(r, 2) ? 1 : rng_between(r, 1, most); /* a ratio alone is met on the device */
    for (unsigned i = 0; i < o->num_targets; i++) {
        o->targets[i] = value;
        value = psnr ? value + rng_between(r, 1, 6) : 1 + (value - 1) * 0.6;
    }
    if (rng_below(r, 4) == 0)
        o->targets[o->num_targets - 1] = psnr ? 0 : 1; /* everything */
}

static void random_ht(rng *r, coding *o)
{
    o->ht_passes = rng_between(r, 1, 3);
    o->style = L2K_STYLE_HT | (o->ht_passes > 1 && rng_below(r, 2) ? L2K_STYLE_VSC : 0);
    if (rng_below(r, 3) == 0)
        random_targets(r, o, o->ht_passes > 1 ? 4 : 1);
    if (o->num_targets && !o->irreversible) /* of the 5/3 only what is in layers can be left out */
        o->targets[o->num_targets - 1] = o->target_kind == L2K_TARGET_PSNR ? 0 : 1;
}

static void random_decoding(rng *r, const trial *t, decoding *d)
{
    const l2k_image *m = &t->p->image;
    *d = (decoding){.threads = rng_below(r, 3)};
    if (rng_below(r, 2))
        return;
    if (rng_below(r, 2))
        d->reduce = rng_between(r, 0, coding_levels(&t->coding) < 3 ? coding_levels(&t->coding) : 3);
    if (rng_below(r, 3) == 0)
        d->layers = rng_between(r, 1, t->coding.num_targets + 1);
    if (rng_below(r, 2)) {
        d->region = true;
        d->x0 = m->x0 + rng_below(r, m->x1 - m->x0);
        d->y0 = m->y0 + rng_below(r, m->y1 - m->y0);
        d->x1 = rng_between(r, d->x0 + 1, m->x1);
        d->y1 = rng_between(r, d->y0 + 1, m->y1);
    }
    if (rng_below(r, 4) == 0) {
        d->one_component = true;
        d->component = rng_below(r, m->num_components);
    }
}

/* In place of the 5/3 or the 9/7. With a component transform kernels are the CPU's. */
static void random_kernel(rng *r, coding *o)
{
    if (rng_below(r, 5))
        return;
    o->kernel = o->irreversible ? L2K_WAVELET_W4 : (l2k_wavelet)rng_between(r, L2K_WAVELET_HAAR, L2K_WAVELET_FIDELITY);
    o->no_mct = rng_below(r, 8) > 0;
}

static trial make_trial(uint64_t seed)
{
    trial t = {.seed = seed};
    rng r = {seed * 2654435761 + 17};
    const bool irreversible = rng_below(&r, 2);
    t.shape = random_shape(&r, rng_below(&r, 6) ? 150 : 600, 4, irreversible ? 16 : 24);
    t.shape.mixed = rng_below(&r, 5) == 0;
    t.p = picture_make(&t.shape);
    t.coding = random_coding(&r, t.p, rng_below(&r, 16) ? 6 : 32);
    t.coding.irreversible = irreversible;
    t.coding.threads = 1;
    if (rng_below(&r, 2))
        random_ht(&r, &t.coding);
    else if (rng_below(&r, 3) == 0)
        random_targets(&r, &t.coding, CODING_MAX_TARGETS);
    if (irreversible && !t.coding.num_targets && rng_below(&r, 2))
        t.coding.step = 1.0 / (1u << rng_between(&r, 2, 12));
    random_extras(&r, t.p, &t.coding);
    random_kernel(&r, &t.coding);
    t.format = rng_below(&r, 4) ? L2K_FORMAT_CODESTREAM : L2K_FORMAT_JP2;
    random_decoding(&r, &t, &t.decoding);
    return t;
}

static void free_trial(trial *t)
{
    bytes_free(&t->expected);
    picture_free(t->p);
}

static bool fail(const trial *t, const char *call, place where, const char *what, const objects *o)
{
    printf("FAILED: case %llu: %s, %s: %s%s%s\n", (unsigned long long)t->seed, call, place_names[where], what,
           o->talk.error[0] ? "; " : "", o->talk.error);
    print_case(t->p, &t->coding);
    print_decoding(&t->decoding);
    return false;
}

/* ---- Encoding -------------------------------------------------------------------------------------------------- */

/* A picture in planes where an encoder is to find them. */
typedef struct source_planes {
    layout layout;
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    uint8_t *memory;
    late_memory late; /* nothing if they are in `memory` */
} source_planes;

static source_planes *put_planes(const picture *p, place where, uint64_t seed)
{
    source_planes *s = calloc(1, sizeof *s);
    rng r = {seed};
    require(s, "memory");
    s->layout = layout_make(&r, &p->image);
    s->memory = layout_take(&s->layout);
    layout_store(&s->layout, s->memory, p);
    if (where == FROM_DEVICE)
        s->late = late_take(s->memory, s->layout.size);
    layout_place(&s->layout, s->late.memory ? s->late.memory : s->memory, s->planes);
    return s;
}

/* False if the encoder has written into the planes' memory. */
static bool drop_planes(source_planes *s)
{
    bool same = true;
    if (s->late.memory) {
        uint8_t *now = malloc(s->layout.size);
        require(now, "memory");
        late_give_back(&s->late, now, s->layout.size);
        same = memcmp(now, s->memory, s->layout.size) == 0;
        free(now);
    }
    free(s->memory);
    free(s);
    return same;
}

static bool set_encoder(objects *o, const trial *t, place where)
{
    const l2k_backend backend = where == ON_CPU ? L2K_BACKEND_CPU : GPU_BACKEND;
    bool right = coding_set_encoder(o->encoder, &t->coding, t->format) &&
                 l2k_encoder_set(o->encoder, L2K_ENCODER_BACKEND, backend) == L2K_OK;
    const l2k_memory memory = where == FROM_DEVICE ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST;
    right &= l2k_encoder_set(o->encoder, L2K_ENCODER_MEMORY, memory) == L2K_OK;
    o->talk = (talk){.notes = 0};
    return right;
}

static bool encode(objects *o, const trial *t, place where)
{
    const uint8_t *data;
    size_t count = 0;
    require(set_encoder(o, t, where), "setting options");
    source_planes *s = put_planes(t->p, where, t->seed + (unsigned)where);
    l2k_encoder_set_stream(o->encoder, s->late.stream);
    const l2k_status status = l2k_encoder_encode_memory(o->encoder, &t->p->image, s->planes, &data, &count);
    const bool same = status == t->status &&
                      (status != L2K_OK || (count == t->expected.size && memcmp(data, t->expected.data, count) == 0));
    on_cpu += o->talk.notes > 0;
    l2k_encoder_set_stream(o->encoder, NULL);
    if (!drop_planes(s))
        return fail(t, "encode", where, "the planes are written", o);
    return same ? true : fail(t, "encode", where, status == t->status ? "other bytes" : l2k_strerror(status), o);
}

/* What the CPU makes of the case. */
static void expect(objects *o, trial *t)
{
    const uint8_t *data;
    size_t count = 0;
    require(set_encoder(o, t, ON_CPU), "setting options");
    source_planes *s = put_planes(t->p, ON_CPU, t->seed);
    t->status = l2k_encoder_encode_memory(o->encoder, &t->p->image, s->planes, &data, &count);
    if (t->status == L2K_OK)
        bytes_append(&t->expected, data, count);
    drop_planes(s);
}

/* ---- Decoding -------------------------------------------------------------------------------------------------- */

static bool decode(objects *o, const trial *t, place where, const outcome *expected)
{
    o->talk = (talk){.notes = 0};
    outcome got = decode_at(o->decoder, &t->expected, where, t->seed);
    const char *what = outcomes_differ(expected, &got);
    on_cpu += o->talk.notes > 0;
    outcome_free(&got);
    return what ? fail(t, "decode", where, what, o) : true;
}

static bool decode_everywhere(objects *o, const trial *t)
{
    require(coding_set_decoder(o->decoder, &t->decoding) == L2K_OK, "setting options");
    outcome expected = decode_at(o->decoder, &t->expected, ON_CPU, t->seed);
    bool right = true;
    for (int where = FROM_HOST; where < PLACES_HERE && right; where++)
        right = decode(o, t, (place)where, &expected);
    outcome_free(&expected);
    return right;
}

/* ---- Batches --------------------------------------------------------------------------------------------------- */

static int append(void *user, const void *data, size_t count)
{
    bytes_append(user, data, count);
    return 0;
}

/* Several images like that of the case, each with contents of its own, and what the CPU makes of them. */
typedef struct batch {
    trial trials[MOST_ITEMS];
    unsigned count, in_flight;
    place encode_from, decode_to;
} batch;

static place random_place(rng *r)
{
    return rng_below(r, 2) || !GPU_PLANES ? FROM_HOST : FROM_DEVICE;
}

static void make_batch(objects *o, const trial *t, batch *b)
{
    rng r = {t->seed + 3};
    b->count = rng_between(&r, 1, MOST_ITEMS);
    b->encode_from = random_place(&r);
    b->decode_to = random_place(&r);
    b->in_flight = rng_below(&r, 5);
    for (unsigned i = 0; i < b->count; i++) {
        trial *k = &b->trials[i];
        *k = *t;
        k->expected = (bytes){0};
        k->shape.seed += i;
        k->p = picture_make(&k->shape);
        expect(o, k);
    }
}

static void free_batch(batch *b)
{
    for (unsigned i = 0; i < b->count; i++)
        free_trial(&b->trials[i]);
}

static bool encode_batch(objects *o, const batch *b)
{
    l2k_encode_item items[MOST_ITEMS];
    l2k_stream streams[MOST_ITEMS];
    source_planes *planes[MOST_ITEMS];
    bytes written[MOST_ITEMS] = {{0}};
    const trial *t = &b->trials[0];
    bool right = true;
    require(set_encoder(o, t, b->encode_from) &&
                l2k_encoder_set(o->encoder, L2K_ENCODER_IN_FLIGHT, b->in_flight) == L2K_OK,
            "setting options");
    for (unsigned i = 0; i < b->count; i++) {
        planes[i] = put_planes(b->trials[i].p, b->encode_from, t->seed + i);
        streams[i] = (l2k_stream){.write = append, .user = &written[i]};
        items[i] = (l2k_encode_item){&b->trials[i].p->image, planes[i]->planes, &streams[i], L2K_OK};
    }
    if (b->encode_from == FROM_DEVICE)
        gpu_wait();
    const l2k_status status = l2k_encoder_encode_batch(o->encoder, items, b->count);
    on_cpu += o->talk.notes > 0;
    for (unsigned i = 0; i < b->count; i++) {
        const trial *k = &b->trials[i];
        right = drop_planes(planes[i]) && right;
        right = right && items[i].status == k->status && bytes_equal(&written[i], &k->expected);
        right = right && (status != L2K_OK || k->status == L2K_OK);
        bytes_free(&written[i]);
    }
    return right ? true : fail(t, "encode_batch", b->encode_from, "another result", o);
}

/* The planes of an item as the CPU filled them, and those that the batch fills. */
typedef struct target_planes {
    outcome expected;
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    uint8_t *memory, *device;
} target_planes;

static void make_target(objects *o, const trial *k, place where, target_planes *p)
{
    p->expected = decode_at(o->decoder, &k->expected, ON_CPU, k->seed);
    p->device = NULL;
    if (!p->expected.opened)
        return;
    p->memory = layout_take(&p->expected.layout);
    if (where == FROM_DEVICE) {
        p->device = gpu_take(p->expected.layout.size);
        gpu_copy_in(p->device, p->memory, p->expected.layout.size);
    }
    layout_place(&p->expected.layout, p->device ? p->device : p->memory, p->planes);
}

static bool check_target(target_planes *p, l2k_status status)
{
    const size_t count = p->expected.layout.size;
    bool right = status == p->expected.status;
    if (p->device) {
        gpu_copy_out(p->memory, p->device, count);
        gpu_give_back(p->device);
    }
    right = right && (!p->expected.memory || memcmp(p->memory, p->expected.memory, count) == 0);
    outcome_free(&p->expected);
    free(p->memory);
    return right;
}

static bool decode_batch(objects *o, const batch *b)
{
    l2k_decode_item items[MOST_ITEMS];
    target_planes *targets = calloc(b->count, sizeof *targets);
    const trial *t = &b->trials[0];
    bool right = true;
    require(targets, "memory");
    require(coding_set_decoder(o->decoder, &t->decoding) == L2K_OK, "setting options");
    for (unsigned i = 0; i < b->count; i++) {
        const trial *k = &b->trials[i];
        make_target(o, k, b->decode_to, &targets[i]);
        items[i] = (l2k_decode_item){k->expected.data, k->expected.size, targets[i].planes, L2K_OK};
    }
    o->talk = (talk){.notes = 0};
    require(set_place(o->decoder, b->decode_to) == L2K_OK &&
                l2k_decoder_set(o->decoder, L2K_DECODER_IN_FLIGHT, b->in_flight) == L2K_OK,
            "setting options");
    l2k_decoder_decode_batch(o->decoder, items, b->count);
    on_cpu += o->talk.notes > 0;
    for (unsigned i = 0; i < b->count; i++)
        right = check_target(&targets[i], items[i].status) && right;
    free(targets);
    return right ? true : fail(t, "decode_batch", b->decode_to, "another result", o);
}

static bool both_batches(objects *o, const trial *t)
{
    batch b;
    make_batch(o, t, &b);
    const bool right = encode_batch(o, &b) && (t->status != L2K_OK || decode_batch(o, &b));
    free_batch(&b);
    return right;
}

/* ---- The program ----------------------------------------------------------------------------------------------- */

static bool check_trial(objects *o, uint64_t seed)
{
    trial t = make_trial(seed);
    bool right = true;
    expect(o, &t);
    refused += t.status != L2K_OK;
    for (int where = FROM_HOST; where < PLACES_HERE && right; where++)
        right = encode(o, &t, (place)where);
    right = right && (t.status != L2K_OK || decode_everywhere(o, &t));
    right = right && (seed % 3 || both_batches(o, &t));
    free_trial(&t);
    return right;
}

int main(int count, char **arguments)
{
    const uint64_t cases = count > 1 ? strtoull(arguments[1], NULL, 10) : 300;
    const uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
    unsigned long failures = 0;
    const int missing = gpu_missing();
    if (missing)
        return missing;
    objects *o = new_objects();
    for (uint64_t seed = first; seed < first + cases; seed++) {
        if (check_trial(o, seed))
            continue;
        failures++;
        free_objects(o);
        o = new_objects();
        printf("the same with fresh objects:\n");
        if (check_trial(o, seed))
            printf("passes\n");
    }
    free_objects(o);
    printf("%llu images, %lu failures; %lu refused as on the CPU; %lu calls left tiles to the CPU\n",
           (unsigned long long)cases, failures, refused, on_cpu);
    return failures ? 1 : 0;
}
