/* The decoder fed with anything. As a libFuzzer target:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -Iinclude -Itests tests/fuzz_decode.c \
 *         base/?*.c tiling/?*.c dwt/?*.c quant/?*.c transform/?*.c codec/?*.c -lcmocka -lm
 *     ./a.out corpus/
 *
 * With L2K_FUZZ_MAIN it is a program of its own that makes small files with the encoder, or takes those that are named,
 * and damages them the same way every time: fuzz_decode RUNS [FILE...]. */
#include "api_support.h"

/* Small enough that a run is quick, large enough for several tiles and code-blocks. */
enum { MOST_SAMPLES = 1 << 18 };

static size_t sample_count(const l2k_component *k)
{
    return (size_t)k->width * k->height;
}

/* Decodes into planes of the largest type, as far as the limit lets it come. */
static void decode_all(l2k_decoder *decoder, const l2k_image *image)
{
    size_t total = 0, at = 0;
    for (uint32_t c = 0; c < image->num_components; c++)
        total += sample_count(&image->components[c]);
    if (total > MOST_SAMPLES)
        return; /* a palette can multiply components beyond the limit on samples */
    int32_t *samples = calloc(total + 1, sizeof *samples);
    l2k_plane *planes = calloc(image->num_components, sizeof *planes);
    for (uint32_t c = 0; samples && planes && c < image->num_components; c++) {
        planes[c] = (l2k_plane){samples + at, (ptrdiff_t)(image->components[c].width * sizeof *samples),
                                sizeof *samples, L2K_SAMPLE_S32};
        at += sample_count(&image->components[c]);
    }
    if (samples && planes)
        (void)l2k_decoder_decode(decoder, planes);
    free(samples);
    free(planes);
}

/* The options come from the data too, so that they meet every kind of damage. */
static void decode_with(const uint8_t *data, size_t bytes, unsigned choice)
{
    memory_file in = memory_of(data, bytes);
    l2k_stream stream = stream_of(&in);
    l2k_decoder *decoder = l2k_decoder_new(NULL);
    l2k_image image;
    l2k_info info;
    l2k_box box;
    if (!decoder)
        return;
    l2k_decoder_set(decoder, L2K_DECODER_THREADS, 1);
    l2k_decoder_set(decoder, L2K_DECODER_LIMIT_SAMPLES, MOST_SAMPLES);
    if (choice & 1)
        l2k_decoder_set(decoder, L2K_DECODER_REDUCE, 1 + (choice >> 4) % 3);
    if (choice & 2)
        l2k_decoder_set_region(decoder, choice % 13, choice % 7, 13 + choice % 31, 7 + choice % 29);
    if (choice & 4)
        l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, (choice >> 4) % 3);
    if (choice & 8)
        l2k_decoder_set(decoder, L2K_DECODER_LAYERS, 1);
    if (l2k_decoder_open(decoder, &stream) == L2K_OK && l2k_decoder_info(decoder, &info) == L2K_OK) {
        for (size_t i = 0; l2k_decoder_box(decoder, i, &box) == L2K_OK; i++)
            continue;
        if (l2k_decoder_image(decoder, &image) == L2K_OK)
            decode_all(decoder, &image);
    }
    l2k_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    decode_with(data, bytes, 0);
    if (bytes > 0)
        decode_with(data, bytes, data[bytes / 2]);
    return 0;
}

#ifdef L2K_FUZZ_MAIN

enum { MOST_FILES = 64 };

static memory_file files[MOST_FILES];
static size_t num_files;

static bool load(const char *path)
{
    memory_file file = memory_of(NULL, 0);
    uint8_t buffer[65536];
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        if (memory_write(&file, buffer, got) != 0)
            break;
    fclose(in);
    files[num_files++] = file;
    return file.size > 0;
}

