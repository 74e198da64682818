/* Scenarios for tests in which each allocation fails in turn: each creates, uses and frees objects of the library. */
#ifndef L2K_TESTS_SUPPORT_ALLOCATION_SCENARIOS_H
#define L2K_TESTS_SUPPORT_ALLOCATION_SCENARIOS_H

#include "api_support.h"

/* Input of the scenarios, prepared once. */
typedef struct scenario_files {
    picture p;
    memory_file jp2, tiled; /* one tile, layers; many tiles with PLT and TLM */
    memory_file ht;         /* the same tiles of HT code-blocks */
    memory_file ht_whole;   /* one tile of them, whose packets a device makes */
    l2k_backend backend;
} scenario_files;

/* `out` receives what was written; if output is `whole`, it is empty unless the status is L2K_OK. */
typedef l2k_status scenario_run(const scenario_files *files, const l2k_hooks *hooks, memory_file *out);

typedef struct scenario {
    const char *name;
    scenario_run *run;
    bool whole;
} scenario;

static const double scenario_ratios[2] = {4, 1};

static inline l2k_status scenario_set(l2k_encoder *e, const scenario_files *files, bool tiled)
{
    const int64_t settings[][2] = {{L2K_ENCODER_BACKEND, files->backend},
                                   {L2K_ENCODER_GPU_MIN_SAMPLES, 0},
                                   {L2K_ENCODER_THREADS, 1},
                                   {L2K_ENCODER_LEVELS, 3},
                                   {L2K_ENCODER_TILE_WIDTH, tiled ? 23 : 0},
                                   {L2K_ENCODER_TILE_HEIGHT, tiled ? 17 : 0},
                                   {L2K_ENCODER_PLT, tiled},
                                   {L2K_ENCODER_TLM, tiled}};
    l2k_status status = L2K_OK;
    for (size_t i = 0; status == L2K_OK && i < sizeof settings / sizeof *settings; i++)
        status = l2k_encoder_set(e, (l2k_encoder_option)settings[i][0], settings[i][1]);
    return status;
}

static inline l2k_status scenario_encode_layers(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, false);
    if (status == L2K_OK)
        status = l2k_encoder_set_layers(e, L2K_TARGET_RATIO, scenario_ratios, 2);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    if (status == L2K_OK)
        status = run_encoder(e, &files->p, out);
    l2k_encoder_free(e);
    return status;
}

/* Twice on one encoder: a failure of the first image must not affect the second. */
static inline l2k_status scenario_encode_tiles(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, true);
    if (status == L2K_OK)
        status = run_encoder(e, &files->p, out);
    l2k_status again = status;
    memory_file second = memory_of(NULL, 0);
    if (status == L2K_ERROR_MEMORY)
        again = run_encoder(e, &files->p, &second);
    assert_true(again == L2K_OK || ((again == L2K_ERROR_MEMORY || again == status) && second.size == 0));
    if (status == L2K_ERROR_MEMORY && again == L2K_OK)
        assert_int_equal(second.size, files->tiled.size);
    free(second.data);
    l2k_encoder_free(e);
    return status;
}

static inline l2k_status scenario_encode_rows(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    l2k_stream stream = stream_of(out);
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    stream.rewrite = memory_rewrite;
    l2k_status status = scenario_set(e, files, true);
    if (status == L2K_OK)
        status = l2k_encoder_begin(e, &files->p.image, &stream);
    uint32_t y0 = 0, y1 = 0;
    while (status == L2K_OK && l2k_encoder_next_rows(e, &y0, &y1) == L2K_OK && y0 < y1) {
        l2k_plane planes[MOST_CHANNELS];
        for (uint32_t c = 0; c < files->p.image.num_components; c++) {
            planes[c] = files->p.planes[c];
            planes[c].data = (char *)planes[c].data + (ptrdiff_t)y0 * planes[c].row_stride;
        }
        status = l2k_encoder_put_rows(e, planes);
    }
    if (status == L2K_OK)
        status = l2k_encoder_end(e);
    l2k_encoder_free(e);
    return status;
}

