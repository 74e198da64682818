/* Stands in for the parts of the command that its readers need in fuzz targets. */
#define _GNU_SOURCE /* memfd_create */
#include "command.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#include "pictures/formats.h"
#include "pictures/reader.h"
#include "pictures/user/report.h"

unsigned fuzz_errors;

bool cli_print(l2k_severity severity, const char *subject, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    FUZZ_EXPECT(subject && subject[0]);
    va_start(arguments, format);
    FUZZ_EXPECT(vsnprintf(text, sizeof text, format, arguments) > 0);
    va_end(arguments);
    fuzz_errors += severity == L2K_SEVERITY_ERROR;
    return false;
}

bool fuzz_check_report(bool done)
{
    FUZZ_EXPECT(fuzz_errors == (done ? 0 : 1));
    fuzz_errors = 0;
    return done;
}

const char *fuzz_put_file(const uint8_t *data, size_t bytes)
{
    static char name[64];
    static int file = -1;
    if (file < 0)
        file = memfd_create("fuzz", 0);
    FUZZ_EXPECT(file >= 0 && ftruncate(file, 0) == 0);
    FUZZ_EXPECT(pwrite(file, data, bytes, 0) == (ssize_t)bytes);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    return name;
}
