/* paper_frames [ROUNDS]: the stages of Franco, Bernabe, Fernandez, Ujaldon: Parallel 3D fast wavelet transform on
 * manycore GPUs and multicore CPUs, table 4: 64 frames by one level of w4, beside the paper's. Works run in turn; each
 * figure is a median beside that of a copy in the same rounds.
 *
 * Stages on the device are seen where they happen: linked with --wrap, each call of a plan, which transforms the frames
 * of a group along rows and columns at once, lies between two events. */
#include "bench/papers/volume.cuh"

extern "C" {
#include "transform/device.h"
}

static int rounds = 10;

/* Runs of plans in the volume that is looked at. */
enum { MOST_CALLS = 64 };
static struct {
    bool on;
    int count;
    cudaEvent_t from[MOST_CALLS], to[MOST_CALLS];
} calls;

extern "C" {
l2k_status __real_l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream);

l2k_status __wrap_l2k_plan_run_on_device(l2k_plan *plan, const l2k_plane *planes, void *stream)
{
    const int i = calls.count;
    if (!calls.on)
        return __real_l2k_plan_run_on_device(plan, planes, stream);
    if (i == MOST_CALLS)
        require(L2K_ERROR_LIMIT); /* of this array */
    if (!calls.from[i]) {
        CHECK(cudaEventCreate(&calls.from[i]));
        CHECK(cudaEventCreate(&calls.to[i]));
    }
    CHECK(cudaEventRecord(calls.from[i], NULL)); /* the default stream is the volume's */
    CHECK(cudaStreamWaitEvent((cudaStream_t)stream, calls.from[i], 0));
    const l2k_status status = __real_l2k_plan_run_on_device(plan, planes, stream);
    CHECK(cudaEventRecord(calls.to[i], (cudaStream_t)stream));
    CHECK(cudaStreamWaitEvent(NULL, calls.to[i], 0));
    calls.count++;
    return status;
}
}

enum stage { UP, ACROSS, WITHIN, DOWN, ON_DEVICE, ALL, BACK_ACROSS, BACK_WITHIN, BACK_ON_DEVICE, BACK_ALL, STAGES };
enum { FRAME_SIZES = 3 };

static const struct {
    const char *name, *paper[FRAME_SIZES];
    bool crosses_bus;
} stages[STAGES] = {
    {"1. up *", {"21.57", "83.42", "332.17"}, true},
    {"2. across frames", {"4.03", "14.26", "55.79"}, false},
    {"3, 4. along rows and columns", {"5.04 + 5.19", "18.02 + 17.33", "68.54 + 65.94"}, false},
    {"5. down *", {"21.82", "83.63", "320.67"}, true},
    {"2 to 4, in device memory", {"14.61", "49.59", "190.27"}, false},
    {"1 to 5, which overlap *", {"57.65", "216.66", "843.11"}, true},
    {"inverse: across frames", {"", "", ""}, false},
    {"inverse: along rows and columns", {"", "", ""}, false},
    {"inverse, in device memory", {"", "", ""}, false},
    {"inverse, from and to pinned memory *", {"", "", ""}, true},
};

/* A stage's milliseconds, and those of its reference. */
struct figure {
    float ms, reference;
};

/* Milliseconds of a volume within frames and across them, medians. Copies before each run keep the device busy until
 * the host has enqueued it, so that it is not what the device waits for. */
static void measure_stages(volume &v, const duration &run, const copies &c, const duration &copy, figure *within,
                           figure *across)
{
    std::vector<float> within_of, across_of;
    const int ahead = 2 + (int)(2 * run.host_ms / copy.ms);
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int round = 0; round < rounds; round++) {
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < ahead; i++)
            c.on_device();
        calls.on = true;
        calls.count = 0;
        CHECK(cudaEventRecord(start, NULL));
        v.run();
        CHECK(cudaEventRecord(end, NULL));
        calls.on = false;
        const float all = ms_between(start, end);
        float sum = 0;
        for (int i = 0; i < calls.count; i++)
            sum += ms_between(calls.from[i], calls.to[i]);
        within_of.push_back(sum);
        across_of.push_back(all - sum);
    }
    within->ms = median(within_of);
    across->ms = median(across_of);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
}

static void measure_frames(uint32_t side, figure figures[STAGES])
{
    const shape s = {L2K_WAVELET_W4, side, 64, 1, L2K_COEFFICIENT_FLOAT32, 8, L2K_SAMPLE_F32};
    const copies c(s.bytes());
    volume on_device[2] = {{s, L2K_FORWARD, true, c}, {s, L2K_INVERSE, true, c}},
           in_host[2] = {{s, L2K_FORWARD, false, c}, {s, L2K_INVERSE, false, c}};
    const std::vector<duration> took = measure(
        {[&] { c.on_device(); }, [&] { c.both(); }, [&] { c.up(); }, [&] { c.down(); }, [&] { on_device[0].run(); },
         [&] { on_device[1].run(); }, [&] { in_host[0].run(); }, [&] { in_host[1].run(); }},
        rounds);
    figures[UP].ms = took[2].ms;
    figures[DOWN].ms = took[3].ms;
    for (int d = 0; d < 2; d++) {
        figures[d ? BACK_ON_DEVICE : ON_DEVICE].ms = took[4 + d].ms;
        figures[d ? BACK_ALL : ALL].ms = took[6 + d].ms;
        measure_stages(on_device[d], took[4 + d], c, took[0], &figures[d ? BACK_WITHIN : WITHIN],
                       &figures[d ? BACK_ACROSS : ACROSS]);
    }
    for (int i = 0; i < STAGES; i++)
        figures[i].reference = took[stages[i].crosses_bus].ms;
}

int main(int argc, char **argv)
{
    figure figures[FRAME_SIZES][STAGES];
    rounds = argc > 1 ? std::max(1, atoi(argv[1])) : rounds;
    for (int i = 0; i < FRAME_SIZES; i++)
        measure_frames(512u << i, figures[i]);
    print_device();
    printf("; 64 frames of float32, w4, one level: ms, medians of %d (times a copy on the device; *: times both "
           "directions of the bus at once); paper: Tesla C870\n\n| stage |",
           rounds);
    for (int i = 0; i < FRAME_SIZES; i++)
        printf(" %u x %u | paper |", 512u << i, 512u << i);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (int stage = 0; stage < STAGES; stage++) {
        printf("| %s |", stages[stage].name);
        for (int i = 0; i < FRAME_SIZES; i++) {
            const figure *f = &figures[i][stage];
            printf(" %.3f (%.2f) | %s |", f->ms, f->ms / f->reference, stages[stage].paper[i]);
        }
        printf("\n");
    }
    return 0;
}
