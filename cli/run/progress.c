/* Draws the progress bar and removes it again. */
#define _DEFAULT_SOURCE /* winsize */
#include "cli/run/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"

#define FIRST_AFTER 0.5 /* seconds; shorter work needs no bar */
#define EVERY       0.1
#define MAX_COLUMNS 200u
#define MAX_BAR     40u
#define MIN_BAR     8u

static struct {
    pthread_mutex_t lock; /* guards all that follows */
    bool wanted;
    const char *verb;
    size_t files, begun;
    double done;            /* in files */
    double next;            /* time at which it may be drawn again */
    size_t shown;           /* its columns on the screen; 0 = not shown */
    char text[MAX_COLUMNS]; /* on the screen */
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The file of this thread: how much of it is done, and its current part. */
static _Thread_local struct {
    bool is_begun;
    double done, from, to;
} own;

void cli_progress_begin(const cli_options *options, const char *verb, size_t files)
{
    const char *kind = getenv("TERM");
    const bool on_terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
    bar.wanted = options->progress.given ? options->progress.value != 0 : !options->quiet && on_terminal;
    bar.verb = verb;
    bar.files = files;
    bar.next = cli_now() + FIRST_AFTER;
}

/* With the lock held. */
static void advance(double done)
{
    if (own.is_begun && done > own.done) {
        bar.done += done - own.done;
        own.done = done;
    }
}

void cli_progress_file(void)
{
    pthread_mutex_lock(&bar.lock);
    advance(1);
    own.is_begun = true;
    own.done = 0;
    bar.begun++;
    pthread_mutex_unlock(&bar.lock);
    cli_progress_span(0, 1);
}

void cli_progress_span(double from, double to)
{
    own.from = from;
    own.to = to;
}

/* Columns of the terminal, less the last one, at which some terminals wrap. */
static size_t columns(void)
{
    struct winsize size;
    size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80u;
    return (width < MAX_COLUMNS ? width : MAX_COLUMNS) - 1;
}

static void put(const char *text)
{
    fputs(text, stderr);
    fflush(stderr);
}

/* Spaces instead of an escape sequence: they work on every terminal. */
static void erase_text(char *text, size_t room)
{
    snprintf(text, room, "\r%*s\r", (int)bar.shown, "");
}

static void erase(void)
{
    char text[MAX_COLUMNS + 3];
    if (!bar.shown)
        return;
    erase_text(text, sizeof text);
    put(text);
    bar.shown = 0;
    cli_interrupt_farewell("");
}

static void draw_bar(char *at, size_t length, double done)
{
    size_t filled = (size_t)(done * (double)length);
    *at++ = '[';
    for (size_t i = 0; i < length; i++)
        *at++ = i < filled ? '=' : i == filled ? '>' : ' ';
    *at++ = ']';
    *at = 0;
}

/* "encoding 3 of 12 [=====>    ]  47 %" in at most `width` columns: without the bar if they do not suffice, cut if even
 * that is too wide. Returns the number of columns. */
static size_t compose(char *text, size_t width, double done)
{
    char head[80], drawn[MAX_BAR + 3] = "";
    const int used = bar.files > 1 ? snprintf(head, sizeof head, "%s %zu of %zu ", bar.verb, bar.begun, bar.files)
                                   : snprintf(head, sizeof head, "%s ", bar.verb);
    const size_t taken = (size_t)used + 8; /* "[] 100 %" */
    if (width >= taken + MIN_BAR)
        draw_bar(drawn, width - taken < MAX_BAR ? width - taken : MAX_BAR, done);
    const int length = snprintf(text, width + 1, "%s%s%*d %%", head, drawn, *drawn ? 4 : 3, (int)(done * 100));
    return (size_t)length < width ? (size_t)length : width;
}

static void draw(void)
{
    char text[sizeof bar.text], erasing[MAX_COLUMNS + 3];
    const size_t width = compose(text, columns(), bar.done / (double)bar.files);
    if (bar.shown && strcmp(text, bar.text) == 0)
        return;
    erase(); /* the new one may be shorter */
    bar.shown = width;
    memcpy(bar.text, text, sizeof text);
    erase_text(erasing, sizeof erasing);
    cli_interrupt_farewell(erasing);
    put(text);
}

void cli_progress_part(double done)
{
    const double now = cli_now();
    done = done < 0 ? 0 : done > 1 ? 1 : done;
    pthread_mutex_lock(&bar.lock);
    advance(own.from + done * (own.to - own.from));
    if (bar.wanted && now >= bar.next) {
        draw();
        bar.next = now + EVERY;
    }
    pthread_mutex_unlock(&bar.lock);
}

void cli_progress_end(void)
{
    cli_progress_guard(true);
    bar.wanted = false;
    cli_progress_guard(false);
}

void cli_progress_guard(bool begins)
{
    if (begins) {
        pthread_mutex_lock(&bar.lock);
        erase();
    } else {
        pthread_mutex_unlock(&bar.lock);
    }
}