static inline l2k_status scenario_encode_memory(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    const uint8_t *bytes;
    size_t count;
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, true);
    if (status == L2K_OK)
        status = l2k_encoder_encode_memory(e, &files->p.image, files->p.planes, &bytes, &count);
    if (status == L2K_OK) {
        assert_int_equal(count, files->tiled.size);
        assert_true(memcmp(bytes, files->tiled.data, count) == 0);
        memory_write(out, bytes, count);
    }
    l2k_encoder_free(e);
    return status;
}

/* Two images in one lane, which is this thread: the counters are for one. */
static inline l2k_status scenario_encode_batch(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    memory_file second = memory_of(NULL, 0);
    const l2k_stream streams[2] = {stream_of(out), stream_of(&second)};
    l2k_encode_item items[2] = {{&files->p.image, files->p.planes, &streams[0], L2K_OK},
                                {&files->p.image, files->p.planes, &streams[1], L2K_OK}};
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, true);
    if (status == L2K_OK)
        status = l2k_encoder_set_layers(e, L2K_TARGET_RATIO, scenario_ratios, 2);
    if (status == L2K_OK)
        status = l2k_encoder_encode_batch(e, items, 2);
    assert_true(status != L2K_OK || (out->size == second.size && memcmp(out->data, second.data, out->size) == 0));
    free(second.data);
    l2k_encoder_free(e);
    return status;
}

static inline l2k_status scenario_encode_ht(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, true);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    if (status == L2K_OK)
        status = run_encoder(e, &files->p, out);
    if (status == L2K_OK && files->ht.size)
        assert_true(out->size == files->ht.size && memcmp(out->data, files->ht.data, out->size) == 0);
    l2k_encoder_free(e);
    return status;
}

/* HT code-blocks whose quantiser steps are to reach a target. */
static inline l2k_status scenario_encode_steps(const scenario_files *files, const l2k_hooks *hooks, memory_file *out,
                                               l2k_target kind, double target)
{
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, kind == L2K_TARGET_RATIO);
    if (status == L2K_OK)
        status = l2k_encoder_set_layers(e, kind, &target, 1);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_WAVELET, L2K_WAVELET_9_7);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    if (status == L2K_OK)
        status = run_encoder(e, &files->p, out);
    l2k_encoder_free(e);
    return status;
}

static inline l2k_status scenario_encode_ratio(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    return scenario_encode_steps(files, hooks, out, L2K_TARGET_RATIO, 4);
}

static inline l2k_status scenario_encode_psnr(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    return scenario_encode_steps(files, hooks, out, L2K_TARGET_PSNR, 35);
}

static inline l2k_status scenario_set_decoder(l2k_decoder *d, const scenario_files *files)
{
    if (!d)
        return L2K_ERROR_MEMORY;
    l2k_status status = l2k_decoder_set(d, L2K_DECODER_THREADS, 1);
    if (status == L2K_OK)
        status = l2k_decoder_set(d, L2K_DECODER_GPU_MIN_SAMPLES, 0);
    return status == L2K_OK ? l2k_decoder_set(d, L2K_DECODER_BACKEND, files->backend) : status;
}

static inline l2k_status scenario_decode(const scenario_files *files, const l2k_hooks *hooks, const memory_file *file,
                                         bool region)
{
    picture got;
    l2k_decoder *d = l2k_decoder_new(hooks);
    l2k_status status = scenario_set_decoder(d, files);
    if (status == L2K_OK && region)
        status = l2k_decoder_set_region(d, 5, 7, 30, 20);
    if (status == L2K_OK)
        status = run_decoder(d, file->data, file->size, &got);
    if (status == L2K_OK) {
        assert_true(region || file == &files->jp2 || picture_equal(&files->p, &got));
        picture_free(&got);
    }
    l2k_decoder_free(d);
    return status;
}

