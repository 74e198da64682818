/* gpu_packets: whole images encoded on the device, compared with the CPU's bytes: shapes, origins, sub-sampling,
 * precincts, progressions, markers, wavelets, steps, ratios, blank and extreme samples; planes in host and in device
 * memory, of any strides; several images on one encoder, which keeps what it can; colours that need another guard bit.
 * After the first image of a shape nothing is allocated, neither by the hook nor by CUDA, whose calls are counted by
 * --wrap.
 *
 *     gpu_packets [CASES [SEED [FIRST]]]
 *
 * With fewer than 8 cases, for compute-sanitizer, the picture of 78,000 code-blocks is left out.
 *
 * Exits with 1 at the first difference, with 77 without a GPU, unless L2K_REQUIRE_GPU=1. */
#include "device.h"
#include "require.h"
#include "strong_colours.h"

enum { MOST_COMPONENTS = 5, IMAGES = 3, FEW = 8, HT = L2K_STYLE_HT };

static size_t allocations;

static size_t deliveries; /* of truncated HT code-blocks */

l2k_status __real_l2k_cuda_packets_deliver(void *maker, void *made);
l2k_status __wrap_l2k_cuda_packets_deliver(void *maker, void *made);
l2k_status __wrap_l2k_cuda_packets_deliver(void *maker, void *made)
{
    deliveries++;
    return __real_l2k_cuda_packets_deliver(maker, made);
}

/* int replaces cudaError_t. */
int __real_cudaMalloc(void **block, size_t bytes);
int __wrap_cudaMalloc(void **block, size_t bytes);
int __wrap_cudaMalloc(void **block, size_t bytes)
{
    allocations++;
    return __real_cudaMalloc(block, bytes);
}

int __real_cudaMallocHost(void **block, size_t bytes);
int __wrap_cudaMallocHost(void **block, size_t bytes);
int __wrap_cudaMallocHost(void **block, size_t bytes)
{
    allocations++;
    return __real_cudaMallocHost(block, bytes);
}

static void *allocate(void *user, size_t bytes)
{
    (void)user;
    allocations++;
    return malloc(bytes);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    (void)user;
    if (severity != L2K_SEVERITY_NOTE)
        printf("lift2k: %s\n", text);
}

/* ---- Random numbers ------------------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static uint32_t random_below(uint32_t n)
{
    return random_bits() % n;
}

/* ---- A case --------------------------------------------------------------------------------------------------- */

typedef struct setting {
    l2k_encoder_option option;
    int64_t value;
} setting;

typedef struct test_case {
    unsigned number;
    l2k_image image;
    l2k_component components[MOST_COMPONENTS];
    setting settings[32];
    size_t num_settings;
    l2k_size precincts[4];
    size_t num_precincts;
    double step;
    double ratios[3]; /* of layers, in so far as they are not 0 */
    l2k_plane host[MOST_COMPONENTS], device[MOST_COMPONENTS];
    uint8_t *memory[MOST_COMPONENTS], *device_memory[MOST_COMPONENTS];
    size_t bytes[MOST_COMPONENTS];
} test_case;

static void fail(const test_case *t, const char *what)
{
    printf("FAILED: case %u, %u x %u from %u, %u, %u components: %s\n", t->number, t->image.x1 - t->image.x0,
           t->image.y1 - t->image.y0, t->image.x0, t->image.y0, t->image.num_components, what);
    for (size_t i = 0; i < t->num_settings; i++)
        printf("    option %d: %lld\n", (int)t->settings[i].option, (long long)t->settings[i].value);
    exit(1);
}

static void set(test_case *t, l2k_encoder_option option, int64_t value)
{
    t->settings[t->num_settings++] = (setting){option, value};
}

static uint32_t random_length(void)
{
    return random_below(8) ? 1 + random_below(random_below(3) ? 200 : 600) : 1 + random_below(1500);
}

static void choose_image(test_case *t)
{
    const bool origin = random_below(2);
    t->image = (l2k_image){.components = t->components, .num_components = 1 + random_below(MOST_COMPONENTS)};
    t->image.x0 = origin ? random_below(300) : 0;
    t->image.y0 = origin ? random_below(300) : 0;
    t->image.x1 = t->image.x0 + random_length();
    t->image.y1 = t->image.y0 + random_length();
    const bool alike = random_below(2);
    for (uint32_t c = 0; c < t->image.num_components; c++) {
        l2k_component *k = &t->components[c];
        *k = (l2k_component){.dx = 1, .dy = 1, .precision = random_below(2) ? 8 : 1 + random_below(16)};
        k->is_signed = random_below(4) == 0;
        if (alike && c)
            *k = t->components[0];
        if (!alike && random_below(3) == 0) {
            k->dx = 1 + random_below(3);
            k->dy = 1 + random_below(3);
        }
    }
}

