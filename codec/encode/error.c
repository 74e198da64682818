/* The error of the samples that a decoder would get from a tile with the present quantiser steps: quantiser and inverse
 * transform (Annexes E to G), without coding anything. */
#include "codec/encode/error.h"

#include <string.h>

#include "base/sample.h"
#include "quant/quantiser_rows.h"

/* Quantises and reconstructs a component's coefficients as a decoder would. */
static l2k_status reconstruct(const l2k_context *context, const l2k_tile_component *component,
                              const l2k_coefficients *to)
{
    const l2k_quantiser_rows *rows = l2k_quantiser_rows_get(context->cpu);
    const l2k_coefficients *from = component->view;
    for (unsigned band = 0; band < from->num_bands; band++) {
        const l2k_band_view *at = &from->bands[band];
        const unsigned resolution = l2k_band_resolution(band), orientation = l2k_band_orientation(band);
        if (!l2k_coding_has_band(component->coding, resolution, orientation))
            continue;
        const l2k_step step = l2k_coding_step(component->coding, resolution, orientation);
        const float size = l2k_step_size(step, component->precision, orientation);
#pragma omp parallel for num_threads(context->threads) if (context->threads > 1)
        for (size_t y = at->y; y < (size_t)at->y + at->height; y++)
            rows->reconstruct((const float *)from->base + y * from->stride + at->x, at->width, size,
                              (float *)to->base + y * to->stride + at->x);
        L2K_TRY(l2k_poll(context, (uint64_t)at->width * at->height));
    }
    return L2K_OK;
}

/* ---- Samples ------------------------------------------------------------------------------------------------- */

#define DEFINE_ROW(type)                                                                                               \
    static uint64_t row_of_##type(const uint8_t *at, ptrdiff_t distance, const type *decoded, size_t n)                \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (size_t i = 0; i < n; i++, at += distance) {                                                               \
            type sample;                                                                                               \
            memcpy(&sample, at, sizeof sample);                                                                        \
            const uint64_t difference = (uint64_t)((int64_t)sample - decoded[i]);                                      \
            sum += difference * difference;                                                                            \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

DEFINE_ROW(uint8_t)
DEFINE_ROW(int8_t)
DEFINE_ROW(uint16_t)
DEFINE_ROW(int16_t)
DEFINE_ROW(int32_t)

static uint64_t row_error(const l2k_plane *plane, uint32_t y, const void *decoded, size_t n)
{
    const uint8_t *at = l2k_sample_at(plane, 0, y);
    switch (plane->type) {
    case L2K_SAMPLE_U8:
        return row_of_uint8_t(at, plane->sample_stride, decoded, n);
    case L2K_SAMPLE_S8:
        return row_of_int8_t(at, plane->sample_stride, decoded, n);
    case L2K_SAMPLE_U16:
        return row_of_uint16_t(at, plane->sample_stride, decoded, n);
    case L2K_SAMPLE_S16:
        return row_of_int16_t(at, plane->sample_stride, decoded, n);
    default:
        return row_of_int32_t(at, plane->sample_stride, decoded, n);
    }
}

/* Allocates packed planes like the caller's, who releases *samples. */
static l2k_status take_planes(const l2k_context *context, const l2k_tile *tile, const l2k_plane *like,
                              l2k_plane *planes, uint8_t **samples)
{
    size_t bytes = 0;
    for (int allocated = 0; allocated < 2; allocated++) {
        for (uint32_t c = 0; c < tile->num_components; c++) {
            const l2k_rect rect = tile->components[c].rect;
            const size_t sample = l2k_sample_bytes(like[c].type), row = sample * l2k_rect_width(rect);
            planes[c] =
                (l2k_plane){allocated ? *samples + bytes : NULL, (ptrdiff_t)row, (ptrdiff_t)sample, like[c].type};
            bytes += (row * l2k_rect_height(rect) + 7) & ~(size_t)7;
        }
        if (!allocated)
            *samples = l2k_allocate(context, bytes, 1);
        if (!*samples)
            return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for the samples of a tile");
        bytes = 0;
    }
    return L2K_OK;
}

static l2k_status add_errors(const l2k_context *context, const l2k_tile *tile, const l2k_plane *original,
                             const l2k_plane *decoded, atomic_uint_least64_t *errors)
{
    for (uint32_t c = 0; c < tile->num_components; c++) {
        const l2k_rect rect = tile->components[c].rect;
        const uint32_t width = l2k_rect_width(rect), height = l2k_rect_height(rect);
        uint64_t sum = 0;
#pragma omp parallel for num_threads(context->threads) reduction(+ : sum) if (context->threads > 1)
        for (uint32_t y = 0; y < height; y++)
            sum += row_error(&original[c], y, l2k_sample_at(&decoded[c], 0, y), width);
        atomic_fetch_add(&errors[c], sum);
        L2K_TRY(l2k_poll(context, (uint64_t)width * height));
    }
    return L2K_OK;
}

/* ---- A tile -------------------------------------------------------------------------------------------------- */

static l2k_status decode(const l2k_context *context, l2k_plan *plan, l2k_tile *tile, const l2k_plane *original,
                         atomic_uint_least64_t *errors)
{
    uint8_t *samples = NULL;
    double start = l2k_stage_start(context);
    l2k_plane *planes = l2k_allocate(context, tile->num_components, sizeof *planes);
    l2k_status status = planes ? take_planes(context, tile, original, planes, &samples)
                               : l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for a tile");
    for (uint32_t c = 0; status == L2K_OK && c < tile->num_components; c++)
        status = reconstruct(context, &tile->components[c], l2k_plan_coefficients(plan, c));
    l2k_stage_end(context, L2K_STAGE_RATE, start);
    if (status == L2K_OK)
        status = l2k_plan_inverse(plan, planes);
    start = l2k_stage_start(context);
    if (status == L2K_OK)
        status = add_errors(context, tile, original, planes, errors);
    l2k_stage_end(context, L2K_STAGE_RATE, start);
    l2k_release(context, samples);
    l2k_release(context, planes);
    return status;
}

l2k_status l2k_encode_tile_error(const l2k_encode_call *call, const l2k_engine *engine, l2k_tile *tile,
                                 atomic_uint_least64_t *errors)
{
    const l2k_encoding *e = call->encoding;
    l2k_plan *plan = NULL;
    l2k_plane *original;
    l2k_plan_spec spec = {.direction = L2K_INVERSE, .type = L2K_COEFFICIENT_FLOAT32};
    L2K_TRY(l2k_encode_host_planes(call, tile, &original));
    l2k_plan_component *components = l2k_allocate(e->context, tile->num_components, sizeof *components);
    if (!components)
        return l2k_fail(e->context, L2K_ERROR_MEMORY, "out of memory for a tile");
    l2k_coding_plan_spec(&e->siz, &e->coding, tile->rect, 0, components, &spec);
    l2k_status status = l2k_engine_plan(engine, &spec, &plan);
    l2k_release(e->context, components);
    if (status == L2K_OK)
        status = decode(&engine->context, plan, tile, original, errors);
    l2k_plan_free(plan);
    return status;
}
