/* Tests the command in a terminal as a user sees it: the progress bar, and Ctrl-C; and in pipes that block. Argument: the
 * lift2k binary. The test holds the other side of a pseudoterminal and computes what would be on the screen. */
#define _XOPEN_SOURCE   700
#define _DEFAULT_SOURCE /* winsize */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 120.0 /* seconds until the test gives up */
#define ROWS     200

/* Large enough to keep one thread busy for half a second. */
#ifdef L2K_SANITIZE
#define SIDE 2800u
#else
#define SIDE 3600u
#endif

static const char *lift2k;
static int checks, failures;

static bool check(bool good, const char *format, ...)
{
    va_list arguments;
    checks++;
    if (good)
        return true;
    failures++;
    va_start(arguments, format);
    printf("FAILED: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    return false;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- A terminal with a command in it ---- */

typedef struct session {
    pid_t pid;
    int master;
    size_t columns;
    char text[1 << 20]; /* everything received */
    size_t used;
    int status;
} session;

static void become_command(const char *slave, char *const *arguments)
{
    setsid();
    int terminal = open(slave, O_RDWR); /* becomes the controlling terminal: Ctrl-C is a signal */
    ioctl(terminal, TIOCSCTTY, 0);
    for (int i = 0; i < 3; i++)
        dup2(terminal, i);
    setenv("TERM", "xterm", 1);
    execv(arguments[0], arguments);
    _exit(127);
}

static void start_arguments(session *s, size_t columns, char *const *arguments)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    memset(s, 0, sizeof *s);
    s->columns = columns;
    s->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (s->master < 0 || grantpt(s->master) != 0 || unlockpt(s->master) != 0) {
        printf("SKIPPED: no pseudoterminal: %s\n", strerror(errno));
        exit(77);
    }
    const char *slave = ptsname(s->master);
    int held = open(slave, O_RDWR | O_NOCTTY); /* otherwise the child's last output may be lost */
    ioctl(held, TIOCSWINSZ, &size);
    s->pid = fork();
    if (s->pid == 0)
        become_command(slave, arguments);
    close(held);
}

/* Runs a command line in the shell, in which $0 is lift2k. */
static void start(session *s, size_t columns, const char *line)
{
    char *arguments[] = {"/bin/bash", "-c", (char *)(uintptr_t)line, (char *)(uintptr_t)lift2k, NULL};
    start_arguments(s, columns, arguments);
}

/* Receives what arrives within `seconds`; false at the end. */
static bool take(session *s, double seconds)
{
    struct pollfd wait = {s->master, POLLIN, 0};
    if (poll(&wait, 1, (int)(seconds * 1000)) <= 0)
        return true;
    ssize_t got = read(s->master, s->text + s->used, sizeof s->text - 1 - s->used);
    if (got <= 0)
        return false; /* EIO: the other side is closed */
    s->used += (size_t)got;
    s->text[s->used] = 0;
    return true;
}

static bool wait_for(session *s, const char *text)
{
    double end = now() + PATIENCE;
    while (!strstr(s->text, text))
        if (now() > end || !take(s, 0.1))
            return strstr(s->text, text) != NULL;
    return true;
}

static void finish(session *s)
{
    double end = now() + PATIENCE;
    while (now() < end && take(s, 0.1))
        continue;
    if (now() >= end)
        kill(s->pid, SIGKILL);
    waitpid(s->pid, &s->status, 0);
    close(s->master);
}

static bool exited(const session *s, int status)
{
    return WIFEXITED(s->status) && WEXITSTATUS(s->status) == status;
}

/* ---- Its screen ---- */

typedef struct screen {
    char rows[ROWS][256];
    size_t row, column;
    bool wrapped; /* something reached the last column */
} screen;

static void show(const session *s, screen *to)
{
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < s->used; i++) {
        if (s->text[i] == '\r') {
            to->column = 0;
        } else if (s->text[i] == '\n') {
            to->row += to->row + 1 < ROWS;
        } else {
            if (to->column + 1 >= s->columns)
                to->wrapped = true;
            if (to->column < sizeof to->rows[0] - 1)
                to->rows[to->row][to->column++] = s->text[i];
        }
    }
}

static bool blank(const char *row)
{
    for (; *row; row++)
        if (*row != ' ')
            return false;
    return true;
}

static bool is_empty(const screen *seen)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!blank(seen->rows[i]))
            return false;
    return true;
}

static bool contains(const screen *seen, const char *text)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strstr(seen->rows[i], text))
            return true;
    return false;
}