/* A file for each of many combinations, so that every path of the decoder is reached by undamaged bytes. */
static void make(unsigned n)
{
    static const double ratios[] = {8, 2, 1};
    static const l2k_size precincts[] = {{16, 16}, {8, 8}};
    picture p;
    picture_shape(&p, 15 + 7 * (n % 5), 11 + 9 * (n % 4), 1 + n % 4);
    for (uint32_t c = 0; c < p.image.num_components; c++) {
        p.components[c].precision = n % 7 == 3 ? 12 : n % 7 == 5 ? 3 : 8;
        p.components[c].is_signed = n % 11 == 4;
        p.components[c].dx = c > 0 && n % 6 == 5 ? 2 : 1;
        p.components[c].channel = c == 3 ? L2K_CHANNEL_OPACITY : L2K_CHANNEL_COLOUR;
        if (c == 3)
            p.components[c].association = 0;
        picture_fill(&p, c);
    }
    l2k_encoder *e = l2k_encoder_new(NULL);
    assert_non_null(e);
    l2k_encoder_set(e, L2K_ENCODER_THREADS, 1);
    l2k_encoder_set(e, L2K_ENCODER_FORMAT, n % 2);
    l2k_encoder_set(e, L2K_ENCODER_WAVELET, n / 2 % 2);
    l2k_encoder_set(e, L2K_ENCODER_LEVELS, n % 4);
    l2k_encoder_set(e, L2K_ENCODER_TILE_WIDTH, n % 3 ? 0 : 20);
    l2k_encoder_set(e, L2K_ENCODER_BLOCK_WIDTH, n % 5 ? 16 : 4);
    l2k_encoder_set(e, L2K_ENCODER_STYLE, n * 7 % 64);
    l2k_encoder_set(e, L2K_ENCODER_PROGRESSION, n % 5);
    l2k_encoder_set(e, L2K_ENCODER_SOP, n / 3 % 2);
    l2k_encoder_set(e, L2K_ENCODER_EPH, n / 4 % 2);
    l2k_encoder_set(e, L2K_ENCODER_PLT, n / 5 % 2);
    l2k_encoder_set(e, L2K_ENCODER_TLM, n / 6 % 2);
    l2k_encoder_set(e, L2K_ENCODER_TILE_PARTS, n % 4);
    if (n % 3 == 1)
        l2k_encoder_set_precincts(e, precincts, 2);
    if (n % 4 == 2)
        l2k_encoder_set_layers(e, L2K_TARGET_RATIO, ratios, 3);
    memory_file out = memory_of(NULL, 0);
    if (run_encoder(e, &p, &out) == L2K_OK)
        files[num_files++] = out;
    l2k_encoder_free(e);
    picture_free(&p);
}

/* Damage of a few kinds, most of it small, so that the headers often survive. Returns the new length. */
static size_t damage(uint8_t *data, size_t size)
{
    for (unsigned n = random_between(1, 4); n > 0 && size > 1; n--) {
        size_t at = random_below(random_below(2) ? size : size < 200 ? size : 200), run;
        switch (random_below(6)) {
        case 0:
            data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 1:
            data[at] = random_below(2) ? 0xFF : (uint8_t)random_u64();
            break;
        case 2:
            data[at] = (uint8_t)(data[at] + random_between(0, 2) - 1);
            break;
        case 3: /* cut out */
            run = random_below(size - at < 20 ? size - at : 20);
            memmove(data + at, data + at + run, size - at - run);
            size -= run;
            break;
        case 4: /* copy within */
            run = random_below(size - at < 20 ? size - at : 20);
            memmove(data + random_below(size - run), data + at, run);
            break;
        default:
            if (random_below(4) == 0)
                size = 1 + random_below(size - 1);
            break;
        }
    }
    return size;
}

int main(int count, char **arguments)
{
    unsigned long runs = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    for (int i = 2; i < count && num_files < MOST_FILES; i++)
        if (!load(arguments[i])) {
            fprintf(stderr, "%s cannot be read\n", arguments[i]);
            return 2;
        }
    for (unsigned n = 0; count <= 2 && n < 40; n++)
        make(n);
    if (num_files == 0 || (count <= 2 && num_files < 40)) {
        fprintf(stderr, "only %zu files to damage\n", num_files);
        return 2;
    }
    for (unsigned long run = 0; run < runs; run++) {
        const memory_file *file = &files[run % num_files];
        uint8_t *copy = malloc(file->size);
        if (!copy)
            return 2;
        memcpy(copy, file->data, file->size);
        size_t size = run < num_files ? file->size : damage(copy, file->size);
        uint8_t *exact = malloc(size + 1); /* of its exact size, for the sanitizer to see reads beyond it */
        if (!exact)
            return 2;
        memcpy(exact, copy, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        free(copy);
    }
    for (size_t i = 0; i < num_files; i++)
        free(files[i].data);
    printf("%lu runs on %zu files\n", runs, num_files);
    return 0;
}

#endif
