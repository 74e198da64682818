/* Fuzz target: what `lift2k volume` reads: a description of subbands with the files it lists, and slices of samples
 * without a header. The input is a description, then the bytes that every file of coefficients has, then a tail of
 * options; or, as an option says, the samples of such a raw file. */
#include "fuzz.h"
#include "command.h"

#include "cli/input/input.h"
#include "cli/volume/volume.h"
#include "pictures/formats.h"
#include "pictures/user/report.h"
#include "pictures/writer.h"

enum { MOST_SAMPLES = 1 << 16, MOST_SLICES = 40, MOST_COMPONENTS = 16 };

/* ---- What the command would do with pictures ---------------------------------------------------------------- */

const char *const cli_orientation_names[4] = {"LL", "HL", "LH", "HH"};

bool cli_any_picture_read(cli_picture *picture, const char *path)
{
    (void)picture;
    return cli_error(path, "no picture here");
}

/* Nothing is written here. */
void cli_dump_put_components(cli_json *json, const l2k_component *components, uint32_t count)
{
    (void)json, (void)components, (void)count;
}

bool cli_write_picture(const char *path, cli_format format, const cli_picture *picture, cli_film *film, bool quiet)
{
    cli_view view = {0};
    (void)film, (void)quiet;
    if (format < CLI_FORMAT_PGX && cli_view_create(&view, picture, 0, path))
        cli_format_check(&format, &view, path);
    cli_view_free(&view);
    return cli_error(path, "no output here");
}

/* ---- The way back -------------------------------------------------------------------------------------------- */

/* What a description promises to its readers; whether it is small enough to go on. */
static bool check_facts(cli_volume_facts *f)
{
    const l2k_image image = f->image;
    uint64_t samples = 0;
    FUZZ_EXPECT(image.num_components > 0 && image.num_components <= L2K_MAX_COMPONENTS);
    FUZZ_EXPECT(f->levels <= L2K_MAX_LEVELS && f->z_levels <= L2K_MAX_LEVELS);
    for (uint32_t c = 0; c < image.num_components; c++) {
        l2k_component *k = &f->components[c];
        FUZZ_EXPECT(k->precision >= 1 && k->precision <= 31 && k->dx >= 1 && k->dx <= 255 && k->dy >= 1);
        k->width = (uint32_t)(((uint64_t)image.x1 + k->dx - 1) / k->dx);
        k->height = (uint32_t)(((uint64_t)image.y1 + k->dy - 1) / k->dy);
        samples += (uint64_t)k->width * k->height;
    }
    return samples <= MOST_SAMPLES && image.x1 <= MOST_SAMPLES && f->slices <= MOST_SLICES &&
           image.num_components <= MOST_COMPONENTS;
}

static l2k_volume *prepare(const l2k_hooks *hooks, fuzz_watch *w, const cli_volume_facts *f)
{
    l2k_volume *volume = l2k_volume_new(hooks);
    const int64_t settings[][2] = {{L2K_VOLUME_DIRECTION, L2K_INVERSE},
                                   {L2K_VOLUME_WAVELET, f->is_float ? L2K_WAVELET_9_7 : L2K_WAVELET_5_3},
                                   {L2K_VOLUME_LEVELS, f->levels},
                                   {L2K_VOLUME_Z_LEVELS, f->z_levels},
                                   {L2K_VOLUME_ORDER, f->isotropic ? L2K_VOLUME_ISOTROPIC : L2K_VOLUME_Z_FIRST},
                                   {L2K_VOLUME_COMPONENT_TRANSFORM, f->component_transform},
                                   {L2K_VOLUME_THREADS, 1},
                                   {L2K_VOLUME_LIMIT_SAMPLES, MOST_SAMPLES}};
    FUZZ_EXPECT(volume);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        FUZZ_EXPECT(l2k_volume_set(volume, (l2k_volume_option)settings[i][0], settings[i][1]) == L2K_OK);
    w->errors = 0;
    if (fuzz_reported(w, l2k_volume_prepare(volume, &f->image, 0, f->slices)) == L2K_OK)
        return volume;
    l2k_volume_free(volume);
    return NULL;
}

