/* Encodes and decodes at random with two libraries behind OpenJPEG's interface, and compares status, codestreams, what
 * is said of the image, and samples. Codestreams are cut or damaged before half of the decodings. Each call has a
 * process of its own, because OpenJPEG crashes with some damaged files.
 *
 * Usage: random OURS THEIRS COUNT [FIRST]; case number FIRST, 1 by default, is the first of COUNT. With COUNT 1 the
 * case is shown, and its codestreams are left in ours, theirs and, as decoded, case.j2k or .jp2. With MESSAGES in the
 * environment, errors and warnings are shown. */
#include <dlfcn.h>
#include <inttypes.h>
#include <openjpeg.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 1 << 22, TEXT = 1 << 14, SECONDS = 20 };

/* What a process leaves to its parent. */
typedef struct outcome {
    size_t bytes; /* of a codestream, 0: none */
    bool good, crashed;
    char text[TEXT];
    uint8_t stream[ROOM];
} outcome;

/* ---- The libraries ------------------------------------------------------------------------------------------- */

static void *library;

#define CALL(name) ((__typeof__(&name))function(#name))

static void *function(const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        exit(3);
    return found;
}

/* ---- Chance -------------------------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % limit);
}

/* ---- Streams in memory --------------------------------------------------------------------------------------- */

typedef struct memory {
    uint8_t *bytes;
    size_t at, end, room;
} memory;

static OPJ_SIZE_T write_some(void *from, OPJ_SIZE_T count, void *user)
{
    memory *m = user;
    if (count > m->room - m->at)
        return (OPJ_SIZE_T)-1;
    memcpy(m->bytes + m->at, from, count);
    m->at += count;
    m->end = m->at > m->end ? m->at : m->end;
    return count;
}

static OPJ_SIZE_T read_some(void *to, OPJ_SIZE_T count, void *user)
{
    memory *m = user;
    size_t left = m->end - m->at, got = count < left ? count : left;
    memcpy(to, m->bytes + m->at, got);
    m->at += got;
    return got ? got : (OPJ_SIZE_T)-1;
}

