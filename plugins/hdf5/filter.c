/* HDF5's registered filter 32033, HTJ2K: a chunk is one bare codestream. The client data say how a chunk becomes an image,
 * and how it is coded. The registration has the first five values and chunks of at most three dimensions with integers of
 * up to 16 bits; what is more here (32 bits, the last two values, more dimensions as a tall image) keeps to its chunks. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <H5PLextern.h>
#include <hdf5.h>

#include "lift2k/lift2k.h"

#define FILTER 32033

/* Client data. set_local fills in all but the last two. */
enum {
    VERSION,    /* 1; 0 in files that have none */
    TYPE,       /* bytes of a sample, | SIGNED | BIG_ENDIAN; 0: those of the codestream, little-endian */
    WIDTH,      /* of the image that a chunk is */
    HEIGHT,     /* likewise */
    COMPONENTS, /* 1 or 3 */
    KIND,       /* 0 lossless; l2k_target + 1: lossy */
    TARGET,     /* in thousandths, of decibels or of a ratio */
    VALUES
};
enum { SIGNED = 0x80, BIG_ENDIAN_ORDER = 0x100 };

typedef struct filter_coder {
    l2k_encoder *encoder;
    l2k_decoder *decoder;
    char text[256]; /* the first error of a call, or "" */
} filter_coder;

/* A symbol of the HDF5 whose code is at `caller`. A process may have several, as Python has with h5py. */
static void *symbol(const void *caller, const char *name)
{
    Dl_info place;
    void *library = dladdr(caller, &place) ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = dlsym(library ? library : RTLD_DEFAULT, name);
    if (library)
        dlclose(library);
    return found;
}

#define CALL(function) ((__typeof__(&(function)))symbol(caller, #function))

static void report(const void *caller, const char *text)
{
    const hid_t *class = symbol(caller, "H5E_ERR_CLS_g"), *major = symbol(caller, "H5E_PLINE_g"),
                *minor = symbol(caller, "H5E_CALLBACK_g");
    if (class && major && minor && CALL(H5Epush2))
        CALL(H5Epush2)(H5E_DEFAULT, __FILE__, "filter 32033", 0, *class, *major, *minor, "lift2k: %s", text);
}

/* Dimensions of 1 do not count. A last one of 3 behind two others is that of components, the next one is the width. */
static void set_shape(hsize_t *sizes, int rank, unsigned *values)
{
    const bool upright = rank && sizes[rank - 1] <= 1;
    int used = 0;
    for (int i = 0; i < rank; i++)
        if (sizes[i] > 1)
            sizes[used++] = sizes[i];
    values[COMPONENTS] = used >= 3 && sizes[used - 1] == 3 ? (unsigned)sizes[--used] : 1;
    values[WIDTH] = used > 1 || (used == 1 && !upright) ? (unsigned)sizes[--used] : 1;
    for (values[HEIGHT] = 1; used > 0;)
        values[HEIGHT] *= (unsigned)sizes[--used]; /* a chunk has less than 2^32 bytes */
}

/* Called when a dataset is made; `space` is that of a chunk. */
static herr_t set_local(hid_t list, hid_t type, hid_t space)
{
    const void *const caller = __builtin_return_address(0);
    unsigned flags, values[VALUES] = {0};
    size_t count = VALUES;
    hsize_t sizes[H5S_MAX_RANK];
    if (!CALL(H5Pmodify_filter) || CALL(H5Pget_filter_by_id2)(list, FILTER, &flags, &count, values, 0, NULL, NULL) < 0)
        return -1;
    const size_t bytes = CALL(H5Tget_size)(type);
    const int rank = CALL(H5Sget_simple_extent_dims)(space, sizes, NULL);
    if (CALL(H5Tget_class)(type) != H5T_INTEGER || rank < 0 || (bytes != 1 && bytes != 2 && bytes != 4)) {
        report(caller, "samples must be integers of 8, 16 or 32 bits");
        return -1;
    }
    if (values[KIND] > L2K_TARGET_PSNR + 1 || (values[KIND] && !values[TARGET])) {
        report(caller, "value 5 is 0, 1 (ratio) or 2 (PSNR), and value 6 then the target in thousandths");
        return -1;
    }
    values[VERSION] = 1;
    values[TYPE] = (unsigned)bytes | (CALL(H5Tget_sign)(type) == H5T_SGN_2 ? SIGNED : 0) |
                   (bytes > 1 && CALL(H5Tget_order)(type) == H5T_ORDER_BE ? BIG_ENDIAN_ORDER : 0);
    set_shape(sizes, rank, values);
    return CALL(H5Pmodify_filter)(list, FILTER, flags, values[KIND] ? VALUES : KIND, values);
}

/* One is kept, with its memory and tables, for the next chunk. */
static _Atomic(filter_coder *) kept;

