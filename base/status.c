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
    switch (status) {
    case L2K_OK:
        return "success";
    case L2K_ERROR_ARGUMENT:
        return "impossible argument";
    case L2K_ERROR_STATE:
        return "call out of order";
    case L2K_ERROR_MEMORY:
        return "out of memory";
    case L2K_ERROR_LIMIT:
        return "a limit would be exceeded";
    case L2K_ERROR_IO:
        return "reading or writing failed";
    case L2K_ERROR_FORMAT:
        return "not a JPEG 2000 file";
    case L2K_ERROR_CORRUPT:
        return "damaged JPEG 2000 data";
    case L2K_ERROR_TRUNCATED:
        return "truncated JPEG 2000 data";
    case L2K_ERROR_UNSUPPORTED:
        return "unsupported JPEG 2000 feature";
    case L2K_ERROR_BACKEND:
        return "backend not usable";
    case L2K_INCOMPLETE:
        return "decoded as far as the data goes";
    case L2K_ERROR_CANCELLED:
        return "cancelled";
    }
    return "unknown status";
}