static void choose_options(test_case *t)
{
    const l2k_wavelet wavelet = random_below(2) ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7;
    const unsigned log2_width = 2 + random_below(5), log2_height = 2 + random_below(5);
    const bool ht = random_below(3) != 0;
    set(t, L2K_ENCODER_STYLE, ht ? HT : random_below(2) ? 0 : random_below(64));
    set(t, L2K_ENCODER_WAVELET, wavelet);
    set(t, L2K_ENCODER_LEVELS, random_below(7));
    set(t, L2K_ENCODER_BLOCK_WIDTH, random_below(2) ? 64 : 1 << log2_width);
    set(t, L2K_ENCODER_BLOCK_HEIGHT, random_below(2) ? 64 : 1 << log2_height);
    set(t, L2K_ENCODER_PROGRESSION, random_below(5));
    set(t, L2K_ENCODER_SOP, random_below(2));
    set(t, L2K_ENCODER_EPH, random_below(2));
    set(t, L2K_ENCODER_PLT, random_below(2));
    set(t, L2K_ENCODER_TLM, random_below(2));
    set(t, L2K_ENCODER_FORMAT, random_below(2));
    set(t, L2K_ENCODER_COMPONENT_TRANSFORM, random_below(4) != 0);
    if (random_below(6) == 0) {
        set(t, L2K_ENCODER_TILE_WIDTH, t->image.x0 + 50 + random_below(1000));
        set(t, L2K_ENCODER_TILE_HEIGHT, t->image.y0 + 50 + random_below(1000));
    }
    if (random_below(8) == 0)
        set(t, L2K_ENCODER_TILE_PARTS, random_below(4));
    if (ht && random_below(3) == 0)
        set(t, L2K_ENCODER_HT_PASSES, 2 + random_below(2));
    t->num_precincts = random_below(2) ? 0 : 1 + random_below(4);
    for (size_t i = 0; i < t->num_precincts; i++)
        t->precincts[i] = (l2k_size){1u << (3 + random_below(7)), 1u << (3 + random_below(7))};
    t->step = wavelet == L2K_WAVELET_9_7 && random_below(2) ? 1.0 / (double)(1u << random_below(12)) : 0;
}

/* Mostly of one layer. A ratio of 1 asks for everything, which only the last layer can. */
static void choose_ratios(test_case *t)
{
    const unsigned layers = random_below(3) ? 1 : 1 + random_below(3), share = t->settings[0].value == HT ? 2 : 8;
    double ratio = 1 + random_below(random_below(2) ? 20 : 150) / 2.0;
    for (unsigned i = 0; random_below(share) && i < layers && (i == 0 || ratio > 1); i++) {
        t->ratios[i] = ratio;
        ratio = 1 + (ratio - 1) / 2;
    }
    bool is_sampled = false;
    for (uint32_t c = 0; c < t->image.num_components; c++)
        is_sampled |= t->components[c].dx * t->components[c].dy > 1;
    if (!is_sampled && random_below(3) == 0) /* the device gets its weights, too */
        set(t, L2K_ENCODER_VISUAL, 1 + random_below(16000));
    if (t->ratios[0] && random_below(2)) { /* long lists, which stay on the device */
        set(t, L2K_ENCODER_BLOCK_WIDTH, 4 << random_below(2));
        set(t, L2K_ENCODER_BLOCK_HEIGHT, 4 << random_below(2));
    }
}

/* ---- Samples -------------------------------------------------------------------------------------------------- */