static void note(void *user, l2k_severity severity, const char *text)
{
    filter_coder *coder = user;
    if (severity == L2K_SEVERITY_ERROR && !coder->text[0])
        snprintf(coder->text, sizeof coder->text, "%s", text);
}

static void free_coder(filter_coder *coder)
{
    if (coder) {
        l2k_encoder_free(coder->encoder);
        l2k_decoder_free(coder->decoder);
        free(coder);
    }
}

__attribute__((destructor)) static void forget(void)
{
    free_coder(atomic_exchange(&kept, NULL));
}

static filter_coder *take_coder(void)
{
    const char *asked = getenv("H5Z_HTJ2K_NUM_THREADS"); /* the name that hdf5plugin reads */
    filter_coder *coder = atomic_exchange(&kept, NULL);
    if (!coder && (coder = calloc(1, sizeof *coder))) {
        const l2k_hooks hooks = {.message = note, .user = coder};
        coder->encoder = l2k_encoder_new(&hooks);
        coder->decoder = l2k_decoder_new(&hooks);
        if (!coder->encoder || !coder->decoder) {
            free_coder(coder);
            return NULL;
        }
        l2k_encoder_set(coder->encoder, L2K_ENCODER_BACKEND, L2K_BACKEND_CPU);
        l2k_decoder_set(coder->decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU);
        l2k_decoder_set(coder->decoder, L2K_DECODER_STRICT, 1);
        l2k_encoder_set(coder->encoder, L2K_ENCODER_THREADS, asked ? strtol(asked, NULL, 10) : 1);
        l2k_decoder_set(coder->decoder, L2K_DECODER_THREADS, asked ? strtol(asked, NULL, 10) : 1);
    }
    if (coder)
        coder->text[0] = 0;
    return coder;
}

/* Of a sample; 0 for what is no type. */
static unsigned bytes_of(unsigned type)
{
    const unsigned bytes = type & 0x7f;
    return bytes == 1 || bytes == 2 || bytes == 4 ? bytes : 0;
}

