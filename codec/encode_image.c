/* The life of an image in the encoder: as a whole, or by rows of tiles. */
#include "codec/encoder.h"

#include "codec/codestream/codestream_write.h"
#include "codec/codestream/markers.h"

/* ---- Jobs ---------------------------------------------------------------------------------------------------- */

static void release_job(l2k_encode_job *job)
{
    const l2k_context *context = job->context;
    for (uint32_t t = 0; job->tiles && t < job->num_tiles; t++)
        l2k_tile_release(context, &job->tiles[t]);
    for (unsigned i = 0; job->arenas && i < job->num_arenas; i++)
        l2k_arena_release(context, &job->arenas[i]);
    l2k_release(context, job->tiles);
    l2k_release(context, job->arenas);
    l2k_release(context, job->siz.components);
    l2k_release(context, job->coding.components);
}

/* Gives back what is kept for the next image. */
static void drop(l2k_encoder *encoder)
{
    l2k_workers_release(&encoder->workers);
    l2k_pool_drain(&encoder->pool, &encoder->context.hooks);
}

/* Ends the image in hand. After a failure, a GPU's too, nothing of it is kept for the next. */
static l2k_status end_job(l2k_encoder *encoder, l2k_status status)
{
    if (encoder->has_job) {
        release_job(&encoder->job);
        l2k_assembly_release(&encoder->assembly);
    }
    encoder->has_job = false;
    if (status != L2K_OK || !l2k_choice_is_settled(&encoder->choice))
        drop(encoder);
    return status;
}

static uint64_t count_units(const l2k_image *image)
{
    uint64_t samples = 0;
    for (uint32_t c = 0; c < image->num_components; c++) {
        uint32_t width, height;
        l2k_component_size(image, c, &width, &height);
        samples += (uint64_t)width * height;
    }
    return samples * (L2K_UNITS_TRANSFORM + L2K_UNITS_TIER1 + L2K_UNITS_TIER2);
}

static l2k_status prepare(l2k_encoder *encoder, uint32_t tiles_at_a_time)
{
    l2k_encode_job *job = &encoder->job;
    job->num_arenas = job->context->threads;
    job->arenas = l2k_allocate_zeroed(job->context, job->num_arenas, sizeof *job->arenas);
    if (!job->arenas)
        return l2k_fail(job->context, L2K_ERROR_MEMORY, "out of memory for %u threads", job->num_arenas);
    encoder->run.total = count_units(job->image);
    return l2k_workers_prepare(job->context, (l2k_backend)encoder->options[L2K_ENCODER_BACKEND], &job->siz,
                               tiles_at_a_time, &encoder->workers);
}

static l2k_status start_job(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream)
{
    end_job(encoder, L2K_OK);
    encoder->context.threads = l2k_thread_count((unsigned)encoder->options[L2K_ENCODER_THREADS]);
    encoder->context.cpu = (l2k_cpu)encoder->options[L2K_ENCODER_CPU];
    l2k_choice_start(&encoder->choice, encoder->options[L2K_ENCODER_GPU_MIN_SAMPLES]);
    l2k_pool_start_job(&encoder->pool, &encoder->context.hooks, (uint64_t)encoder->options[L2K_ENCODER_LIMIT_MEMORY]);
    if (l2k_pool_exceeds(&encoder->pool))
        drop(encoder);
    encoder->job = (l2k_encode_job){.encoder = encoder, .context = &encoder->context, .image = image, .stream = stream};
    encoder->has_job = true;
    l2k_assembly_start(&encoder->assembly, &encoder->context);
    l2k_run_start(&encoder->run, 0, encoder->options[L2K_ENCODER_TIMINGS]);
    return l2k_encode_setup(&encoder->job);
}

void l2k_encode_abandon(l2k_encoder *encoder)
{
    end_job(encoder, L2K_ERROR_CANCELLED);
}

/* Nothing is written after a "no" that came while the last bytes were put together. */
static l2k_status write_out(l2k_encode_job *job, l2k_buffer *bytes)
{
    L2K_TRY(l2k_check_run(job->context));
    double start = l2k_stage_start(job->context);
    int failed = bytes->size ? job->stream->write(job->stream->user, bytes->data, bytes->size) : 0;
    l2k_stage_end(job->context, L2K_STAGE_WRITE, start);
    if (failed)
        return l2k_fail(job->context, L2K_ERROR_IO, "writing failed");
    job->written += bytes->size;
    bytes->size = 0;
    return L2K_OK;
}

