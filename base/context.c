/* Messages and threads. */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/pool.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static void send(const l2k_context *context, l2k_severity severity, const char *format, va_list arguments)
{
    char line[256];
    if (!context->hooks.message)
        return;
    vsnprintf(line, sizeof line, format, arguments);
    /* Text from a damaged file must not break the line. */
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    context->hooks.message(context->hooks.user, severity, line);
}

l2k_status l2k_fail(const l2k_context *context, l2k_status status, const char *format, ...)
{
    va_list arguments;
    if (status == L2K_ERROR_MEMORY && context->pool && atomic_load(&context->pool->refused))
        return l2k_fail(context, L2K_ERROR_LIMIT, "this needs more than the limit of %llu KiB of memory",
                        (unsigned long long)(context->pool->limit >> 10));
    va_start(arguments, format);
    send(context, L2K_SEVERITY_ERROR, format, arguments);
    va_end(arguments);
    return status;
}

l2k_status l2k_check_memory(const l2k_context *context, bool obtained, const char *what, ...)
{
    char text[128];
    va_list arguments;
    if (obtained)
        return L2K_OK;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    return l2k_fail(context, L2K_ERROR_MEMORY, "out of memory for %s", text);
}

void l2k_send(const l2k_context *context, l2k_severity severity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    send(context, severity, format, arguments);
    va_end(arguments);
}

unsigned l2k_device_count(const l2k_context *context)
{
    unsigned count = 0;
    for (uint64_t left = context->devices; left; left &= left - 1)
        count++;
    return count ? count : 1;
}

int l2k_device_of_share(const l2k_context *context, unsigned number)
{
    if (!context->devices)
        return -1;
    int device = 0;
    for (unsigned skip = number % l2k_device_count(context);; device++)
        if (context->devices >> device & 1 && skip-- == 0)
            return device;
}

unsigned l2k_thread_count(unsigned requested)
{
#ifdef _OPENMP
    if (requested == 0)
        requested = (unsigned)omp_get_max_threads();
    return requested;
#else
    (void)requested;
    return 1;
#endif
}

unsigned l2k_thread_index(void)
{
#ifdef _OPENMP
    return (unsigned)omp_get_thread_num();
#else
    return 0;
#endif
}
