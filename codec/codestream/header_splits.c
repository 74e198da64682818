/* The parser of DFS, downsampling factor styles (T.801, A.3): levels that split in one direction only, which COC names
 * by an index in place of the number of levels. That number is then COD's. Where public streams and the bits of Rsiz
 * disagree, this library goes by the marker segments. */
#include "base/buffer.h"
#include "codec/codestream/header_parser.h"

/* Ddfs, level by level; levels beyond the most that COD allows are ignored. */
static l2k_status parse_splits(const l2k_header_state *state, const uint8_t *ddfs, unsigned levels,
                               l2k_unsplit *unsplit)
{
    for (unsigned i = 0; i < levels; i++) {
        const unsigned split = ddfs[i / 4] >> (6 - 2 * (i % 4)) & 3;
        if (split == L2K_DDFS_NONE)
            return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "DFS: level %u splits in neither direction", i + 1);
        unsplit->across |= (uint32_t)(split == L2K_DDFS_DOWN) << i;
        unsplit->down |= (uint32_t)(split == L2K_DDFS_ACROSS) << i;
    }
    return L2K_OK;
}

l2k_status l2k_parse_dfs(l2k_header_state *state, const l2k_segment *segment)
{
    const size_t length = l2k_segment_length(segment);
    if (state->kind != L2K_MAIN_HEADER)
        return l2k_fail(state->context, L2K_ERROR_UNSUPPORTED, "DFS in a tile-part header");
    if (length < 3)
        return l2k_segment_wrong(state, segment, "too short");
    const unsigned index = l2k_get_be(segment->data, 2), levels = segment->data[2];
    if (index == 0 || index > L2K_MOST_DFS)
        return l2k_segment_wrong(state, segment, "an index that is not one of 1 to 15");
    if (levels == 0)
        return l2k_segment_wrong(state, segment, "no levels");
    if (length != 3 + (levels + 3) / 4)
        return l2k_segment_wrong(state, segment, "its length does not fit its content");
    l2k_split_styles *styles = &state->coding->splits;
    bool is_first = true;
    for (unsigned i = 1; i <= L2K_MOST_DFS; i++)
        is_first = is_first && !styles->levels[i];
    if (styles->levels[index])
        return l2k_segment_wrong(state, segment, "the same index twice");
    if (is_first && !(state->siz->profile & L2K_RSIZ_PART_2))
        l2k_warn(state->context, "DFS, but Rsiz %04X does not announce Part 2", (unsigned)state->siz->profile);
    styles->levels[index] = (uint8_t)l2k_min_u32(levels, L2K_MAX_LEVELS);
    return parse_splits(state, segment->data + 3, styles->levels[index], &styles->of[index]);
}

/* Above the lowest resolution a precinct needs two samples where its resolution is split (B.6). */
static l2k_status check_precincts(const l2k_header_state *state, const l2k_component_coding *coding, uint32_t c)
{
    for (unsigned r = 1; r <= coding->levels; r++)
        if (coding->log2_precinct_width[r] < l2k_coding_halves_across(coding, r) ||
            coding->log2_precinct_height[r] < l2k_coding_halves_down(coding, r))
            return l2k_fail(state->context, L2K_ERROR_CORRUPT,
                            "component %u: a precinct of one sample above the lowest resolution", (unsigned)c);
    return L2K_OK;
}

static l2k_unsplit of_levels(l2k_unsplit unsplit, unsigned levels)
{
    const uint32_t mask = levels < 32 ? ((uint32_t)1 << levels) - 1 : UINT32_MAX;
    return (l2k_unsplit){unsplit.across & mask, unsplit.down & mask};
}

l2k_status l2k_find_splits(const l2k_header_state *state, uint32_t c)
{
    l2k_component_coding *coding = &state->coding->components[c];
    const l2k_split_styles *styles = &state->coding->splits;
    const unsigned index = coding->split_style, levels = state->coding->levels;
    coding->unsplit = (l2k_unsplit){0};
    if (index == 0)
        return L2K_OK;
    if (!styles->levels[index])
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: levels %u that no DFS describes", (unsigned)c,
                        index);
    if (levels > styles->levels[index])
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: a DFS of %u levels, but %u levels in COD",
                        (unsigned)c, styles->levels[index], levels);
    if (coding->user_precincts && coding->levels != levels)
        return l2k_fail(state->context, L2K_ERROR_CORRUPT, "component %u: precincts of %u levels, but %u levels in COD",
                        (unsigned)c, coding->levels, levels);
    coding->levels = (uint8_t)levels;
    coding->unsplit = of_levels(styles->of[index], levels);
    return check_precincts(state, coding, c);
}