static inline l2k_status scenario_decode_layers(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    return scenario_decode(files, hooks, &files->jp2, false);
}

static inline l2k_status scenario_decode_tiles(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    return scenario_decode(files, hooks, &files->tiled, false);
}

static inline l2k_status scenario_decode_ht(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    return scenario_decode(files, hooks, &files->ht, false);
}

static inline l2k_status scenario_decode_region(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    return scenario_decode(files, hooks, &files->tiled, true);
}

static inline l2k_status scenario_decode_memory(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    l2k_image image;
    const l2k_plane *planes;
    l2k_decoder *d = l2k_decoder_new(hooks);
    l2k_status status = scenario_set_decoder(d, files);
    if (status == L2K_OK)
        status = l2k_decoder_decode_memory(d, files->tiled.data, files->tiled.size, &image, &planes);
    for (uint32_t c = 0; status == L2K_OK && c < image.num_components; c++)
        assert_true(plane_equals_component(&planes[c], &files->p, c));
    l2k_decoder_free(d);
    return status;
}

static inline l2k_status scenario_take_rows(l2k_decoder *d, const scenario_files *files, const picture *got)
{
    uint32_t y0, y1;
    l2k_status status = L2K_OK;
    while (status == L2K_OK && l2k_decoder_next_rows(d, &y0, &y1) == L2K_OK && y0 < y1) {
        l2k_plane planes[MOST_CHANNELS];
        for (uint32_t c = 0; c < files->p.image.num_components; c++) {
            planes[c] = got->planes[c];
            planes[c].data = (char *)planes[c].data + (ptrdiff_t)y0 * planes[c].row_stride;
        }
        status = l2k_decoder_get_rows(d, planes);
    }
    return status;
}

static inline l2k_status scenario_push(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    enum { BYTES = 500 };
    const memory_file *file = &files->ht_whole;
    bool begun = false;
    picture got;
    picture_make(&got, files->p.image.x1, files->p.image.y1, files->p.image.num_components);
    l2k_decoder *d = l2k_decoder_new(hooks);
    l2k_status status = scenario_set_decoder(d, files);
    for (size_t at = 0; status == L2K_OK && at <= file->size; at += BYTES) {
        status = l2k_decoder_push(d, file->data + at, file->size - at < BYTES ? file->size - at : BYTES);
        if (status == L2K_OK && !begun)
            status = l2k_decoder_begin(d);
        begun = begun || status == L2K_OK;
        if (begun && status == L2K_OK)
            status = scenario_take_rows(d, files, &got);
        status = status == L2K_INCOMPLETE ? L2K_OK : status;
    }
    if (status == L2K_OK && file->size % BYTES)
        status = l2k_decoder_push(d, NULL, 0);
    if (status == L2K_OK)
        status = scenario_take_rows(d, files, &got);
    if (status == L2K_OK)
        status = l2k_decoder_end(d);
    assert_true(status != L2K_OK || picture_equal(&files->p, &got));
    l2k_decoder_free(d);
    picture_free(&got);
    return status;
}

static inline l2k_status scenario_decode_batch(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    picture got[2];
    l2k_decode_item items[2];
    l2k_decoder *d = l2k_decoder_new(hooks);
    l2k_status status = scenario_set_decoder(d, files);
    for (int i = 0; i < 2; i++) {
        picture_make(&got[i], files->p.image.x1, files->p.image.y1, 3);
        items[i] = (l2k_decode_item){files->tiled.data, files->tiled.size, got[i].planes, L2K_OK};
    }
    if (status == L2K_OK)
        status = l2k_decoder_decode_batch(d, items, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(status != L2K_OK || picture_equal(&files->p, &got[i]));
        picture_free(&got[i]);
    }
    l2k_decoder_free(d);
    return status;
}

