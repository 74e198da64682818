#include "codec/codestream/packed_headers.h"

#include "base/run.h"

void l2k_packed_join(const l2k_packed_segments *packed, l2k_buffer *out)
{
    for (unsigned i = 0; i < 256; i++)
        if (packed->segments[i].data)
            l2k_buffer_append(out, packed->segments[i].data, packed->segments[i].bytes);
}

/* A share is Nppm and as many bytes; both may be split between marker segments, which are joined here. */
l2k_status l2k_packed_share(l2k_codestream *cs)
{
    const uint8_t *at = cs->packed.data, *end = l2k_buffer_end(&cs->packed);
    size_t steps = 0;
    for (size_t i = 0; i < cs->num_parts; i++) {
        L2K_TRY(l2k_check_steps(cs->context, &steps, 1));
        if (end - at < 4)
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "PPM: packet headers for %zu tile-parts of %zu", i,
                            cs->num_parts);
        uint32_t bytes = l2k_get_be(at, 4);
        at += 4;
        if (bytes > (size_t)(end - at))
            return l2k_fail(cs->context, L2K_ERROR_CORRUPT, "PPM: %u bytes of packet headers, of which %zu are there",
                            bytes, (size_t)(end - at));
        cs->parts[i].packed = at;
        cs->parts[i].packed_end = at += bytes;
    }
    return L2K_OK;
}