static OPJ_BOOL seek_to(OPJ_OFF_T offset, void *user)
{
    memory *m = user;
    if (offset < 0 || (size_t)offset > m->room)
        return OPJ_FALSE;
    m->at = (size_t)offset;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip_some(OPJ_OFF_T count, void *user)
{
    memory *m = user;
    size_t left = m->room - m->at;
    if ((size_t)count > left)
        count = (OPJ_OFF_T)left;
    m->at += (size_t)count;
    return count;
}

static opj_stream_t *open_memory(memory *m, bool input)
{
    opj_stream_t *stream = CALL(opj_stream_default_create)(input);
    CALL(opj_stream_set_user_data)(stream, m, NULL);
    CALL(opj_stream_set_user_data_length)(stream, m->end);
    CALL(opj_stream_set_read_function)(stream, read_some);
    CALL(opj_stream_set_write_function)(stream, write_some);
    CALL(opj_stream_set_seek_function)(stream, seek_to);
    CALL(opj_stream_set_skip_function)(stream, skip_some);
    return stream;
}

/* ---- A case -------------------------------------------------------------------------------------------------- */

typedef struct random_case {
    opj_cparameters_t p;
    OPJ_UINT32 count, x0, y0, x1, y1;
    opj_image_cmptparm_t components[4];
    uint64_t samples; /* seed of the samples */
    const char *extra[4];
    OPJ_CODEC_FORMAT format;
    bool by_rate;
    /* decoding */
    opj_dparameters_t d;
    bool strict;
    int how; /* 0: whole, 1: area, 2: a tile, 3: some components, 4: reduction after the header */
    uint32_t cut, damage, choice[4];
} random_case;

static OPJ_UINT32 ceil_divide(OPJ_UINT32 value, OPJ_UINT32 by)
{
    return (value + by - 1) / by;
}

static void choose_image(random_case *r)
{
    r->count = below(3) ? 1 + below(2) * 2 : 1 + below(4);
    r->x0 = below(2) ? below(40) : 0;
    r->y0 = below(2) ? below(40) : 0;
    r->x1 = r->x0 + 1 + below(180);
    r->y1 = r->y0 + 1 + below(180);
    OPJ_UINT32 precision = below(2) ? 8 : 1 + below(16), is_signed = !below(4);
    bool sub_sampled = !below(4), mixed = !below(5);
    for (OPJ_UINT32 c = 0; c < r->count; c++) {
        opj_image_cmptparm_t *to = &r->components[c];
        to->dx = c && sub_sampled ? 1 + below(2) : 1;
        to->dy = c && sub_sampled ? 1 + below(2) : 1;
        to->prec = mixed ? 1 + below(16) : precision;
        /* In the boxes OpenJPEG does not tell components apart that differ in nothing else. */
        to->sgnd = mixed && to->prec != r->components[0].prec ? below(2) : is_signed;
        to->w = ceil_divide(r->x1, to->dx) - ceil_divide(r->x0, to->dx);
        to->h = ceil_divide(r->y1, to->dy) - ceil_divide(r->y0, to->dy);
    }
    r->p.tcp_mct = r->count > 2 && !sub_sampled && !mixed && below(2);
}

static void choose_layers(random_case *r)
{
    opj_cparameters_t *p = &r->p;
    p->tcp_numlayers = 1;
    p->cp_disto_alloc = 1;
    r->by_rate = !below(4);
    if (!r->by_rate)
        return;
    p->tcp_numlayers = 1 + (int)below(4);
    bool ratios = below(2);
    p->cp_disto_alloc = ratios;
    p->cp_fixed_quality = !ratios;
    for (int i = 0; i < p->tcp_numlayers; i++)
        *(ratios ? &p->tcp_rates[i] : &p->tcp_distoratio[i]) =
            ratios ? (float)(1 + (p->tcp_numlayers - i) * (2 + (int)below(4))) : (float)(20 + 8 * i);
    if (!below(4))
        *(ratios ? &p->tcp_rates[below((uint32_t)p->tcp_numlayers)] : &p->tcp_distoratio[0]) = 0;
    if (below(2))
        *(ratios ? &p->tcp_rates[p->tcp_numlayers - 1] : &p->tcp_distoratio[p->tcp_numlayers - 1]) = 0;
}

static void choose_parameters(random_case *r)
{
    opj_cparameters_t *p = &r->p;
    p->cp_comment = (char *)"random";
    p->numresolution = 1 + (int)below(6);
    if (below(2)) {
        p->cblockw_init = 4 << below(5);
        p->cblockh_init = 4 << below(5);
    }
    p->prog_order = (OPJ_PROG_ORDER)below(5);
    p->irreversible = (int)below(2);
    /* Of sub-sampled components in several tiles at odd places OpenJPEG reads rows that do not exist. */
    bool sub_sampled = false;
    for (OPJ_UINT32 c = 0; c < r->count; c++)
        sub_sampled = sub_sampled || r->components[c].dx > 1 || r->components[c].dy > 1;
    if (below(2) && (!sub_sampled || r->x0 % 2 == 0)) {
        p->tile_size_on = OPJ_TRUE;
        p->cp_tx0 = (int)below(r->x0 + 1);
        p->cp_ty0 = (int)below(r->y0 + 1);
        p->cp_tdx = (int)r->x0 - p->cp_tx0 + 20 + (int)below(160);
        p->cp_tdy = (int)r->y0 - p->cp_ty0 + 20 + (int)below(160);
    }
    if (!below(3)) {
        p->csty |= 1;
        p->res_spec = 1 + (int)below(3);
        const int least = 1 << (p->numresolution - 1); /* precincts of 1 only at the lowest resolution */
        for (int i = 0; i < p->res_spec; i++) {
            p->prcw_init[i] = least << below(6);
            p->prch_init[i] = least << below(6);
        }
    }
    p->csty |= below(3) ? 0 : 2 * (int)below(4);
    p->mode = below(2) ? 0 : (int)below(64);
    if (!below(6) && !(p->mode & 1)) { /* raw passes of a region of interest OpenJPEG takes for MQ */
        p->roi_compno = (int)below(r->count);
        p->roi_shift = (int)below(8);
    }
    /* With several precincts and orders by position OpenJPEG's tile-parts are not what the standard says. */
    if (!below(4) && (p->prog_order < OPJ_RPCL || !(p->csty & 1))) {
        p->tp_on = 1;
        p->tp_flag = (char)"RLC"[below(3)];
    }
    int used = 0;
    if (!below(4))
        r->extra[used++] = "PLT=YES";
    if (!below(4))
        r->extra[used++] = "TLM=YES";
    if (!below(8))
        r->extra[used++] = "GUARD_BITS=3";
}

static random_case choose(uint64_t number)
{
    random_case r = {0};
    state = number * 0x9e3779b97f4a7c15u + 77;
    for (int i = 0; i < 8; i++)
        below(2);
    CALL(opj_set_default_encoder_parameters)(&r.p);
    CALL(opj_set_default_decoder_parameters)(&r.d);
    r.format = below(2) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2;
    choose_image(&r);
    choose_parameters(&r);
    choose_layers(&r);
    r.samples = state;
    r.strict = below(2);
    r.how = below(2) ? 0 : (int)below(5);
    r.cut = below(2) ? 1 + below(1 << 20) : 0;
    r.damage = r.cut ? 0 : !below(3) ? 1 + below(1 << 20) : 0;
    if (r.how != 4 && !below(3))
        r.d.cp_reduce = below(3);
    if (!below(3))
        r.d.cp_layer = below(4);
    for (int i = 0; i < 4; i++)
        r.choice[i] = below(1 << 20);
    if (r.p.irreversible && r.how == 1) /* near an area's border OpenJPEG's samples are not those of the whole */
        r.how = 0;
    if (!r.strict && (r.cut || r.damage)) { /* cut packets that it skips, OpenJPEG skips beyond the end of its memory */
        r.d.cp_reduce = r.d.cp_layer = 0;
        r.how = r.how % 2 ? 0 : r.how;
        r.how = r.how == 4 ? 0 : r.how;
    }
    return r;
}

static void on_message(const char *text, void *user)
{
    if (getenv("MESSAGES"))
        fprintf(stderr, "%s", text);
    ++*(unsigned *)user;
}

/* ---- Encoding ------------------------------------------------------------------------------------------------ */

static void fill(const random_case *r, opj_image_t *image)
{
    image->x0 = r->x0;
    image->y0 = r->y0;
    image->x1 = r->x1;
    image->y1 = r->y1;
    state = r->samples;
    uint32_t noise = 1 + below(64);
    for (OPJ_UINT32 c = 0; c < r->count; c++) {
        const opj_image_comp_t *to = &image->comps[c];
        OPJ_INT32 low = to->sgnd ? -(1 << (to->prec - 1)) : 0, range = 1 << to->prec;
        for (OPJ_UINT32 i = 0; i < to->w * to->h; i++) {
            uint32_t x = i % to->w, y = i / to->w;
            uint32_t value = (x * 3 + y * 2 + (x / 17 + y / 13) % 2 * 90 + below(noise)) % 256;
            to->data[i] = low + (OPJ_INT32)((uint64_t)value * (uint32_t)range / 256);
        }
    }
}

static void encode(random_case *r, outcome *out)
{
    memory m = {.bytes = out->stream, .room = ROOM};
    opj_codec_t *codec = CALL(opj_create_compress)(r->format);
    opj_stream_t *stream = open_memory(&m, false);
    opj_image_t *image =
        CALL(opj_image_create)(r->count, r->components, r->count > 2 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
    unsigned errors = 0;
    fill(r, image);
    CALL(opj_set_error_handler)(codec, on_message, &errors);
    out->good = CALL(opj_setup_encoder)(codec, &r->p, image) && CALL(opj_encoder_set_extra_options)(codec, r->extra) &&
                CALL(opj_start_compress)(codec, image, stream) && CALL(opj_encode)(codec, stream) &&
                CALL(opj_end_compress)(codec, stream);
    out->bytes = out->good ? m.end : 0;
    CALL(opj_stream_destroy)(stream);
    CALL(opj_destroy_codec)(codec);
    CALL(opj_image_destroy)(image);
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

static void say(outcome *out, const char *format, ...)
{
    size_t at = strlen(out->text);
    va_list values;
    va_start(values, format);
    vsnprintf(out->text + at, TEXT - at, format, values);
    va_end(values);
}

static void say_image(outcome *out, const opj_image_t *image)
{
    say(out, "%u,%u..%u,%u of %d, ICC %u\n", image->x0, image->y0, image->x1, image->y1, image->color_space,
        image->icc_profile_len);
    for (OPJ_UINT32 c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *from = &image->comps[c];
        uint64_t digest = 14695981039346656037u;
        say(out, "  %u: %ux%u at %u,%u by %u,%u, %u bits, signed %u, resolution %u, factor %u, alpha %u", c, from->w,
            from->h, from->x0, from->y0, from->dx, from->dy, from->prec, from->sgnd, from->resno_decoded, from->factor,
            from->alpha);
        for (size_t i = 0; from->data && i < (size_t)from->w * from->h; i++)
            digest = (digest ^ (uint32_t)from->data[i]) * 1099511628211u;
        say(out, ", %016" PRIx64 "\n", from->data ? digest : 0);
    }
}

static bool restrict_decoding(const random_case *r, opj_codec_t *codec, opj_image_t *image)
{
    const OPJ_UINT32 width = r->x1 - r->x0, height = r->y1 - r->y0;
    const OPJ_INT32 x0 = (OPJ_INT32)(r->x0 + r->choice[0] % width), y0 = (OPJ_INT32)(r->y0 + r->choice[1] % height);
    const OPJ_UINT32 component = r->choice[0] % r->count;
    switch (r->how) {
    case 1:
        return CALL(opj_set_decode_area)(codec, image, x0, y0, x0 + 1 + (OPJ_INT32)(r->choice[2] % width),
                                         y0 + 1 + (OPJ_INT32)(r->choice[3] % height));
    case 3:
        return CALL(opj_set_decoded_components)(codec, 1, &component, OPJ_FALSE);
    case 4:
        return CALL(opj_set_decoded_resolution_factor)(codec, r->choice[0] % 3);
    default:
        return true;
    }
}

/* Three lines of status, and the image. */
static void decode(random_case *r, outcome *out)
{
    memory m = {.bytes = out->stream, .end = out->bytes, .room = out->bytes};
    opj_codec_t *codec = CALL(opj_create_decompress)(r->format);
    opj_stream_t *stream = open_memory(&m, true);
    opj_image_t *image = NULL;
    unsigned errors = 0;
    CALL(opj_set_error_handler)(codec, on_message, &errors);
    unsigned warnings = 0;
    CALL(opj_set_warning_handler)(codec, on_message, &warnings);
    CALL(opj_setup_decoder)(codec, &r->d);
    CALL(opj_decoder_set_strict_mode)(codec, r->strict);
    out->good = CALL(opj_read_header)(stream, codec, &image);
    say(out, "header %d, errors %d\n", out->good, errors > 0);
    if (out->good) {
        say_image(out, image);
        out->good = restrict_decoding(r, codec, image);
        say(out, "part %d, errors %d\n", out->good, errors > 0);
    }
    if (out->good) {
        out->good = r->how == 2 ? CALL(opj_get_decoded_tile)(codec, stream, image, r->choice[0] % 4)
                                : CALL(opj_decode)(codec, stream, image);
        say(out, "decoding %d, errors %d\n", out->good, errors > 0);
        if (out->good)
            say_image(out, image);
        if (out->good && r->how != 2)
            say(out, "end %d\n", CALL(opj_end_decompress)(codec, stream));
    }
    CALL(opj_stream_destroy)(stream);
    CALL(opj_destroy_codec)(codec);
    CALL(opj_image_destroy)(image);
}

/* ---- Comparison ---------------------------------------------------------------------------------------------- */

static void in_process(void *which, void (*work)(random_case *, outcome *), random_case *r, outcome *out)
{
    int status = 0;
    out->text[0] = 0;
    out->good = out->crashed = false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        library = which;
        work(r, out);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(3);
    out->crashed = !WIFEXITED(status) || WEXITSTATUS(status);
}

/* Cuts or damages behind the main header, or, seldom, anywhere. */
static void spoil(const random_case *r, outcome *out)
{
    size_t from = 0;
    while (from + 2 < out->bytes && !(out->stream[from] == 0xff && out->stream[from + 1] == 0x90))
        from++;
    if ((r->cut + r->damage) % 16 == 0 || from + 2 >= out->bytes)
        from = 0;
    if (r->cut)
        out->bytes = from + r->cut % (out->bytes - from);
    /* Of a tile-part that ends with its header OpenJPEG takes memory of random content for the rest. A lone marker SOT
     * at the end makes it forget strictness. */
    const uint8_t *end = out->stream + out->bytes;
    if (r->cut && out->bytes > 1 && end[-2] == 0xff && (end[-1] == 0x93 || (r->strict && end[-1] == 0x90)))
        out->bytes--;
    if (r->damage)
        out->stream[from + r->damage % (out->bytes - from)] ^= (uint8_t)(1 << r->damage % 8);
}

static void show(const random_case *r, const outcome *out)
{
    const opj_cparameters_t *p = &r->p;
    printf("%u components, %u,%u..%u,%u, levels %d, blocks %dx%d, style %d, progression %d, 9/7 %d, mct %d, tiles %d "
           "(%d,%d %dx%d), csty %d, layers %d (%g %g %g), roi %d, parts %c, extra %s %s\n",
           r->count, r->x0, r->y0, r->x1, r->y1, p->numresolution - 1, p->cblockw_init, p->cblockh_init, p->mode,
           p->prog_order, p->irreversible, p->tcp_mct, p->tile_size_on, p->cp_tx0, p->cp_ty0, p->cp_tdx, p->cp_tdy,
           p->csty, p->tcp_numlayers, p->tcp_rates[0], p->tcp_rates[1], p->tcp_distoratio[0], p->roi_shift,
           p->tp_on ? p->tp_flag : '-', r->extra[0] ? r->extra[0] : "", r->extra[1] ? r->extra[1] : "");
    printf("decoding: strict %d, how %d, cut %u, damage %u, reduce %u, layers %u, %zu bytes\n", r->strict, r->how,
           r->cut, r->damage, r->d.cp_reduce, r->d.cp_layer, out->bytes);
}

static void save(const char *name, OPJ_CODEC_FORMAT format, const outcome *out)
{
    char path[32];
    snprintf(path, sizeof path, "%s.%s", name, format == OPJ_CODEC_JP2 ? "jp2" : "j2k");
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    fwrite(out->stream, 1, out->bytes, file);
    fclose(file);
}

/* ---- What OpenJPEG does wrong -------------------------------------------------------------------------------- */

static bool odd_line(uint64_t from, uint64_t to, int levels)
{
    for (int n = 0; n < levels; n++) {
        if (to == from + 1 && from % 2)
            return true;
        from = (from + 1) / 2;
        to = (to + 1) / 2;
    }
    return false;
}

/* Whether a row of tiles, or of what is one tile, has a resolution of one sample at an odd place, which OpenJPEG
 * filters as if it were even. */
static bool has_odd_line(int levels, OPJ_UINT32 from, OPJ_UINT32 to, bool tiled, int start, int size, OPJ_UINT32 by)
{
    uint64_t step = tiled ? (uint64_t)size : to - (uint64_t)start;
    for (uint64_t at = (uint64_t)start; at < to; at += step) {
        uint64_t low = at < from ? from : at, high = at + step > to ? to : at + step;
        if (odd_line((low + by - 1) / by, (high + by - 1) / by, levels))
            return true;
    }
    return false;
}

static bool is_filtered_wrongly(const random_case *r)
{
    const opj_cparameters_t *p = &r->p;
    for (OPJ_UINT32 c = 0; c < r->count; c++)
        if (has_odd_line(p->numresolution - 1, r->x0, r->x1, p->tile_size_on, p->cp_tx0, p->cp_tdx,
                         r->components[c].dx) ||
            has_odd_line(p->numresolution - 1, r->y0, r->y1, p->tile_size_on, p->cp_ty0, p->cp_tdy,
                         r->components[c].dy))
            return true;
    return false;
}

/* NULL, or what is different. */
static const char *differs(const random_case *r, void *ours, void *theirs, outcome *a, outcome *b, bool one)
{
    random_case copy = *r;
    in_process(ours, encode, &copy, a);
    in_process(theirs, encode, &copy, b);
    if (one) {
        show(r, b);
        save("ours", r->format, a);
        save("theirs", r->format, b);
    }
    if (a->crashed)
        return "encoding crashes";
    if (b->crashed)
        return NULL;
    if (b->good && !a->good)
        return "status of encoding";
    if (!b->good || is_filtered_wrongly(r))
        return NULL;
    if (!r->by_rate && (a->bytes != b->bytes || memcmp(a->stream, b->stream, a->bytes)))
        return "codestreams";
    spoil(r, b);
    memcpy(a->stream, b->stream, b->bytes);
    a->bytes = b->bytes;
    if (one)
        save("case", r->format, b);
    in_process(ours, decode, &copy, a);
    in_process(theirs, decode, &copy, b);
    if (a->crashed)
        return "decoding crashes";
    if (b->crashed || !strcmp(a->text, b->text))
        return NULL;
    /* Of what was cut, lift2k also decodes parts that OpenJPEG refuses. */
    if (r->cut && strstr(b->text, "decoding 0") && strstr(a->text, "decoding 1"))
        return NULL;
    /* Of damaged codestreams the libraries may make different things. */
    return r->damage && !one ? NULL : "decoding";
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    void *ours = dlopen(words[1], RTLD_NOW | RTLD_LOCAL), *theirs = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
    outcome *both = mmap(NULL, 2 * sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!ours || !theirs || both == MAP_FAILED)
        return 3;
    uint64_t cases = strtoull(words[3], NULL, 10), first = count > 4 ? strtoull(words[4], NULL, 10) : 1;
    uint64_t faults = 0, crashes = 0, spoiled = 0;
    for (uint64_t i = first; i < first + cases; i++) {
        library = theirs;
        random_case r = choose(i);
        const char *what = differs(&r, ours, theirs, &both[0], &both[1], cases == 1);
        crashes += both[1].crashed;
        faults += what != NULL;
        spoiled += r.damage && strcmp(both[0].text, both[1].text) != 0;
        if (what)
            printf("case %" PRIu64 ": %s\n", i, what);
        if (what && cases == 1)
            printf("ours:\n%stheirs:\n%s", both[0].text, both[1].text);
    }
    printf("%" PRIu64 " of %" PRIu64 " cases differ, and %" PRIu64 " damaged ones; OpenJPEG crashed in %" PRIu64 "\n",
           faults, cases, spoiled, crashes);
    return faults > 0;
}
