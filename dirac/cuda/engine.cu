/* A GPU as an engine for pictures: one stream, in which pictures follow each other while the host reads the next ones.
 * Samples are in its memory from decoding to display, and so are references and their half-samples. Coefficients are
 * int32_t, so they overflow only where the CPU's 32-bit ones do. */
#include <cuda_runtime.h>

#include <string.h>

extern "C" {
#include "base/memory.h"
#include "dirac/cuda/stages.h"
#include "dirac/engine.h"
#include "transform/cuda/cuda_device.h"
#include "transform/device.h"
}

namespace
{

enum { UNDER_WAY = L2K_DIRAC_AHEAD }; /* pictures */

/* Memory that is made anew to grow, in the order of the stream. */
struct buffer {
    void *at;
    size_t bytes;
};

struct video {
    cudaStream_t stream, uploads, downloads;
    cudaMemPool_t pool;
    cudaEvent_t done[UNDER_WAY], uploaded; /* done: pictures by their number */
    buffer lists[UNDER_WAY];               /* pinned: offsets of their slices */
    buffer slices[UNDER_WAY];              /* on the device: those, and the slices */
    uint32_t pictures;
    buffer coefficients, low[2], residues, blocks;
    buffer host; /* pinned: the frame that the caller has */
};

video *video_of(const l2k_dirac_engine *engine)
{
    return (video *)engine->state;
}

l2k_status check(const l2k_dirac_engine *engine, int error)
{
    return l2k_cuda_check(engine->context, error, "decoding video");
}

/* ---- Memory -------------------------------------------------------------------------------------------------- */

/* Memory of the stream's own pool, since that of the device would go back at every wait. */
l2k_status open_pool(const l2k_dirac_engine *engine)
{
    video *v = video_of(engine);
    cudaMemPoolProps properties = {};
    uint64_t keep = UINT64_MAX;
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    L2K_TRY(check(engine, cudaGetDevice(&properties.location.id)));
    L2K_TRY(check(engine, cudaMemPoolCreate(&v->pool, &properties)));
    return check(engine, cudaMemPoolSetAttribute(v->pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

/* With room for more, as pictures vary, and cleared: kernels read whole words of which the last bytes may be foreign. */
cudaError_t reserve(video *v, buffer *b, size_t bytes, cudaStream_t stream)
{
    if (bytes <= b->bytes)
        return cudaSuccess;
    if (b->at)
        cudaFreeAsync(b->at, stream);
    b->at = NULL;
    b->bytes = 0;
    bytes += bytes / 4 + L2K_DIRAC_CUDA_BEYOND;
    cudaError_t error = cudaMallocFromPoolAsync(&b->at, bytes, v->pool, stream);
    if (error == cudaSuccess) {
        b->bytes = bytes;
        error = cudaMemsetAsync(b->at, 0, bytes, stream);
    }
    return error;
}

void *allocate_pinned(void *, size_t bytes)
{
    void *block = NULL;
    if (cudaMallocHost(&block, bytes) == cudaSuccess)
        return block;
    cudaGetLastError();
    return NULL;
}

void release_pinned(void *, void *block)
{
    cudaFreeHost(block);
}

cudaError_t reserve_pinned(buffer *b, size_t bytes)
{
    if (bytes <= b->bytes)
        return cudaSuccess;
    release_pinned(NULL, b->at);
    b->at = allocate_pinned(NULL, bytes);
    b->bytes = b->at ? bytes : 0;
    return b->at ? cudaSuccess : cudaErrorMemoryAllocation;
}

void release(l2k_dirac_engine *engine, void *samples)
{
    if (samples)
        cudaFreeAsync(samples, video_of(engine)->stream);
}

/* Cleared, since also what lies between rows goes to the caller. */
void *allocate(l2k_dirac_engine *engine, size_t bytes)
{
    video *v = video_of(engine);
    buffer samples = {};
    if (reserve(v, &samples, bytes, v->stream) == cudaSuccess)
        return samples.at;
    release(engine, samples.at);
    cudaGetLastError();
    return NULL;
}

l2k_status open(l2k_dirac_engine *engine)
{
    char reason[160];
    video *v = (video *)l2k_allocate_zeroed(engine->context, 1, sizeof *v);
    engine->state = v;
    engine->ahead = UNDER_WAY;
    engine->most_samples = (uint64_t)1 << 27; /* kernels count with 32 bits */
    L2K_TRY(l2k_check_memory(engine->context, v, "a decoder"));
    if (!l2k_cuda_usable(l2k_device_of_share(engine->context, 0), reason, sizeof reason))
        return l2k_fail(engine->context, L2K_ERROR_BACKEND, "CUDA: no usable GPU: %s", reason);
    L2K_TRY(open_pool(engine));
    cudaStream_t *const streams[] = {&v->stream, &v->uploads, &v->downloads};
    for (cudaStream_t *stream : streams)
        L2K_TRY(check(engine, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking)));
    for (cudaEvent_t &event : v->done)
        L2K_TRY(check(engine, cudaEventCreateWithFlags(&event, cudaEventDisableTiming)));
    return check(engine, cudaEventCreateWithFlags(&v->uploaded, cudaEventDisableTiming));
}

void close(l2k_dirac_engine *engine)
{
    video *v = video_of(engine);
    if (!v)
        return;
    const cudaStream_t streams[] = {v->stream, v->uploads, v->downloads};
    for (cudaStream_t stream : streams)
        if (stream)
            cudaStreamSynchronize(stream);
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        if (v->done[i])
            cudaEventDestroy(v->done[i]);
        cudaFreeHost(v->lists[i].at);
        release(engine, v->slices[i].at);
    }
    if (v->uploaded)
        cudaEventDestroy(v->uploaded);
    cudaFreeHost(v->host.at);
    void *const memory[] = {v->coefficients.at, v->low[0].at, v->low[1].at, v->residues.at, v->blocks.at};
    for (void *at : memory)
        release(engine, at);
    if (v->stream)
        cudaStreamSynchronize(v->stream);
    for (cudaStream_t stream : streams)
        if (stream)
            cudaStreamDestroy(stream);
    if (v->pool)
        cudaMemPoolDestroy(v->pool);
    cudaGetLastError();
    l2k_release(engine->context, v);
    engine->state = NULL;
}

/* ---- Coefficients -------------------------------------------------------------------------------------------- */

size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Where each component begins in memory for all of them, at a multiple of `unit` like each of its rows, after all but so
 * many levels; the fourth is the end. */
void place_components(const l2k_dirac_transform *t, unsigned above, size_t unit, size_t at[L2K_DIRAC_PLANES + 1])
{
    at[0] = 0;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const l2k_dirac_component *component = &t->components[c];
        at[c + 1] = at[c] + round_up(component->width >> above, unit) * (component->height >> above);
    }
}

/* Finds the slices, each of whose components tells its length; false: the last one ends early. Each length waits for the one
 * before, so its bytes must be at hand by then. */
bool find_slices(const l2k_dirac_transform *t, const uint8_t *data, size_t bytes, uint32_t *offsets, uint32_t *count)
{
    enum { FAR = 2048 };
    const uint32_t slices = t->slices[0] * t->slices[1];
    size_t at = 0;
    for (*count = 0; *count < slices; ++*count) {
        offsets[*count] = (uint32_t)at;
        at += (size_t)t->slice_bytes[0] + 1;
        for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
            __builtin_prefetch(data + (at + FAR < bytes ? at + FAR : 0));
            at += at < bytes ? 1 + (size_t)data[at] * t->slice_bytes[1] : 1;
            if (at > bytes)
                return ++*count, false;
        }
    }
    return true;
}

