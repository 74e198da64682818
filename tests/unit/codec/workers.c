/* Tiles in worker groups: the order in which they begin and end, and the state after a failure. If CUDA is requested,
 * the request alone gives worker groups two slots, so no GPU is needed. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include "support.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/run.h"
#include "codec/blocks/block_coder.h"
#include "codec/run/workers.h"
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
    const l2k_worker_group *groups;
} record;

static l2k_status begin(void *call, l2k_worker_group *group, const l2k_job *job)
{
    record *r = call;
    (void)group;
    r->events[r->count++] = (event){'b', job->tile, job->slot->number};
    return job->tile == r->fail_begin ? L2K_ERROR_CORRUPT : L2K_OK;
}

static l2k_status end(void *call, l2k_worker_group *group, const l2k_job *job)
{
    record *r = call;
    (void)group;
    r->events[r->count++] = (event){'e', job->tile, job->slot->number};
    return job->tile == r->fail_end ? L2K_ERROR_BACKEND : L2K_OK;
}

static l2k_status prepare(const l2k_context *context, l2k_backend backend, const l2k_siz *siz, uint32_t tiles,
                          l2k_workers *workers)
{
    return l2k_workers_prepare(context, backend, &l2k_mq_on_cpu, siz, tiles, l2k_workers_by_tile(context, siz, tiles),
                               true, workers);
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
    assert_int_equal(prepare(&context, backend, &siz, tiles, &workers), L2K_OK);
    assert_int_equal(workers.num_groups, 1);
    l2k_status status = l2k_workers_run(&workers, tiles, begin, end, r);
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
static l2k_status see_level(void *call, l2k_worker_group *group, const l2k_job *job)
{
    (void)group, (void)job;
    *(int *)call = omp_get_level();
    return L2K_OK;
}

/* A single worker group does not run inside a parallel region, which would make its own regions nested ones. */
static void test_one_group(void **unused)
{
    (void)unused;
    int level = -1;
    l2k_context context = {.threads = 4};
    l2k_workers workers = {0};
    l2k_siz siz = siz_of(1 << 15, 1);
    assert_int_equal(prepare(&context, L2K_BACKEND_CPU, &siz, 3, &workers), L2K_OK);
    assert_int_equal(workers.num_groups, 1);
    assert_int_equal(l2k_workers_run(&workers, 3, see_level, NULL, &level), L2K_OK);
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

/* A tile that began before the failing one can still fail, and its failure then comes first. */
static void test_lowest_of_slots(void **unused)
{
    (void)unused;
    record r = fresh();
    r.fail_begin = 2;
    r.fail_end = 1;
    assert_int_equal(run(L2K_BACKEND_CUDA, 9, &r), L2K_ERROR_BACKEND);
    assert_events(&r, "b0 b1 e0 b2 e1 ");
}

/* Two tiles or blocks, 5 and 6, that fail while both are being worked on, in either order. */
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
        sleep_ms(20); /* until the other's failure has been recorded */
    atomic_fetch_add(&r->failed, 1);
    return index == 5 ? L2K_ERROR_CORRUPT : L2K_ERROR_UNSUPPORTED;
}

static l2k_status race_tile(void *call, l2k_worker_group *group, const l2k_job *job)
{
    (void)group;
    return race_on(call, job->tile);
}

static l2k_block race_blocks[9];
static race block_race;

static l2k_status race_block(const l2k_block_batch *batch, const l2k_block_place *place, size_t count, void *worker,
                             const l2k_context *context, l2k_arena *arena)
{
    (void)batch, (void)count, (void)worker, (void)context, (void)arena;
    return race_on(&block_race, (uint32_t)(place->block - race_blocks));
}

static void free_worker(void *worker)
{
    l2k_release(*(const l2k_context **)worker, worker);
}

static void test_lowest_of_threads(void **unused)
{
    (void)unused;
    static const l2k_block_coder_table table = {.worker_bytes = sizeof(l2k_context *), .free_worker = free_worker};
    l2k_context context = {.threads = l2k_thread_count(2)};
    if (context.threads < 2)
        skip();
    l2k_workers by_tile = {0};
    l2k_block_coder coder = {.table = &table, .context = &context};
    l2k_siz small = siz_of(64, 1);
    l2k_block_place places[9];
    l2k_block_batch batch = {.places = places, .num_places = 9};
    for (int i = 0; i < 9; i++)
        places[i] = (l2k_block_place){&race_blocks[i], NULL};
    assert_int_equal(prepare(&context, L2K_BACKEND_CPU, &small, 9, &by_tile), L2K_OK);
    assert_int_equal(l2k_cpu_coder_create(&coder), L2K_OK);
    assert_int_equal(by_tile.num_groups, 2);
    for (unsigned last = 5; last <= 6; last++) {
        race begins = {.last = last}, ends = {.last = last};
        block_race = (race){.last = last};
        assert_int_equal(l2k_workers_run(&by_tile, 9, race_tile, NULL, &begins), L2K_ERROR_CORRUPT);
        assert_int_equal(l2k_workers_run(&by_tile, 9, NULL, race_tile, &ends), L2K_ERROR_CORRUPT);
        assert_int_equal(l2k_cpu_coder_run(&coder, &batch, 1, race_block), L2K_ERROR_CORRUPT);
    }
    l2k_workers_release(&by_tile);
    l2k_cpu_coder_free(&coder);
}

