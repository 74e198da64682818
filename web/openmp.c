/* OpenMP for emscripten, which has none: the functions that clang calls for the library's pragmas, on threads that wait
 * for the next parallel region. One region runs at a time; those inside it, and all where no thread can be had, run on
 * one thread. */
#include <omp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_THREADS = 64, MOST_ARGUMENTS = 7 };

typedef void region_function(void); /* with two int32_t * and as many addresses as clang says */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begins = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static unsigned num_workers;
static struct {
    region_function *function;
    int num_arguments;
    void *const *arguments;
    unsigned threads, busy, number;
    _Atomic uint64_t taken; /* iterations of a loop; in the upper half, the number of this loop in the region */
} region;

static _Thread_local struct {
    int32_t index;
    unsigned asked;      /* threads for the next region */
    unsigned depth;      /* regions around */
    bool shares;         /* the outermost one with other threads */
    uint32_t loop, last; /* number and last iteration of its loop */
    uint32_t left;       /* iterations of a loop that this thread runs alone */
} self;

static bool is_alone(void)
{
    return self.depth != 1 || !self.shares;
}

#define P void *
#define CALL(n, types, ...)                                                                                            \
    case n:                                                                                                            \
        ((void (*)(int32_t *, int32_t *, types))function)(&index, &bound, __VA_ARGS__);                                \
        break
#define THREE P, P, P
#define FOUR  THREE, P
#define FIVE  FOUR, P
#define SIX   FIVE, P
#define SEVEN SIX, P

/* WebAssembly checks the number of arguments of a call. */
static void call(bool shares, region_function *function, int num_arguments, void *const *a)
{
    int32_t index = self.index, bound = 0;
    self.depth++;
    self.shares |= shares;
    self.loop = shares ? 0 : self.loop;
    switch (num_arguments) {
        CALL(3, THREE, a[0], a[1], a[2]);
        CALL(4, FOUR, a[0], a[1], a[2], a[3]);
        CALL(5, FIVE, a[0], a[1], a[2], a[3], a[4]);
        CALL(6, SIX, a[0], a[1], a[2], a[3], a[4], a[5]);
        CALL(7, SEVEN, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    default:
        __builtin_trap();
    }
    self.depth--;
    self.shares &= !shares;
}

/* ---- Threads ------------------------------------------------------------------------------------------------- */

static void *serve(void *index)
{
    unsigned seen = 0;
    self.index = (int32_t)(intptr_t)index;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (region.number == seen || (unsigned)self.index >= region.threads) {
            seen = region.number;
            pthread_cond_wait(&begins, &lock);
        }
        seen = region.number;
        pthread_mutex_unlock(&lock);
        call(true, region.function, region.num_arguments, region.arguments);
        pthread_mutex_lock(&lock);
        if (--region.busy == 0)
            pthread_cond_signal(&ended);
    }
}

/* How many threads there are for `wanted`, with the caller. The page makes their workers beforehand. */
static unsigned have_threads(unsigned wanted)
{
    pthread_t thread;
    while (num_workers + 1 < wanted && num_workers + 1 < MOST_THREADS &&
           pthread_create(&thread, NULL, serve, (void *)(intptr_t)(num_workers + 1)) == 0)
        num_workers++;
    return num_workers + 1 < wanted ? num_workers + 1 : wanted;
}

int omp_get_max_threads(void)
{
    return self.depth ? 1 : (int)have_threads(MOST_THREADS);
}

int omp_get_thread_num(void)
{
    return is_alone() ? 0 : self.index;
}

/* ---- Regions ------------------------------------------------------------------------------------------------- */

#define UNUSED __attribute__((unused))

int32_t __kmpc_global_thread_num(UNUSED void *place)
{
    return self.index;
}

void __kmpc_push_num_threads(UNUSED void *place, UNUSED int32_t thread, int32_t threads)
{
    self.asked = (unsigned)threads;
}

void __kmpc_serialized_parallel(UNUSED void *place, UNUSED int32_t thread)
{
    self.depth++;
}

void __kmpc_end_serialized_parallel(UNUSED void *place, UNUSED int32_t thread)
{
    self.depth--;
}

void __kmpc_fork_call(UNUSED void *place, int32_t num_arguments, region_function *function, ...)
{
    const unsigned threads = self.depth ? 1 : have_threads(self.asked ? self.asked : MOST_THREADS);
    void *arguments[MOST_ARGUMENTS];
    va_list list;
    self.asked = 0;
    va_start(list, function);
    for (int i = 0; i < num_arguments && i < MOST_ARGUMENTS; i++)
        arguments[i] = va_arg(list, void *);
    va_end(list);
    if (threads > 1) {
        pthread_mutex_lock(&lock);
        region.function = function;
        region.num_arguments = num_arguments;
        region.arguments = arguments;
        region.threads = threads;
        region.busy = threads - 1;
        region.taken = 0;
        region.number++;
        pthread_cond_broadcast(&begins);
        pthread_mutex_unlock(&lock);
    }
    call(threads > 1, function, num_arguments, arguments);
    pthread_mutex_lock(&lock);
    while (threads > 1 && region.busy)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- Loops: schedule(dynamic) of unsigned iterations from 0 on ---------------------------------------------------- */

void __kmpc_dispatch_init_4u(UNUSED void *place, UNUSED int32_t thread, UNUSED int32_t schedule, UNUSED uint32_t first,
                             uint32_t last, UNUSED int32_t stride, UNUSED int32_t chunk)
{
    if (is_alone()) {
        self.left = last + 1;
        return;
    }
    self.loop++;
    self.last = last;
}

/* Threads may be in different loops: those that are ahead prove that nothing of the earlier ones is left. */
int32_t __kmpc_dispatch_next_4u(UNUSED void *place, UNUSED int32_t thread, int32_t *is_last, uint32_t *first,
                                uint32_t *last, int32_t *stride)
{
    uint64_t seen = region.taken;
    uint32_t i = 0;
    *is_last = 0;
    *stride = 1;
    if (is_alone()) {
        *first = 0;
        *last = self.left - 1;
        self.left = 0;
        return *last != UINT32_MAX;
    }
    do {
        i = seen >> 32 == self.loop ? (uint32_t)seen : 0;
        if (seen >> 32 > self.loop || i > self.last)
            return 0;
    } while (!atomic_compare_exchange_weak(&region.taken, &seen, (uint64_t)self.loop << 32 | (i + 1)));
    *first = *last = i;
    return 1;
}