/* The stream goes on behind what is being uploaded. */
l2k_status follow_uploads(const l2k_dirac_engine *engine)
{
    video *v = video_of(engine);
    L2K_TRY(check(engine, cudaEventRecord(v->uploaded, v->uploads)));
    return check(engine, cudaStreamWaitEvent(v->stream, v->uploaded, 0));
}

/* From memory that has to stay as it is until `settle`. In the order of the stream, which may still read what was at `to`. */
l2k_status upload(const l2k_dirac_engine *engine, void *to, const void *from, size_t bytes)
{
    video *v = video_of(engine);
    L2K_TRY(check(engine, cudaEventRecord(v->uploaded, v->stream)));
    L2K_TRY(check(engine, cudaStreamWaitEvent(v->uploads, v->uploaded, 0)));
    L2K_TRY(check(engine, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, v->uploads)));
    return follow_uploads(engine);
}

/* Uploads a picture's bytes with the list of its slices, and reads them on the device. */
l2k_status read_slices(l2k_dirac_engine *engine, l2k_dirac_bits bits, const l2k_dirac_transform *t, const size_t at[])
{
    video *v = video_of(engine);
    const l2k_dirac_bits rest = l2k_dirac_block(&bits, UINT64_MAX);
    const uint8_t *data = rest.data;
    const size_t bytes = rest.bytes, slices = (size_t)t->slices[0] * t->slices[1], most = bytes / 4 + 1;
    const size_t list = (slices < most ? slices : most) * sizeof(uint32_t); /* no slice takes fewer bytes */
    const unsigned slot = v->pictures % UNDER_WAY;
    l2k_dirac_cuda_slices s = {};
    if (bytes > UINT32_MAX)
        return l2k_fail(engine->context, L2K_ERROR_LIMIT, "a picture of more than 4 GiB");
    L2K_TRY(check(engine, cudaEventSynchronize(v->done[slot])));
    L2K_TRY(check(engine, reserve_pinned(&v->lists[slot], list)));
    L2K_TRY(check(engine, reserve(v, &v->slices[slot], list + bytes, v->uploads)));
    uint8_t *device = (uint8_t *)v->slices[slot].at;
    L2K_TRY(check(engine, cudaMemcpyAsync(device + list, data, bytes, cudaMemcpyHostToDevice, v->uploads)));
    const bool complete = find_slices(t, data, bytes, (uint32_t *)v->lists[slot].at, &s.count);
    L2K_TRY(check(engine, cudaMemcpyAsync(device, v->lists[slot].at, list, cudaMemcpyHostToDevice, v->uploads)));
    L2K_TRY(follow_uploads(engine));
    s.offsets = (const uint32_t *)device;
    s.data = device + list, s.bytes = bytes;
    s.across = t->slices[0], s.down = t->slices[1], s.prefix = t->slice_bytes[0], s.unit = t->slice_bytes[1];
    s.levels = t->levels;
    memcpy(s.matrix, t->matrix, sizeof s.matrix);
    memcpy(s.quantisers, t->quantisers[1], sizeof s.quantisers);
    for (unsigned i = 0; i < 2; i++)
        memcpy(s.bands[i], t->components[i].bands, sizeof s.bands[i]);
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++)
        s.coefficients[c] = (int32_t *)v->coefficients.at + at[c];
    L2K_TRY(check(engine, l2k_dirac_cuda_slices_read(&s, v->stream)));
    const uint32_t last = s.count - 1;
    return complete ? L2K_OK
                    : l2k_fail(engine->context, L2K_ERROR_TRUNCATED, "slice %u, %u ends early", last % s.across,
                               last / s.across);
}