/* A tile that another thread works on while the caller has nothing left to do. */
typedef struct vigil {
    pthread_t caller;
    unsigned calls, stop_at; /* of the progress hook; the call that returns false, 0 = none */
    atomic_bool begun;
    atomic_uint waited; /* calls during the long tile */
    bool heeds;         /* whether it ends when the others stop */
} vigil;

static bool watch_over(void *user, double done)
{
    (void)done;
    vigil *v = user;
    assert_true(pthread_equal(v->caller, pthread_self()));
    atomic_fetch_add(&v->waited, 1);
    return ++v->calls != v->stop_at;
}

/* The first tile that another thread gets is the long one: it lasts until the hook has been called four times, or for
 * ten seconds. */
static l2k_status long_tile(void *call, l2k_worker_group *group, const l2k_job *job)
{
    vigil *v = call;
    (void)job;
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
        status = l2k_poll(&group->engine.context, L2K_POLL_NOW);
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
        assert_int_equal(prepare(&context, L2K_BACKEND_CPU, &siz, 9, &workers), L2K_OK);
        assert_int_equal(l2k_workers_run(&workers, 9, long_tile, NULL, &v), variant ? L2K_ERROR_CANCELLED : L2K_OK);
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
        assert_int_equal(prepare(&context, L2K_BACKEND_CPU, &siz, 100, &workers), L2K_OK);
        assert_int_equal(workers.num_groups, cases[i].by_tile ? context.threads : 1);
        l2k_workers_release(&workers);
    }
}

/* Small tiles: a worker group per thread, every tile ended once, slots numbered across all worker groups. */
static l2k_status check_slot(void *call, l2k_worker_group *group, const l2k_job *job)
{
    const record *r = call;
    const bool own = job->slot == &group->slots[0] || job->slot == &group->slots[1];
    const bool numbered = job->slot->number / 2 == (unsigned)(group - r->groups);
    return own && numbered && group->engine.context.threads == 1 ? L2K_OK : L2K_ERROR_STATE;
}

static l2k_status count_end(void *call, l2k_worker_group *group, const l2k_job *job)
{
    record *r = call;
#pragma omp atomic update
    r->ended[job->tile]++;
    return check_slot(call, group, job);
}

static void test_groups(void **unused)
{
    (void)unused;
    l2k_context context = {.threads = l2k_thread_count(4)};
    l2k_workers workers = {0};
    record r = fresh();
    l2k_siz siz = siz_of(64, 1);
    assert_int_equal(prepare(&context, L2K_BACKEND_CUDA, &siz, 100, &workers), L2K_OK);
    assert_int_equal(workers.num_groups, context.threads);
    assert_int_equal(workers.num_slots, 2 * context.threads);
    r.groups = workers.groups;
    assert_int_equal(l2k_workers_run(&workers, 100, check_slot, count_end, &r), L2K_OK);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(r.ended[i], 1);
    l2k_workers_release(&workers);
}

/* AUTO: two slots if a tile can reach the threshold and there is a GPU. */
static unsigned slots_under_auto(int64_t gpu_min_samples, uint32_t tile_side, uint32_t components, uint32_t tiles)
{
    l2k_choice choice;
    l2k_choice_start(&choice, gpu_min_samples);
    l2k_context context = {.threads = 1, .choice = &choice};
    l2k_siz siz = siz_of(tile_side, components);
    l2k_workers workers = {0};
    assert_int_equal(prepare(&context, L2K_BACKEND_AUTO, &siz, tiles, &workers), L2K_OK);
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
        cmocka_unit_test(test_one_group),
#endif
        cmocka_unit_test(test_two_slots),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_lowest_of_slots), cmocka_unit_test(test_lowest_of_threads),
        cmocka_unit_test(test_caller_asks_on),  cmocka_unit_test(test_components),
        cmocka_unit_test(test_groups),          cmocka_unit_test(test_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
