/* Work in a process of its own, whose costs are those of that work alone. Needs _DEFAULT_SOURCE. */
#ifndef L2K_BENCH_PROCESS_H
#define L2K_BENCH_PROCESS_H

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

typedef struct cost {
    double wall, user, seconds; /* the last of the processor, for user and system */
    double peak_kib;            /* resident, of all kinds */
    size_t anonymous;           /* the most resident bytes that belong to no file, as seen every millisecond */
} cost;

/* Zeros that a forked process shares with this one. They are not anonymous. */
static inline void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "shared memory");
    return memory;
}

static inline size_t anonymous_bytes(pid_t process)
{
    char name[40];
    unsigned long resident = 0, of_files = 0;
    snprintf(name, sizeof name, "/proc/%ld/statm", (long)process);
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%*u %lu %lu", &resident, &of_files) != 2)
        resident = of_files = 0;
    if (file)
        fclose(file);
    return (resident - of_files) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Ends the program if the process fails. */
static inline cost run_apart(void (*work)(void *), void *argument)
{
    cost c = {0};
    struct rusage usage;
    int status;
    pid_t ended;
    fflush(stdout);
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        work(argument);
        _exit(0);
    }
    check(child > 0, "fork");
    while ((ended = wait4(child, &status, WNOHANG, &usage)) == 0) {
        const size_t now_held = anonymous_bytes(child);
        c.anonymous = now_held > c.anonymous ? now_held : c.anonymous;
        usleep(1000);
    }
    check(ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process");
    c.wall = now() - start;
    c.user = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
    c.seconds = c.user + (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
    c.peak_kib = (double)usage.ru_maxrss;
    return c;
}

#endif
