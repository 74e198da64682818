/* Encoding and decoding in memory with lift2k's public API, and random coding options. */
#include "conformance/coding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Byte strings -------------------------------------------------------------------------------------------- */

void bytes_append(bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        bytes larger = {test_allocate(2 * (b->size + size), 1), b->size, 2 * (b->size + size)};
        if (b->size)
            memcpy(larger.data, b->data, b->size);
        free(b->data);
        *b = larger;
    }
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

void bytes_free(bytes *b)
{
    free(b->data);
    *b = (bytes){0};
}

bool bytes_equal(const bytes *a, const bytes *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

size_t bytes_first_difference(const bytes *a, const bytes *b)
{
    size_t i = 0;
    while (i < a->size && i < b->size && a->data[i] == b->data[i])
        i++;
    return i;
}

bytes bytes_read(const char *path)
{
    bytes b = {0};
    uint8_t chunk[65536];
    FILE *f = fopen(path, "rb");
    for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        bytes_append(&b, chunk, n);
    if (f)
        fclose(f);
    return b;
}

bool bytes_write(const bytes *b, const char *path)
{
    FILE *f = fopen(path, "wb");
    bool good = f && fwrite(b->data, 1, b->size, f) == b->size;
    return f && fclose(f) == 0 && good;
}

/* ---- lift2k -------------------------------------------------------------------------------------------------- */

static void keep_message(void *user, l2k_severity severity, const char *text)
{
    char *message = user;
    if (severity == L2K_SEVERITY_ERROR && message)
        snprintf(message, MESSAGE_BYTES, "%s", text);
}

static int append_bytes(void *user, const void *data, size_t size)
{
    bytes_append(user, data, size);
    return 0;
}

typedef struct cursor {
    const bytes *file;
    size_t at;
} cursor;

static ptrdiff_t read_bytes(void *user, void *buffer, size_t size)
{
    cursor *c = user;
    size_t left = c->file->size - c->at, n = size < left ? size : left;
    if (n)
        memcpy(buffer, c->file->data + c->at, n);
    c->at += n;
    return (ptrdiff_t)n;
}

static l2k_sample_type sample_type(const l2k_component *c, bool narrow)
{
    if (narrow && c->precision <= 8)
        return c->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
    if (narrow && c->precision <= 16)
        return c->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return L2K_SAMPLE_S32;
}

/* Makes a component's plane of `type`; int32 planes are the picture's own memory. */
static l2k_plane make_plane(const l2k_component *c, int32_t *samples, l2k_sample_type type)
{
    size_t count = (size_t)c->width * c->height, size = type == L2K_SAMPLE_S32 ? 4 : type >= L2K_SAMPLE_U16 ? 2 : 1;
    l2k_plane plane = {samples, (ptrdiff_t)(c->width * size), (ptrdiff_t)size, type};
    if (size == 4)
        return plane;
    uint8_t *narrow = test_allocate(count, size);
    for (size_t i = 0; i < count; i++) {
        uint16_t both = (uint16_t)samples[i];
        uint8_t low = (uint8_t)samples[i];
        memcpy(narrow + i * size, size == 2 ? (void *)&both : (void *)&low, size);
    }
    plane.data = narrow;
    return plane;
}

bool coding_set_encoder(l2k_encoder *e, const coding *o, l2k_format format)
{
    const struct {
        l2k_encoder_option option;
        int64_t value;
    } settings[] = {
        {L2K_ENCODER_FORMAT, format},
        {L2K_ENCODER_LEVELS, coding_levels(o)},
        {L2K_ENCODER_TILE_WIDTH, o->tile.width},
        {L2K_ENCODER_TILE_HEIGHT, o->tile.height},
        {L2K_ENCODER_COMPONENT_TRANSFORM, !o->no_mct},
        {L2K_ENCODER_SOP, o->sop},
        {L2K_ENCODER_EPH, o->eph},
        {L2K_ENCODER_PLT, o->plt},
        {L2K_ENCODER_GUARD_BITS, o->guard_bits ? o->guard_bits : 2},
        {L2K_ENCODER_MAX_BYTES, o->max_bytes},
        {L2K_ENCODER_COMPONENT_BYTES, o->component_bytes},
        {L2K_ENCODER_THREADS, o->threads},
        /* From here on what a profile fixes. */
        {L2K_ENCODER_WAVELET, o->kernel         ? o->kernel
                              : o->irreversible ? L2K_WAVELET_9_7
                                                : L2K_WAVELET_5_3},
        {L2K_ENCODER_TILE_X0, o->tile_x0},
        {L2K_ENCODER_TILE_Y0, o->tile_y0},
        {L2K_ENCODER_BLOCK_WIDTH, o->block.width ? o->block.width : 64},
        {L2K_ENCODER_BLOCK_HEIGHT, o->block.height ? o->block.height : 64},
        {L2K_ENCODER_PROGRESSION, o->progression},
        {L2K_ENCODER_STYLE, o->style},
        {L2K_ENCODER_HT_PASSES, o->ht_passes ? o->ht_passes : 1},
        {L2K_ENCODER_TLM, o->tlm},
        {L2K_ENCODER_TILE_PARTS, o->tile_parts},
        {L2K_ENCODER_ROI_COMPONENT, o->roi_component},
        {L2K_ENCODER_ROI_SHIFT, o->roi_shift},
    };
    bool good = true;
    for (size_t i = 0; good && i < sizeof settings / sizeof *settings; i++) {
        if (o->profile && settings[i].option == L2K_ENCODER_WAVELET)
            break;
        good = l2k_encoder_set(e, settings[i].option, settings[i].value) == L2K_OK;
    }
    return good && l2k_encoder_set_precincts(e, o->precincts, o->num_precincts) == L2K_OK &&
           l2k_encoder_set_step(e, o->step) == L2K_OK && l2k_encoder_set_poc(e, o->changes, o->num_changes) == L2K_OK &&
           l2k_encoder_set_layers(e, o->target_kind, o->targets, o->num_targets) == L2K_OK &&
           l2k_encoder_set_profile(e, o->profile, o->frames) == L2K_OK;
}

l2k_status lift_encode(const picture *p, const coding *o, l2k_format format, bytes *out, char *message)
{
    l2k_hooks hooks = {.message = keep_message, .user = message};
    l2k_stream stream = {.write = append_bytes, .user = out};
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    if (message)
        message[0] = 0;
    l2k_encoder *e = l2k_encoder_new(&hooks);
    if (!e || !coding_set_encoder(e, o, format)) {
        l2k_encoder_free(e);
        return L2K_ERROR_ARGUMENT;
    }
    for (uint32_t c = 0; c < p->image.num_components; c++)
        planes[c] = make_plane(&p->components[c], p->samples[c], sample_type(&p->components[c], o->narrow));
    l2k_status status = l2k_encoder_encode(e, &p->image, planes, &stream);
    for (uint32_t c = 0; c < p->image.num_components; c++)
        if (planes[c].data != p->samples[c])
            free(planes[c].data);
    l2k_encoder_free(e);
    return status;
}

l2k_status coding_set_decoder(l2k_decoder *decoder, const decoding *d)
{
    l2k_status status = l2k_decoder_set(decoder, L2K_DECODER_REDUCE, d->reduce);
    if (status == L2K_OK)
        status = l2k_decoder_set(decoder, L2K_DECODER_LAYERS, d->layers);
    if (status == L2K_OK)
        status = l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, d->one_component ? (int64_t)d->component : -1);
    if (status == L2K_OK)
        status = l2k_decoder_set(decoder, L2K_DECODER_THREADS, d->threads);
    if (status == L2K_OK)
        status = d->region ? l2k_decoder_set_region(decoder, d->x0, d->y0, d->x1, d->y1)
                           : l2k_decoder_set_region(decoder, 0, 0, UINT32_MAX, UINT32_MAX);
    return status;
}

