/* The host's side of rate control for packets made on a CUDA device: memory, the list of hull segments, of which only
 * sums and a few bins come down, and the cut of the list. */
#include "codec/engine/cuda/packets/cuda_rate.h"

#include "transform/cuda/cuda_device.h"

/* A search reads some thousands of segments. */
enum { MOST_SEGMENTS = 1 << 16 };

/* Returns the bytes of all; *shared gets those in front that pinned memory has as well. */
static size_t lay_out(l2k_cuda_rate *r, size_t *shared)
{
    l2k_cuda_rate_run *run = &r->run;
    const size_t passes = run->coded.num_passes;
    size_t used = 0;
    run->sums = l2k_cuda_part(&r->device, &used, sizeof *run->sums);
    run->segments = l2k_cuda_part(&r->device, &used, MOST_SEGMENTS * sizeof *run->segments);
    *shared = used;
    run->slopes = l2k_cuda_part(&r->device, &used, passes * sizeof *run->slopes);
    run->passes = l2k_cuda_part(&r->device, &used, passes);
    run->counts = l2k_cuda_part(&r->device, &used, run->num_blocks);
    run->cut = l2k_cuda_part(&r->device, &used, run->num_blocks * sizeof *run->cut);
    return used;
}

static l2k_status check(const l2k_cuda_rate *r, int error)
{
    return l2k_cuda_check(r->context, error, "launching rate control");
}

/* Enqueues the load of a bin. */
static l2k_status load_bin(l2k_cuda_rate *r, l2k_slope_bin *bin)
{
    const uint32_t count = (uint32_t)(bin[1].start - bin->start);
    l2k_hull_segment *segments = (l2k_hull_segment *)(r->pinned.at + ((uint8_t *)r->run.segments - r->device.at));
    if (count > MOST_SEGMENTS - r->loaded)
        return L2K_ERROR_UNSUPPORTED;
    bin->segments = segments + r->loaded;
    L2K_TRY(check(r, l2k_cuda_launch_load(&r->run, (uint32_t)(bin - r->list.bins), r->stream)));
    r->loaded += count;
    return l2k_cuda_download(r->context, r->stream, bin->segments, bin->segments - segments + r->run.segments,
                             count * sizeof *segments);
}

/* The segments of a bin, into pinned memory, and of bins after it: each wait takes as long as some loads. */
static l2k_status load(void *from, l2k_slope_bin *bin)
{
    enum { TOGETHER = 4 };
    l2k_cuda_rate *r = from;
    const l2k_slope_bin *last = r->list.bins + L2K_SLOPE_BINS;
    L2K_TRY(load_bin(r, bin));
    for (unsigned i = 1; i < TOGETHER && bin + i < last; i++)
        if (!bin[i].segments && bin[i + 1].start > bin[i].start)
            L2K_TRY(load_bin(r, &bin[i]));
    return l2k_cuda_wait(r->context, r->stream);
}

l2k_status l2k_cuda_rate_start(const l2k_context *context, l2k_cuda_rate *r, const l2k_cuda_packet_part *parts,
                               uint32_t num_parts, uint32_t num_blocks, const l2k_cuda_coded *coded, void *stream)
{
    size_t shared;
    r->context = context;
    r->stream = stream;
    r->run = (l2k_cuda_rate_run){.parts = parts, .num_parts = num_parts, .num_blocks = num_blocks, .coded = *coded};
    r->loaded = 0;
    L2K_TRY(l2k_cuda_reserve(context, &r->device, lay_out(r, &shared)));
    L2K_TRY(l2k_cuda_pin(context, &r->pinned, shared));
    lay_out(r, &shared);
    r->sums = (const l2k_cuda_rate_sums *)r->pinned.at;
    L2K_TRY(l2k_cuda_clear(context, stream, r->run.sums, sizeof *r->run.sums));
    L2K_TRY(check(r, l2k_cuda_launch_hulls(&r->run, stream)));
    return l2k_cuda_download(context, stream, r->pinned.at, r->run.sums, sizeof *r->run.sums);
}

l2k_status l2k_cuda_rate_list(l2k_cuda_rate *r)
{
    const uint64_t *sums = r->sums->bins;
    l2k_slope_bin *bins = r->list.bins;
    if (!bins)
        bins = l2k_allocate(r->context, L2K_SLOPE_BINS + 1, sizeof *bins);
    L2K_TRY(l2k_check_memory(r->context, bins, "rate control"));
    size_t start = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < L2K_SLOPE_BINS; i++) {
        bins[i] = (l2k_slope_bin){.start = start, .bytes = bytes};
        start += (size_t)(sums[i] >> L2K_BIN_COUNT_AT);
        bytes += (uint32_t)sums[i];
    }
    bins[L2K_SLOPE_BINS] = (l2k_slope_bin){.start = start, .bytes = bytes};
    r->list = (l2k_slope_list){.context = r->context, .count = start, .bins = bins, .load = load, .from = r};
    return L2K_OK;
}

l2k_status l2k_cuda_rate_cut(l2k_cuda_rate *r, size_t prefix)
{
    l2k_slope_end end;
    L2K_TRY(l2k_slopes_end(&r->list, prefix, &end));
    return check(r, l2k_cuda_launch_cut(&r->run, &end, r->stream));
}

void l2k_cuda_rate_release(l2k_cuda_rate *r)
{
    l2k_release(r->context, r->list.bins);
    l2k_cuda_release(&r->device);
    l2k_cuda_release(&r->pinned);
}
