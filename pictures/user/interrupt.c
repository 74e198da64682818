/* Signals: removes temporary files and ends the command by the signal, at once or when the library has stopped. */
#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "pictures/user/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Places are reused, but never freed, as a signal handler may be reading them. */
typedef struct place {
    struct place *next;
    size_t room; /* size of `name` */
    atomic_bool used;
    char name[];
} place;

static _Atomic(place *) places;
static atomic_size_t unused;                             /* number of places free for reuse */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* between registering threads; the handler takes no lock */
static atomic_int caught;                                /* the first signal, or 0 */
static atomic_int at_work;                               /* threads in the library */
static _Thread_local bool is_at_work;
static atomic_size_t farewell_bytes;
static char farewell[512];

/* Calls only async-signal-safe functions. Threads other than the first block signals. */
static void end_by_signal(int number)
{
    sigset_t own;
    size_t bytes = atomic_load(&farewell_bytes);
    if (number != SIGPIPE)
        signal(SIGPIPE, SIG_IGN); /* from the farewell: the exit status remains that of the first signal */
    if (bytes && write(STDERR_FILENO, farewell, bytes) < 0)
        atomic_store(&farewell_bytes, 0); /* no reader is left */
    for (const place *at = atomic_load(&places); at; at = at->next)
        if (atomic_load(&at->used))
            unlink(at->name);
    signal(number, SIG_DFL);
    sigemptyset(&own);
    sigaddset(&own, number);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    raise(number);
}

/* After SIGPIPE no one reads the library's result. */
static void on_signal(int number)
{
    int none = 0;
    const bool first = atomic_compare_exchange_strong(&caught, &none, number);
    if (number == SIGPIPE || !first || !atomic_load(&at_work))
        end_by_signal(number);
}

void cli_interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

bool cli_interrupt_wait(bool works)
{
    const bool before = is_at_work;
    is_at_work = works;
    atomic_fetch_add(&at_work, works - before);
    if (!works)
        cli_interrupt_end();
    return before;
}

bool cli_interrupted(void)
{
    return atomic_load(&caught) != 0;
}

/* The first thread to arrive ends the program. */
void cli_interrupt_end(void)
{
    const int number = atomic_load(&caught);
    if (number)
        end_by_signal(number);
}

static place *find_place(size_t room)
{
    for (place *at = atomic_load(&unused) ? atomic_load(&places) : NULL; at; at = at->next)
        if (!atomic_load(&at->used) && at->room >= room) {
            atomic_fetch_sub(&unused, 1);
            return at;
        }
    place *made = malloc(sizeof *made + room);
    if (made) {
        made->next = atomic_load(&places);
        made->room = room;
        atomic_init(&made->used, false);
        atomic_store(&places, made);
    }
    return made;
}

void *cli_interrupt_register(const char *temporary)
{
    const size_t room = strlen(temporary) + 1;
    pthread_mutex_lock(&lock);
    place *found = find_place(room);
    if (found) {
        memcpy(found->name, temporary, room);
        atomic_store(&found->used, true);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void cli_interrupt_forget(void *registered)
{
    if (!registered)
        return;
    atomic_store(&((place *)registered)->used, false);
    atomic_fetch_add(&unused, 1);
}

void cli_interrupt_farewell(const char *text)
{
    size_t bytes = strlen(text);
    atomic_store(&farewell_bytes, 0);
    if (bytes < sizeof farewell) {
        memcpy(farewell, text, bytes);
        atomic_store(&farewell_bytes, bytes);
    }
}
