/* What the programs for papers on volumes share: volumes of the library from device or pinned memory, copies of the
 * same bytes beside them, and works that are timed in turn. */
#ifndef L2K_BENCH_PAPERS_VOLUME_CUH
#define L2K_BENCH_PAPERS_VOLUME_CUH

#include "bench/cuda/timing.cuh"

#include <chrono>
#include <cstring>
#include <functional>

#include "lift2k/lift2k.h"

static void require(l2k_status status)
{
    if (status == L2K_OK)
        return;
    fprintf(stderr, "failed: %s\n", l2k_strerror(status));
    exit(1);
}

/* ---- Time ------------------------------------------------------------------------------------------------------ */

struct duration {
    float ms, host_ms; /* medians; host_ms: until the work returns */
};

static float median(std::vector<float> times)
{
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

static float ms_between(cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    CHECK(cudaEventSynchronize(to));
    CHECK(cudaEventElapsedTime(&ms, from, to));
    return ms;
}

/* Works in turn, each on an idle device; they enqueue in the default stream, or have ended when they return. */
static std::vector<duration> measure(const std::vector<std::function<void()>> &works, int rounds)
{
    typedef std::chrono::duration<float, std::milli> milliseconds;
    std::vector<std::vector<float>> times(works.size()), host(works.size());
    std::vector<duration> medians;
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    for (int round = -1; round < rounds; round++)
        for (size_t i = 0; i < works.size(); i++) {
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventRecord(start, NULL));
            const auto begun = std::chrono::steady_clock::now();
            works[i]();
            const milliseconds took = std::chrono::steady_clock::now() - begun;
            CHECK(cudaEventRecord(end, NULL));
            const float ms = ms_between(start, end);
            if (round < 0)
                continue;
            host[i].push_back(took.count());
            times[i].push_back(ms);
        }
    for (size_t i = 0; i < works.size(); i++)
        medians.push_back({median(times[i]), median(host[i])});
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    return medians;
}

/* ---- Copies ---------------------------------------------------------------------------------------------------- */

struct copies {
    char *from, *to, *host_from, *host_to;
    size_t bytes;
    cudaStream_t streams[2];

    explicit copies(size_t count) : bytes(count)
    {
        for (char **memory : {&from, &to}) {
            CHECK(cudaMalloc(memory, bytes));
            CHECK(cudaMemset(*memory, 0, bytes));
        }
        for (char **memory : {&host_from, &host_to}) {
            CHECK(cudaMallocHost(memory, bytes));
            memset(*memory, 0, bytes);
        }
        for (cudaStream_t &stream : streams)
            CHECK(cudaStreamCreate(&stream));
    }
    ~copies()
    {
        CHECK(cudaFree(from));
        CHECK(cudaFree(to));
        CHECK(cudaFreeHost(host_from));
        CHECK(cudaFreeHost(host_to));
        for (cudaStream_t stream : streams)
            CHECK(cudaStreamDestroy(stream));
    }
    void on_device() const
    {
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, NULL));
    }
    void up(cudaStream_t stream = NULL) const
    {
        CHECK(cudaMemcpyAsync(from, host_from, bytes, cudaMemcpyHostToDevice, stream));
    }
    void down(cudaStream_t stream = NULL) const
    {
        CHECK(cudaMemcpyAsync(host_to, to, bytes, cudaMemcpyDeviceToHost, stream));
    }
    void both() const
    {
        up(streams[0]);
        down(streams[1]);
        CHECK(cudaDeviceSynchronize());
    }
};

/* ---- Volumes --------------------------------------------------------------------------------------------------- */

struct shape {
    l2k_wavelet wavelet;
    uint32_t side, slices;
    int levels; /* across slices as within them */
    l2k_coefficient_type type;
    unsigned precision;
    l2k_sample_type sample;

    size_t sample_bytes() const
    {
        return sample == L2K_SAMPLE_S16 ? 2 : 4;
    }
    size_t bytes() const
    {
        return (size_t)side * side * slices * sample_bytes();
    }
};

class volume
{
    shape s;
    l2k_direction direction;
    bool on_device;
    char *samples;
    l2k_volume *object;

    void set(l2k_volume_option option, int64_t value)
    {
        require(l2k_volume_set(object, option, value));
    }
    /* A run begins with what a volume of the same shape as the last one takes, not with what the first one did. */
    void prepare()
    {
        l2k_component component = {};
        l2k_image image = {};
        component.dx = component.dy = 1;
        component.precision = s.precision;
        component.is_signed = true;
        image.x1 = image.y1 = s.side;
        image.num_components = 1;
        image.components = &component;
        require(l2k_volume_prepare(object, &image, 0, s.slices));
    }
    l2k_plane plane_of(uint32_t z) const
    {
        const size_t bytes = s.sample_bytes();
        return l2k_plane{samples + z * bytes * s.side * s.side, (ptrdiff_t)(bytes * s.side), (ptrdiff_t)bytes,
                         s.sample};
    }
    void forward()
    {
        for (uint32_t z = 0; z < s.slices; z++) {
            l2k_volume_slice slice;
            const l2k_plane plane = plane_of(z);
            require(l2k_volume_put_slice(object, &plane));
            do
                require(l2k_volume_get_coefficients(object, &slice));
            while (slice.views);
        }
    }
    void inverse()
    {
        for (uint32_t z = 0; z < s.slices;) {
            l2k_volume_slice slice;
            bool got = true;
            require(l2k_volume_next_coefficients(object, &slice));
            if (slice.views)
                require(l2k_volume_put_coefficients(object));
            while (got && z < s.slices) {
                const l2k_plane plane = plane_of(z);
                require(l2k_volume_get_slice(object, &plane, &got));
                z += got;
            }
        }
    }

  public:
    volume(const shape &of, l2k_direction which, bool in_device_memory, const copies &c)
        : s(of), direction(which), on_device(in_device_memory), samples(on_device ? c.from : c.host_from),
          object(l2k_volume_new(NULL))
    {
        set(L2K_VOLUME_WAVELET, s.wavelet);
        set(L2K_VOLUME_DIRECTION, direction);
        set(L2K_VOLUME_LEVELS, s.levels);
        set(L2K_VOLUME_Z_LEVELS, s.levels);
        set(L2K_VOLUME_COEFFICIENTS, s.type);
        set(L2K_VOLUME_BACKEND, L2K_BACKEND_CUDA);
        set(L2K_VOLUME_MEMORY, on_device ? L2K_MEMORY_DEVICE : L2K_MEMORY_HOST);
    }
    volume(const volume &) = delete;
    ~volume()
    {
        l2k_volume_free(object);
    }
    void run()
    {
        prepare();
        direction == L2K_FORWARD ? forward() : inverse();
        if (!on_device)
            CHECK(cudaDeviceSynchronize());
    }
};

#endif