/* All stages for the tiles in hand, whose tile-parts are added to the output's body. */
static l2k_status code_tiles(l2k_encoder *encoder)
{
    l2k_encode_job *job = &encoder->job;
    size_t fixed_bytes;
    job->needs_guard_bit = false;
    L2K_TRY(l2k_encode_check_planes(job));
    L2K_TRY(l2k_encode_tiles(job, &encoder->workers));
    double start = l2k_stage_start(job->context);
    L2K_TRY(l2k_encode_fixed_bytes(job, &encoder->assembly, &fixed_bytes));
    L2K_TRY(l2k_encode_rate(job, fixed_bytes));
    l2k_stage_end(job->context, L2K_STAGE_RATE, start);
    start = l2k_stage_start(job->context);
    L2K_TRY(l2k_encode_tile_parts(job, &encoder->assembly));
    l2k_stage_end(job->context, L2K_STAGE_TIER2, start);
    return L2K_OK;
}

/* ---- As a whole ------------------------------------------------------------------------------------------------ */

static l2k_status encode_whole(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                               const l2k_stream *stream)
{
    l2k_encode_job *job = &encoder->job;
    l2k_assembly *out = &encoder->assembly;
    L2K_TRY(start_job(encoder, image, stream));
    L2K_TRY(prepare(encoder, job->num_tiles));
    job->planes = planes;
    job->area = job->siz.grid.image;
    job->end_tile = job->num_tiles;
    L2K_TRY(code_tiles(encoder));
    l2k_buffer_put(&out->body, L2K_EOC, 2);
    L2K_TRY(l2k_buffer_status(&out->body));
    L2K_TRY(l2k_encode_head(job, out, out->body.size));
    L2K_TRY(write_out(job, &out->head));
    return write_out(job, &out->body);
}

l2k_status l2k_encoder_encode(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                              const l2k_stream *stream)
{
    if (!image || !planes || !stream || !stream->write)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image, no planes or no stream to write to");
    return end_job(encoder, encode_whole(encoder, image, planes, stream));
}

static int append(void *user, const void *bytes, size_t count)
{
    l2k_buffer *memory = user;
    l2k_buffer_append(memory, bytes, count);
    return memory->failed ? -1 : 0;
}

l2k_status l2k_encoder_encode_memory(l2k_encoder *encoder, const l2k_image *image, const l2k_plane *planes,
                                     const uint8_t **bytes, size_t *count)
{
    if (!bytes || !count)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "nowhere to return the file to");
    l2k_release(&encoder->context, encoder->memory.data);
    encoder->memory = (l2k_buffer){.context = &encoder->context};
    l2k_status status =
        l2k_encoder_encode(encoder, image, planes, &(l2k_stream){.write = append, .user = &encoder->memory});
    if (status == L2K_ERROR_IO)
        status = L2K_ERROR_MEMORY;
    *bytes = status == L2K_OK ? encoder->memory.data : NULL;
    *count = status == L2K_OK ? encoder->memory.size : 0;
    return status;
}

/* ---- By rows of tiles ------------------------------------------------------------------------------------------ */

static l2k_status begin_rows(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream)
{
    l2k_encode_job *job = &encoder->job;
    l2k_assembly *out = &encoder->assembly;
    bool tlm = encoder->options[L2K_ENCODER_TLM];
    L2K_TRY(start_job(encoder, image, stream));
    if (tlm && !stream->rewrite)
        return l2k_fail(
            job->context, L2K_ERROR_ARGUMENT,
            "TLM stands before what it lists: an image by rows of tiles needs a stream with rewrite for it");
    job->by_rows = true;
    L2K_TRY(prepare(encoder, l2k_tiles_across(&job->siz.grid)));
    if (tlm)
        L2K_TRY(l2k_encode_plan_parts(job, out));
    L2K_TRY(l2k_encode_head(job, out, 0));
    out->parts.size = 0;
    return L2K_OK;
}

l2k_status l2k_encoder_begin(l2k_encoder *encoder, const l2k_image *image, const l2k_stream *stream)
{
    if (!image || !stream || !stream->write)
        return l2k_fail(&encoder->context, L2K_ERROR_ARGUMENT, "no image or no stream to write to");
    l2k_status status = begin_rows(encoder, image, stream);
    return status == L2K_OK ? status : end_job(encoder, status);
}

static l2k_status check_begun(const l2k_encoder *encoder)
{
    if (encoder->has_job)
        return L2K_OK;
    return l2k_fail(&encoder->context, L2K_ERROR_STATE, "no image has been begun");
}

