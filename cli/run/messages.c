/* Sends the library's messages and progress to standard error. */
#include "cli/run/messages.h"

#include <stdio.h>
#include <string.h>

#include "cli/run/progress.h"
#include "pictures/user/interrupt.h"
#include "pictures/user/limits.h"
#include "pictures/user/report.h"
#include "pictures/user/text.h"

#define MOST_LINES 20u

void cli_messages_restart(cli_messages *messages)
{
    messages->first_error[0] = 0;
    atomic_flag_clear(&messages->taken);
}

void cli_messages_init(cli_messages *messages, const char *subject, bool quiet)
{
    messages->subject = subject;
    messages->quiet = quiet;
    for (int i = 0; i < 16; i++)
        messages->said[i] = 0;
    atomic_store(&messages->lines, 0);
    cli_messages_restart(messages);
}

/* FNV-1a. */
static bool is_repeated(cli_messages *messages, const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return atomic_exchange(&messages->said[hash % 16], hash) == hash;
}

/* A file may cause too many warnings to read: one for each of 65535 tiles, or of a thousand unknown markers. */
static bool is_too_much(cli_messages *messages)
{
    const unsigned before = atomic_fetch_add(&messages->lines, 1);
    if (before == MOST_LINES)
        cli_note(messages->subject, "further warnings are not shown");
    return before >= MOST_LINES;
}

static void take_message(void *user, l2k_severity severity, const char *text)
{
    cli_messages *messages = user;
    if (severity == L2K_SEVERITY_ERROR) {
        if (!atomic_flag_test_and_set(&messages->taken))
            snprintf(messages->first_error, sizeof messages->first_error, "%s", text);
    } else if (!messages->quiet && !is_repeated(messages, text) && !is_too_much(messages)) {
        cli_print(severity, messages->subject, "%s", text);
    }
}

static bool on_progress(void *user, double done)
{
    (void)user;
    cli_progress_part(done);
    return !cli_interrupted();
}

l2k_hooks cli_messages_hooks(cli_messages *messages)
{
    return (l2k_hooks){.message = take_message, .progress = on_progress, .user = messages};
}

bool cli_messages_check(cli_messages *messages, l2k_status status)
{
    if (status == L2K_OK)
        return true;
    if (!messages->first_error[0])
        snprintf(messages->first_error, sizeof messages->first_error, "%s", l2k_strerror(status));
    const char *text = messages->first_error, *allows = "";
    char most[CLI_UNITS_ROOM];
    if (messages->failed && (status == L2K_ERROR_BACKEND || status == L2K_ERROR_MEMORY)) {
        *messages->failed = messages;
        return false;
    }
    if (status == L2K_ERROR_CANCELLED)
        cli_interrupt_end();
    /* By default the library's limit fits the size of the file. If the user limits memory, the library only knows what
     * the samples leave of it, so its text would give another number. */
    if (status == L2K_ERROR_LIMIT && strstr(text, "memory") && cli_allowed.memory != CLI_NO_LIMIT)
        return cli_error(messages->subject,
                         "samples and coding take more memory than %s; --max-memory BYTES allows more",
                         cli_bytes_text(cli_allowed.memory, most));
    if (status == L2K_ERROR_LIMIT)
        allows = strstr(text, "memory") ? "; --max-memory BYTES allows more" : "; --max-pixels N allows more";
    return cli_error(messages->subject, "%s%s", text, allows);
}
