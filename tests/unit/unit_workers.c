/* How tiles pass through the hands of a team: in which order they begin and end, and what a failure leaves. Where CUDA
 * is asked for, its name alone decides about the slots, so no GPU is needed. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "support.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/run.h"
#include "codec/workers.h"
#include "transform/choice.h"

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

static l2k_siz siz_of(uint32_t tile_side, uint32_t components)
{
    return (l2k_siz){.grid = {.tile_width = tile_side, .tile_height = tile_side}, .num_components = components};
}

static l2k_status run(l2k_backend backend, uint32_t tiles, record *r)
{
    l2k_context context = {.threads = 1};
    l2k_workers workers = {0};
    l2k_siz siz = siz_of(1 << 15, 1);
    assert_int_equal(l2k_workers_prepare(&context, backend, &siz, tiles, &workers), L2K_OK);
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

#ifdef _OPENMP
static l2k_status note_level(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)team;
    (void)slot;
    (void)index;
    *(int *)job = omp_get_level();
    return L2K_OK;
}

/* There is nothing around the team that would make its own parallel regions nested ones. */
static void test_one_team(void **unused)
{
    (void)unused;
    int level = -1;
    l2k_context context = {.threads = 4};
    l2k_workers workers = {0};
    l2k_siz siz = siz_of(1 << 15, 1);
    assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_CPU, &siz, 3, &workers), L2K_OK);
    assert_int_equal(workers.num_teams, 1);
    assert_int_equal(l2k_workers_run(&workers, 3, &(l2k_tile_work){note_level, note_level}, &level), L2K_OK);
    assert_int_equal(level, 0);
    l2k_workers_release(&workers);
}
#endif

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
    assert_events(&r, "b0 b1 e0 b2 e1 ");
    r = fresh();
    r.fail_end = 1;
    assert_int_equal(run(L2K_BACKEND_CUDA, 9, &r), L2K_ERROR_BACKEND);
    assert_events(&r, "b0 b1 e0 b2 e1 ");
    r = fresh();
    r.fail_begin = 0;
    assert_int_equal(run(L2K_BACKEND_CPU, 9, &r), L2K_ERROR_CORRUPT);
    assert_events(&r, "b0 ");
}

/* A tile that was begun before the one that fails can still fail, and is then the first. */
static void test_lowest_of_slots(void **unused)
{
    (void)unused;
    record r = fresh();
    r.fail_begin = 2;
    r.fail_end = 1;
    assert_int_equal(run(L2K_BACKEND_CUDA, 9, &r), L2K_ERROR_BACKEND);
    assert_events(&r, "b0 b1 e0 b2 e1 ");
}

/* Two tiles or blocks, 5 and 6, that fail with both in hand, in either order. */
typedef struct race {
    unsigned last; /* the one that fails after the other */
    atomic_uint begun, failed;
} race;

static void sleep_ms(long milliseconds)
{
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

static l2k_status race_on(race *r, uint32_t index)
{
    if (index < 5 || index > 6)
        return L2K_OK;
    atomic_fetch_add(&r->begun, 1);
    while (atomic_load(&r->begun) < 2 || (index == r->last && atomic_load(&r->failed) == 0))
        sleep_ms(1);
    if (index == r->last)
        sleep_ms(20); /* until the other's failure has been noted */
    atomic_fetch_add(&r->failed, 1);
    return index == 5 ? L2K_ERROR_CORRUPT : L2K_ERROR_UNSUPPORTED;
}

static l2k_status race_tile(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)team, (void)slot;
    return race_on(job, index);
}

static l2k_status race_block(void *job, l2k_t1 *coder, unsigned thread, size_t index)
{
    (void)coder, (void)thread;
    return race_on(job, (uint32_t)index);
}

static l2k_status pass(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)job, (void)team, (void)slot, (void)index;
    return L2K_OK;
}

static void test_lowest_of_threads(void **unused)
{
    (void)unused;
    l2k_context context = {.threads = l2k_thread_count(2)};
    if (context.threads < 2)
        skip();
    l2k_workers by_tile = {0}, by_block = {0};
    l2k_siz small = siz_of(64, 1), large = siz_of(1 << 15, 1);
    assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_CPU, &small, 9, &by_tile), L2K_OK);
    assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_CPU, &large, 9, &by_block), L2K_OK);
    assert_true(by_tile.num_teams == 2 && by_block.num_teams == 1);
    for (unsigned last = 5; last <= 6; last++) {
        race begins = {.last = last}, ends = {.last = last}, blocks = {.last = last};
        assert_int_equal(l2k_workers_run(&by_tile, 9, &(l2k_tile_work){race_tile, pass}, &begins), L2K_ERROR_CORRUPT);
        assert_int_equal(l2k_workers_run(&by_tile, 9, &(l2k_tile_work){pass, race_tile}, &ends), L2K_ERROR_CORRUPT);
        assert_int_equal(l2k_team_run(&by_block.teams[0], 9, race_block, &blocks), L2K_ERROR_CORRUPT);
    }
    l2k_workers_release(&by_tile);
    l2k_workers_release(&by_block);
}

