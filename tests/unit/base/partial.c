/* Parts of a file (base/partial.h): what is needed is there, whatever was read and forgotten before; nothing is read
 * twice that is there; and memory for it is counted. */
#include "support.h"

#include <string.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/partial.h"
#include "base/pool.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/resource.h>
#endif

enum { BYTES = 300000, FAIL_FROM = 250000 };

typedef struct model {
    l2k_pool pool;
    l2k_context context;
    l2k_partial partial;
    bool there[BYTES];
    uint64_t read, twice;
    int failure; /* what read_at returns behind FAIL_FROM */
    unsigned failures;
} model;

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 13 | 1);
}

static int read_at(void *user, uint64_t offset, void *buffer, size_t bytes)
{
    model *m = user;
    assert_true(offset + bytes <= BYTES && bytes > 0);
    if (m->failure && offset + bytes > FAIL_FROM) {
        m->failures++;
        return m->failure;
    }
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)buffer)[i] = byte_at(offset + i);
        m->twice += m->there[offset + i];
        m->there[offset + i] = true;
    }
    m->read += bytes;
    return 0;
}

static void open_model(model *m, uint64_t limit)
{
    memset(m, 0, sizeof *m);
    l2k_pool_init(&m->pool, limit);
    m->context = (l2k_context){.pool = &m->pool, .threads = 1};
    assert_int_equal(l2k_partial_open(&m->context, &(l2k_file){BYTES, read_at, m}, &m->partial), L2K_OK);
    m->context.partial = &m->partial;
}

static void close_model(model *m)
{
    l2k_partial_close(&m->partial);
    assert_int_equal(m->pool.in_use, 0);
    l2k_pool_end(&m->pool, &m->context.hooks);
}

static uint64_t count_there(const model *m)
{
    uint64_t count = 0;
    for (size_t i = 0; i < BYTES; i++)
        count += m->there[i];
    return count;
}

static void need(model *m, uint64_t from, uint64_t to)
{
    const uint8_t *data = m->partial.data;
    assert_int_equal(l2k_need(&m->context, data + from, data + to), L2K_OK);
    for (uint64_t i = from; i < to; i++)
        assert_true(data[i] == byte_at(i));
}

/* Whole pages inside go; a model of that follows what is there. */
static void forget(model *m, uint64_t from, uint64_t to)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = (from + page - 1) / page * page,
                   end = to / page * page;
    l2k_partial_forget(&m->partial, m->partial.data + from, m->partial.data + to);
    for (uint64_t i = start; i < end; i++)
        m->there[i] = false;
    assert_int_equal(l2k_partial_present(&m->partial), count_there(m));
}

static void test_random(void **unused)
{
    (void)unused;
    static model m;
    for (unsigned round = 0; round < 20; round++) {
        open_model(&m, UINT64_MAX);
        for (unsigned n = 0; n < 200; n++) {
            const uint64_t from = random_below(BYTES - 1), most = random_below(4) ? 3000 : BYTES,
                           to = from + 1 + random_below(most < BYTES - from ? most : BYTES - from);
            if (random_below(8))
                need(&m, from, to);
            else
                forget(&m, from, to);
        }
        assert_int_equal(l2k_partial_present(&m.partial), count_there(&m));
        assert_int_equal(m.twice, 0);
        assert_true(m.pool.in_use >= count_there(&m) && m.pool.in_use < count_there(&m) + 100000);
        close_model(&m);
    }
}

/* What a failed call has read does not count, and can be read again. */
static void test_failures(void **unused)
{
    (void)unused;
    static model m;
    open_model(&m, UINT64_MAX);
    need(&m, 100, 5000);
    need(&m, 200000, 240000);
    const uint64_t before = m.pool.in_use;
    m.failure = -1;
    assert_int_equal(l2k_need(&m.context, m.partial.data, m.partial.data + BYTES), L2K_ERROR_IO);
    assert_int_equal(m.pool.in_use, before);
    m.failure = 0;
    need(&m, 0, BYTES);
    assert_int_equal(l2k_partial_present(&m.partial), BYTES);
    close_model(&m);
}

/* Where bytes come later, all parts of a list are asked for; otherwise the first failure ends it. */
static void test_later(void **unused)
{
    (void)unused;
    static model m;
    for (int failure = -1; failure <= 1; failure += 2) {
        open_model(&m, UINT64_MAX);
        m.failure = failure;
        l2k_need_list list = {.context = &m.context};
        for (uint64_t at = FAIL_FROM; at < BYTES; at += 10000)
            l2k_need_add(&list, m.partial.data + at, 100);
        assert_int_equal(l2k_need_listed(&list), L2K_ERROR_IO);
        assert_int_equal(m.failures, failure > 0 ? 5 : 1);
        assert_int_equal(l2k_comes_later(&m.context), failure > 0);
        m.failure = 0;
        need(&m, 0, BYTES);
        close_model(&m);
    }
}

static void test_limit(void **unused)
{
    (void)unused;
    static model m;
    open_model(&m, 120000);
    need(&m, 0, 60000);
    assert_int_equal(l2k_need(&m.context, m.partial.data + 60000, m.partial.data + 160000), L2K_ERROR_LIMIT);
    need(&m, 60000, 100000);
    forget(&m, 0, 100000);
    need(&m, 200000, 290000);
    close_model(&m);
}

#if defined(__linux__) && defined(__x86_64__)

/* Where the system has huge pages for who asks, 64 MiB take one fault for each of them: far fewer than pages. */
static void test_huge_pages(void **unused)
{
    (void)unused;
    enum { SIZE = 64 << 20, HUGE_PAGE = 1 << 21 };
    char setting[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!file || !fgets(setting, sizeof setting, file) || strstr(setting, "[never]"))
        skip();
    fclose(file);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    char *block = l2k_pages_allocate(SIZE);
    assert_non_null(block);
    assert_true((uintptr_t)block % HUGE_PAGE == 0);
    memset(block, 1, SIZE);
    getrusage(RUSAGE_SELF, &after);
    free(block);
    assert_in_range(after.ru_minflt - before.ru_minflt, 0, SIZE / 4096 / 2);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__linux__) && defined(__x86_64__)
        cmocka_unit_test(test_huge_pages),
#endif
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