/* Slices of samples as far as the files' bytes go. */
static void run_back(const cli_volume_facts *f, l2k_volume *volume, const cli_volume_files *files)
{
    fuzz_planes planes;
    uint32_t slices = 0;
    FUZZ_EXPECT(fuzz_planes_make(&planes, &f->image, false, MOST_SAMPLES));
    for (bool more = true; more && slices < f->slices;) {
        l2k_volume_slice slice;
        bool got = true;
        FUZZ_EXPECT(l2k_volume_next_coefficients(volume, &slice) == L2K_OK);
        if (slice.views)
            more = fuzz_check_report(cli_volume_read(files, &slice, "nowhere"));
        if (slice.views && more)
            FUZZ_EXPECT(l2k_volume_put_coefficients(volume) == L2K_OK);
        while (more && got) {
            FUZZ_EXPECT(l2k_volume_get_slice(volume, planes.planes, &got) == L2K_OK);
            slices += got;
            if (got)
                fuzz_check_samples(&planes);
        }
    }
    fuzz_planes_free(&planes);
}

/* Every subband's file has the same bytes, as far as files can be open; without any, it is not there. */
static void open_files(cli_volume_files *files, const uint8_t *data, size_t bytes)
{
    const char *name = fuzz_put_file(data, bytes);
    bool open = bytes > 0;
    for (size_t i = 0; open && i < files->count; i++) {
        cli_volume_band *band = &files->bands[i];
        band->path = strdup(name);
        FUZZ_EXPECT(band->path);
        open = fuzz_check_report(cli_input_open(&band->input, band->path));
        if (!open) {
            free(band->path);
            band->path = NULL;
        }
    }
}

static void read_description(const uint8_t *text, size_t length, const uint8_t *data, size_t bytes)
{
    cli_volume_facts facts;
    cli_volume_files files = {0};
    fuzz_watch w;
    l2k_hooks hooks = fuzz_hooks(&w, (size_t)1 << 28);
    if (fuzz_check_report(cli_volume_facts_read(&facts, fuzz_put_file(text, length))) && check_facts(&facts)) {
        l2k_volume *volume = prepare(&hooks, &w, &facts);
        if (volume && fuzz_check_report(cli_volume_list(&files, &facts, volume))) {
            open_files(&files, data, bytes);
            run_back(&facts, volume, &files);
        }
        l2k_volume_free(volume);
        FUZZ_EXPECT(w.live == 0);
    }
    cli_volume_files_free(&files);
    free(facts.components);
}

/* ---- Raw slices ---------------------------------------------------------------------------------------------- */

static void check_raw_samples(const cli_picture *p, const cli_raw *raw)
{
    const int64_t range = (int64_t)1 << raw->precision, low = raw->is_signed ? -range / 2 : 0;
    FUZZ_EXPECT(p->components[0].width == raw->width && p->components[0].height == raw->height);
    for (uint32_t y = 0; y < raw->height; y++)
        for (uint32_t x = 0; x < raw->width; x++) {
            const int64_t v = fuzz_get_sample(&p->planes[0], x, y);
            FUZZ_EXPECT(v >= low && v < low + range);
        }
}

static void read_raw(fuzz_bytes *tail, const uint8_t *data, size_t bytes)
{
    static cli_options options;
    const char *names[] = {fuzz_put_file(data, bytes), "subbands"};
    cli_volume_facts facts = {0};
    cli_slices slices;
    uint32_t kind = fuzz_byte(tail);
    memset(&options, 0, sizeof options);
    options.names = (void *)names;
    options.num_names = 2;
    options.has_raw = true;
    options.raw = (cli_raw){.width = kind & 8 ? 1 + fuzz_word(tail) * fuzz_word(tail) : 1 + fuzz_byte(tail),
                            .height = kind & 16 ? 1 + fuzz_word(tail) * fuzz_word(tail) : 1 + fuzz_byte(tail),
                            .count = kind & 32 ? 1 + fuzz_word(tail) * fuzz_word(tail) : 1 + fuzz_byte(tail) % 8,
                            .precision = 1 + fuzz_byte(tail) % 31,
                            .is_signed = kind & 1,
                            .big_endian = kind & 2,
                            .interleaved = (kind & 0xC4) == 0xC4};
    bool done = fuzz_check_report(cli_slices_open(&slices, &options, &facts));
    for (uint32_t z = 0; done && z < facts.slices; z++) {
        done = fuzz_check_report(cli_slices_read(&slices));
        if (done)
            check_raw_samples(&slices.picture, &options.raw);
    }
    FUZZ_EXPECT(!done || (uint64_t)facts.slices * facts.image.x1 * facts.image.y1 <= bytes);
    cli_slices_close(&slices);
    free(facts.components);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_bytes tail = fuzz_cut_tail(data, &bytes);
    uint32_t kind = fuzz_byte(&tail);
    const size_t most = 8u * fuzz_word(&tail), last = most < bytes ? most : bytes; /* of files of coefficients */
    fuzz_errors = 0;
    if (kind & 1)
        read_raw(&tail, data, bytes);
    else
        read_description(data, bytes - last, data + bytes - last, last);
    return 0;
}