/* ---- Files ---- */

/* Noise of 16 bits: the slowest picture to encode. */
static void make_noise(const char *name, unsigned side)
{
    FILE *file = fopen(name, "wb");
    uint32_t state = 1;
    fprintf(file, "P5\n%u %u\n65535\n", side, side);
    for (unsigned i = 0; i < side * side; i++) {
        state = state * 1664525u + 1013904223u;
        putc((int)(state >> 24), file);
        putc((int)(state >> 16 & 255), file);
    }
    fclose(file);
}

static void make_text(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    fputs(text, file);
    fclose(file);
}

static bool holds(const char *name, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(name, "rb");
    if (!file)
        return false;
    size_t got = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    return got == strlen(text) && strcmp(found, text) == 0;
}

/* The number of names in a folder that begin with `start`. */
static int count_names(const char *folder, const char *start)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    int count = 0;
    while (open && (entry = readdir(open)) != NULL)
        count += strncmp(entry->d_name, start, strlen(start)) == 0;
    if (open)
        closedir(open);
    return count;
}

/* ---- The progress bar ---- */

static session s;
static screen seen;

static void test_bar(size_t columns, const char *verb, const char *line)
{
    start(&s, columns, line);
    finish(&s);
    show(&s, &seen);
    check(exited(&s, 0), "%zu columns: %s: status %x: %s", columns, line, s.status, s.text);
    check(strstr(s.text, verb) && strchr(s.text, '%'), "%zu columns: no bar from %s", columns, line);
    check(columns < 30 || strstr(s.text, "=>"), "%zu columns: nothing drawn from %s", columns, line);
    check(!seen.wrapped, "%zu columns: the bar of %s is too wide: %s", columns, line, s.text);
    check(is_empty(&seen), "%zu columns: something is left of the bar of %s: %s", columns, line, seen.rows[0]);
    check(!strchr(s.text, '\033'), "an escape sequence");
}

/* Whether the bar that ends at `end` is the one drawn before, which no line has pushed away. */
static bool is_drawn_again(const char *end)
{
    const char *at = end, *before;
    while (at > s.text && at[-1] != '\r' && at[-1] != '\n')
        at--;
    for (before = at; before > s.text && before[-1] != '%' && before[-1] != '\n'; before--)
        continue;
    return before > s.text && before[-1] == '%' && before - s.text >= end + 1 - at &&
           memcmp(before - (end + 1 - at), at, (size_t)(end + 1 - at)) == 0;
}

/* The percentages shown never fall, there are several, and nothing is drawn twice. */
static void test_parts(const char *line, const char *from, const char *to)
{
    int last = -1, different = 0;
    start(&s, 80, line);
    finish(&s);
    for (const char *at = s.text; (at = strchr(at, '%')) != NULL; at++) {
        const char *digits = at - 1;
        while (digits > s.text && (digits[-1] == ' ' || (digits[-1] >= '0' && digits[-1] <= '9')))
            digits--;
        int part = atoi(digits);
        check(part >= last && part <= 100, "%s: from %d to %d %%", line, last, part);
        check(!is_drawn_again(at), "%s: drawn again at %d %%", line, part);
        different += part != last;
        last = part;
    }
    check(different >= 3, "%s: only %d different parts in %s", line, different, s.text);
    check(last >= 40, "%s: %d %% at the end", line, last);
    show(&s, &seen);
    check(contains(&seen, from) && contains(&seen, to), "%s: no summary: %s", line, seen.rows[0]);
}

static void test_no_bar(const char *line)
{
    start(&s, 80, line);
    finish(&s);
    check(exited(&s, 0), "status %x of %s: %s", s.status, line, s.text);
    check(!strstr(s.text, "coding"), "a bar from %s: %s", line, s.text);
}