/* Rows apart by more than they have, samples apart, backwards at times. */
static void make_plane(test_case *t, uint32_t c)
{
    uint32_t width, height;
    l2k_component_size(&t->image, c, &width, &height);
    const l2k_component *k = &t->components[c];
    const size_t size = k->precision <= 8 ? 1 : 2, gap = random_below(4) ? 1 : 1 + random_below(3);
    const size_t row = size * (gap * width + (random_below(2) ? 0 : random_below(40)));
    const l2k_sample_type type =
        size == 1 ? (k->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8) : (k->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16);
    const size_t start = size * random_below(3);
    t->bytes[c] = start + row * height;
    t->memory[c] = malloc(t->bytes[c] ? t->bytes[c] : 1);
    t->device_memory[c] = gpu_take(t->bytes[c] ? t->bytes[c] : 1);
    t->host[c] = (l2k_plane){t->memory[c] + start, (ptrdiff_t)row, (ptrdiff_t)(size * gap), type};
    if (height && random_below(6) == 0) {
        t->host[c].data = t->memory[c] + start + row * (height - 1);
        t->host[c].row_stride = -(ptrdiff_t)row;
    }
    t->device[c] = t->host[c];
    t->device[c].data = t->device_memory[c] + ((uint8_t *)t->host[c].data - t->memory[c]);
}

/* Of samples: random ones; one that makes all blocks of 4 x 4 equal; any of the random ones. */
enum { KINDS = 9, TIES = KINDS, ANY };

static int32_t sample(unsigned kind, uint32_t x, uint32_t y, uint32_t c, int32_t most)
{
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return (int32_t)(random_bits() % ((uint32_t)most + 1));
    case 2: /* strong colours */
        return ((x / 7 + y / 5) & 1) == (c & 1) ? most : 0;
    case 3:
        return random_below(400) ? 0 : most;
    case TIES:
        return (int32_t)((x & 3) * 37 + (y & 3) * 91) & most;
    case 4:
        return x < 40 && y < 40 ? (int32_t)((x * y) % ((uint32_t)most + 1)) : 0;
    default:
        return (int32_t)((x * 3 + y * 2 + c * 40 + random_below(5)) / 4 % ((uint32_t)most + 1));
    }
}

static void fill_planes(test_case *t, unsigned kind)
{
    for (uint32_t c = 0; c < t->image.num_components; c++) {
        uint32_t width, height;
        l2k_component_size(&t->image, c, &width, &height);
        const l2k_component *k = &t->components[c];
        const int32_t most = (int32_t)((1u << k->precision) - 1), least = k->is_signed ? -(most + 1) / 2 : 0;
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                const int32_t v = sample(kind, x, y, c, most) + least;
                uint8_t *at = (uint8_t *)t->host[c].data + (ptrdiff_t)y * t->host[c].row_stride +
                              (ptrdiff_t)x * t->host[c].sample_stride;
                if (t->host[c].type == L2K_SAMPLE_U8 || t->host[c].type == L2K_SAMPLE_S8)
                    *at = (uint8_t)v;
                else
                    memcpy(at, &(uint16_t){(uint16_t)v}, 2);
            }
        gpu_copy_in(t->device_memory[c], t->memory[c], t->bytes[c]);
    }
}

/* ---- Encoding ------------------------------------------------------------------------------------------------- */

typedef struct file {
    uint8_t *data;
    size_t size, capacity;
} file;

static int append(void *user, const void *bytes, size_t count)
{
    file *f = user;
    if (f->size + count > f->capacity) {
        f->capacity = 2 * (f->size + count);
        f->data = realloc(f->data, f->capacity);
    }
    memcpy(f->data + f->size, bytes, count);
    f->size += count;
    return 0;
}

static l2k_encoder *make_encoder(const test_case *t, l2k_backend backend, l2k_memory memory)
{
    static const l2k_hooks hooks = {.allocate = allocate, .release = release, .message = print_message};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    size_t layers = 0;
    while (layers < 3 && t->ratios[layers])
        layers++;
    for (size_t i = 0; i < t->num_settings; i++)
        if (l2k_encoder_set(encoder, t->settings[i].option, t->settings[i].value) != L2K_OK)
            fail(t, "an option");
    if (l2k_encoder_set(encoder, L2K_ENCODER_BACKEND, backend) != L2K_OK ||
        l2k_encoder_set(encoder, L2K_ENCODER_MEMORY, memory) != L2K_OK ||
        l2k_encoder_set(encoder, L2K_ENCODER_GPU_MIN_SAMPLES, 0) != L2K_OK ||
        l2k_encoder_set(encoder, L2K_ENCODER_THREADS, 1) != L2K_OK ||
        l2k_encoder_set_precincts(encoder, t->precincts, t->num_precincts) != L2K_OK ||
        l2k_encoder_set_step(encoder, t->step) != L2K_OK ||
        l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, t->ratios, layers) != L2K_OK)
        fail(t, "settings");
    return encoder;
}

