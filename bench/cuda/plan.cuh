/* The transform stage on the GPU, timed beside a device-to-device copy that reads as many bytes as the transform reads
 * and writes as many as it writes. */
#ifndef L2K_BENCH_CUDA_PLAN_CUH
#define L2K_BENCH_CUDA_PLAN_CUH

#include "bench/cuda/timing.cuh"

#include <cstring>

extern "C" {
#include "base/context.h"
#include "base/sample.h"
#include "quant/steps.h"
#include "transform/device.h"
}

struct work {
    const char *name;
    l2k_wavelet wavelet;
    l2k_coefficient_type coefficients;
    l2k_sample_type samples;
    unsigned components, precision;
    bool is_signed, is_planar; /* planar: the samples of a component together, else interleaved */
};

struct extent {
    uint32_t width, height;
    unsigned levels;
};

/* A plan with its own pixels in device memory. */
struct subject {
    l2k_plan *plan;
    char *pixels;
    l2k_plane planes[3];
    cudaGraphExec_t graph;
};

static size_t pixel_bytes(const work &w, const extent &e)
{
    return (size_t)e.width * e.height * w.components * l2k_sample_bytes(w.samples);
}

static size_t coefficient_bytes(const work &w, const extent &e)
{
    return (size_t)e.width * e.height * w.components * l2k_coefficient_bytes(w.coefficients);
}

template <class S> static void fill_with_noise(char *device, size_t bytes, int offset)
{
    std::vector<S> host(bytes / sizeof(S));
    uint64_t state = 1;
    for (S &v : host)
        v = (S)((int)((state = state * 6364136223846793005u + 1442695040888963407u) >> 56) - offset);
    CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
}

static void fill(char *device, size_t bytes, const work &w)
{
    const int offset = w.is_signed ? 128 : 0;
    if (w.samples == L2K_SAMPLE_F32)
        fill_with_noise<float>(device, bytes, 128);
    else if (l2k_sample_bytes(w.samples) == 1)
        fill_with_noise<uint8_t>(device, bytes, 0);
    else if (l2k_sample_bytes(w.samples) == 2)
        fill_with_noise<int16_t>(device, bytes, offset);
    else
        fill_with_noise<int32_t>(device, bytes, offset);
}

/* A kernel with its norms and gains; NULL for the wavelets of Part 1. */
static const l2k_wavelet_descriptor *measured_kernel(const work &w)
{
    static l2k_wavelet_descriptor measured;
    int64_t number;
    if (w.wavelet <= L2K_WAVELET_9_7)
        return NULL;
    l2k_context context = {};
    if (l2k_wavelet_take_kernel(&context, &l2k_wavelet_get(w.wavelet)->kernel, &measured, &number) != L2K_OK)
        exit(1);
    return &measured;
}

/* The quantiser steps that the encoder uses. */
static void set_steps(const work &w, l2k_plan_component *component)
{
    for (unsigned band = 0; band <= 3 * component->levels; band++) {
        const unsigned level = l2k_band_level(component->levels, l2k_band_resolution(band)),
                       o = l2k_band_orientation(band);
        const l2k_step step = l2k_step_choose(l2k_plan_wavelet(component), w.precision, {level, level}, o);
        component->steps[band] = l2k_step_size(step, w.precision, o);
    }
}

static subject make_subject(const l2k_context *context, const work &w, l2k_direction direction, const extent &e,
                            cudaStream_t stream, bool noise)
{
    subject s = {};
    l2k_plan_component components[3];
    memset(components, 0, sizeof components);
    for (unsigned c = 0; c < w.components; c++) {
        components[c].rect = l2k_rect{0, 0, e.width, e.height};
        components[c].levels = e.levels;
        components[c].wavelet = w.wavelet;
        components[c].own = measured_kernel(w);
        components[c].precision = w.precision;
        components[c].is_signed = w.is_signed;
        components[c].narrow_low = true;
        set_steps(w, &components[c]);
    }
    l2k_plan_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.direction = direction;
    spec.type = w.coefficients;
    spec.component_transform = w.components == 3;
    spec.num_components = w.components;
    spec.components = components;
    spec.memory = L2K_PLAN_DEVICE;
    if (l2k_plan_create(context, L2K_BACKEND_CUDA, &spec, &s.plan) != L2K_OK)
        exit(1);
    CHECK(cudaMalloc(&s.pixels, pixel_bytes(w, e)));
    if (noise)
        fill(s.pixels, pixel_bytes(w, e), w);
    size_t size = l2k_sample_bytes(w.samples);
    for (unsigned c = 0; c < w.components; c++) {
        size_t lanes = w.is_planar ? 1 : w.components;
        s.planes[c].data = s.pixels + c * size * (w.is_planar ? (size_t)e.width * e.height : 1);
        s.planes[c].row_stride = (ptrdiff_t)(e.width * lanes * size);
        s.planes[c].sample_stride = (ptrdiff_t)(lanes * size);
        s.planes[c].type = w.samples;
    }
    for (unsigned c = 0; c < w.components && direction == L2K_INVERSE; c++) {
        const l2k_coefficients *view = l2k_plan_coefficients(s.plan, c);
        std::vector<int16_t> host(view->stride * view->height * l2k_coefficient_bytes(view->type) / 2);
        uint32_t state = c;
        for (int16_t &v : host)
            v = (int16_t)((state = state * 1664525u + 1013904223u) >> 26) - 32;
        if (w.coefficients == L2K_COEFFICIENT_INT16)
            CHECK(cudaMemcpy(view->base, host.data(), host.size() * 2, cudaMemcpyHostToDevice));
        else
            CHECK(cudaMemset(view->base, 0x3d, host.size() * 2));
    }
    s.graph = record_graph(stream, [&] {
        if (l2k_plan_run_on_device(s.plan, s.planes, stream) != L2K_OK)
            exit(1);
    });
    return s;
}

/* Microseconds of the copy, forward and inverse. */
struct plan_times {
    double copy, us[2];
};

static plan_times time_plans(const l2k_context *context, const work &w, const extent &e, cudaStream_t stream)
{
    size_t in = pixel_bytes(w, e), out = coefficient_bytes(w, e);
    unsigned sets = cold_sets(in, out);
    plan_times t = {copy_us(stream, in, out, sets), {}};
    for (int d = 0; d < 2; d++) {
        std::vector<subject> subjects;
        for (unsigned i = 0; i < sets; i++)
            subjects.push_back(
                make_subject(context, w, d ? L2K_INVERSE : L2K_FORWARD, e, stream, i < 2 || e.width <= 2048));
        t.us[d] = median_us(stream, [&](int i) { CHECK(cudaGraphLaunch(subjects[i % sets].graph, stream)); });
        for (subject &s : subjects) {
            CHECK(cudaGraphExecDestroy(s.graph));
            CHECK(cudaFree(s.pixels));
            l2k_plan_free(s.plan);
        }
    }
    return t;
}

#endif
