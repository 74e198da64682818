/* Progression order changes (POC): packets reordered by random changes decode to the same picture. */
#include "stream_support.h"

enum { RESOLUTIONS = 4, COMPONENTS = 3, LAYERS = 4, MOST_CHANGES = 40 };

typedef struct change {
    uint32_t resolution[2], component[2], layers, order;
} change;

/* The packet's place in the original file, which is LRCP with one precinct per resolution. */
static size_t place_in_file(const uint32_t at[3])
{
    return (at[0] * RESOLUTIONS + at[1]) * COMPONENTS + at[2];
}

/* The loops of one progression as in B.12.1, without position since there is one precinct. L, R, C are 0, 1, 2. */
static void run_change(const change *c, bool *done, size_t *sequence, size_t *count)
{
    static const uint8_t loops[5][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 1, 0}};
    const uint32_t from[3] = {0, c->resolution[0], c->component[0]};
    const uint32_t to[3] = {c->layers, c->resolution[1], c->component[1]};
    const uint8_t *l = loops[c->order];
    uint32_t at[3];
    for (at[l[0]] = from[l[0]]; at[l[0]] < to[l[0]]; at[l[0]]++)
        for (at[l[1]] = from[l[1]]; at[l[1]] < to[l[1]]; at[l[1]]++)
            for (at[l[2]] = from[l[2]]; at[l[2]] < to[l[2]]; at[l[2]]++) {
                size_t place = place_in_file(at);
                if (!done[place])
                    sequence[(*count)++] = place;
                done[place] = true;
            }
}

static change random_change(bool everything)
{
    change c = {{0, RESOLUTIONS}, {0, COMPONENTS}, LAYERS, random_below(5)};
    if (everything)
        return c;
    c.resolution[0] = random_below(RESOLUTIONS);
    c.resolution[1] = c.resolution[0] + 1 + random_below(RESOLUTIONS - c.resolution[0]);
    c.component[0] = random_below(COMPONENTS);
    c.component[1] = c.component[0] + 1 + random_below(COMPONENTS - c.component[0]);
    c.layers = 1 + random_below(LAYERS);
    return c;
}

static memory_file poc_of(const change *changes, size_t count)
{
    memory_file out = memory_of(NULL, 0);
    edit_put(&out, 0xFF5F, 2);
    edit_put(&out, (uint32_t)(2 + 7 * count), 2);
    for (size_t i = 0; i < count; i++) {
        edit_put(&out, changes[i].resolution[0], 1);
        edit_put(&out, changes[i].component[0], 1);
        /* LYEpoc may exceed the number of layers. */
        edit_put(&out, changes[i].layers < LAYERS ? changes[i].layers : LAYERS + random_below(3), 2);
        edit_put(&out, changes[i].resolution[1], 1);
        edit_put(&out, changes[i].component[1], 1);
        edit_put(&out, changes[i].order, 1);
    }
    return out;
}

/* One POC in the main header or in the tile's, where it overrides a useless one in the main header. */
static void check_changes(const picture *p, const edit *original, bool in_tile)
{
    static edit e;
    change changes[MOST_CHANGES];
    bool done[RESOLUTIONS * COMPONENTS * LAYERS] = {false};
    size_t sequence[RESOLUTIONS * COMPONENTS * LAYERS], count = 0, n = random_below(6);
    for (size_t i = 0; i <= n; i++) {
        changes[i] = random_change(i == n);
        run_change(&changes[i], done, sequence, &count);
    }
    assert_int_equal(count, original->num_packets);
    e = *original;
    for (size_t i = 0; i < count; i++)
        e.packets[i] = original->packets[sequence[i]];
    memory_file poc = poc_of(changes, n + 1), other = poc_of(&(change){{0, 1}, {0, 1}, 1, 4}, 1);
    edit_plan plan = {.sop = true, .eph = true, .main_extra = {poc.data, poc.size}};
    if (in_tile) {
        plan.part_extra = plan.main_extra;
        plan.main_extra = (edit_bytes){other.data, other.size};
    }
    memory_file changed = edit_write(&e, &plan);
    expect(p, &changed, 0);
    free(changed.data);
    free(poc.data);
    free(other.data);
}

static void test_changes(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 64, 48, COMPONENTS);
    l2k_encoder *encoder = new_encoder(RESOLUTIONS - 1);
    set_layers(encoder, LAYERS);
    memory_file file = finish_encoder(encoder, &p);
    edit_open(&e, &file);
    for (unsigned i = 0; i < 200; i++)
        check_changes(&p, &e, i & 1);
    free(file.data);
    picture_free(&p);
}

/* The changes of a tile in two tile-part headers; the second continues where the first ended. */
static void test_changes_in_parts(void **unused)
{
    (void)unused;
    static edit e;
    picture p;
    picture_make(&p, 40, 40, 1);
    memory_file file = finish_encoder(new_encoder(3), &p), out = memory_of(NULL, 0);
    memory_file poc[2] = {poc_of(&(change){{0, 2}, {0, 1}, 1, 0}, 1), poc_of(&(change){{2, 4}, {0, 1}, 1, 3}, 1)};
    edit_open(&e, &file);
    assert_int_equal(e.num_packets, 4);
    edit_append(&out, e.main);
    for (unsigned i = 0; i < 2; i++) {
        edit_part part = {.index = i, .first = 2 * i, .count = 2};
        memory_file bytes = memory_of(NULL, 0);
        edit_put_part(&e, &(edit_plan){.eph = true}, &part, false, &bytes);
        uint32_t size = (uint32_t)(bytes.size + poc[i].size);
        edit_append(&out, (edit_bytes){bytes.data, 6});
        edit_put(&out, size, 4);
        edit_append(&out, (edit_bytes){bytes.data + 10, 2});
        edit_append(&out, (edit_bytes){poc[i].data, poc[i].size});
        edit_append(&out, (edit_bytes){bytes.data + 12, bytes.size - 12});
        free(bytes.data);
    }
    edit_put(&out, 0xFFD9, 2);
    expect(&p, &out, 0);
    free(out.data);
    free(poc[0].data);
    free(poc[1].data);
    free(file.data);
    picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes), cmocka_unit_test(test_changes_in_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