static void test_bars(void)
{
    test_bar(80, "encoding", "exec $0 encode large.pgm x.jp2 -j 1 --quiet --progress");
    test_bar(40, "encoding", "exec $0 encode large.pgm x.jp2 -j 1 --quiet --progress");
    test_bar(20, "encoding", "exec $0 encode large.pgm x.jp2 -j 1 --quiet --progress");
    test_bar(80, "decoding [", "exec $0 decode large.jp2 x.pgm -j 1 --quiet --progress");
    test_bar(80, "encoding 2 of 2 ", "exec $0 encode folder --out-dir many -j 1 --quiet --progress");
    test_bar(40, "encoding 2 of 2 ", "exec $0 encode folder --out-dir many -j 1 --quiet --progress");
    test_parts("exec $0 encode large.pgm x.jp2 -j 1", "large.pgm ", " -> x.jp2 ");
    test_parts("exec $0 encode large.pgm x.jp2 -j 1 -t 400,400 --verify", "large.pgm ", " -> x.jp2 ");
    test_parts("exec $0 decode tiled.jp2 x.pgm -j 1 --by-rows", "tiled.jp2 ", " -> x.pgm ");
    test_parts("exec $0 view tiled.jp2 x.pgm -j 1", "tiled.jp2 ", " -> x.pgm ");
    test_parts("exec $0 dump tiled.jp2 dumped -j 1", "tiled.jp2 ", " -> dumped ");
    test_no_bar("exec $0 encode large.pgm x.jp2 -j 1 --no-progress");
    test_no_bar("exec $0 encode large.pgm x.jp2 -j 1 --quiet");
    test_no_bar("exec $0 encode large.pgm x.jp2 -j 1 2>log");
    test_no_bar("TERM=dumb exec $0 encode large.pgm x.jp2 -j 1");
    test_no_bar("exec $0 encode small.pgm x.jp2");
    test_no_bar("$0 encode large.pgm - -j 1 2>&1 >x.jp2 | tr a-z A-Z");
    start(&s, 80, "$0 encode large.pgm x.jp2 -j 1 --progress 2>log; tr '\\r' '\\n' <log");
    finish(&s);
    check(strstr(s.text, "encoding ["), "--progress shows no bar in a file: %s", s.text);
}

/* A message between them has a line to itself. */
static void test_messages(void)
{
    start(&s, 80, "$0 encode broken --out-dir many -j 1 --progress; echo status $?");
    finish(&s);
    show(&s, &seen);
    check(contains(&seen, "status 1"), "the status of a broken file: %s", s.text);
    check(contains(&seen, "lift2k: broken/b.pgm: the file is truncated"), "no message: %s", s.text);
    check(!contains(&seen, "%"), "a bar is left: %s", s.text);
    for (size_t i = 0; i < ROWS; i++)
        check(blank(seen.rows[i]) || seen.rows[i][0] != ' ', "a line begins with a space: %s", seen.rows[i]);
}

/* ---- Ctrl-C ---- */

/* Types Ctrl-C when `sign` appears. Returns how long the command took from then. */
static double press(const char *sign)
{
    check(wait_for(&s, sign), "'%s' did not come: %s", sign, s.text);
    double pressed = now();
    check(write(s.master, "\003", 1) == 1, "Ctrl-C");
    finish(&s);
    return now() - pressed;
}

static void check_nothing_left(const char *what)
{
    show(&s, &seen);
    check(!contains(&seen, "%"), "%s: the bar is left: %s", what, s.text);
    check(!contains(&seen, "lift2k:"), "%s: a message: %s", what, s.text);
    check(count_names(".", ".lift2k") + count_names("many", ".lift2k") == 0, "%s: a temporary file is left", what);
    check(count_names(".", "new.") == 0, "%s: an output is left", what);
    check(holds("old.jp2", "precious"), "%s: the old file is gone", what);
}

static void test_interrupt(const char *sign, const char *line)
{
    start(&s, 80, line);
    double took = press(sign);
    check(WIFSIGNALED(s.status) && WTERMSIG(s.status) == SIGINT, "%s: status %x", line, s.status);
    check(took < 10, "%s: it took %.1f s", line, took);
    check_nothing_left(line);
}

