/* Encodes with parameters that programs may give by mistake, or where OpenJPEG's library is lenient, and shows what
 * comes of each. With "alone" come those with which OpenJPEG itself crashes.
 *
 * Usage: parameters [alone] */
#include <inttypes.h>
#include <openjpeg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20 };

typedef struct output {
    uint8_t *bytes;
    size_t at, end;
} output;

static OPJ_SIZE_T write_some(void *from, OPJ_SIZE_T count, void *user)
{
    output *to = user;
    if (count > ROOM - to->at)
        return (OPJ_SIZE_T)-1;
    memcpy(to->bytes + to->at, from, count);
    to->at += count;
    to->end = to->at > to->end ? to->at : to->end;
    return count;
}

static OPJ_BOOL seek_to(OPJ_OFF_T offset, void *user)
{
    ((output *)user)->at = (size_t)offset;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip_some(OPJ_OFF_T count, void *user)
{
    ((output *)user)->at += (size_t)count;
    return count;
}

static OPJ_SIZE_T read_some(void *to, OPJ_SIZE_T count, void *user)
{
    output *from = user;
    const size_t left = from->end - from->at, got = count < left ? count : left;
    memcpy(to, from->bytes + from->at, got);
    from->at += got;
    return got ? got : (OPJ_SIZE_T)-1;
}

static opj_stream_t *stream_of(output *memory, OPJ_BOOL is_input)
{
    opj_stream_t *stream = opj_stream_default_create(is_input);
    opj_stream_set_user_data(stream, memory, NULL);
    opj_stream_set_user_data_length(stream, memory->end);
    opj_stream_set_read_function(stream, read_some);
    opj_stream_set_write_function(stream, write_some);
    opj_stream_set_seek_function(stream, seek_to);
    opj_stream_set_skip_function(stream, skip_some);
    return stream;
}

static uint64_t digest(const uint8_t *bytes, size_t count)
{
    uint64_t value = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        value = (value ^ bytes[i]) * 1099511628211u;
    return value;
}

/* 101 x 81 at 3, 5; components after the first have sub-sampling dx, dy. */
static opj_image_t *new_image(OPJ_UINT32 count, OPJ_UINT32 dx, OPJ_UINT32 dy)
{
    opj_image_cmptparm_t components[3] = {{0}};
    for (OPJ_UINT32 c = 0; c < count; c++)
        components[c] = (opj_image_cmptparm_t){.dx = c ? dx : 1, .dy = c ? dy : 1, .w = 101, .h = 81, .prec = 8};
    opj_image_t *image = opj_image_create(count, components, OPJ_CLRSPC_UNSPECIFIED);
    if (!image)
        exit(2);
    image->x0 = 3;
    image->y0 = 5;
    image->x1 = 104;
    image->y1 = 86;
    for (OPJ_UINT32 c = 0; c < count; c++)
        for (int i = 0; i < 101 * 81; i++)
            image->comps[c].data[i] = (i * 37 + (i >> 5) * 3 + (int)c) & 255;
    return image;
}

static const char *const *early_options; /* set before the parameters */
static bool ends_at_once;

/* With `bytes`, also what is written; otherwise only whether it is. */
static void encode(const char *what, opj_cparameters_t *p, opj_image_t *image, int threads, bool bytes)
{
    output to = {.bytes = calloc(1, ROOM)};
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *stream = stream_of(&to, OPJ_FALSE);
    p->cp_comment = "odd";
    bool set_up = to.bytes && opj_encoder_set_extra_options(codec, early_options) && opj_setup_encoder(codec, p, image);
    bool good = set_up && opj_codec_set_threads(codec, threads) && opj_start_compress(codec, image, stream) &&
                (ends_at_once || opj_encode(codec, stream)) && opj_end_compress(codec, stream);
    printf("%s: %d%s", what, good, set_up ? "" : ", not set up");
    if (good && bytes)
        printf(", %zu bytes, %016" PRIx64, to.end, digest(to.bytes, to.end));
    printf("\n");
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    free(to.bytes);
}

static opj_cparameters_t defaults(void)
{
    opj_cparameters_t p;
    opj_set_default_encoder_parameters(&p);
    return p;
}

static void layers(const char *what, bool ratios, float first, float second, bool bytes)
{
    opj_cparameters_t p = defaults();
    p.tcp_numlayers = 2;
    memcpy(ratios ? p.tcp_rates : p.tcp_distoratio, (float[]){first, second}, 2 * sizeof first);
    p.cp_disto_alloc = ratios;
    p.cp_fixed_quality = !ratios;
    encode(what, &p, new_image(1, 1, 1), 1, bytes);
}

/* Tiles whose samples of 2 bytes are at odd places behind those of 1 byte, written and read. */
static void odd_tiles(void)
{
    enum { WIDTH = 101, HEIGHT = 81, SIDE = 37, SAMPLES = SIDE * SIDE };
    static OPJ_BYTE data[4 * SAMPLES];
    output file = {.bytes = calloc(1, ROOM)};
    opj_cparameters_t p = defaults();
    p.tile_size_on = OPJ_TRUE;
    p.cp_tdx = p.cp_tdy = SIDE;
    p.cp_comment = "odd";
    opj_image_cmptparm_t components[3] = {{0}};
    for (int c = 0; c < 3; c++)
        components[c] = (opj_image_cmptparm_t){.dx = 1, .dy = 1, .w = WIDTH, .h = HEIGHT, .prec = c == 1 ? 13 : 7};
    opj_image_t *image = opj_image_tile_create(3, components, OPJ_CLRSPC_UNSPECIFIED), *found = NULL;
    image->x1 = WIDTH;
    image->y1 = HEIGHT;
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *stream = stream_of(&file, OPJ_FALSE);
    bool good = opj_setup_encoder(codec, &p, image) && opj_start_compress(codec, image, stream);
    for (OPJ_UINT32 tile = 0; good && tile < 9; tile++) {
        const size_t width = tile % 3 < 2 ? SIDE : WIDTH - 2 * SIDE, height = tile / 3 < 2 ? SIDE : HEIGHT - 2 * SIDE;
        const size_t samples = width * height;
        for (size_t i = 0; i < samples; i++) {
            const OPJ_UINT16 wide = (OPJ_UINT16)((i * 37 + tile) & 0x1fff);
            data[i] = (OPJ_BYTE)((i * 3 + tile) & 0x7f);
            memcpy(data + samples + 2 * i, &wide, 2);
            data[3 * samples + i] = (OPJ_BYTE)((i >> 3) & 0x7f);
        }
        good = opj_write_tile(codec, tile, data, (OPJ_UINT32)(4 * samples), stream);
    }
    good = good && opj_end_compress(codec, stream);
    printf("odd tiles: %d, %zu bytes, %016" PRIx64 "\n", good, file.end, digest(file.bytes, file.end));
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    file.at = 0;
    opj_dparameters_t d;
    opj_set_default_decoder_parameters(&d);
    codec = opj_create_decompress(OPJ_CODEC_J2K);
    stream = stream_of(&file, OPJ_TRUE);
    good = good && opj_setup_decoder(codec, &d) && opj_read_header(stream, codec, &found);
    for (OPJ_BOOL more = OPJ_TRUE; good && more;) {
        OPJ_UINT32 tile, bytes = 0, count;
        OPJ_INT32 x0, y0, x1, y1;
        good = opj_read_tile_header(codec, stream, &tile, &bytes, &x0, &y0, &x1, &y1, &count, &more);
        if (good && more && (good = opj_decode_tile_data(codec, tile, data, bytes, stream)))
            printf("tile %u: %u bytes, %016" PRIx64 "\n", tile, bytes, digest(data, bytes));
    }
    printf("read: %d\n", good);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(found);
    free(file.bytes);
}

int main(int count, char **words)
{
    opj_cparameters_t p = defaults();
    encode("sub-sampling at an odd origin", &p, new_image(3, 2, 2), 1, true);
    p.tile_size_on = OPJ_TRUE;
    p.cp_tdx = p.cp_tdy = 64;
    encode("with tiles", &p, new_image(3, 2, 2), 1, true);
    p.cp_tdx = p.cp_tdy = 4000;
    encode("with one large tile", &p, new_image(3, 3, 1), 1, true);
    p = defaults();
    p.csty = 1;
    p.res_spec = 1;
    p.prcw_init[0] = p.prch_init[0] = 100;
    encode("precincts of 100", &p, new_image(1, 1, 1), 1, true);
    p = defaults();
    encode("5000 threads", &p, new_image(1, 1, 1), 5000, true);
    layers("ratios that rise", true, 10, 20, false);
    layers("equal ratios", true, 5, 5, false);
    layers("a huge ratio", true, 1e30f, 5, false);
    layers("qualities that fall", false, 40, 30, false);
    layers("an unlimited layer, then a ratio", true, 0, 10, true);
    layers("two unlimited layers", true, 0, 0, true);
    layers("an unlimited layer, then a quality", false, 0, 30, true);
    p = defaults();
    p.rsiz = OPJ_PROFILE_CINEMA_2K;
    encode("cinema 2K with 8 bits", &p, new_image(3, 1, 1), 1, true);
    p = defaults();
    p.rsiz = OPJ_PROFILE_CINEMA_4K;
    encode("cinema 4K with 8 bits", &p, new_image(3, 1, 1), 1, true);
    printf("no components: %d, %d\n", opj_image_create(0, NULL, OPJ_CLRSPC_GRAY) != NULL,
           opj_image_tile_create(0, NULL, OPJ_CLRSPC_GRAY) != NULL);
    p = defaults();
    early_options = (const char *const[]){"PLT=YES", "TLM=YES", "GUARD_BITS=5", NULL};
    encode("options before parameters", &p, new_image(3, 1, 1), 1, true);
    early_options = (const char *const[]){"PLT=MAYBE", NULL};
    encode("a wrong one", &p, new_image(3, 1, 1), 1, true);
    early_options = NULL;
    odd_tiles();
    p = defaults();
    if (count < 2 || strcmp(words[1], "alone") != 0)
        return 0;
    encode("sub-sampling 0", &p, new_image(3, 0, 0), 1, false);
    p.tcp_mct = 3;
    encode("component transform 3", &p, new_image(3, 1, 1), 1, false);
    p = defaults();
    p.tile_size_on = OPJ_TRUE;
    p.cp_tdx = p.cp_tdy = 64;
    p.cp_tx0 = 104;
    encode("tiles from the image's right side on", &p, new_image(1, 1, 1), 1, false);
    p.cp_tx0 = 0;
    p.cp_ty0 = 90;
    encode("tiles from below the image on", &p, new_image(1, 1, 1), 1, false);
    p = defaults();
    ends_at_once = true;
    encode("nothing encoded", &p, new_image(1, 1, 1), 1, false);
    return 0;
}