static inline l2k_status scenario_transform(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    (void)out;
    l2k_transform *t = l2k_transform_new(hooks);
    if (!t)
        return L2K_ERROR_MEMORY;
    l2k_status status = l2k_transform_set(t, L2K_TRANSFORM_BACKEND, files->backend);
    if (status == L2K_OK)
        status = l2k_transform_set(t, L2K_TRANSFORM_THREADS, 1);
    if (status == L2K_OK)
        status = l2k_transform_prepare(t, &files->p.image);
    if (status == L2K_OK)
        status = l2k_transform_forward(t, files->p.planes);
    l2k_transform_free(t);
    return status;
}

/* Two images on one encoder, which keeps what it can, from planes in either memory. */
static inline l2k_status scenario_encode_whole(const scenario_files *files, const l2k_hooks *hooks, memory_file *out,
                                               l2k_memory memory, const l2k_plane *planes)
{
    l2k_stream stream = stream_of(out);
    l2k_encoder *e = l2k_encoder_new(hooks);
    if (!e)
        return L2K_ERROR_MEMORY;
    l2k_status status = scenario_set(e, files, false);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_STYLE, L2K_STYLE_HT);
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_MEMORY, memory);
    for (int i = 0; i < 2 && status == L2K_OK; i++) {
        out->size = 0;
        status = l2k_encoder_encode(e, &files->p.image, planes, &stream);
    }
    if (status == L2K_OK && files->ht_whole.size)
        assert_true(out->size == files->ht_whole.size && memcmp(out->data, files->ht_whole.data, out->size) == 0);
    if (status != L2K_OK)
        out->size = 0; /* the first image may have been written */
    l2k_encoder_free(e);
    return status;
}

static inline l2k_status scenario_encode_ht_whole(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    return scenario_encode_whole(files, hooks, out, L2K_MEMORY_HOST, files->p.planes);
}

/* To the other kind of code-blocks, or copied; through memory or, tile by tile, to a stream that can be rewritten. */
static inline l2k_status scenario_transcode(const scenario_files *files, const l2k_hooks *hooks, memory_file *out,
                                            const memory_file *in, int style)
{
    l2k_stream stream = stream_of(out);
    l2k_encoder *e = l2k_encoder_new(hooks);
    l2k_decoder *d = l2k_decoder_new(hooks);
    l2k_status status = e ? scenario_set_decoder(d, files) : L2K_ERROR_MEMORY;
    if (!d)
        hooks->message(hooks->user, L2K_SEVERITY_ERROR, "no decoder");
    stream.rewrite = style >= 0 ? NULL : memory_rewrite;
    if (status == L2K_OK)
        status = l2k_encoder_set(e, L2K_ENCODER_THREADS, 1);
    if (status == L2K_OK && style >= 0)
        status = l2k_encoder_set(e, L2K_ENCODER_STYLE, style);
    if (status == L2K_OK)
        status = l2k_decoder_open_memory(d, in->data, in->size);
    if (status == L2K_OK)
        status = l2k_encoder_transcode(e, d, &stream);
    l2k_encoder_free(e);
    l2k_decoder_free(d);
    return status;
}

static inline l2k_status scenario_transcode_tiles(const scenario_files *files, const l2k_hooks *hooks, memory_file *out)
{
    return scenario_transcode(files, hooks, out, &files->tiled, L2K_STYLE_HT);
}

static inline l2k_status scenario_transcode_layers(const scenario_files *files, const l2k_hooks *hooks,
                                                   memory_file *out)
{
    return scenario_transcode(files, hooks, out, &files->jp2, -1);
}

