/* gpu_decode: random images through the whole decoder on the GPU, into host and device planes of any layout, against
 * the CPU's samples; between the samples, and around them, nothing may change. Whole files, regions, reductions,
 * layers, and damaged and truncated files, several in turn with one decoder.
 *
 *     gpu_decode [CASES [FIRST]]
 *
 * Exits with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "base/sample.h"
#include "codec/decode/decoder.h"
#include "device.h"
#include "require.h"
#include "tiling/geometry.h"

enum { MOST = 5, GUARD = 64, FILL = 0xA5 };

static uint64_t state;

static uint32_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static uint32_t below(uint32_t n)
{
    return next_random() % n;
}

static void check(bool right, const char *what, unsigned number)
{
    if (right)
        return;
    fprintf(stderr, "FAILED: case %u: %s\n", number, what);
    exit(1);
}

/* ---- Files --------------------------------------------------------------------------------------------------- */

typedef struct shape {
    l2k_image image;
    l2k_component components[MOST];
    int64_t options[L2K_ENCODER_NUM_OPTIONS];
    l2k_size precincts[3];
    unsigned num_precincts, num_layers;
} shape;

static uint32_t random_side(void)
{
    return below(4) == 0 ? 1 + below(20) : 1 + below(below(4) ? 200 : 700);
}

static void choose_components(shape *s)
{
    const bool alike = below(3) > 0;
    const uint32_t precision = below(2) ? 8 : 1 + below(16);
    s->image.num_components = 1 + below(below(3) ? 3 : MOST);
    for (uint32_t c = 0; c < s->image.num_components; c++)
        s->components[c] = (l2k_component){.dx = alike ? 1 : 1 + below(3),
                                           .dy = alike ? 1 : 1 + below(3),
                                           .precision = alike ? precision : 1 + below(16),
                                           .is_signed = below(5) == 0};
}

static void choose_shape(shape *s)
{
    memset(s, 0, sizeof *s);
    const uint32_t x0 = below(2) ? below(200) : 0, y0 = below(2) ? below(200) : 0;
    /* wide enough for a sample of each sub-sampled component */
    s->image = (l2k_image){.x0 = x0, .y0 = y0, .x1 = x0 + 2 + random_side(), .y1 = y0 + 2 + random_side()};
    s->image.components = s->components;
    choose_components(s);
    s->options[L2K_ENCODER_FORMAT] = below(2) ? L2K_FORMAT_CODESTREAM : L2K_FORMAT_JP2;
    s->options[L2K_ENCODER_WAVELET] = below(2);
    s->options[L2K_ENCODER_LEVELS] = below(7);
    if (below(3) == 0) {
        s->options[L2K_ENCODER_TILE_WIDTH] = 16 + below(300);
        s->options[L2K_ENCODER_TILE_HEIGHT] = 16 + below(300);
    }
    s->options[L2K_ENCODER_BLOCK_WIDTH] = 4 << below(5);
    s->options[L2K_ENCODER_BLOCK_HEIGHT] = 4 << below(5);
    s->options[L2K_ENCODER_PROGRESSION] = below(5);
    s->options[L2K_ENCODER_COMPONENT_TRANSFORM] = below(3) > 0;
    s->options[L2K_ENCODER_SOP] = below(3) == 0;
    s->options[L2K_ENCODER_EPH] = below(3) == 0;
    s->options[L2K_ENCODER_PLT] = below(3) == 0;
    s->options[L2K_ENCODER_TILE_PARTS] = below(4);
    s->options[L2K_ENCODER_STYLE] = below(4) ? L2K_STYLE_HT : below(2) ? below(64) : 0;
    s->options[L2K_ENCODER_HT_PASSES] = 1 + below(3);
    s->num_precincts = below(4) ? 0 : 1 + below(3);
    for (unsigned i = 0; i < s->num_precincts; i++)
        s->precincts[i] = (l2k_size){64u << below(4), 64u << below(4)};
    s->num_layers = below(3) ? 0 : 2 + below(2);
}

