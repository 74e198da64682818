/* OpenJPH and OpenHTJ2K, called from memory to memory on one thread, for comparison. Their interfaces are C++; this is
 * what C sees. */
#ifndef L2K_BENCH_OPENJPH_H
#define L2K_BENCH_OPENJPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Unsigned samples, one component after the other. */
typedef struct openjph_picture {
    uint32_t width, height, components;
    unsigned precision; /* up to 8: samples of one byte, otherwise two */
    void *samples;
} openjph_picture;

typedef struct openjph openjph;

/* "0.31.0". */
const char *openjph_version(void);

openjph *openjph_new(void);
void openjph_free(openjph *codec);

/* Blocks of 64 x 64, 5 levels, RPCL, the component transform with three components. A step of 0 is the 5/3, others are
 * the 9/7's base step, 1 being the whole range of a sample. The bytes are valid until the next call. Reports OpenJPH's
 * errors and gives false. */
bool openjph_encode(openjph *codec, const openjph_picture *picture, float step, const uint8_t **bytes, size_t *count);

/* Into picture->samples, of the file's size and precision. */
bool openjph_decode(openjph *codec, const uint8_t *bytes, size_t count, const openjph_picture *picture);

/* The same with OpenHTJ2K; NULL where the build has not found it. */
__attribute__((weak)) bool openhtj2k_decode(const uint8_t *bytes, size_t count, const openjph_picture *picture);

#ifdef __cplusplus
}
#endif

#endif