/* From or to the order of the machine. */
static void swap(unsigned type, unsigned char *data, size_t bytes)
{
    const unsigned n = bytes_of(type);
    if (!(type & BIG_ENDIAN_ORDER) == !(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        return;
    for (; n > 1 && bytes >= n; data += n, bytes -= n)
        for (unsigned i = 0; i < n / 2; i++) {
            const unsigned char low = data[i];
            data[i] = data[n - 1 - i];
            data[n - 1 - i] = low;
        }
}

static l2k_plane plane_of(void *data, unsigned bytes, bool is_signed, uint32_t c, uint32_t components, uint32_t width)
{
    const ptrdiff_t step = (ptrdiff_t)bytes * components;
    return (l2k_plane){.data = (char *)data + (size_t)c * bytes,
                       .row_stride = step * width,
                       .sample_stride = step,
                       .type = bytes == 1   ? is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8
                               : bytes == 2 ? is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16
                                            : L2K_SAMPLE_S32};
}

static void *fail(filter_coder *coder, const char *text)
{
    note(coder, L2K_SEVERITY_ERROR, text);
    return NULL;
}

/* The bits that samples of 32 bits use. */
static uint32_t precision_of(const int32_t *samples, size_t count, bool is_signed)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= (uint32_t)(is_signed && samples[i] < 0 ? ~samples[i] : samples[i]);
    return bits ? 32 - (uint32_t)__builtin_clz(bits) + is_signed : 1;
}

/* 32 bits have no irreversible wavelet. Low or narrow images get code-blocks of their shape, high ones tiles, whose
 * coefficients fit into caches. */
static void set_coding(l2k_encoder *encoder, const unsigned *values, uint32_t precision)
{
    const unsigned bytes = bytes_of(values[TYPE]), width = values[WIDTH], height = values[HEIGHT];
    const int64_t across = height <= 4 ? 1024 : width <= 4 ? 4 : 64;
    const int64_t options[][2] = {{L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
                                  {L2K_ENCODER_STYLE, L2K_STYLE_HT},
                                  {L2K_ENCODER_WAVELET, values[KIND] && bytes < 4 ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3},
                                  {L2K_ENCODER_TILE_HEIGHT, !values[KIND] && width > 4 && height > 512 ? 256 : 0},
                                  {L2K_ENCODER_BLOCK_WIDTH, across},
                                  {L2K_ENCODER_BLOCK_HEIGHT, 4096 / across},
                                  {L2K_ENCODER_COMPONENT_TRANSFORM, values[COMPONENTS] == 3}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        l2k_encoder_set(encoder, (l2k_encoder_option)options[i][0], options[i][1]);
    l2k_encoder_set_comment(encoder, "");
    const bool ratio = values[KIND] == L2K_TARGET_RATIO + 1; /* which is one of the precision's bits */
    const double target = values[TARGET] / 1000.0 * (ratio ? precision / (8.0 * bytes) : 1);
    l2k_encoder_set_layers(encoder, ratio ? L2K_TARGET_RATIO : L2K_TARGET_PSNR, &target, values[KIND] ? 1 : 0);
}

static void *encode(filter_coder *coder, const unsigned *values, void *data, size_t *bytes)
{
    const uint32_t width = values[WIDTH], height = values[HEIGHT], components = values[COMPONENTS];
    const unsigned sample = bytes_of(values[TYPE]);
    const bool is_signed = values[TYPE] & SIGNED;
    l2k_component described[3];
    l2k_plane planes[3];
    const uint8_t *coded;
    void *result = NULL;
    if ((components != 1 && components != 3) || (uint64_t)width * height > *bytes ||
        (uint64_t)width * height * components * sample != *bytes)
        return fail(coder, "the client data do not describe the chunk");
    const size_t before = *bytes;
    swap(values[TYPE], data, before);
    const uint32_t precision = sample == 4 ? precision_of(data, *bytes / 4, is_signed) : 8 * sample;
    for (uint32_t c = 0; c < components; c++) {
        described[c] = (l2k_component){.dx = 1, .dy = 1, .precision = precision, .is_signed = is_signed};
        planes[c] = plane_of(data, sample, is_signed, c, components, width);
    }
    const l2k_image image = {.x1 = width, .y1 = height, .num_components = components, .components = described};
    set_coding(coder->encoder, values, precision);
    if (l2k_encoder_encode_memory(coder->encoder, &image, planes, &coded, bytes) == L2K_OK && (result = malloc(*bytes)))
        memcpy(result, coded, *bytes);
    else
        swap(values[TYPE], data, before);
    return result;
}

/* The size of an image as a chunk, 0 where it cannot be one. `type` is set where client data do not have it. */
static size_t bytes_of_chunk(const l2k_image *image, unsigned *type)
{
    const l2k_component *all = image->components;
    uint32_t precision = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        if (all[c].width != all[0].width || all[c].height != all[0].height)
            return 0;
        precision = all[c].precision > precision ? all[c].precision : precision;
    }
    *type = *type ? *type : precision <= 8 ? 1 : precision <= 16 ? 2 : 4;
    const uint64_t pixels = (uint64_t)all[0].width * all[0].height, pixel = image->num_components * bytes_of(*type);
    return precision > 8 * bytes_of(*type) || pixels > UINT32_MAX / pixel ? 0 : (size_t)(pixels * pixel);
}

static void *decode(filter_coder *coder, unsigned *values, const void *data, size_t *bytes)
{
    const size_t wanted = (size_t)values[WIDTH] * values[HEIGHT] * values[COMPONENTS] * bytes_of(values[TYPE]);
    l2k_image image;
    if (l2k_decoder_open_memory(coder->decoder, data, *bytes) != L2K_OK ||
        l2k_decoder_image(coder->decoder, &image) != L2K_OK)
        return NULL;
    *bytes = bytes_of_chunk(&image, &values[TYPE]);
    if (!*bytes || (wanted && wanted != *bytes))
        return fail(coder, "the codestream is not a chunk of this dataset");
    l2k_plane *planes = calloc(image.num_components, sizeof *planes);
    void *result = planes ? malloc(*bytes) : NULL;
    for (uint32_t c = 0; result && c < image.num_components; c++)
        planes[c] = plane_of(result, bytes_of(values[TYPE]), image.components[c].is_signed, c, image.num_components,
                             image.components[0].width);
    if (result && l2k_decoder_decode(coder->decoder, planes) != L2K_OK) {
        free(result);
        result = NULL;
    }
    if (result)
        swap(values[TYPE], result, *bytes);
    free(planes);
    return result;
}

/* Replaces a chunk, or returns 0 and leaves it as it was. */
static size_t filter(unsigned flags, size_t count, const unsigned *given, size_t bytes, size_t *room, void **data)
{
    const void *const caller = __builtin_return_address(0);
    filter_coder *coder = take_coder();
    unsigned values[VALUES] = {0};
    void *result = NULL;
    size_t size = bytes;
    memcpy(values, given, (count < VALUES ? count : VALUES) * sizeof *values);
    if (coder)
        result = values[VERSION] > 1        ? fail(coder, "a later version of the filter wrote this")
                 : flags & H5Z_FLAG_REVERSE ? decode(coder, values, *data, &size)
                                            : encode(coder, values, *data, &size);
    if (!result)
        report(caller, coder && coder->text[0] ? coder->text : "out of memory");
    free_coder(atomic_exchange(&kept, coder));
    if (!result)
        return 0;
    free(*data);
    *data = result;
    return *room = size;
}

H5PL_type_t H5PLget_plugin_type(void)
{
    return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void)
{
    static const H5Z_class2_t description = {H5Z_CLASS_T_VERS, FILTER, 1, 1, "HTJ2K (lift2k)", NULL, set_local, filter};
    return &description;
}