/* The other ways of coding are the CPU's. */
l2k_status upload_coefficients(l2k_dirac_engine *engine, l2k_dirac_bits bits, l2k_dirac_transform *t, size_t samples)
{
    video *v = video_of(engine);
    t->wide = true;
    const l2k_status status = l2k_dirac_coefficients(engine->context, &bits, t);
    if (l2k_dirac_is_fatal(status))
        return status;
    L2K_TRY(upload(engine, v->coefficients.at, t->data, samples * sizeof(int32_t)));
    return status;
}

/* ---- Wavelet ------------------------------------------------------------------------------------------------- */

/* All levels, from coefficients that begin at `from`. Each one's result is in memory of its own, since tiles of it are made
 * while others still read. */
l2k_status inverse(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, const l2k_dirac_transform *t,
                   const size_t from[], const l2k_dirac_picture *picture, l2k_dirac_residue residues[L2K_DIRAC_PLANES])
{
    video *v = video_of(engine);
    size_t at[L2K_DIRAC_PLANES + 1];
    l2k_dirac_cuda_level level = {};
    level.wavelet = t->wavelet;
    for (unsigned number = 0; number < t->levels + !t->levels; number++) {
        const unsigned above = t->levels ? t->levels - 1 - number : 0;
        const bool last = above == 0, samples = last && t->intra, narrow = last && !sequence->wide;
        buffer *result = last ? &v->residues : &v->low[above % 2];
        place_components(t, above, L2K_DIRAC_CUDA_UNIT, at);
        if (!samples)
            L2K_TRY(check(engine, reserve(v, result, at[L2K_DIRAC_PLANES] * sizeof(int32_t), v->stream)));
        for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
            auto *p = &level.planes[c];
            const l2k_dirac_component *component = &t->components[c];
            const l2k_dirac_plane *plane = &picture->planes[c];
            const int32_t half = 1 << (l2k_dirac_depth(sequence, c) - 1);
            for (unsigned b = 0; b < (t->levels ? 4u : 1u); b++) {
                const l2k_dirac_band *band = &component->bands[b ? 3 * number + b : 0];
                p->from[b] = (const int32_t *)v->coefficients.at + from[c] + band->at;
                p->stride[b] = band->stride;
            }
            if (number > 0) { /* the result before */
                p->from[0] = (const int32_t *)p->out;
                p->stride[0] = (size_t)p->stride_out;
            }
            p->columns = (int32_t)(component->width >> above), p->rows = (int32_t)(component->height >> above);
            p->width = p->columns >> (t->levels > 0), p->height = p->rows >> (t->levels > 0);
            p->out = (int32_t *)result->at + at[c];
            p->stride_out = (ptrdiff_t)round_up((size_t)p->columns, L2K_DIRAC_CUDA_UNIT);
            p->join = {l2k_dirac_shift(t), narrow ? INT16_MIN : INT32_MIN, narrow ? INT16_MAX : INT32_MAX, 0};
            if (samples) {
                p->columns = (int32_t)plane->width, p->rows = (int32_t)plane->height;
                p->out = plane->data, p->stride_out = plane->stride;
                p->join = {l2k_dirac_shift(t), -half, half - 1, half};
            } else if (last) {
                residues[c].data = p->out, residues[c].stride = p->stride_out;
            }
        }
        level.out_bytes = samples ? 1 << sequence->wide : 4;
        L2K_TRY(check(engine, (t->levels ? l2k_dirac_cuda_inverse : l2k_dirac_cuda_copy)(&level, v->stream)));
    }
    return L2K_OK;
}