/* A tile that another thread is at while the caller has nothing left to do. */
typedef struct vigil {
    pthread_t caller;
    unsigned calls, stop_at; /* of the progress hook; the call that says no, 0 = none */
    atomic_bool begun;
    atomic_uint waited; /* calls that the long tile has seen, in all */
    bool heeds;         /* whether it ends when the others are told to stop */
} vigil;

static bool watch_over(void *user, double done)
{
    (void)done;
    vigil *v = user;
    assert_true(pthread_equal(v->caller, pthread_self()));
    atomic_fetch_add(&v->waited, 1);
    return ++v->calls != v->stop_at;
}

/* The first tile that another thread gets is the long one: until the hook has been asked four times, or for ten
 * seconds. */
static l2k_status long_tile(void *job, l2k_team *team, l2k_tile_slot *slot, uint32_t index)
{
    (void)slot, (void)index;
    vigil *v = job;
    if (pthread_equal(v->caller, pthread_self())) {
        while (!atomic_load(&v->begun))
            sleep_ms(1);
        return L2K_OK;
    }
    if (atomic_exchange(&v->begun, true))
        return L2K_OK;
    l2k_status status = L2K_OK;
    for (unsigned i = 0; i < 10000 && status == L2K_OK && (v->stop_at || atomic_load(&v->waited) < 4); i++) {
        sleep_ms(1);
        status = l2k_check_run(&team->context);
    }
    return v->heeds ? status : L2K_OK;
}

static void test_caller_asks_on(void **unused)
{
    (void)unused;
    for (unsigned variant = 0; variant < 3; variant++) {
        vigil v = {.caller = pthread_self(), .stop_at = variant ? 3 : 0, .heeds = variant == 1};
        l2k_run call;
        l2k_context context = {.hooks = {.progress = watch_over, .user = &v}, .threads = l2k_thread_count(2)};
        if (context.threads < 2)
            skip();
        context.run = &call;
        l2k_run_start(&call, 1, false);
        l2k_workers workers = {0};
        l2k_siz siz = siz_of(64, 1);
        assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_CPU, &siz, 9, &workers), L2K_OK);
        assert_int_equal(l2k_workers_run(&workers, 9, &(l2k_tile_work){long_tile, pass}, &v),
                         variant ? L2K_ERROR_CANCELLED : L2K_OK);
        assert_true(variant ? v.calls == v.stop_at : v.calls >= 4);
        l2k_workers_release(&workers);
    }
}

/* Many components make a small tile a large one. */
static void test_components(void **unused)
{
    (void)unused;
    const struct {
        uint32_t side, components;
        bool by_tile;
    } cases[] = {{1448, 1, true}, {1448, 3, true}, {1449, 1, false}, {1024, 6, true}, {1024, 7, false}};
    l2k_context context = {.threads = l2k_thread_count(2)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        l2k_workers workers = {0};
        l2k_siz siz = siz_of(cases[i].side, cases[i].components);
        assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_CPU, &siz, 100, &workers), L2K_OK);
        assert_int_equal(workers.num_teams, cases[i].by_tile ? context.threads : 1);
        l2k_workers_release(&workers);
    }
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
    l2k_workers workers = {0};
    record r = fresh();
    l2k_siz siz = siz_of(64, 1);
    assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_CUDA, &siz, 100, &workers), L2K_OK);
    assert_int_equal(workers.num_teams, context.threads);
    assert_int_equal(workers.num_slots, 2 * context.threads);
    assert_int_equal(l2k_workers_run(&workers, 100, &(l2k_tile_work){check_slot, count_end}, &r), L2K_OK);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(r.ended[i], 1);
    l2k_workers_release(&workers);
}

/* AUTO: two slots where a tile can reach the threshold and there is a GPU. */
static unsigned slots_under_auto(int64_t gpu_min_samples, uint32_t tile_side, uint32_t components, uint32_t tiles)
{
    l2k_choice choice;
    l2k_choice_start(&choice, gpu_min_samples);
    l2k_context context = {.threads = 1, .choice = &choice};
    l2k_siz siz = siz_of(tile_side, components);
    l2k_workers workers = {0};
    assert_int_equal(l2k_workers_prepare(&context, L2K_BACKEND_AUTO, &siz, tiles, &workers), L2K_OK);
    unsigned slots = workers.num_slots;
    l2k_workers_release(&workers);
    return slots;
}

static void test_auto(void **unused)
{
    (void)unused;
    char text[200];
    unsigned slots = l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text) ? 2 : 1;
    assert_int_equal(slots_under_auto(300, 10, 3, 2), slots);
    assert_int_equal(slots_under_auto(301, 10, 3, 2), 1);
    assert_int_equal(slots_under_auto(300, 10, 3, 1), 1);
    assert_int_equal(slots_under_auto(INT64_MAX, UINT32_MAX, 16384, 2), slots); /* no overflow */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_slot),
#ifdef _OPENMP
        cmocka_unit_test(test_one_team),
#endif
        cmocka_unit_test(test_two_slots),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_lowest_of_slots), cmocka_unit_test(test_lowest_of_threads),
        cmocka_unit_test(test_caller_asks_on),  cmocka_unit_test(test_components),
        cmocka_unit_test(test_teams),           cmocka_unit_test(test_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
