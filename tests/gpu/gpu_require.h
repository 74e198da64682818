/* A test that needs a GPU and finds none is skipped, or fails if L2K_REQUIRE_GPU=1. */
#ifndef L2K_TESTS_GPU_GPU_REQUIRE_H
#define L2K_TESTS_GPU_GPU_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lift2k/lift2k.h"

/* 0 if there is a GPU, else the exit status of the program. */
static inline int gpu_missing(void)
{
    char text[200];
    const char *require = getenv("L2K_REQUIRE_GPU");
    bool required = require && strcmp(require, "1") == 0;
    if (l2k_backend_usable(L2K_BACKEND_CUDA, text, sizeof text))
        return 0;
    printf("%s: no GPU can be used: %s\n", required ? "FAILED" : "SKIPPED", text);
    return required ? 1 : 77;
}

#endif