static const scenario scenarios[] = {{"encode, one tile, layers", scenario_encode_layers, true},
                                     {"encode, tiles", scenario_encode_tiles, true},
                                     {"encode by rows of tiles", scenario_encode_rows, false},
                                     {"encode to memory", scenario_encode_memory, true},
                                     {"encode a batch", scenario_encode_batch, false},
                                     {"encode HT, tiles", scenario_encode_ht, true},
                                     {"encode HT, one tile", scenario_encode_ht_whole, true},
                                     {"encode HT, tiles, a ratio", scenario_encode_ratio, true},
                                     {"encode HT, one tile, a PSNR", scenario_encode_psnr, true},
                                     {"decode, one tile", scenario_decode_layers, true},
                                     {"decode, tiles", scenario_decode_tiles, true},
                                     {"decode HT, tiles", scenario_decode_ht, true},
                                     {"decode a region", scenario_decode_region, true},
                                     {"decode from memory", scenario_decode_memory, true},
                                     {"decode a batch", scenario_decode_batch, true},
                                     {"decode as bytes are pushed", scenario_push, true},
                                     {"transcode to HT, tiles", scenario_transcode_tiles, true},
                                     {"transcode, layers", scenario_transcode_layers, false},
                                     {"transform", scenario_transform, true}};

enum { NUM_SCENARIOS = sizeof scenarios / sizeof *scenarios };

static inline void scenario_files_make(scenario_files *files, l2k_backend backend)
{
    memset(files, 0, sizeof *files);
    files->backend = L2K_BACKEND_CPU;
    picture_make(&files->p, 61, 47, 3);
    files->jp2 = memory_of(NULL, 0);
    files->tiled = memory_of(NULL, 0);
    files->ht = memory_of(NULL, 0);
    files->ht_whole = memory_of(NULL, 0);
    assert_int_equal(scenario_encode_layers(files, NULL, &files->jp2), L2K_OK);
    assert_int_equal(scenario_encode_tiles(files, NULL, &files->tiled), L2K_OK);
    assert_int_equal(scenario_encode_ht(files, NULL, &files->ht), L2K_OK);
    assert_int_equal(scenario_encode_ht_whole(files, NULL, &files->ht_whole), L2K_OK);
    files->backend = backend;
}

static inline void scenario_files_free(scenario_files *files)
{
    picture_free(&files->p);
    free(files->jp2.data);
    free(files->tiled.data);
    free(files->ht.data);
    free(files->ht_whole.data);
}

/* Runs a scenario with the failures set in `w`: expects a clean status, an error line, no leak, and no
 * partial output. */
static inline l2k_status scenario_live(const scenario *s, const scenario_files *files, watch *w)
{
    memory_file out = memory_of(NULL, 0);
    l2k_hooks hooks = {watch_allocate, watch_release, watch_message, NULL, w};
    l2k_status status = s->run(files, &hooks, &out);
    if (status != L2K_OK && status != L2K_ERROR_MEMORY)
        print_message("%s: %s (%s)\n", s->name, l2k_strerror(status), w->text);
    assert_true(status == L2K_OK || status == L2K_ERROR_MEMORY);
    assert_int_equal(w->live, 0);
    assert_false(w->bad_line);
    assert_true(status == L2K_OK || !s->whole || out.size == 0);
    free(out.data);
    return status;
}

/* Runs a scenario once for each allocation, which fails alone or with all later ones. */
static inline void scenario_fail_each(const scenario *s, const scenario_files *files, bool once)
{
    size_t runs = 0;
    for (size_t n = 0;; n++) {
        watch w = {.fail_at = n, .once = once};
        l2k_status status = scenario_live(s, files, &w);
        bool failed = w.allocations > n;
        assert_true(status == L2K_OK || failed);
        /* with a device, what a cached plan took may serve in its place */
        assert_true(once || status == L2K_ERROR_MEMORY || !failed || files->backend != L2K_BACKEND_CPU);
        assert_true(status == L2K_OK || n == 0 || w.errors > 0);
        if (!failed)
            break;
        runs++;
    }
    print_message("%s: %zu allocations failed %s\n", s->name, runs, once ? "alone" : "with all after them");
    assert_true(runs > 3);
}

#endif
