/* gpu_tables: rows of the papers' tables for one level of a forward transform, on this GPU. A kernel is timed only if
 * what it makes equals the CPU's bit for bit at that size.
 *
 *   gpu_tables               all tables, as Markdown
 *   gpu_tables --check       checks only, at small sizes (for compute-sanitizer)
 *   gpu_tables --profile     launches each kernel of the register tile once, for a profiler (tables.sh): a line each,
 *                            with the bytes that the model says
 *
 * Tables go to standard output. Exits with 1 if a kernel is wrong. */
#include "bench/lab/library.cuh"
#include "bench/lab/passes.cuh"
#include "bench/lab/tile_trials.cuh"

#include <functional>
#include <string>

enum { ONE_MEGAPIXEL = 1024, TEN_MEGAPIXELS = 3168, TILE_SIZE = 7168 };

static bool any_wrong;
static l2k_context context;
static cudaStream_t stream;

/* ---- One level on the CPU -------------------------------------------------------------------------------------- */

/* A line of n samples, `apart` from each other, to its halves. */
template <class W>
static void lift_on_cpu(const typename W::S *from, typename W::S *to, int n, size_t apart,
                        std::vector<typename W::T> &v)
{
    for (int i = 0; i < n; i++)
        v[i] = from[i * apart];
    for (int k = 0; k < W::STEPS; k++)
        for (int i = 1 - (k & 1); i < n; i += 2)
            v[i] = W::step(k, v[i], v[i > 0 ? i - 1 : 1], v[i + 1 < n ? i + 1 : n - 2]);
    for (int i = 0; i < n; i++)
        to[(i / 2 + (i & 1) * (n / 2)) * apart] = (typename W::S)W::scale(v[i], i & 1);
}

/* Impulses through the lifting steps, in the precision of a double. */
static lab_taps taps_of_97(void)
{
    static const double steps[4] = {L2K_9_7_ALPHA, L2K_9_7_BETA, L2K_9_7_GAMMA, L2K_9_7_DELTA};
    lab_taps taps;
    for (int high = 0; high < 2; high++)
        for (int k = 0; k < 5 - high; k++) {
            double v[24] = {};
            v[12 + high + k] = 1;
            for (int step = 0; step < 4; step++)
                for (int i = 2 - (step & 1); i < 23; i += 2)
                    if ((i & 1) != (step & 1))
                        v[i] += steps[step] * (v[i - 1] + v[i + 1]);
            (high ? taps.high : taps.low)[k] =
                (float)(v[12 + high] * (high ? L2K_9_7_FORWARD_HIGH : L2K_9_7_FORWARD_LOW));
        }
    return taps;
}

static void convolve_on_cpu(const float *from, float *to, int n, std::vector<float> &v)
{
    static const lab_taps taps = taps_of_97();
    for (int i = -4; i < n + 4; i++)
        v[i + 4] = from[i < 0 ? -i : i < n ? i : 2 * (n - 1) - i];
    for (int i = 0; i < n; i++)
        to[i / 2 + (i & 1) * (n / 2)] = i & 1 ? lab_convolve(taps.high, &v[i + 4]) : lab_convolve(taps.low, &v[i + 4]);
}

enum direction { ROWS, COLUMNS, ROWS_CONVOLVED };

static void convolve_rows(const std::vector<float> &in, std::vector<float> &out, int n)
{
    std::vector<float> line(n + 8);
    for (int i = 0; i < n; i++)
        convolve_on_cpu(&in[(size_t)i * n], &out[(size_t)i * n], n, line);
}
template <class S> static void convolve_rows(const std::vector<S> &, std::vector<S> &, int)
{
}

template <class W>
static std::vector<typename W::S> pass_on_cpu(const std::vector<typename W::S> &in, int n, direction which)
{
    std::vector<typename W::S> out(in.size());
    std::vector<typename W::T> line(n);
    if (which == ROWS_CONVOLVED)
        convolve_rows(in, out, n);
    for (int i = 0; i < n && which == ROWS; i++)
        lift_on_cpu<W>(&in[(size_t)i * n], &out[(size_t)i * n], n, 1, line);
    for (int i = 0; i < n && which == COLUMNS; i++)
        lift_on_cpu<W>(&in[i], &out[i], n, n, line);
    return out;
}

