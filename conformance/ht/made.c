/* Codestreams of several HT sets in a code-block (Annex B of T.814). A file of its own, because the unit tests have
 * pictures of another kind. */
#define L2K_OWN_ASSERTS
#include "ht_sets.h"

#include "conformance/ht/made.h"

struct ht_made {
    ht_sets block;
};

ht_made *ht_made_new(uint64_t seed, unsigned style)
{
    static const uint8_t shapes[][2] = {{64, 64}, {21, 13}, {4, 9}, {40, 5}, {3, 64}, {32, 32}};
    ht_made *made = malloc(sizeof *made);
    assert_non_null(made);
    random_state = seed;
    ht_prepare();
    const uint8_t *shape = shapes[random_below(6)];
    ht_sets_make(&made->block, shape[0], shape[1], style, false);
    return made;
}

void ht_made_free(ht_made *made)
{
    ht_sets_free(&made->block);
    free(made);
}

unsigned ht_made_layers(const ht_made *made)
{
    return made->block.stream.num_layers;
}

uint8_t *ht_made_file(const ht_made *made, size_t *size)
{
    memory_file file = ht_write(&made->block.stream);
    *size = file.size;
    return file.data;
}

static ht_counting counting(const ht_made *made, unsigned layers)
{
    return ht_sets_after(&made->block, made->block.ends[layers - 1]);
}

uint8_t *ht_made_alone(const ht_made *made, unsigned layers, bool placeholders, size_t *size)
{
    ht_counting counts = counting(made, layers);
    if (!counts.passes)
        return NULL;
    if (placeholders && !made->block.sets[counts.set].refinement_bytes)
        counts.passes = 1;
    ht_stream alone = ht_sets_alone(&made->block, counts, placeholders);
    memory_file file = ht_write(&alone);
    *size = file.size;
    return file.data;
}

int32_t ht_made_sample(const ht_made *made, unsigned layers, size_t i)
{
    return ht_sets_value(&made->block, counting(made, layers), i);
}