static void test_interrupts(void)
{
    test_interrupt("encoding", "exec $0 encode large.pgm new.jp2 -j 1");
    test_interrupt("encoding", "exec $0 encode large.pgm old.jp2 -j 1");
    test_interrupt("encoding", "exec $0 encode folder large.pgm --out-dir many -j 2");
    test_interrupt("decoding", "exec $0 decode large.jp2 new.png -j 1");
    test_interrupt("decoding", "exec $0 decode large.jp2 new.pgx -j 1");
    test_interrupt("encoding", "exec $0 encode large.pgm new.jp2 -j 1 -t 400,400");
    test_interrupt("6", "exec $0 encode large.pgm new.jp2 -j 1 -t 400,400 --verify --progress");
    test_interrupt("decoding", "exec $0 decode tiled.jp2 new.png -j 1 --by-rows");
    test_interrupt("decoding", "exec $0 decode tiled.jp2 new.pgx -j 1 --by-rows");
    test_interrupt("drawing", "exec $0 view tiled.jp2 new.png -j 1");
    test_interrupt("dumping", "rm -r dumped; exec $0 dump tiled.jp2 dumped -j 1");
    check(count_names("dumped", ".lift2k") + count_names("dumped", "subbands") == 0,
          "a dump that was stopped is whole");
    test_interrupt("ready", "echo ready; exec $0 encode - new.jp2");
    test_interrupt("1 of 3", "exec $0 encode folder large.pgm --out-dir many -j 1");
    start(&s, 80, "trap : INT; $0 encode large.pgm old.jp2 -j 1; echo status $?");
    press("encoding");
    check(strstr(s.text, "status 130") != NULL, "the shell sees no 130: %s", s.text);
    check_nothing_left("in a shell");
    start(&s, 80, "$0 encode large.pgm old.jp2 -j 1 --progress & sleep 0.2; kill -TERM $!; wait $!; echo status $?");
    finish(&s);
    check(strstr(s.text, "status 143") != NULL, "SIGTERM: %s", s.text);
    check_nothing_left("SIGTERM");
}

/* The command's parent may ignore signals for it: nohup, a shell's background. */
static void test_ignored(void)
{
    start(&s, 80, "trap '' INT; exec $0 encode large.pgm x.jp2 -j 1");
    press("encoding");
    check(exited(&s, 0), "an ignored signal: status %x: %s", s.status, s.text);
}

/* The bar may appear before the file does. */
static bool await_temporary(void)
{
    for (int i = 0; i < 1000; i++) {
        if (count_names(".", ".lift2k") + count_names("many", ".lift2k") + count_names("piped", ".lift2k") >= 1)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

static void start_with_temporary(const char *sign, const char *line)
{
    char without_core[4096];
    snprintf(without_core, sizeof without_core, "ulimit -c 0; %s", line);
    start(&s, 80, without_core);
    check(wait_for(&s, sign), "no bar: %s", s.text);
    check(await_temporary(), "%s: there is no temporary file to remove", line);
}

/* The other signals that end the command. */
static void test_other_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        start_with_temporary("encoding", "exec $0 encode large.pgm old.jp2 -j 1");
        double sent = now();
        kill(s.pid, numbers[i]);
        finish(&s);
        check(WIFSIGNALED(s.status) && WTERMSIG(s.status) == numbers[i], "signal %d: status %x", numbers[i], s.status);
        check(now() - sent < 10, "signal %d: it took %.1f s", numbers[i], now() - sent);
        check_nothing_left("another signal");
    }
}

static void test_temporary(const char *sign, const char *line)
{
    start_with_temporary(sign, line);
    press(sign);
    check(WIFSIGNALED(s.status) && WTERMSIG(s.status) == SIGINT, "temporary file: status %x", s.status);
    check_nothing_left(line);
}

/* ---- A pipe as output ---- */

