/* Counts the levels that split in one direction only (T.801, A.3), and reads and writes their letters. */
#include "tiling/splits.h"

/* How many of the lowest `levels` bits are 0. */
static unsigned count_zeros(uint32_t bits, unsigned levels)
{
    unsigned zeros = levels;
    for (unsigned level = 0; bits && level < levels; level++)
        zeros -= bits >> level & 1;
    return zeros;
}

unsigned l2k_count_across(l2k_unsplit unsplit, unsigned levels)
{
    return count_zeros(unsplit.across, levels);
}

unsigned l2k_count_down(l2k_unsplit unsplit, unsigned levels)
{
    return count_zeros(unsplit.down, levels);
}

unsigned l2k_count_bands(l2k_unsplit unsplit, unsigned levels, unsigned resolutions)
{
    unsigned bands = resolutions > 0;
    if (l2k_splits_all(unsplit))
        return resolutions ? 3 * resolutions - 2 : 0;
    for (unsigned r = 1; r < resolutions; r++)
        for (unsigned o = L2K_HL; o <= L2K_HH; o++)
            bands += l2k_band_exists(unsplit, levels - r + 1, o);
    return bands;
}

bool l2k_same_splits(l2k_unsplit a, l2k_unsplit b, unsigned levels)
{
    const uint32_t differ = (a.across ^ b.across) | (a.down ^ b.down);
    return levels < 32 ? !(differ & (((uint32_t)1 << levels) - 1)) : differ == 0;
}

l2k_status l2k_splits_parse(const l2k_context *context, const char *text, l2k_unsplit *unsplit, unsigned *letters)
{
    l2k_unsplit found = {0};
    unsigned level = 0;
    for (; text[level]; level++) {
        if (level == L2K_MAX_LEVELS)
            return l2k_fail(context, L2K_ERROR_ARGUMENT, "directions of more than %u levels", L2K_MAX_LEVELS);
        if (text[level] != 'b' && text[level] != 'h' && text[level] != 'v')
            return l2k_fail(context, L2K_ERROR_ARGUMENT,
                            "levels \"%.40s\" split in directions b (both), h (horizontally) or v (vertically)", text);
        found.across |= (uint32_t)(text[level] == 'v') << level;
        found.down |= (uint32_t)(text[level] == 'h') << level;
    }
    *unsplit = found;
    *letters = level;
    return L2K_OK;
}

size_t l2k_splits_print(l2k_unsplit unsplit, unsigned levels, char *text, size_t bytes)
{
    const size_t length = l2k_splits_all(unsplit) ? 0 : levels;
    for (size_t i = 0; i < length && i + 1 < bytes; i++)
        text[i] = !l2k_splits_across(unsplit, (unsigned)i + 1) ? 'v'
                  : !l2k_splits_down(unsplit, (unsigned)i + 1) ? 'h'
                                                               : 'b';
    if (bytes)
        text[length < bytes ? length : bytes - 1] = 0;
    return length;
}