/* A few structures and some noise. */
static int32_t draw(const l2k_component *k, unsigned kind, uint32_t x, uint32_t y)
{
    const uint32_t range = 1u << k->precision;
    const uint32_t v = kind == 0 ? range / 2 : kind == 1 ? next_random() : x * 3 + y * 5 + below(1 + range / 16);
    return (int32_t)(v % range) - (k->is_signed ? (int32_t)(range / 2) : 0);
}

static void make_source(const shape *s, l2k_plane planes[MOST])
{
    const unsigned kind = below(5);
    for (uint32_t c = 0; c < s->image.num_components; c++) {
        uint32_t width, height;
        l2k_component_size(&s->image, c, &width, &height);
        int32_t *samples = malloc(((size_t)width * height + 1) * sizeof *samples);
        check(samples != NULL, "memory", 0);
        for (size_t i = 0; i < (size_t)width * height; i++)
            samples[i] = draw(&s->components[c], kind, (uint32_t)(i % width), (uint32_t)(i / width));
        planes[c] = (l2k_plane){samples, (ptrdiff_t)(width * sizeof *samples), sizeof *samples, L2K_SAMPLE_S32};
    }
}

static bool set_options(l2k_encoder *encoder, const shape *s)
{
    static const l2k_encoder_option set[] = {
        L2K_ENCODER_FORMAT,       L2K_ENCODER_WAVELET,     L2K_ENCODER_LEVELS,
        L2K_ENCODER_TILE_WIDTH,   L2K_ENCODER_TILE_HEIGHT, L2K_ENCODER_BLOCK_WIDTH,
        L2K_ENCODER_BLOCK_HEIGHT, L2K_ENCODER_PROGRESSION, L2K_ENCODER_COMPONENT_TRANSFORM,
        L2K_ENCODER_SOP,          L2K_ENCODER_EPH,         L2K_ENCODER_PLT,
        L2K_ENCODER_TILE_PARTS,   L2K_ENCODER_STYLE,       L2K_ENCODER_HT_PASSES};
    bool right = true;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        right = right && l2k_encoder_set(encoder, set[i], s->options[set[i]]) == L2K_OK;
    return right;
}

/* NULL where the options contradict each other. */
static uint8_t *encode(l2k_encoder *encoder, const shape *s, size_t *bytes)
{
    static const double ratios[3] = {30, 8, 1};
    const uint8_t *coded = NULL;
    uint8_t *copy = NULL;
    l2k_plane planes[MOST];
    make_source(s, planes);
    bool right = set_options(encoder, s) && l2k_encoder_set(encoder, L2K_ENCODER_TILE_X0, 0) == L2K_OK &&
                 l2k_encoder_set_precincts(encoder, s->precincts, s->num_precincts) == L2K_OK &&
                 l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios + 3 - s->num_layers, s->num_layers) == L2K_OK;
    if (right && l2k_encoder_encode_memory(encoder, &s->image, planes, &coded, bytes) == L2K_OK) {
        copy = malloc(*bytes + 1);
        check(copy != NULL, "memory", 0);
        memcpy(copy, coded, *bytes);
    }
    for (uint32_t c = 0; c < s->image.num_components; c++)
        free(planes[c].data);
    return copy;
}

/* ---- Planes with guards -------------------------------------------------------------------------------------- */

typedef struct target {
    uint8_t *host, *device; /* device: NULL for planes in host memory */
    size_t bytes;
    l2k_plane planes[MOST]; /* in host or device memory */
    uint32_t count;
} target;

