/* A test that needs a device and finds none is skipped, or fails if L2K_REQUIRE_GPU=1, or of OpenCL
 * L2K_REQUIRE_OPENCL=1. */
#ifndef L2K_TESTS_GPU_REQUIRE_H
#define L2K_TESTS_GPU_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "lift2k/lift2k.h"

/* 0 if there is a device, else the exit status of the program. */
static inline int gpu_missing(void)
{
    char text[200];
    const char *require = getenv(GPU_REQUIRE);
    bool required = require && strcmp(require, "1") == 0;
    if (l2k_backend_usable(GPU_BACKEND, text, sizeof text))
        return 0;
    printf("%s: no device can be used: %s\n", required ? "FAILED" : "SKIPPED", text);
    return required ? 1 : 77;
}

#endif