/* The image's part of the row of tiles that `first_tile` begins; empty behind the last one. */
static l2k_rect next_area(const l2k_encode_job *job)
{
    const l2k_tile_grid *grid = &job->siz.grid;
    l2k_rect area = grid->image;
    if (job->end_tile == job->num_tiles) {
        area.y0 = area.y1;
        return area;
    }
    l2k_rect tile = l2k_tile_rect(grid, job->end_tile);
    area.y0 = tile.y0;
    area.y1 = tile.y1;
    return area;
}

l2k_status l2k_encoder_next_rows(const l2k_encoder *encoder, uint32_t *y0, uint32_t *y1)
{
    L2K_TRY(check_begun(encoder));
    l2k_rect area = next_area(&encoder->job);
    *y0 = area.y0;
    *y1 = area.y1;
    return L2K_OK;
}

/* The head is written with the first row: until then, an error leaves the stream untouched. */
static l2k_status put_rows(l2k_encoder *encoder, const l2k_plane *planes)
{
    l2k_encode_job *job = &encoder->job;
    job->area = next_area(job);
    job->planes = planes;
    job->first_tile = job->end_tile;
    job->end_tile += l2k_tiles_across(&job->siz.grid);
    L2K_TRY(code_tiles(encoder));
    for (unsigned i = 0; i < job->num_arenas; i++)
        l2k_arena_release(job->context, &job->arenas[i]);
    L2K_TRY(write_out(job, &encoder->assembly.head));
    return write_out(job, &encoder->assembly.body);
}

l2k_status l2k_encoder_put_rows(l2k_encoder *encoder, const l2k_plane *planes)
{
    L2K_TRY(check_begun(encoder));
    if (!planes || encoder->job.end_tile == encoder->job.num_tiles)
        return l2k_fail(&encoder->context, planes ? L2K_ERROR_STATE : L2K_ERROR_ARGUMENT,
                        planes ? "all rows of the image have been put" : "no planes");
    l2k_run_enter(&encoder->run);
    l2k_status status = put_rows(encoder, planes);
    return status == L2K_OK ? status : end_job(encoder, status);
}

static l2k_status rewrite(l2k_encode_job *job, uint64_t offset, const l2k_buffer *bytes)
{
    L2K_TRY(l2k_buffer_status(bytes));
    if (job->stream->rewrite(job->stream->user, offset, bytes->data, bytes->size) != 0)
        return l2k_fail(job->context, L2K_ERROR_IO, "rewriting failed");
    return L2K_OK;
}

/* What the head could not know: the lengths of tile-parts and codestream. A length that LBox has no room for stays
 * unstated (0, I.4). */
static l2k_status complete_head(l2k_encoder *encoder)
{
    l2k_encode_job *job = &encoder->job;
    l2k_buffer *bytes = &encoder->assembly.head;
    uint64_t box_bytes = job->written - job->box_at;
    bool jp2 = encoder->options[L2K_ENCODER_FORMAT] == L2K_FORMAT_JP2;
    if (encoder->options[L2K_ENCODER_TLM]) {
        const l2k_buffer *parts = &encoder->assembly.parts;
        l2k_write_tlm(bytes, (const l2k_tile_part *)(const void *)parts->data, parts->size / sizeof(l2k_tile_part),
                      job->num_tiles);
        L2K_TRY(rewrite(job, job->tlm_at, bytes));
    }
    bytes->size = 0;
    l2k_buffer_put(bytes, box_bytes, 4);
    return jp2 && job->stream->rewrite && box_bytes <= UINT32_MAX ? rewrite(job, job->box_at, bytes) : L2K_OK;
}

static l2k_status end_rows(l2k_encoder *encoder)
{
    l2k_encode_job *job = &encoder->job;
    l2k_buffer *body = &encoder->assembly.body;
    if (job->end_tile != job->num_tiles)
        return l2k_fail(job->context, L2K_ERROR_STATE, "rows of the image are missing");
    l2k_buffer_put(body, L2K_EOC, 2);
    L2K_TRY(l2k_buffer_status(body));
    L2K_TRY(write_out(job, body));
    double start = l2k_stage_start(job->context);
    l2k_status status = complete_head(encoder);
    l2k_stage_end(job->context, L2K_STAGE_WRITE, start);
    return status;
}

l2k_status l2k_encoder_end(l2k_encoder *encoder)
{
    L2K_TRY(check_begun(encoder));
    l2k_run_enter(&encoder->run);
    return end_job(encoder, end_rows(encoder));
}

void l2k_encoder_timings(const l2k_encoder *encoder, double seconds[L2K_NUM_STAGES])
{
    l2k_run_timings(&encoder->run, seconds);
}
