/* The version, and phrases for statuses. */
#include "lift2k/lift2k.h"

#define STRINGIFY_(x) #x
#define STRINGIFY(x)  STRINGIFY_(x)

const char *l2k_version(void)
{
    return STRINGIFY(L2K_VERSION_MAJOR) "." STRINGIFY(L2K_VERSION_MINOR) "." STRINGIFY(L2K_VERSION_PATCH);
}

const char *l2k_strerror(l2k_status status)
{
    static const char *const phrases[] = {
        [L2K_OK] = "success",
        [L2K_ERROR_ARGUMENT] = "impossible argument",
        [L2K_ERROR_STATE] = "call out of order",
        [L2K_ERROR_MEMORY] = "out of memory",
        [L2K_ERROR_LIMIT] = "a limit would be exceeded",
        [L2K_ERROR_IO] = "reading or writing failed",
        [L2K_ERROR_FORMAT] = "not a JPEG 2000 file",
        [L2K_ERROR_CORRUPT] = "damaged JPEG 2000 data",
        [L2K_ERROR_TRUNCATED] = "truncated JPEG 2000 data",
        [L2K_ERROR_UNSUPPORTED] = "unsupported JPEG 2000 feature",
        [L2K_ERROR_BACKEND] = "backend not usable",
        [L2K_INCOMPLETE] = "decoded as far as the data goes",
        [L2K_ERROR_CANCELLED] = "cancelled",
    };
    return (unsigned)status < sizeof phrases / sizeof *phrases ? phrases[status] : "unknown status";
}