/* Samples where memory_alone leaves them. */
template <class W> static std::vector<typename W::S> parted_on_cpu(const std::vector<typename W::S> &in, int n)
{
    std::vector<typename W::S> out(in.size());
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            out[(size_t)(y / 2 + (y & 1) * (n / 2)) * n + x / 2 + (x & 1) * (n / 2)] = in[(size_t)y * n + x];
    return out;
}

/* Every tile of arithmetic_alone: equal rows of the numbers 0 to 63, lifted as far as that does not need other tiles.
 */
template <class W> static std::vector<typename W::S> made_up_on_cpu(int n, int out_rows)
{
    enum { HALO = 2 * ((W::STEPS + 1) / 2) };
    const int rows = out_rows + 2 * W::STEPS;
    std::vector<typename W::T> v(rows * 64);
    for (int i = 0; i < rows * 64; i++)
        v[i] = (typename W::T)(i % 64);
    for (int along = 0; along < 2; along++) {
        const int apart = along ? 1 : 64, lines = along ? rows : 64, length = along ? 64 : rows, next = along ? 64 : 1;
        for (int line = 0; line < lines; line++) {
            typename W::T *at = &v[line * next];
            for (int k = 0; k < W::STEPS; k++)
                for (int i = 1 + (k & 1); i + 1 < length; i += 2)
                    at[i * apart] = W::step(k, at[i * apart], at[(i - 1) * apart], at[(i + 1) * apart]);
            for (int i = 0; i < length; i++)
                at[i * apart] = W::scale(at[i * apart], i & 1);
        }
    }
    std::vector<typename W::S> out((size_t)n * n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            out[(size_t)(y / 2 + (y & 1) * (n / 2)) * n + x / 2 + (x & 1) * (n / 2)] =
                (typename W::S)v[(W::STEPS + y % out_rows) * 64 + HALO + x % (64 - 2 * HALO)];
    return out;
}

/* ---- What is measured ------------------------------------------------------------------------------------------ */

template <class W> struct trial {
    typedef std::function<void(const lab_level<W> &, typename W::S **scratch, cudaStream_t)> launch;
    std::string name;
    launch run;
    std::function<std::vector<typename W::S>(const std::vector<typename W::S> &, int)> reference;
    launch checked; /* what is compared in place of `run`, which stores nothing */
};

static const char *name_of(const lab_53 *)
{
    return "5/3 int16";
}
static const char *name_of(const lab_53_wide *)
{
    return "5/3 int32";
}
static const char *name_of(const lab_97 *)
{
    return "9/7 float32";
}

/* Buffers of one run. */
template <class W> struct level_set {
    lab_level<W> level;
    typename W::S *in, *out, *scratch[2];
};

template <class W> static level_set<W> make_set(const std::vector<typename W::S> &samples, int n)
{
    level_set<W> s;
    size_t bytes = samples.size() * sizeof(typename W::S), padded = (size_t)lab_stride(n) * n * sizeof(typename W::S);
    CHECK(cudaMalloc(&s.in, bytes));
    CHECK(cudaMalloc(&s.out, bytes));
    for (typename W::S *&buffer : s.scratch)
        CHECK(cudaMalloc(&buffer, padded));
    CHECK(cudaMemcpy(s.in, samples.data(), bytes, cudaMemcpyHostToDevice));
    s.level = lab_level<W>{s.in, n, s.out, n, s.out, n, n};
    return s;
}

template <class W> static void free_set(level_set<W> &s)
{
    CHECK(cudaFree(s.in));
    CHECK(cudaFree(s.out));
    for (typename W::S *buffer : s.scratch)
        CHECK(cudaFree(buffer));
}

template <class W>
static bool is_right(const trial<W> &t, level_set<W> &s, const std::vector<typename W::S> &samples, int n)
{
    std::vector<typename W::S> expected = t.reference(samples, n), seen(samples.size());
    size_t bytes = samples.size() * sizeof(typename W::S), differ = 0;
    CHECK(cudaMemset(s.out, 0x5A, bytes));
    (t.checked ? t.checked : t.run)(s.level, s.scratch, stream);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(seen.data(), s.out, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < seen.size(); i++)
        differ += memcmp(&seen[i], &expected[i], sizeof seen[i]) != 0;
    if (differ)
        fprintf(stderr, "%s, %s, %d: WRONG: %zu of %zu values differ\n", t.name.c_str(), name_of((W *)0), n, differ,
                seen.size());
    any_wrong = any_wrong || differ;
    return differ == 0;
}

/* Microseconds, or less than 0 if the kernel is wrong. */
template <class W> static double time_trial(const trial<W> &t, int n)
{
    std::vector<typename W::S> samples = lab_noise<W>(n);
    std::vector<level_set<W>> sets;
    unsigned count = cold_sets(samples.size() * sizeof(typename W::S), samples.size() * sizeof(typename W::S));
    for (unsigned i = 0; i < count; i++)
        sets.push_back(make_set<W>(samples, n));
    double us = -1;
    if (is_right(t, sets[0], samples, n)) {
        std::vector<cudaGraphExec_t> graphs;
        for (level_set<W> &s : sets)
            graphs.push_back(record_graph(stream, [&] { t.run(s.level, s.scratch, stream); }));
        us = median_us(stream, [&](int i) { CHECK(cudaGraphLaunch(graphs[i % graphs.size()], stream)); });
        for (cudaGraphExec_t graph : graphs)
            CHECK(cudaGraphExecDestroy(graph));
    }
    for (level_set<W> &s : sets)
        free_set(s);
    return us;
}

template <class W> static void check_trial(const trial<W> &t, int n)
{
    std::vector<typename W::S> samples = lab_noise<W>(n);
    level_set<W> s = make_set<W>(samples, n);
    if (is_right(t, s, samples, n))
        fprintf(stderr, "%s, %s, %d: equal to the CPU\n", t.name.c_str(), name_of((W *)0), n);
    free_set(s);
}

template <class W> static double copy_of(int n)
{
    size_t bytes = (size_t)n * n * sizeof(typename W::S);
    return copy_us(stream, bytes, bytes, cold_sets(bytes, bytes));
}

/* ---- The trials ------------------------------------------------------------------------------------------------ */

template <class W> static trial<W> pass(const char *name, typename trial<W>::launch run, direction which)
{
    auto reference = [which](const std::vector<typename W::S> &in, int n) { return pass_on_cpu<W>(in, n, which); };
    return trial<W>{name, run, reference, nullptr};
}

static void add_convolution(std::vector<trial<lab_97>> &trials)
{
    static const lab_taps taps = taps_of_97();
    auto run = [](const lab_level<lab_97> &l, float **, cudaStream_t in) {
        pair_by_convolution_kernel<<<lab_segment<lab_97, 1>::grid(l.size), PASS_THREADS, 0, in>>>(l, taps);
    };
    trials.push_back(pass<lab_97>("rows: a pair a thread, convolution", run, ROWS_CONVOLVED));
}
template <class W> static void add_convolution(std::vector<trial<W>> &)
{
}

template <class W> static std::vector<trial<W>> all_passes(void)
{
    std::vector<trial<W>> trials;
    add_convolution(trials);
    trials.push_back(pass<W>("rows: a pair a thread, lifting", pairs_by_lifting<W, 1>, ROWS));
    trials.push_back(pass<W>("rows: four pairs a thread", pairs_by_lifting<W, 4>, ROWS));
    trials.push_back(pass<W>("rows: a barrier after each lifting step", row_with_barriers<W>, ROWS));
    trials.push_back(pass<W>("rows: 8 a thread, no shared memory", row_eight<W>, ROWS));
    trials.push_back(pass<W>("columns: transposed, four pairs a thread", column_transposed<W>, COLUMNS));
    trials.push_back(pass<W>("columns: window of 16 rows, barriers", column_with_barriers<W>, COLUMNS));
    trials.push_back(pass<W>("columns: window of 64 rows, none in lifting", column_free_window<W>, COLUMNS));
    trials.push_back(pass<W>("columns: 8 a thread, no shared memory", column_eight<W>, COLUMNS));
    return trials;
}

template <class W> static trial<W> level(std::string name, void (*run)(const lab_level<W> &, cudaStream_t))
{
    auto launch = [run](const lab_level<W> &l, typename W::S **, cudaStream_t in) { run(l, in); };
    auto reference = [](const std::vector<typename W::S> &in, int n) { return lab_reference<W>(&context, in, n, 1); };
    return trial<W>{name, launch, reference, nullptr};
}

template <class W> struct tile_kernel {
    int height;
    const void *kernel;
    trial<W> of;
};

template <class W, int HEIGHT> static tile_kernel<W> tile_of_height(void)
{
    typedef lab_tile_of_height<W, HEIGHT> tile;
    return {HEIGHT, tile::kernel(), level<W>("tile of 64 x " + std::to_string(HEIGHT), tile::level_of)};
}

template <class W> static std::vector<tile_kernel<W>> all_heights(void)
{
    return {tile_of_height<W, 10>(), tile_of_height<W, 20>(), tile_of_height<W, 30>(), tile_of_height<W, 40>(),
            tile_of_height<W, 50>(), tile_of_height<W, 60>(), tile_of_height<W, 70>()};
}

template <class W> static std::vector<trial<W>> all_parts(void)
{
    typedef lab_tile_of_height<W, 20> tile;
    std::vector<trial<W>> parts = {level<W>("memory alone", tile::template level<lab_memory_alone>),
                                   level<W>("arithmetic alone", tile::template level<lab_arithmetic_alone>),
                                   level<W>("both", tile::template level<lab_everything>),
                                   level<W>("both, exchange in slots", tile::template level<lab_exchange_in_slots>)};
    parts[0].reference = parted_on_cpu<W>;
    parts[1].reference = [](const std::vector<typename W::S> &, int n) { return made_up_on_cpu<W>(n, tile::OUT_ROWS); };
    parts[1].checked = [](const lab_level<W> &l, typename W::S **, cudaStream_t in) {
        tile::template level<lab_arithmetic_stored>(l, in);
    };
    return parts;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

static std::string cell(double us, double scale, const char *format)
{
    char text[32];
    snprintf(text, sizeof text, format, us * scale);
    return us < 0 ? "WRONG" : text;
}

template <class W> static void print_passes(void)
{
    const int sizes[2] = {ONE_MEGAPIXEL, TEN_MEGAPIXELS};
    double to_picoseconds[2];
    for (int i = 0; i < 2; i++)
        to_picoseconds[i] = 1e6 / ((double)sizes[i] * sizes[i]);
    printf("| copy | %s | %.2f | %.2f |\n", name_of((W *)0), copy_of<W>(sizes[0]) * to_picoseconds[0],
           copy_of<W>(sizes[1]) * to_picoseconds[1]);
    for (const trial<W> &t : all_passes<W>()) {
        printf("| %s | %s |", t.name.c_str(), name_of((W *)0));
        for (int i = 0; i < 2; i++)
            printf(" %s |", cell(time_trial(t, sizes[i]), to_picoseconds[i], "%.2f").c_str());
        printf("\n");
    }
    fflush(stdout);
}

template <class W> static void print_heights(void)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const double copy = copy_of<W>(TILE_SIZE);
    for (const tile_kernel<W> &t : all_heights<W>()) {
        cudaFuncAttributes a;
        int blocks = 0;
        CHECK(cudaFuncGetAttributes(&a, t.kernel));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, t.kernel, 128, 0));
        const double us = time_trial(t.of, TILE_SIZE);
        printf("| %d | %s | %d | %d | %.0f | %.2f | %s | %s |\n", t.height, name_of((W *)0), a.numRegs,
               (int)a.localSizeBytes, 100.0 * blocks * 128 / device.maxThreadsPerMultiProcessor,
               lab_loads_of_tile<W>(t.height), cell(us, 1, "%.1f").c_str(), cell(us, 1 / copy, "%.2f").c_str());
        fflush(stdout);
    }
}

