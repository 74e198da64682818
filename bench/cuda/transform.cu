/* gpu_transform [SIZE [WORK]]: the transform stage on the GPU beside copies of the same bytes (plan.cuh).
 * SIZE and WORK (a number from 0 on) select rows. */
#include "bench/cuda/plan.cuh"

static void measure(const l2k_context *context, const work &w, uint32_t n, cudaStream_t stream)
{
    const plan_times t = time_plans(context, w, extent{n, n, 5}, stream);
    printf("| %s | %u | %.1f | %.1f | %.2f | %.1f | %.2f |\n", w.name, n, t.copy, t.us[0], t.us[0] / t.copy, t.us[1],
           t.us[1] / t.copy);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const work works[] = {
        {"5/3 int16 to int16", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"9/7 float32 to float32", L2K_WAVELET_9_7, L2K_COEFFICIENT_FLOAT32, L2K_SAMPLE_F32, 1, 9, true, false},
        {"9/7 int16 to quantised int16", L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"RGB 8-bit, RCT, 5/3, int16", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, 3, 8, false, false},
        {"RGB 8-bit, ICT, 9/7, int16", L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, 3, 8, false, false},
        {"RGB 8-bit, planar, RCT, 5/3, int16", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, 3, 8, false,
         true},
        {"RGB 8-bit, planar, ICT, 9/7, int16", L2K_WAVELET_9_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, 3, 8, false,
         true},
        {"5/3 int16 to int32", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT32, L2K_SAMPLE_S16, 1, 9, true, false},
        {"9/7 int16 to quantised int32", L2K_WAVELET_9_7, L2K_COEFFICIENT_INT32, L2K_SAMPLE_S16, 1, 9, true, false},
        {"haar int16 to int16", L2K_WAVELET_HAAR, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"1-3 int16 to int16", L2K_WAVELET_1_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"dd-9-7 int16 to int16", L2K_WAVELET_DD_9_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"dd-13-7 int16 to int16", L2K_WAVELET_DD_13_7, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"daubechies-int int16 to int16", L2K_WAVELET_DAUBECHIES_INT, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true,
         false},
        {"fidelity int16 to int16", L2K_WAVELET_FIDELITY, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
        {"w4 float32 to float32", L2K_WAVELET_W4, L2K_COEFFICIENT_FLOAT32, L2K_SAMPLE_F32, 1, 9, true, false},
    };
    l2k_context context = {};
    cudaStream_t stream;
    context.hooks.message = report_message;
    context.threads = 1;
    CHECK(cudaStreamCreate(&stream));
    print_device();
    printf("; microseconds, median of %d\n\n", REPEATS);
    printf("| work | n | copy | forward | x copy | inverse | x copy |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < (int)(sizeof works / sizeof *works); i++)
        for (uint32_t n = 1024; n <= 8192; n *= 2)
            if ((argc < 2 || (uint32_t)atoi(argv[1]) == n) && (argc < 3 || atoi(argv[2]) == i))
                measure(&context, works[i], n, stream);
    return 0;
}
