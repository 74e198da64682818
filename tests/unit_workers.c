/* How tiles pass through the hands of a team: in which order they begin and end, and what a failure leaves. The
 * backend's name alone decides about the slots, so no GPU is needed. */
#include "support.h"

#include "codec/workers.h"

enum { MAX_EVENTS = 256 };

typedef struct event {
    char what; /* b begin, e end */
    uint32_t tile;
    unsigned slot;
} event;

typedef struct record {
    event events[MAX_EVENTS];
    unsigned count;
    uint32_t fail_begin, fail_end; /* tiles */
    unsigned ended[MAX_EVENTS];    /* per tile */
} record;

static l2k_status begin(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)team;
    record *r = job;
    r->events[r->count++] = (event){'b', index, slot->number};
    return index == r->fail_begin ? L2K_ERROR_CORRUPT : L2K_OK;
}

static l2k_status end(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)team;
    record *r = job;
    r->events[r->count++] = (event){'e', index, slot->number};
    return index == r->fail_end ? L2K_ERROR_BACKEND : L2K_OK;
}

static l2k_status run(l2k_backend backend, uint32_t tiles, record *r)
{
    l2k_context context = {.threads = 1};
    l2k_workers workers;
    assert_int_equal(l2k_workers_create(&context, backend, tiles, (uint64_t)1 << 30, &workers), L2K_OK);
    assert_int_equal(workers.num_teams, 1);
    l2k_status status = l2k_workers_run(&workers, tiles, &(l2k_tile_work){begin, end}, r);
    l2k_workers_release(&workers);
    return status;
}

static void assert_events(const record *r, const char *expected)
{
    char text[3 * MAX_EVENTS + 1] = "";
    for (unsigned i = 0; i < r->count; i++)
        snprintf(text + 3 * i, 4, "%c%u ", r->events[i].what, (unsigned)r->events[i].tile);
    assert_string_equal(text, expected);
}

static record fresh(void)
{
    return (record){.fail_begin = UINT32_MAX, .fail_end = UINT32_MAX};
}

static void test_one_slot(void **unused)
{
    (void)unused;
    record r = fresh();
    assert_int_equal(run(L2K_BACKEND_CPU, 3, &r), L2K_OK);
    assert_events(&r, "b0 e0 b1 e1 b2 e2 ");
    for (unsigned i = 0; i < r.count; i++)
        assert_int_equal(r.events[i].slot, 0);
}

static void test_two_slots(void **unused)
{
    (void)unused;
    record r = fresh();
    assert_int_equal(run(L2K_BACKEND_CUDA, 4, &r), L2K_OK);
    assert_events(&r, "b0 b1 e0 b2 e1 b3 e2 e3 ");
    for (unsigned i = 0; i < r.count; i++)
        assert_int_equal(r.events[i].slot, r.events[i].tile % 2);
    r = fresh();
    assert_int_equal(run(L2K_BACKEND_CUDA, 1, &r), L2K_OK);
    assert_events(&r, "b0 e0 ");
    r = fresh();
    assert_int_equal(run(L2K_BACKEND_CUDA, 0, &r), L2K_OK);
    assert_events(&r, "");
}

static void test_failures(void **unused)
{
    (void)unused;
    record r = fresh();
    r.fail_begin = 2;
    assert_int_equal(run(L2K_BACKEND_CUDA, 9, &r), L2K_ERROR_CORRUPT);
    assert_events(&r, "b0 b1 e0 b2 ");
    r = fresh();
    r.fail_end = 1;
    assert_int_equal(run(L2K_BACKEND_CUDA, 9, &r), L2K_ERROR_BACKEND);
    assert_events(&r, "b0 b1 e0 b2 e1 ");
    r = fresh();
    r.fail_begin = 0;
    assert_int_equal(run(L2K_BACKEND_CPU, 9, &r), L2K_ERROR_CORRUPT);
    assert_events(&r, "b0 ");
}

/* Small tiles: a team per thread, every tile ended once, slots numbered across all teams. */
static l2k_status count_end(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)slot;
    record *r = job;
    assert_int_equal(team->context.threads, 1);
#pragma omp atomic update
    r->ended[index]++;
    return L2K_OK;
}

static l2k_status check_slot(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)job, (void)index;
    bool own = slot == &team->slots[0] || slot == &team->slots[1];
    return own && slot->number / 2 == team->first_thread ? L2K_OK : L2K_ERROR_STATE;
}

static void test_teams(void **unused)
{
    (void)unused;
    l2k_context context = {.threads = l2k_thread_count(4)};
    l2k_workers workers;
    record r = fresh();
    assert_int_equal(l2k_workers_create(&context, L2K_BACKEND_CUDA, 100, 4096, &workers), L2K_OK);
    assert_int_equal(workers.num_teams, context.threads);
    assert_int_equal(workers.num_slots, 2 * context.threads);
    assert_int_equal(l2k_workers_run(&workers, 100, &(l2k_tile_work){check_slot, count_end}, &r), L2K_OK);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(r.ended[i], 1);
    l2k_workers_release(&workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_slot),
        cmocka_unit_test(test_two_slots),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_teams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