template <class W> static void print_parts(void)
{
    const double copy = copy_of<W>(TILE_SIZE);
    for (const trial<W> &t : all_parts<W>()) {
        const double us = time_trial(t, TILE_SIZE);
        printf("| %s | %s | %s | %s |\n", t.name.c_str(), name_of((W *)0), cell(us, 1, "%.1f").c_str(),
               cell(us, 1 / copy, "%.2f").c_str());
        fflush(stdout);
    }
}

static void print_tables(void)
{
    print_device();
    printf("\n\nOne level, forward; median of %d. Every kernel's result equalled the CPU's.\n\n", REPEATS);
    printf("Passes, picoseconds a pixel:\n\n| pass | wavelet | %d x %d | %d x %d |\n|---|---|---|---|\n", ONE_MEGAPIXEL,
           ONE_MEGAPIXEL, TEN_MEGAPIXELS, TEN_MEGAPIXELS);
    print_passes<lab_53>();
    print_passes<lab_53_wide>();
    print_passes<lab_97>();
    printf("\nTiles of 64 columns in registers, %d x %d:\n\n| height | wavelet | registers | bytes of local memory | "
           "occupancy, %% | samples loaded for one stored | us | times a copy |\n|---|---|---|---|---|---|---|---|\n",
           TILE_SIZE, TILE_SIZE);
    print_heights<lab_53>();
    print_heights<lab_53_wide>();
    print_heights<lab_97>();
    printf("\nParts of the tile of 64 x 20, %d x %d:\n\n| what | wavelet | us | times a copy |\n|---|---|---|---|\n",
           TILE_SIZE, TILE_SIZE);
    print_parts<lab_53>();
    print_parts<lab_53_wide>();
    print_parts<lab_97>();
}