l2k_status make_residues(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_bits bits,
                         l2k_dirac_transform *t, l2k_dirac_picture *picture,
                         l2k_dirac_residue residues[L2K_DIRAC_PLANES])
{
    video *v = video_of(engine);
    size_t at[L2K_DIRAC_PLANES + 1];
    place_components(t, 0, 1, at);
    L2K_TRY(check(engine, reserve(v, &v->coefficients, at[L2K_DIRAC_PLANES] * sizeof(int32_t), v->stream)));
    const l2k_status status = t->syntax == L2K_DIRAC_HIGH_QUALITY
                                  ? read_slices(engine, bits, t, at)
                                  : upload_coefficients(engine, bits, t, at[L2K_DIRAC_PLANES]);
    if (!l2k_dirac_is_fatal(status))
        L2K_TRY(inverse(engine, sequence, t, at, picture, residues));
    return status;
}

/* ---- Motion -------------------------------------------------------------------------------------------------- */

ptrdiff_t half_stride(const l2k_dirac_plane *plane)
{
    return (ptrdiff_t)round_up(2 * (size_t)plane->width, L2K_DIRAC_CUDA_UNIT);
}

/* A reference's half-samples are made when it is first referred to. */
l2k_status upsample(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_picture *picture)
{
    video *v = video_of(engine);
    l2k_dirac_cuda_upsampling u = {};
    u.wide = sequence->wide;
    if (picture->planes[L2K_DIRAC_PLANES - 1].half)
        return L2K_OK;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        l2k_dirac_plane *plane = &picture->planes[c];
        auto *p = &u.planes[c];
        const size_t bytes = 2 * (size_t)half_stride(plane) * plane->height << sequence->wide;
        if (!plane->half)
            L2K_TRY(check(engine,
                          cudaMallocFromPoolAsync(&plane->half, bytes + L2K_DIRAC_CUDA_BEYOND, v->pool, v->stream)));
        L2K_TRY(check(engine, cudaMemsetAsync((char *)plane->half + bytes, 0, L2K_DIRAC_CUDA_BEYOND, v->stream)));
        p->from = plane->data, p->stride = plane->stride;
        p->out = plane->half, p->stride_out = half_stride(plane);
        p->width = (int32_t)plane->width, p->height = (int32_t)plane->height;
        p->most = (1 << l2k_dirac_depth(sequence, c)) - 1;
    }
    return check(engine, l2k_dirac_cuda_upsample(&u, v->stream));
}