static l2k_sample_type type_for(const l2k_component *k, unsigned choice)
{
    if (choice == 2 || k->precision > 16)
        return L2K_SAMPLE_S32;
    if (k->precision > 8 || choice == 1)
        return k->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return k->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

/* Planar, or components of one size and type interleaved. */
static void make_target(target *t, const l2k_image *image, bool on_device)
{
    const unsigned choice = below(4);
    const uint32_t gap = below(3), padding = below(7);
    bool interleaved = below(2);
    memset(t, 0, sizeof *t);
    t->count = image->num_components;
    for (uint32_t c = 1; c < t->count; c++)
        interleaved = interleaved && image->components[c].width == image->components[0].width &&
                      image->components[c].height == image->components[0].height &&
                      type_for(&image->components[c], choice) == type_for(&image->components[0], choice);
    size_t offsets[MOST], at = GUARD;
    for (uint32_t c = 0; c < t->count; c++) {
        const l2k_component *k = &image->components[c];
        const l2k_sample_type type = type_for(k, choice);
        const size_t size = l2k_sample_bytes(type), stride = size * (interleaved ? t->count + gap : 1 + gap);
        const size_t row = stride * k->width + size * padding;
        offsets[c] = interleaved ? GUARD + c * size : at;
        at = interleaved ? GUARD + row * k->height + size * t->count : at + row * k->height + GUARD;
        at = (at + 3) & ~(size_t)3;
        t->planes[c] = (l2k_plane){NULL, (ptrdiff_t)row, (ptrdiff_t)stride, type};
    }
    t->bytes = at + GUARD;
    t->host = malloc(t->bytes);
    check(t->host != NULL, "memory", 0);
    memset(t->host, FILL, t->bytes);
    if (on_device) {
        t->device = gpu_take(t->bytes);
        gpu_copy_in(t->device, t->host, t->bytes);
    }
    for (uint32_t c = 0; c < t->count; c++)
        t->planes[c].data = (on_device ? t->device : t->host) + offsets[c];
}

static void free_target(target *t)
{
    if (t->device)
        gpu_give_back(t->device);
    free(t->host);
}

/* Takes the samples out, as the reference has them, and leaves FILL in their place. */
static bool same_samples(target *t, const l2k_image *image, const l2k_plane *reference)
{
    if (t->device)
        gpu_copy_out(t->host, t->device, t->bytes);
    for (uint32_t c = 0; c < t->count; c++) {
        l2k_plane plane = t->planes[c];
        if (t->device)
            plane.data = t->host + ((uint8_t *)plane.data - t->device);
        const size_t size = l2k_sample_bytes(plane.type);
        for (uint32_t y = 0; y < image->components[c].height; y++)
            for (uint32_t x = 0; x < image->components[c].width; x++) {
                uint8_t *at = l2k_sample_at(&plane, x, y);
                if (memcmp(at, l2k_sample_at(&reference[c], x, y), size) != 0) {
                    fprintf(stderr, "component %u, sample %u,%u\n", c, x, y);
                    return false;
                }
                memset(at, FILL, size);
            }
    }
    for (size_t i = 0; i < t->bytes; i++)
        if (t->host[i] != FILL) {
            fprintf(stderr, "byte %zu of %zu between or around the samples\n", i, t->bytes);
            return false;
        }
    return true;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

typedef struct request {
    uint32_t reduce, layers;
    int64_t component;
    bool has_region;
    l2k_rect region;
} request;

static request choose_request(const shape *s)
{
    request r = {.component = -1};
    if (below(4) == 0)
        r.reduce = below((uint32_t)s->options[L2K_ENCODER_LEVELS] + 1);
    if (below(6) == 0)
        r.layers = 1 + below(2);
    if (below(8) == 0)
        r.component = below(s->image.num_components);
    if (below(4) == 0) {
        const uint32_t x = s->image.x0 + below(s->image.x1 - s->image.x0);
        const uint32_t y = s->image.y0 + below(s->image.y1 - s->image.y0);
        r.has_region = true;
        r.region = (l2k_rect){x, y, x + 1 + below(s->image.x1 - x), y + 1 + below(s->image.y1 - y)};
    }
    return r;
}

static void set_request(l2k_decoder *decoder, const request *r, l2k_memory memory)
{
    check(l2k_decoder_set(decoder, L2K_DECODER_REDUCE, r->reduce) == L2K_OK, "an option", 0);
    check(l2k_decoder_set(decoder, L2K_DECODER_LAYERS, r->layers) == L2K_OK, "an option", 0);
    check(l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, r->component) == L2K_OK, "an option", 0);
    check(l2k_decoder_set(decoder, L2K_DECODER_MEMORY, memory) == L2K_OK, "an option", 0);
    const l2k_rect all = {0, 0, UINT32_MAX, UINT32_MAX}, *region = r->has_region ? &r->region : &all;
    check(l2k_decoder_set_region(decoder, region->x0, region->y0, region->x1, region->y1) == L2K_OK, "a region", 0);
}

/* Decodes into planes like those of `t`, whose memory is the caller's. */
static l2k_status decode(l2k_decoder *decoder, const uint8_t *bytes, size_t count, l2k_image *image, target *t,
                         bool on_device)
{
    l2k_status status = l2k_decoder_open_memory(decoder, bytes, count);
    if (status == L2K_OK)
        status = l2k_decoder_image(decoder, image);
    if (status != L2K_OK)
        return status;
    make_target(t, image, on_device);
    return l2k_decoder_decode(decoder, t->planes);
}

static l2k_decoder *make_decoder(l2k_backend backend)
{
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    check(decoder && l2k_decoder_set(decoder, L2K_DECODER_BACKEND, backend) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1) == L2K_OK,
          "a decoder", 0);
    return decoder;
}

