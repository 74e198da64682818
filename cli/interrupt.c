#define _POSIX_C_SOURCE 200809L /* sigaction */
#include "cli/interrupt.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* As many as there can be at work at a time (pipeline.c), and some. */
#define NUM_PLACES 16u

static struct {
    atomic_bool used;
    char name[PATH_MAX];
} places[NUM_PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* among those who note; the handler takes none */
static atomic_int caught;                                /* the signal, or 0 */
static atomic_bool library_at_work;
static atomic_size_t farewell_bytes;
static char farewell[512];

/* Only what a signal handler may call. */
static void end_by_signal(int number)
{
    size_t bytes = atomic_load(&farewell_bytes);
    if (bytes && write(STDERR_FILENO, farewell, bytes) < 0)
        atomic_store(&farewell_bytes, 0); /* nobody is left to be told */
    for (size_t i = 0; i < NUM_PLACES; i++)
        if (atomic_load(&places[i].used))
            unlink(places[i].name);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&caught, &none, number) || !atomic_load(&library_at_work))
        end_by_signal(number);
}

void cli_interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

void cli_interrupt_wait(bool at_work)
{
    atomic_store(&library_at_work, at_work);
    if (!at_work)
        cli_interrupt_end();
}

bool cli_interrupted(void)
{
    return atomic_load(&caught) != 0;
}

/* The signal is unblocked here, so that raise does not return. */
void cli_interrupt_end(void)
{
    int number = atomic_load(&caught);
    if (number)
        end_by_signal(number);
}

void cli_interrupt_note(const char *temporary)
{
    if (strlen(temporary) >= PATH_MAX)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < NUM_PLACES; i++) {
        if (!atomic_load(&places[i].used)) {
            memcpy(places[i].name, temporary, strlen(temporary) + 1);
            atomic_store(&places[i].used, true);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void cli_interrupt_forget(const char *temporary)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < NUM_PLACES; i++)
        if (atomic_load(&places[i].used) && strcmp(places[i].name, temporary) == 0)
            atomic_store(&places[i].used, false);
    pthread_mutex_unlock(&lock);
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