l2k_status predict(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, l2k_dirac_motion *motion,
                   l2k_dirac_picture *const references[2], const l2k_dirac_residue residues[L2K_DIRAC_PLANES],
                   l2k_dirac_picture *picture)
{
    video *v = video_of(engine);
    l2k_dirac_cuda_motion m = {};
    const size_t bytes = (size_t)motion->across * motion->down * sizeof *motion->blocks;
    L2K_TRY(check(engine, reserve(v, &v->blocks, bytes, v->stream)));
    L2K_TRY(upload(engine, v->blocks.at, motion->blocks, bytes));
    m.blocks = (const l2k_dirac_motion_block *)v->blocks.at;
    m.across = (int32_t)motion->across, m.down = (int32_t)motion->down, m.precision = (int32_t)motion->precision;
    m.weight[0] = motion->weight[0], m.weight[1] = motion->weight[1], m.weight_bits = motion->weight_bits;
    memcpy(m.globals, motion->globals, sizeof m.globals);
    m.wide = sequence->wide, m.upsampled = motion->precision > 0, m.global = motion->global;
    for (unsigned i = 0; i < motion->references && m.upsampled; i++)
        L2K_TRY(upsample(engine, sequence, references[i]));
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        auto *p = &m.planes[c];
        const l2k_dirac_plane *out = &picture->planes[c];
        p->most = (1 << l2k_dirac_depth(sequence, c)) - 1;
        p->width = (int32_t)out->width, p->height = (int32_t)out->height;
        p->out = out->data, p->stride = out->stride;
        p->residue = (const int32_t *)residues[c].data, p->residue_stride = residues[c].stride;
        p->grid = l2k_dirac_grid_of(motion, sequence, c);
        for (unsigned i = 0; i < motion->references; i++) {
            const l2k_dirac_plane *from = &references[i]->planes[c];
            p->reference[i] = m.upsampled ? from->half : from->data;
            p->reference_stride[i] = m.upsampled ? half_stride(from) : from->stride;
        }
    }
    return check(engine, l2k_dirac_cuda_predict(&m, v->stream));
}

/* ---- Frames -------------------------------------------------------------------------------------------------- */

l2k_status conceal(l2k_dirac_engine *engine, const l2k_dirac_sequence *sequence, const l2k_dirac_picture *from,
                   l2k_dirac_picture *picture)
{
    void *stream = video_of(engine)->stream;
    const int32_t bytes = 1 << sequence->wide;
    const l2k_sample_type type = sequence->wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const l2k_dirac_plane *plane = &picture->planes[c], *other = from ? &from->planes[c] : plane;
        const l2k_plane to = {plane->data, plane->stride * bytes, bytes, type};
        const l2k_plane source = {other->data, other->stride * bytes, bytes, type};
        const int32_t grey = 1 << (l2k_dirac_depth(sequence, c) - 1);
        L2K_TRY(from ? l2k_device_copy(engine->context, &to, &source, plane->width, plane->height, stream)
                     : l2k_device_fill(engine->context, &to, plane->width, plane->height, grey, stream));
    }
    return L2K_OK;
}

l2k_status settle(l2k_dirac_engine *engine)
{
    return check(engine, cudaStreamSynchronize(video_of(engine)->uploads));
}

l2k_status mark(l2k_dirac_engine *engine, uint32_t *number)
{
    video *v = video_of(engine);
    *number = v->pictures++;
    return check(engine, cudaEventRecord(v->done[*number % UNDER_WAY], v->stream));
}

/* Events are reused: that of an old picture may stand for a newer one, which ends later. */
l2k_status show(l2k_dirac_engine *engine, uint32_t number, l2k_memory memory, size_t bytes, void **samples)
{
    video *v = video_of(engine);
    cudaEvent_t done = v->done[number % UNDER_WAY];
    if (memory == L2K_MEMORY_DEVICE)
        return check(engine, cudaEventSynchronize(done));
    L2K_TRY(check(engine, reserve_pinned(&v->host, bytes)));
    L2K_TRY(check(engine, cudaStreamWaitEvent(v->downloads, done, 0)));
    L2K_TRY(check(engine, cudaMemcpyAsync(v->host.at, *samples, bytes, cudaMemcpyDeviceToHost, v->downloads)));
    *samples = v->host.at;
    return check(engine, cudaStreamSynchronize(v->downloads));
}

const l2k_hooks pinned = {allocate_pinned, release_pinned, NULL, NULL, NULL};

} // namespace

extern "C" const l2k_dirac_engine_table l2k_dirac_cuda = {open,    close,   allocate, release, make_residues, predict,
                                                          conceal, &pinned, settle,   mark,    show};
