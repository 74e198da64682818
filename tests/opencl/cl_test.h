/* What tests of OpenCL share: whether there is a device, and a device opened. */
#ifndef L2K_TESTS_OPENCL_CL_TEST_H
#define L2K_TESTS_OPENCL_CL_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transform/opencl/cl_runtime.h"

/* 0 if there is a device, else the exit status of the program: a test is skipped, or fails if L2K_REQUIRE_OPENCL=1. */
static inline int cl_missing(void)
{
    char text[200];
    const char *require = getenv("L2K_REQUIRE_OPENCL");
    bool required = require && strcmp(require, "1") == 0;
    if (l2k_backend_usable(L2K_BACKEND_OPENCL, text, sizeof text))
        return 0;
    printf("%s: no OpenCL device can be used: %s\n", required ? "FAILED" : "SKIPPED", text);
    return required ? 1 : 77;
}

#endif