/* Starts the command with the write end of a pipe, with these flags, as standard output. Returns the read end. */
static int start_into_pipe(int flags, char *const *arguments)
{
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0)
        exit(2);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFL, flags);
    s.pid = fork();
    if (s.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        execv(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    return ends[0];
}

/* Waits until nothing has arrived for a while, so the pipe is full or no longer written. */
static void await_full(int end)
{
    struct pollfd other = {.fd = end};
    int held = 0, before = -1;
    for (double start = now(); now() < start + PATIENCE && (held == 0 || held != before) && poll(&other, 1, 0) == 0;) {
        before = held;
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        ioctl(end, FIONREAD, &held);
    }
}

static bool same_as_file(int end, const char *name)
{
    static char got[1 << 16], wanted[1 << 16];
    FILE *file = fopen(name, "rb");
    bool same = file != NULL;
    ssize_t bytes;
    while (same && (bytes = read(end, got, sizeof got)) > 0)
        same = fread(wanted, 1, (size_t)bytes, file) == (size_t)bytes && memcmp(got, wanted, (size_t)bytes) == 0;
    same = same && fgetc(file) == EOF;
    if (file)
        fclose(file);
    return same;
}

/* The descriptor may be inherited in non-blocking mode. */
static void test_pipe_without_waiting(const char *verb, const char *input, const char *wanted)
{
    char *arguments[] = {
        (char *)(uintptr_t)lift2k, (char *)(uintptr_t)verb, (char *)(uintptr_t)input, "-", "--quiet", NULL};
    int end = start_into_pipe(O_NONBLOCK, arguments);
    await_full(end);
    check(same_as_file(end, wanted), "%s into a pipe that does not wait: another output", verb);
    close(end);
    waitpid(s.pid, &s.status, 0);
    check(exited(&s, 0), "%s into a pipe that does not wait: status %x", verb, s.status);
}

/* The reader of a full pipe never reads again: a signal ends the command, and so does the reader's exit. */
static void test_full_pipe(const char *verb, const char *input, int number)
{
    char *arguments[] = {
        (char *)(uintptr_t)lift2k, (char *)(uintptr_t)verb, (char *)(uintptr_t)input, "-", "--quiet", NULL};
    int end = start_into_pipe(0, arguments);
    pid_t ended = 0;
    await_full(end);
    if (number == SIGPIPE)
        close(end);
    else
        kill(s.pid, number);
    for (double start = now(); now() < start + 10 && !(ended = waitpid(s.pid, &s.status, WNOHANG));)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (check(ended == s.pid, "%s into a full pipe: signal %d does not end it", verb, number))
        check(WIFSIGNALED(s.status) && WTERMSIG(s.status) == number, "%s into a full pipe: status %x", verb, s.status);
    else
        kill(s.pid, SIGKILL);
    if (number != SIGPIPE)
        close(end);
}

/* A pipe in place of a subband's file, which is written while the library is working. */
static void test_dump_into_pipe(bool is_read)
{
    const char *name = "piped/t00_c0_b13_HL1.pgx";
    mkdir("piped", 0777);
    mkfifo(name, 0666);
    int end = is_read ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    start(&s, 80, "exec $0 dump tiled.jp2 piped -j 1 --quiet");
    check(await_temporary(), "no subbands before the pipe: %s", s.text);
    if (is_read)
        await_full(end);
    double sent = now();
    kill(s.pid, SIGTERM);
    finish(&s);
    check(WIFSIGNALED(s.status) && WTERMSIG(s.status) == SIGTERM, "dump into a pipe: status %x", s.status);
    check(now() - sent < 10, "dump into a pipe that is %s: it took %.1f s", is_read ? "full" : "not read",
          now() - sent);
    check(count_names("piped", ".lift2k") + count_names("piped", "subbands") == 0,
          "dump into a pipe: something is left");
    if (is_read)
        close(end);
    unlink(name);
}

static void test_pipes(void)
{
    test_pipe_without_waiting("decode", "large.jp2", "large.pgm");
    test_pipe_without_waiting("encode", "large.pgm", "large.jp2");
    test_full_pipe("encode", "large.pgm", SIGTERM);
    test_full_pipe("encode", "large.pgm", SIGPIPE);
    test_full_pipe("decode", "large.jp2", SIGTERM);
    test_dump_into_pipe(false);
    test_dump_into_pipe(true);
}

int main(int count, char **arguments)
{
    char folder[] = "/tmp/lift2k-terminal-XXXXXX", command[128];
    if (count < 2 || !mkdtemp(folder) || chdir(folder) != 0)
        return 2;
    lift2k = arguments[1];
    signal(SIGINT, SIG_DFL); /* CTest may start the test with them ignored */
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    mkdir("folder", 0777);
    mkdir("broken", 0777);
    make_noise("large.pgm", SIDE);
    make_noise("small.pgm", 16);
    make_noise("folder/a.pgm", SIDE);
    make_noise("folder/b.pgm", SIDE);
    make_noise("broken/a.pgm", SIDE);
    make_noise("broken/c.pgm", SIDE);
    make_text("broken/b.pgm", "P5\n2000 2000\n65535\nabc");
    make_text("old.jp2", "precious");
    start(&s, 80, "exec $0 encode large.pgm large.jp2");
    finish(&s);
    check(exited(&s, 0), "large.jp2: %s", s.text);
    start(&s, 80, "exec $0 encode large.pgm tiled.jp2 -t 400,400");
    finish(&s);
    check(exited(&s, 0), "tiled.jp2: %s", s.text);

    test_bars();
    test_messages();
    test_interrupts();
    test_ignored();
    test_pipes();
    test_temporary("encoding", "exec $0 encode large.pgm old.jp2 -j 1");
    test_temporary("decoding", "exec $0 decode tiled.jp2 new.pgx --by-rows -j 1");
    test_other_signals();
    test_temporary("of 3", "exec $0 encode folder large.pgm --out-dir many -j 1");
    printf("%d checks, %d failed\n", checks, failures);
    if (chdir("/") != 0)
        return 2;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failures ? 1 : 0;
}