static picture *decode_opened(l2k_decoder *decoder, l2k_status *status)
{
    l2k_image image;
    l2k_plane planes[PICTURE_MAX_COMPONENTS];
    *status = l2k_decoder_image(decoder, &image);
    if (*status != L2K_OK)
        return NULL;
    picture *p = picture_empty(&image);
    for (uint32_t c = 0; c < image.num_components; c++)
        planes[c] = make_plane(&p->components[c], p->samples[c], L2K_SAMPLE_S32);
    *status = l2k_decoder_decode(decoder, planes);
    if (*status == L2K_OK)
        return p;
    picture_free(p);
    return NULL;
}

picture *lift_decode(const bytes *file, const decoding *d, l2k_status *status, char *message)
{
    static const decoding everything;
    l2k_hooks hooks = {.message = keep_message, .user = message};
    cursor at = {file, 0};
    l2k_stream stream = {.read = read_bytes, .user = &at};
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    picture *p = NULL;
    l2k_status ignored;
    status = status ? status : &ignored;
    if (message)
        message[0] = 0;
    *status = decoder ? coding_set_decoder(decoder, d ? d : &everything) : L2K_ERROR_MEMORY;
    if (*status == L2K_OK)
        *status = l2k_decoder_open(decoder, &stream);
    if (*status == L2K_OK)
        p = decode_opened(decoder, status);
    l2k_decoder_free(decoder);
    return p;
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

uint32_t coding_levels(const coding *o)
{
    return o->resolutions ? o->resolutions - 1 : 5;
}

/* The data of the first marker segment with a code, or NULL. */
static const uint8_t *find_segment(const bytes *file, unsigned code)
{
    for (size_t at = 2; at + 12 < file->size; at += 2 + (file->data[at + 2] << 8 | file->data[at + 3]))
        if (file->data[at] == 0xFF && file->data[at + 1] == code)
            return file->data + at + 4;
    return NULL;
}

bool codestream_has_transform(const bytes *file)
{
    const uint8_t *cod = find_segment(file, 0x52);
    return cod && cod[4] != 0;
}

unsigned codestream_ht_bits(const bytes *file)
{
    const uint8_t *cap = find_segment(file, 0x50);
    const unsigned code = cap ? cap[5] & 31 : 0;
    return code < 20 ? 8 + code : 27 + 4 * (code - 19);
}

static uint32_t tiles_along(uint32_t end, uint32_t origin, uint32_t tile)
{
    return tile ? (end - origin + tile - 1) / tile : 1;
}

bool coding_has_order(const coding *o, l2k_progression first, l2k_progression last)
{
    bool has = o->progression >= first && o->progression <= last;
    for (unsigned i = 0; i < o->num_changes; i++)
        has |= o->changes[i].progression >= first && o->changes[i].progression <= last;
    return has;
}

uint32_t coding_tiles(const coding *o, const l2k_image *image)
{
    return tiles_along(image->x1, o->tile_x0, o->tile.width) * tiles_along(image->y1, o->tile_y0, o->tile.height);
}

/* Tile origins are before the image's; the first tile overlaps the image; at most about 40 tiles. */
static void random_tiles(rng *r, const l2k_image *image, coding *o)
{
    uint32_t width = image->x1 - image->x0, height = image->y1 - image->y0;
    o->tile = (l2k_size){width / 6 + 1 + rng_below(r, width), height / 6 + 1 + rng_below(r, height)};
    uint32_t back_x = o->tile.width - 1 < image->x0 ? o->tile.width - 1 : image->x0;
    uint32_t back_y = o->tile.height - 1 < image->y0 ? o->tile.height - 1 : image->y0;
    o->tile_x0 = image->x0 - rng_below(r, back_x + 1);
    o->tile_y0 = image->y0 - rng_below(r, back_y + 1);
}

static void random_precincts(rng *r, coding *o)
{
    o->num_precincts = rng_between(r, 1, CODING_MAX_PRECINCTS);
    for (unsigned i = 0; i < o->num_precincts; i++)
        o->precincts[i] = (l2k_size){1u << rng_between(r, 5, 9), 1u << rng_between(r, 5, 9)};
}

coding random_coding(rng *r, const picture *p, uint32_t max_levels)
{
    coding o = {.resolutions = 1 + rng_between(r, 0, max_levels)};
    if (rng_below(r, 2))
        random_tiles(r, &p->image, &o);
    if (rng_below(r, 2)) {
        unsigned width = rng_between(r, 2, 10), height = rng_between(r, 2, width < 10 ? 12 - width : 2);
        o.block = (l2k_size){1u << width, 1u << height};
    }
    if (rng_below(r, 3) == 0)
        random_precincts(r, &o);
    o.progression = (l2k_progression)rng_below(r, 5);
    o.style = rng_below(r, 2) ? rng_below(r, 64) : 0;
    o.no_mct = rng_below(r, 4) == 0;
    o.sop = rng_below(r, 4) == 0;
    o.eph = rng_below(r, 4) == 0;
    o.plt = rng_below(r, 4) == 0;
    o.tlm = rng_below(r, 4) == 0;
    if (rng_below(r, 4) == 0)
        o.tile_parts = (l2k_tile_parts)rng_between(r, 1, 3);
    o.narrow = rng_below(r, 2);
    return o;
}

/* The last one takes what the others have left. */
static void random_changes(rng *r, const picture *p, coding *o)
{
    const uint32_t tile = rng_below(r, 2) ? L2K_ALL_TILES : rng_below(r, coding_tiles(o, &p->image));
    const uint32_t components = p->image.num_components, layers = o->num_targets ? o->num_targets : 1;
    o->num_changes = rng_between(r, 1, CODING_MAX_CHANGES);
    for (unsigned i = 0; i < o->num_changes; i++) {
        l2k_poc *c = &o->changes[i];
        *c = (l2k_poc){tile, (l2k_progression)rng_below(r, 5), 0, coding_levels(o) + 1, 0, components, layers};
        if (i + 1 == o->num_changes)
            break;
        c->resolution_start = rng_below(r, coding_levels(o) + 1);
        c->resolution_end = rng_between(r, c->resolution_start + 1, coding_levels(o) + 1);
        c->component_start = rng_below(r, components);
        c->component_end = rng_between(r, c->component_start + 1, components);
        c->layer_end = rng_between(r, 1, layers);
    }
}

void random_extras(rng *r, const picture *p, coding *o)
{
    const bool ht = o->style & L2K_STYLE_HT;
    if (rng_below(r, 3) == 0)
        random_changes(r, p, o);
    if (rng_below(r, 4) == 0)
        o->guard_bits = rng_between(r, 1, 7);
    const uint32_t component = rng_below(r, p->image.num_components);
    if (rng_below(r, 4) == 0 && !ht && p->components[component].precision <= 12) {
        o->roi_component = component;
        o->roi_shift = rng_between(r, 1, 7);
    }
    if (rng_below(r, 8) == 0 && !ht)
        o->max_bytes = rng_between(r, 300, 60000);
    if (rng_below(r, 8) == 0 && !ht)
        o->component_bytes = rng_between(r, 100, 20000);
}

static void print_sizes(const coding *o)
{
    if (o->tile.width)
        printf(" --tile %u,%u", o->tile.width, o->tile.height);
    if (o->tile_x0 || o->tile_y0)
        printf(" --tile-origin %u,%u", o->tile_x0, o->tile_y0);
    if (o->block.width)
        printf(" --block %u,%u", o->block.width, o->block.height);
    for (unsigned i = 0; i < o->num_precincts; i++)
        printf("%s%u,%u", i ? "," : " --precincts ", o->precincts[i].width, o->precincts[i].height);
}

void print_case(const picture *p, const coding *o)
{
    static const char *const orders[] = {"LRCP", "RLCP", "RPCL", "PCRL", "CPRL"};
    const l2k_image *m = &p->image;
    printf("  image %u,%u-%u,%u, %u components", m->x0, m->y0, m->x1, m->y1, m->num_components);
    for (uint32_t c = 0; c < m->num_components; c++)
        printf(" %u%c@%ux%u", p->components[c].precision, p->components[c].is_signed ? 's' : 'u', p->components[c].dx,
               p->components[c].dy);
    printf("\n  lift2k encode --levels %u%s --progression %s", coding_levels(o), o->irreversible ? " -I" : "",
           orders[o->progression]);
    print_sizes(o);
    if (o->style)
        printf(" --style %u", o->style);
    if (o->ht_passes)
        printf(" --ht-passes %u", o->ht_passes);
    if (o->step > 0)
        printf(" --step %g", o->step);
    printf("%s%s%s%s%s", o->no_mct ? " --no-mct" : "", o->sop ? " --sop" : "", o->eph ? " --eph" : "",
           o->plt ? " --plt" : "", o->tlm ? " --tlm" : "");
    if (o->tile_parts)
        printf(" --tile-parts %c", "-RLC"[o->tile_parts]);
    for (unsigned i = 0; i < o->num_changes; i++) {
        const l2k_poc *c = &o->changes[i];
        printf("%s%u:%u,%u,%u,%u,%u,%s", i ? "/" : " --poc ", c->tile, c->resolution_start, c->component_start,
               c->layer_end, c->resolution_end, c->component_end, orders[c->progression]);
    }
    if (o->roi_shift)
        printf(" --roi %u,%u", o->roi_component, o->roi_shift);
    if (o->guard_bits)
        printf(" --guard-bits %u", o->guard_bits);
    if (o->max_bytes)
        printf(" --max-bytes %u", o->max_bytes);
    if (o->component_bytes)
        printf(" --component-bytes %u", o->component_bytes);
    if (o->profile)
        printf(" --profile %#x,fps=%u", o->profile, o->frames);
    for (unsigned i = 0; i < o->num_targets; i++)
        printf("%s%g", i ? "," : o->target_kind == L2K_TARGET_PSNR ? " --psnr " : " --rate ", o->targets[i]);
    printf("\n");
}

void print_decoding(const decoding *d)
{
    printf("  decode --reduce %u --layers %u", d->reduce, d->layers);
    if (d->region)
        printf(" --region %u,%u,%u,%u", d->x0, d->y0, d->x1, d->y1);
    if (d->one_component)
        printf(" --component %u", d->component);
    printf("\n");
}
