/* Records OpenJPEG's tile-components and code-blocks in the log. */
#include "conformance/opj/record.h"

#include <stdlib.h>

l2k_rect opj_record_rect(const opj_tile_component *c)
{
    return (l2k_rect){(uint32_t)c->x0, (uint32_t)c->y0, (uint32_t)c->x1, (uint32_t)c->y1};
}

watch_plane opj_record_plane(const opj_tile_component *c, uint32_t resolutions, watch_kind kind)
{
    const opj_resolution *top = &c->resolutions[resolutions - 1];
    watch_plane plane = {.kind = kind,
                         .component = c->number,
                         .rect = opj_record_rect(c),
                         .width = (uint32_t)(top->x1 - top->x0),
                         .height = (uint32_t)(top->y1 - top->y0),
                         .num_bands = 3 * resolutions - 2,
                         .values = (const watch_value *)c->data};
    for (uint32_t r = 0; r < resolutions; r++)
        for (uint32_t b = 0; b < c->resolutions[r].num_bands; b++) {
            const opj_band *band = &c->resolutions[r].bands[b];
            unsigned number = l2k_band_number(r, band->orientation);
            plane.steps[number] = band->step;
            plane.magnitude_bits[number] = band->magnitude_bits;
        }
    return plane;
}

static void record_coded(bytes *log, watch_block block, const opj_coded_block *from)
{
    watch_pass *passes = test_allocate(from->num_passes, sizeof *passes);
    for (uint32_t i = 0; i < from->num_passes; i++)
        passes[i] = (watch_pass){from->passes[i].end, from->passes[i].terminated};
    block.place = (l2k_rect){(uint32_t)from->x0, (uint32_t)from->y0, (uint32_t)from->x1, (uint32_t)from->y1};
    block.num_ends = from->num_passes;
    block.num_planes = from->num_passes ? from->planes : 0;
    block.num_bytes = from->num_passes ? passes[from->num_passes - 1].end : 0;
    block.passes = passes;
    block.bytes = from->data;
    watch_write_block(log, &block);
    free(passes);
}

static void record_received(bytes *log, watch_block block, const opj_received_block *from)
{
    watch_segment *segments = test_allocate(from->num_segments, sizeof *segments);
    bytes code = {0};
    for (uint32_t i = 0; i < from->num_segments; i++)
        segments[i] = (watch_segment){from->segments[i].passes, from->segments[i].bytes};
    for (uint32_t i = 0; i < from->num_chunks; i++)
        bytes_append(&code, from->chunks[i].data, from->chunks[i].bytes);
    block.place = (l2k_rect){(uint32_t)from->x0, (uint32_t)from->y0, (uint32_t)from->x1, (uint32_t)from->y1};
    block.num_ends = from->num_segments;
    block.num_planes = from->planes;
    block.num_bytes = (uint32_t)code.size;
    block.segments = segments;
    block.bytes = code.data;
    watch_write_block(log, &block);
    free(segments);
    bytes_free(&code);
}

static void record_band(bytes *log, const opj_tile_component *c, uint32_t resolution, const opj_band *band,
                        watch_kind kind)
{
    const opj_resolution *r = &c->resolutions[resolution];
    watch_block block = {.kind = kind,
                         .component = c->number,
                         .rect = opj_record_rect(c),
                         .resolution = resolution,
                         .orientation = band->orientation};
    if (opj_band_empty(band)) /* it has no precincts */
        return;
    for (uint32_t p = 0; p < r->precincts_across * r->precincts_down; p++) {
        const opj_precinct *precinct = &band->precincts[p];
        for (uint32_t k = 0; k < precinct->blocks_across * precinct->blocks_down; k++)
            if (kind == WATCH_CODED)
                record_coded(log, block, &precinct->blocks.coded[k]);
            else
                record_received(log, block, &precinct->blocks.received[k]);
    }
}

void opj_record_blocks(bytes *log, const opj_tile_component *c, uint32_t resolutions, watch_kind kind)
{
    for (uint32_t r = 0; r < resolutions; r++)
        for (uint32_t b = 0; b < c->resolutions[r].num_bands; b++)
            record_band(log, c, r, &c->resolutions[r].bands[b], kind);
}
