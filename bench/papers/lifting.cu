/* paper_lifting: tables III, V and VI of van der Laan, Jalba, Roerdink: Accelerating Wavelet Lifting on Graphics
 * Hardware using CUDA, by lift2k on this GPU, beside the paper's: three levels of 1920 x 1080, samples and coefficients
 * of 16 and of 32 bits, and three levels of a volume of 512 x 512 x 512. */
#include "bench/cuda/plan.cuh"
#include "bench/papers/volume.cuh"

/* Milliseconds of the paper: its own method, a transposing one and the CPU with 16 bits, its own with 32. */
static const struct {
    const char *name;
    l2k_wavelet wavelet;
    const char *paper[2][4];
} rows[] = {
    {"Haar, `haar`", L2K_WAVELET_HAAR, {{"0.80", "5.58", "10.31", "1.09"}, {"0.83", "6.33", "9.11", "1.15"}}},
    {"Deslauriers-Dubuc (9,7), `dd-9-7`",
     L2K_WAVELET_DD_9_7,
     {{"1.50", "6.01", "16.84", "1.64"}, {"1.45", "6.40", "15.93", "1.81"}}},
    {"Le Gall (5,3), `5/3`", L2K_WAVELET_5_3, {{"1.34", "5.89", "14.03", "1.45"}, {"1.28", "6.29", "13.02", "1.66"}}},
    {"Deslauriers-Dubuc (13,7), `dd-13-7`",
     L2K_WAVELET_DD_13_7,
     {{"1.62", "6.08", "19.52", "1.75"}, {"1.55", "6.48", "18.22", "1.90"}}},
    {"Daubechies (9,7), `daubechies-int`",
     L2K_WAVELET_DAUBECHIES_INT,
     {{"2.05", "6.54", "22.66", "2.13"}, {"2.04", "7.03", "21.73", "2.35"}}},
    {"Fidelity, `fidelity`", L2K_WAVELET_FIDELITY, {{"2.11", "6.45", "28.82", "2.72"}, {"", "", "", ""}}},
};

static void print_pictures(const l2k_context *context, cudaStream_t stream)
{
    const extent full_hd = {1920, 1080, 3};
    printf(
        "1920 x 1080, three levels; us (times a copy of the same bytes), median of %d:\n\n| wavelet | direction | 16 "
        "bits | 32 bits | paper, 16 bits, ms | transposing | CPU | paper, 32 bits, ms "
        "|\n|---|---|---|---|---|---|---|---|\n",
        REPEATS);
    for (const auto &row : rows) {
        const work narrow = {row.name, row.wavelet, L2K_COEFFICIENT_INT16, L2K_SAMPLE_S16, 1, 9, true, false},
                   wide = {row.name, row.wavelet, L2K_COEFFICIENT_INT32, L2K_SAMPLE_S32, 1, 9, true, false};
        const plan_times t[2] = {time_plans(context, narrow, full_hd, stream),
                                 time_plans(context, wide, full_hd, stream)};
        for (int d = 0; d < 2; d++) {
            const char *const *paper = row.paper[d];
            printf("| %s | %s | %.1f (%.2f) | %.1f (%.2f) | %s | %s | %s | %s |\n", row.name, d ? "inverse" : "forward",
                   t[0].us[d], t[0].us[d] / t[0].copy, t[1].us[d], t[1].us[d] / t[1].copy, paper[0], paper[1], paper[2],
                   paper[3]);
        }
        fflush(stdout);
    }
}

static void print_volume(int rounds)
{
    const shape s = {L2K_WAVELET_5_3, 512, 512, 3, L2K_COEFFICIENT_INT16, 11, L2K_SAMPLE_S16};
    const copies c(s.bytes());
    volume volumes[] = {
        {s, L2K_FORWARD, true, c}, {s, L2K_INVERSE, true, c}, {s, L2K_FORWARD, false, c}, {s, L2K_INVERSE, false, c}};
    const std::vector<duration> took =
        measure({[&] { c.on_device(); }, [&] { c.both(); }, [&] { volumes[0].run(); }, [&] { volumes[1].run(); },
                 [&] { volumes[2].run(); }, [&] { volumes[3].run(); }},
                rounds);
    printf(
        "\n512 x 512 x 512 int16, 5/3, three levels each way; ms (times a copy on the device, %.3f ms, or both "
        "directions of the bus at once, %.2f ms), median of %d:\n\n| samples in | forward | inverse | paper, forward "
        "| inverse |\n|---|---|---|---|---|\n",
        took[0].ms, took[1].ms, rounds);
    for (int host = 0; host < 2; host++) {
        const float copy = took[host].ms, forward = took[2 + 2 * host].ms, inverse = took[3 + 2 * host].ms;
        printf("| %s | %.3f (%.2f) | %.3f (%.2f) | %s |\n", host ? "pinned memory" : "device memory", forward,
               forward / copy, inverse, inverse / copy, host ? " | " : "179.3 | 173.7");
    }
}

int main(void)
{
    l2k_context context = {};
    cudaStream_t stream;
    context.hooks.message = report_message;
    context.threads = 1;
    CHECK(cudaStreamCreate(&stream));
    print_device();
    printf("; paper: GeForce 8800 GTX, Athlon 64 X2 5200+ (one core), without transfers\n\n");
    print_pictures(&context, stream);
    print_volume(20);
    return 0;
}