/* The same file three ways: with a new decoder on the CPU, and twice with one that has seen others. */
static void compare(l2k_decoder *gpu, const request *r, const uint8_t *bytes, size_t count, unsigned number)
{
    l2k_decoder *cpu = make_decoder(L2K_BACKEND_CPU);
    l2k_image image, other;
    target reference = {0}, host = {0}, device = {0};
    uint64_t kept = state;
    set_request(cpu, r, L2K_MEMORY_HOST);
    const l2k_status expected = decode(cpu, bytes, count, &image, &reference, false);
    const bool good = expected == L2K_OK || expected == L2K_INCOMPLETE;
    state = kept; /* the same layout */
    set_request(gpu, r, L2K_MEMORY_HOST);
    check(l2k_decoder_set(gpu, L2K_DECODER_BLOCK_CODER, number % 4 ? L2K_BACKEND_AUTO : L2K_BACKEND_CPU) == L2K_OK,
          "an option", number);
    check(decode(gpu, bytes, count, &other, &host, false) == expected, "status, host planes", number);
    check(!good || same_samples(&host, &other, reference.planes), "samples, host planes", number);
    state = kept;
    set_request(gpu, r, L2K_MEMORY_DEVICE);
    check(decode(gpu, bytes, count, &other, &device, true) == expected, "status, device planes", number);
    check(!good || same_samples(&device, &other, reference.planes), "samples, device planes", number);
    l2k_decoder_free(cpu);
    free_target(&reference);
    free_target(&host);
    free_target(&device);
}

static void damage(uint8_t *bytes, size_t count)
{
    for (uint32_t n = 1 + below(6); n > 0; n--)
        bytes[below((uint32_t)count)] ^= (uint8_t)(1u << below(8));
}

static void run_case(l2k_encoder *encoder, l2k_decoder *gpu, unsigned number)
{
    shape s;
    size_t count = 0;
    state = number * 0x9E3779B97F4A7C15u + 1;
    choose_shape(&s);
    /* a second image of the shape meets what the first one has left */
    for (int image = 0; image < 2; image++) {
        uint8_t *bytes = encode(encoder, &s, &count);
        if (!bytes)
            return;
        const request r = image ? (request){.component = -1} : choose_request(&s);
        compare(gpu, &r, bytes, count, number);
        if (below(4) == 0) {
            damage(bytes, count);
            compare(gpu, &r, bytes, below(2) ? count : 1 + below((uint32_t)count), number);
        }
        free(bytes);
    }
}

int main(int argc, char **argv)
{
    const unsigned cases = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, first = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    int missing = gpu_missing();
    if (missing)
        return missing;
    l2k_encoder *encoder = l2k_encoder_new(NULL);
    check(encoder && l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK,
          "an encoder", 0);
    l2k_decoder *gpu = make_decoder(L2K_BACKEND_CUDA);
    for (unsigned i = first; i < first + cases; i++)
        run_case(encoder, gpu, i);
    l2k_encoder_free(encoder);
    l2k_decoder_free(gpu);
    printf("%u cases\n", cases);
    return 0;
}