static void check_bytes(const test_case *t, const file *right, const uint8_t *data, size_t size, const char *what)
{
    if (size == right->size && memcmp(data, right->data, size) == 0)
        return;
    size_t at = 0;
    while (at < size && at < right->size && data[at] == right->data[at])
        at++;
    printf("%zu bytes, %zu are right; the first difference is at %zu\n", size, right->size, at);
    fail(t, what);
}

/* To memory and to a stream in turn. */
static void encode(const test_case *t, l2k_encoder *encoder, const l2k_plane *planes, const file *right, bool stream,
                   const char *what)
{
    const uint8_t *bytes;
    size_t count;
    file out = {0};
    if (stream) {
        if (l2k_encoder_encode(encoder, &t->image, planes, &(l2k_stream){.write = append, .user = &out}) != L2K_OK)
            fail(t, what);
        check_bytes(t, right, out.data, out.size, what);
        free(out.data);
        return;
    }
    if (l2k_encoder_encode_memory(encoder, &t->image, planes, &bytes, &count) != L2K_OK)
        fail(t, what);
    check_bytes(t, right, bytes, count, what);
}

/* As many as the samples take packed: images that need more may take more memory, too. */
static size_t raw_bytes(const test_case *t)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < t->image.num_components; c++) {
        uint32_t width, height;
        l2k_component_size(&t->image, c, &width, &height);
        bytes += (size_t)width * height * t->components[c].precision / 8;
    }
    return bytes;
}

static bool makes_packets(const test_case *t)
{
    for (size_t i = 0; i < t->num_settings; i++)
        if (t->settings[i].option == L2K_ENCODER_TILE_WIDTH || t->settings[i].option == L2K_ENCODER_TILE_PARTS)
            return false;
    return true;
}

static void free_planes(test_case *t)
{
    for (uint32_t c = 0; c < t->image.num_components; c++) {
        free(t->memory[c]);
        gpu_give_back(t->device_memory[c]);
    }
}

/* Several images of the case. */
static void check_case(test_case *t, unsigned kind)
{
    file right = {0};
    for (uint32_t c = 0; c < t->image.num_components; c++)
        make_plane(t, c);
    l2k_encoder *cpu = make_encoder(t, L2K_BACKEND_CPU, L2K_MEMORY_HOST);
    l2k_encoder *from_host = make_encoder(t, L2K_BACKEND_CUDA, L2K_MEMORY_HOST);
    l2k_encoder *from_device = make_encoder(t, t->number % 2 ? L2K_BACKEND_CUDA : L2K_BACKEND_AUTO, L2K_MEMORY_DEVICE);
    for (unsigned i = 0; i < IMAGES; i++) {
        const bool stream = (t->number + i) & 1;
        fill_planes(t, kind == ANY ? random_below(KINDS) : kind);
        right.size = 0;
        if (l2k_encoder_encode(cpu, &t->image, t->host, &(l2k_stream){.write = append, .user = &right}) != L2K_OK)
            break; /* too many tile-parts */
        encode(t, from_host, t->host, &right, stream, "from host memory");
        const size_t before = allocations;
        encode(t, from_device, t->device, &right, stream, "from device memory");
        const bool usual = right.size <= raw_bytes(t) && !t->ratios[0];
        if (i > 1 && usual && makes_packets(t) && t->settings[0].value == HT && allocations != before)
            fail(t, "an image of a known shape allocates");
    }
    l2k_encoder_free(cpu);
    l2k_encoder_free(from_host);
    l2k_encoder_free(from_device);
    free(right.data);
    free_planes(t);
}

/* ---- Colours that need another guard bit ----------------------------------------------------------------------- */

