/* Decoding an image: its tiles into the caller's planes, through the palette where there is one. */
#include "codec/decoder.h"

#include "base/memory.h"
#include "base/sample.h"

/* Copies a decoded component into an output, through the palette where there is one. An index beyond the palette takes
 * its last entry. */
static l2k_status fill_output(const l2k_decoder *decoder, l2k_output output, const int32_t *samples, uint32_t width,
                              uint32_t height, const l2k_plane *plane, size_t *steps)
{
    const l2k_palette *palette = &decoder->jp2.palette;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            int32_t value = samples[(size_t)y * width + x];
            if (output.through_palette) {
                uint32_t index = value < 0 ? 0 : l2k_min_u32((uint32_t)value, palette->num_entries - 1);
                value = palette->values[index * palette->num_columns + output.column];
            }
            l2k_sample_store(plane, x, y, value);
            L2K_TRY(l2k_check_steps(&decoder->context, steps, 1));
        }
    return L2K_OK;
}

typedef struct output_job {
    l2k_decoder *decoder;
    l2k_rect area;
    const l2k_plane *outputs; /* the caller's */
    l2k_plane *sources;       /* per codestream component */
    bool *owned;
} output_job;

static l2k_status check_plane(const output_job *job, uint32_t k)
{
    const l2k_component *component = &job->decoder->shown[k];
    if (!job->outputs[k].data && component->width && component->height)
        return l2k_fail(&job->decoder->context, L2K_ERROR_ARGUMENT, "plane %u is missing", k);
    if (!l2k_sample_type_holds(job->outputs[k].type, component->precision, component->is_signed))
        return l2k_fail(&job->decoder->context, L2K_ERROR_ARGUMENT, "the sample type of plane %u cannot hold %u bits",
                        k, component->precision);
    return L2K_OK;
}

/* Memory of its own for a component that no single output takes as it is. */
static l2k_status own_source(output_job *job, uint32_t c)
{
    const l2k_context *context = &job->decoder->context;
    l2k_rect area = l2k_decoder_component_area(job->decoder, job->area, c);
    size_t row = l2k_rect_width(area) * sizeof(int32_t);
    job->sources[c] =
        (l2k_plane){l2k_allocate(context, l2k_rect_height(area), row), (ptrdiff_t)row, sizeof(int32_t), L2K_SAMPLE_S32};
    job->owned[c] = true;
    if (!job->sources[c].data)
        return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for component %u", c);
    return L2K_OK;
}

/* A component is decoded into the only output that takes it as it is, else into memory of its own. */
static void assign_source(output_job *job, uint32_t k)
{
    l2k_output output = l2k_decoder_output(job->decoder, k);
    l2k_plane *source = &job->sources[output.source];
    if (output.through_palette || job->owned[output.source] || source->data) {
        job->owned[output.source] = true;
        *source = (l2k_plane){0};
    } else {
        *source = job->outputs[k];
    }
}

static l2k_status prepare_sources(output_job *job)
{
    const l2k_decoder *decoder = job->decoder;
    for (uint32_t k = 0; k < l2k_decoder_num_outputs(decoder); k++) {
        L2K_TRY(check_plane(job, k));
        assign_source(job, k);
    }
    uint32_t only = l2k_decoder_only_component(decoder);
    for (uint32_t c = 0; only == UINT32_MAX && c < decoder->codestream.siz.num_components; c++)
        if (!job->sources[c].data)
            L2K_TRY(own_source(job, c));
    return L2K_OK;
}

static l2k_status decode_outputs(output_job *job)
{
    l2k_decoder *decoder = job->decoder;
    uint32_t count = l2k_decoder_num_outputs(decoder);
    size_t steps = 0;
    L2K_TRY(prepare_sources(job));
    L2K_TRY(l2k_decode_tiles(decoder, job->area, job->sources));
    for (uint32_t k = 0; k < count; k++) {
        l2k_output output = l2k_decoder_output(decoder, k);
        if (job->owned[output.source])
            L2K_TRY(fill_output(decoder, output, job->sources[output.source].data, decoder->shown[k].width,
                                decoder->shown[k].height, &job->outputs[k], &steps));
    }
    return l2k_check_run(&decoder->context);
}

