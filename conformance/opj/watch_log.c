/* Writing and reading the log of OpenJPEG's stages. */
#include "conformance/opj/watch_log.h"

#include <stdlib.h>
#include <string.h>

/* An entry is a head, its struct, and the data its pointers lead to, all in multiples of eight bytes. Writer and reader
 * are the same program, so structs are copied unchanged. */
typedef struct entry_head {
    uint64_t is_block;
} entry_head;

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void append_padded(bytes *log, const void *data, size_t size)
{
    static const uint8_t zeros[8];
    bytes_append(log, data, size);
    bytes_append(log, zeros, padded(size) - size);
}

static size_t plane_bytes(const watch_plane *plane)
{
    return (size_t)plane->width * plane->height * sizeof *plane->values;
}

static size_t ends_bytes(const watch_block *block)
{
    return block->num_ends * (block->kind == WATCH_CODED ? sizeof *block->passes : sizeof *block->segments);
}

void watch_write_plane(bytes *log, const watch_plane *plane)
{
    append_padded(log, &(entry_head){0}, sizeof(entry_head));
    append_padded(log, plane, sizeof *plane);
    append_padded(log, plane->values, plane_bytes(plane));
}

void watch_write_block(bytes *log, const watch_block *block)
{
    append_padded(log, &(entry_head){1}, sizeof(entry_head));
    append_padded(log, block, sizeof *block);
    append_padded(log, block->passes, ends_bytes(block));
    append_padded(log, block->bytes, block->num_bytes);
}

static const uint8_t *take(const uint8_t **at, size_t size)
{
    const uint8_t *taken = *at;
    *at += padded(size);
    return taken;
}

static void read_plane(const uint8_t **at, watch_plane *plane)
{
    memcpy(plane, take(at, sizeof *plane), sizeof *plane);
    plane->values = (const watch_value *)take(at, plane_bytes(plane));
}

static void read_block(const uint8_t **at, watch_block *block)
{
    memcpy(block, take(at, sizeof *block), sizeof *block);
    block->passes = (const watch_pass *)take(at, ends_bytes(block));
    block->bytes = take(at, block->num_bytes);
}

/* Scans the log; entries are counted, and kept where `log` has room. */
static void scan(const bytes *raw, watch_log *log)
{
    watch_log found = {0};
    for (const uint8_t *at = raw->data; at < raw->data + raw->size;) {
        watch_plane plane;
        watch_block block;
        if (((const entry_head *)take(&at, sizeof(entry_head)))->is_block) {
            read_block(&at, log->blocks ? &log->blocks[found.num_blocks] : &block);
            found.num_blocks++;
        } else {
            read_plane(&at, log->planes ? &log->planes[found.num_planes] : &plane);
            found.num_planes++;
        }
    }
    log->num_planes = found.num_planes;
    log->num_blocks = found.num_blocks;
}

watch_log watch_read(const bytes *raw)
{
    watch_log log = {0};
    scan(raw, &log);
    log.planes = test_allocate(log.num_planes, sizeof *log.planes);
    log.blocks = test_allocate(log.num_blocks, sizeof *log.blocks);
    scan(raw, &log);
    return log;
}

void watch_free(watch_log *log)
{
    free(log->planes);
    free(log->blocks);
    *log = (watch_log){0};
}

bool watch_same_rect(l2k_rect a, l2k_rect b)
{
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

const watch_plane *watch_find(const watch_log *log, watch_kind kind, uint32_t component, l2k_rect rect)
{
    for (size_t i = 0; i < log->num_planes; i++) {
        const watch_plane *plane = &log->planes[i];
        if (plane->kind == kind && plane->component == component && watch_same_rect(plane->rect, rect))
            return plane;
    }
    return NULL;
}