/* ---- The other two modes --------------------------------------------------------------------------------------- */

template <class W> static void check_all(int n)
{
    for (const trial<W> &t : all_passes<W>())
        check_trial(t, n);
    for (const tile_kernel<W> &t : all_heights<W>())
        check_trial(t.of, n);
    for (const trial<W> &t : all_parts<W>())
        check_trial(t, n);
}

static int check_only(void)
{
    for (int n : {96, 352, 1056}) {
        check_all<lab_53>(n);
        check_all<lab_53_wide>(n);
        check_all<lab_97>(n);
    }
    printf("%s\n", any_wrong ? "some kernels are WRONG" : "all kernels equal the CPU");
    return any_wrong;
}

/* A launch each, in the order of the lines: wavelet, height, MB to load without any cache, least MB, MB to store. */
template <class W> static void profile(void)
{
    std::vector<typename W::S> samples = lab_noise<W>(TILE_SIZE);
    level_set<W> s = make_set<W>(samples, TILE_SIZE);
    const double all = (double)samples.size() * sizeof(typename W::S) / 1e6;
    for (const tile_kernel<W> &t : all_heights<W>()) {
        printf("model\t%s\t%d\t%.1f\t%.1f\t%.1f\n", name_of((W *)0), t.height, all * lab_loads_of_tile<W>(t.height),
               all, all);
        t.of.run(s.level, s.scratch, stream);
        CHECK(cudaStreamSynchronize(stream));
    }
    free_set(s);
}

static int profile_all(void)
{
    profile<lab_53>();
    profile<lab_53_wide>();
    profile<lab_97>();
    return 0;
}

static void print_message(void *, l2k_severity, const char *text)
{
    fprintf(stderr, "lift2k: %s\n", text);
}

int main(int argc, char **argv)
{
    context.hooks.message = print_message;
    context.threads = l2k_thread_count(0);
    CHECK(cudaStreamCreate(&stream));
    if (argc == 2 && strcmp(argv[1], "--check") == 0)
        return check_only();
    if (argc == 2 && strcmp(argv[1], "--profile") == 0)
        return profile_all();
    if (argc > 1) {
        fprintf(stderr, "gpu_tables [--check | --profile]\n");
        return 2;
    }
    print_tables();
    return any_wrong;
}