void l2k_decoder_start(l2k_decoder *decoder)
{
    decoder->context.threads = l2k_thread_count((unsigned)decoder->options[L2K_DECODER_THREADS]);
    decoder->context.cpu = (l2k_cpu)decoder->options[L2K_DECODER_CPU];
    l2k_choice_start(&decoder->choice, decoder->options[L2K_DECODER_GPU_MIN_SAMPLES]);
    l2k_pool_start_job(&decoder->pool, &decoder->context.hooks, l2k_decoder_memory_limit(decoder));
    if (l2k_pool_exceeds(&decoder->pool))
        l2k_decoder_drop(decoder);
    decoder->incomplete = decoder->fewer_told = decoder->beyond_told = false;
    decoder->packets_kept = decoder->blocks_decoded = 0;
}

l2k_status l2k_decoder_finish(l2k_decoder *decoder, l2k_status status)
{
    if (status != L2K_OK || !l2k_choice_is_settled(&decoder->choice))
        l2k_decoder_drop(decoder);
    return status == L2K_OK && decoder->incomplete ? L2K_INCOMPLETE : status;
}

l2k_status l2k_decoder_decode(l2k_decoder *decoder, const l2k_plane *planes)
{
    const l2k_context *context = &decoder->context;
    l2k_image image;
    L2K_TRY(l2k_decoder_image(decoder, &image));
    if (!planes)
        return l2k_fail(context, L2K_ERROR_ARGUMENT, "no planes to decode into");
    uint32_t count = decoder->codestream.siz.num_components;
    l2k_decoder_start(decoder);
    output_job job = {.decoder = decoder, .area = {image.x0, image.y0, image.x1, image.y1}, .outputs = planes};
    job.sources = l2k_allocate_zeroed(context, count, sizeof *job.sources);
    job.owned = l2k_allocate_zeroed(context, count, sizeof *job.owned);
    l2k_status status = job.sources && job.owned ? decode_outputs(&job)
                                                 : l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for planes");
    for (uint32_t c = 0; job.sources && job.owned && c < count; c++)
        if (job.owned[c])
            l2k_release(context, job.sources[c].data);
    l2k_release(context, job.sources);
    l2k_release(context, job.owned);
    return l2k_decoder_finish(decoder, status);
}

static l2k_sample_type smallest_type(const l2k_component *component)
{
    if (component->precision > 16)
        return L2K_SAMPLE_S32;
    if (component->precision > 8)
        return component->is_signed ? L2K_SAMPLE_S16 : L2K_SAMPLE_U16;
    return component->is_signed ? L2K_SAMPLE_S8 : L2K_SAMPLE_U8;
}

/* Planes of the decoder's own, one after the other in one block. */
static l2k_status take_planes(l2k_decoder *decoder, const l2k_image *image)
{
    size_t bytes = 0;
    decoder->memory_planes = l2k_allocate(&decoder->context, image->num_components, sizeof *decoder->memory_planes);
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        bytes += ((size_t)k->width * k->height * l2k_sample_bytes(smallest_type(k)) + 3) & ~(size_t)3;
    }
    decoder->memory = l2k_allocate(&decoder->context, bytes, 1);
    if (!decoder->memory || !decoder->memory_planes)
        return l2k_fail(&decoder->context, L2K_ERROR_MEMORY, "out of memory for %zu bytes of samples", bytes);
    uint8_t *at = decoder->memory;
    for (uint32_t c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        ptrdiff_t size = (ptrdiff_t)l2k_sample_bytes(smallest_type(k)), row = size * k->width;
        decoder->memory_planes[c] = (l2k_plane){at, row, size, smallest_type(k)};
        at += ((size_t)row * k->height + 3) & ~(size_t)3;
    }
    return L2K_OK;
}

l2k_status l2k_decoder_decode_memory(l2k_decoder *decoder, const void *data, size_t bytes, l2k_image *image,
                                     const l2k_plane **planes)
{
    if (!image || !planes)
        return l2k_fail(&decoder->context, L2K_ERROR_ARGUMENT, "nowhere to return the image to");
    L2K_TRY(l2k_decoder_open_memory(decoder, data, bytes));
    L2K_TRY(l2k_decoder_image(decoder, image));
    L2K_TRY(take_planes(decoder, image));
    *planes = decoder->memory_planes;
    return l2k_decoder_decode(decoder, decoder->memory_planes);
}
