/* The stages of a video decoder, as "GPU-Accelerated Dirac" (van der Laan, Roerdink, Jalba) lists them: milliseconds a
 * frame of each, and frames a second. The linker puts the functions below between the decoder and its stages.
 *
 *     paper_dirac cpu|cuda STREAM [SECONDS]
 *
 * Decodes the stream again and again, from the host's memory to planes in memory of the processor. Stages of a GPU are timed by its
 * own clock in a run of their own, since that takes time as well. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dirac/cuda/stages.h"
#include "dirac/engine.h"

enum { PARSE, ENTROPY, UNPACK, WAVELET, UPSAMPLING, MOTION, STAGES, MOST_EVENTS = 1 << 16, AHEAD = 12 };

static const char *const names[STAGES] = {"vectors", "entropy decoding", "slices", "wavelet", "up-sampling", "motion"};
static double seconds[STAGES];
static bool timed;
static struct {
    cudaEvent_t begin, end;
    int stage;
} events[MOST_EVENTS];
static unsigned num_events;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void event(cudaEvent_t *e, void *stream)
{
    if (cudaEventCreate(e) != cudaSuccess || cudaEventRecord(*e, (cudaStream_t)stream) != cudaSuccess)
        exit(1);
}

#define ON_HOST(type, stage, name, parameters, arguments)                                                              \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        const double start = now();                                                                                    \
        const type result = __real_##name arguments;                                                                   \
        seconds[stage] += now() - start;                                                                               \
        return result;                                                                                                 \
    }

#define ON_DEVICE(stage_number, name, parameters, arguments)                                                           \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        const bool counts = timed && num_events < MOST_EVENTS;                                                         \
        if (counts)                                                                                                    \
            event(&events[num_events].begin, stream);                                                                  \
        const int result = __real_##name arguments;                                                                    \
        if (counts)                                                                                                    \
            event(&events[num_events].end, stream), events[num_events++].stage = stage_number;                         \
        return result;                                                                                                 \
    }

ON_HOST(l2k_status, PARSE, l2k_dirac_motion_read,
        (const l2k_context *context, l2k_dirac_motion *motion, const l2k_dirac_sequence *sequence, unsigned references,
         bool arithmetic, l2k_dirac_bits *bits),
        (context, motion, sequence, references, arithmetic, bits))
ON_HOST(l2k_status, ENTROPY, l2k_dirac_coefficients,
        (const l2k_context *context, l2k_dirac_bits *bits, l2k_dirac_transform *transform), (context, bits, transform))
ON_HOST(l2k_status, MOTION, l2k_dirac_motion_apply,
        (const l2k_context *context, l2k_dirac_motion *motion, const l2k_dirac_sequence *sequence, unsigned plane,
         l2k_dirac_picture *const references[2], const l2k_dirac_residue *residue, l2k_dirac_picture *picture),
        (context, motion, sequence, plane, references, residue, picture))
ON_DEVICE(UNPACK, l2k_dirac_cuda_slices_read, (const l2k_dirac_cuda_slices *slices, void *stream), (slices, stream))
ON_DEVICE(WAVELET, l2k_dirac_cuda_inverse, (const l2k_dirac_cuda_level *level, void *stream), (level, stream))
ON_DEVICE(UPSAMPLING, l2k_dirac_cuda_upsample, (const l2k_dirac_cuda_upsampling *upsampling, void *stream),
          (upsampling, stream))
ON_DEVICE(MOTION, l2k_dirac_cuda_predict, (const l2k_dirac_cuda_motion *motion, void *stream), (motion, stream))

void __real_l2k_dirac_inverse(const l2k_context *, l2k_dirac_transform *, const l2k_dirac_sequence *, unsigned,
                              const l2k_dirac_plane *, l2k_dirac_residue *);
void __wrap_l2k_dirac_inverse(const l2k_context *, l2k_dirac_transform *, const l2k_dirac_sequence *, unsigned,
                              const l2k_dirac_plane *, l2k_dirac_residue *);
void __wrap_l2k_dirac_inverse(const l2k_context *context, l2k_dirac_transform *transform,
                              const l2k_dirac_sequence *sequence, unsigned number, const l2k_dirac_plane *plane,
                              l2k_dirac_residue *residue)
{
    const double start = now();
    __real_l2k_dirac_inverse(context, transform, sequence, number, plane, residue);
    seconds[WAVELET] += now() - start;
}

/* Pushes the stream, a data unit at a time, and keeps AHEAD of them in the decoder. Returns the number of frames. */
static unsigned decode(l2k_video_decoder *decoder, const uint8_t *data, size_t bytes)
{
    static unsigned pushed;
    unsigned frames = 0;
    const l2k_video_frame *frame = NULL;
    for (size_t at = 0, size; at < bytes; at += size) {
        const uint8_t *next = data + at + 5;
        size = (size_t)next[0] << 24 | (size_t)next[1] << 16 | (size_t)next[2] << 8 | next[3];
        size = size == 0 || size > bytes - at ? bytes - at : size;
        if (l2k_video_decoder_push(decoder, data + at, size) != L2K_OK)
            exit(1);
        if (++pushed > AHEAD && l2k_video_decoder_pull(decoder, &frame) == L2K_OK)
            frames += frame != NULL;
    }
    return frames;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 2 ? fopen(argv[2], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "usage: paper_dirac cpu|cuda STREAM [SECONDS]\n");
        return 2;
    }
    const double limit = argc > 3 ? strtod(argv[3], NULL) : 2;
    const bool cuda = strcmp(argv[1], "cuda") == 0;
    const size_t bytes = (size_t)ftell(file);
    uint8_t *data = malloc(bytes);
    l2k_video_decoder *decoder = l2k_video_decoder_new(NULL);
    rewind(file);
    if (!data || !decoder || fread(data, 1, bytes, file) != bytes ||
        l2k_video_decoder_set(decoder, L2K_VIDEO_BACKEND, cuda ? L2K_BACKEND_CUDA : L2K_BACKEND_CPU) != L2K_OK ||
        l2k_video_decoder_set(decoder, L2K_VIDEO_MEMORY, cuda ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST) != L2K_OK)
        return 1;
    fclose(file);
    double total = 0, host[STAGES];
    unsigned frames = 0;
    if (decode(decoder, data, bytes) == 0)
        return 1;
    memset(seconds, 0, sizeof seconds);
    for (const double start = now(); total < limit; total = now() - start)
        frames += decode(decoder, data, bytes);
    for (int i = 0; i < STAGES; i++)
        seconds[i] /= frames;
    memcpy(host, seconds, sizeof host);
    if (cuda) {
        timed = true;
        const unsigned n = decode(decoder, data, bytes);
        memcpy(seconds, host, sizeof host);
        for (unsigned i = 0; i < num_events; i++) {
            float ms = 0;
            cudaEventElapsedTime(&ms, events[i].begin, events[i].end);
            seconds[events[i].stage] += ms * 1e-3 / n;
        }
    }
    for (int i = 0; i < STAGES; i++)
        if (seconds[i] > 0)
            printf("%-18s %8.4f ms\n", names[i], seconds[i] * 1e3);
    printf("%-18s %8.4f ms, %.0f frames a second\n", "all", total / frames * 1e3, frames / total);
    l2k_video_decoder_free(decoder);
    free(data);
    return 0;
}