static void make_strong_case(test_case *t, int64_t style)
{
    *t = (test_case){.image = {.x1 = STRONG_SIDE, .y1 = STRONG_SIDE, .num_components = 3}};
    t->image.components = t->components;
    t->bytes[0] = (size_t)3 * STRONG_SIDE * STRONG_SIDE;
    t->memory[0] = malloc(t->bytes[0]);
    t->device_memory[0] = gpu_take(t->bytes[0]);
    strong_colours_draw(t->memory[0]);
    gpu_copy_in(t->device_memory[0], t->memory[0], t->bytes[0]);
    for (int c = 0; c < 3; c++) {
        t->components[c] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
        t->host[c] = (l2k_plane){t->memory[0] + c, (ptrdiff_t)3 * STRONG_SIDE, 3, L2K_SAMPLE_U8};
        t->device[c] = t->host[c];
        t->device[c].data = t->device_memory[0] + c;
    }
    set(t, L2K_ENCODER_STYLE, style);
    set(t, L2K_ENCODER_LEVELS, STRONG_LEVELS);
    set(t, L2K_ENCODER_TIMINGS, 1);
}

static unsigned guard_bits(const test_case *t, const file *f)
{
    l2k_info info;
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    if (!decoder || l2k_decoder_open_memory(decoder, f->data, f->size) != L2K_OK ||
        l2k_decoder_info(decoder, &info) != L2K_OK)
        fail(t, "opening");
    l2k_decoder_free(decoder);
    return info.guard_bits;
}

/* The stages that are the device's are timed apart. */
static void check_times(const test_case *t, const l2k_encoder *encoder)
{
    double seconds[L2K_NUM_STAGES];
    l2k_encoder_timings(encoder, seconds);
    if (seconds[L2K_STAGE_TRANSFORM] <= 0 || seconds[L2K_STAGE_TIER1] <= 0 || seconds[L2K_STAGE_TIER2] <= 0)
        fail(t, "a stage without time");
}

static void run_strong_case(int64_t style)
{
    test_case t;
    file right = {0};
    make_strong_case(&t, style);
    l2k_encoder *cpu = make_encoder(&t, L2K_BACKEND_CPU, L2K_MEMORY_HOST);
    l2k_encoder *from_host = make_encoder(&t, L2K_BACKEND_CUDA, L2K_MEMORY_HOST);
    l2k_encoder *from_device = make_encoder(&t, L2K_BACKEND_CUDA, L2K_MEMORY_DEVICE);
    if (l2k_encoder_encode(cpu, &t.image, t.host, &(l2k_stream){.write = append, .user = &right}) != L2K_OK ||
        guard_bits(&t, &right) != 3)
        fail(&t, "three guard bits");
    for (int i = 0; i < IMAGES; i++) {
        encode(&t, from_host, t.host, &right, i & 1, "strong colours from host memory");
        encode(&t, from_device, t.device, &right, i & 1, "strong colours from device memory");
        check_times(&t, from_device);
    }
    l2k_encoder_free(cpu);
    l2k_encoder_free(from_host);
    l2k_encoder_free(from_device);
    free(right.data);
    free_planes(&t);
}

static void run_case(unsigned number)
{
    test_case t = {.number = number};
    choose_image(&t);
    choose_options(&t);
    choose_ratios(&t);
    check_case(&t, ANY);
}

/* More truncation points of one slope than a device lists: 78,000 blocks. */
static void run_ties(unsigned number)
{
    test_case t = {.number = number, .image = {.x1 = 1200, .y1 = 1040, .num_components = 1}, .ratios = {3}};
    t.image.components = t.components;
    t.components[0] = (l2k_component){.dx = 1, .dy = 1, .precision = 8};
    set(&t, L2K_ENCODER_STYLE, 0);
    set(&t, L2K_ENCODER_WAVELET, L2K_WAVELET_5_3);
    set(&t, L2K_ENCODER_LEVELS, 0);
    set(&t, L2K_ENCODER_BLOCK_WIDTH, 4);
    set(&t, L2K_ENCODER_BLOCK_HEIGHT, 4);
    check_case(&t, TIES);
}

int main(int argc, char **argv)
{
    const int missing = gpu_missing();
    if (missing)
        return missing;
    const unsigned cases = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    const uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    for (unsigned i = argc > 3 ? (unsigned)atoi(argv[3]) : 0; i < cases; i++) {
        state = (seed << 32) + i;
        random_bits();
        random_bits();
        run_case(i);
    }
    const bool all = cases >= FEW;
    if (all) {
        state = seed;
        run_ties(cases);
    }
    run_strong_case(HT);
    run_strong_case(0);
    printf("%u cases of %d images: 0 bytes differ; HT code-blocks truncated on the device in %zu images\n", cases + all,
           IMAGES, deliveries);
    return all && deliveries == 0;
}
