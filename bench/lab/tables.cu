/* gpu_tables: rows of the papers' tables for one level of a transform, on this GPU. A kernel is timed only if what it
 * makes equals the CPU's bit for bit at that size.
 *
 *   gpu_tables               all tables, as Markdown
 *   gpu_tables --check       checks only, at small sizes (for compute-sanitizer)
 *   gpu_tables --profile     launches each kernel of the register tile once, for a profiler (tables.sh): a line each,
 *                            with the bytes that the model says
 *
 * Tables go to standard output. Exits with 1 if a kernel is wrong. */
#include "bench/lab/library.cuh"
#include "bench/lab/one_level_cpu.cuh"
#include "bench/lab/tile_trials.cuh"

#include <cmath>
#include <functional>
#include <string>

enum { ONE_MEGAPIXEL = 1024, TEN_MEGAPIXELS = 3168, TILE_SIZE = 7168 };

static bool any_wrong;
static l2k_context context;
static cudaStream_t stream;

static const char *const direction_names[2] = {"forward", "inverse"};

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

/* ---- Pictures and buffers --------------------------------------------------------------------------------------- */

/* Noise, what a level makes of it, and what the inverse makes of that: input and result of either direction. */
template <class W> struct picture {
    typedef std::vector<typename W::S> values;
    int n;
    values input[2], level[2];

    explicit picture(int size) : n(size)
    {
        input[L2K_FORWARD] = lab_noise<W>(n);
        input[L2K_INVERSE] = level[L2K_FORWARD] = lab_reference<W>(&context, input[L2K_FORWARD], n, 1);
        level[L2K_INVERSE] = lab_restored<W>(&context, input[L2K_INVERSE], n, 1);
    }
    /* The same values until the next call. */
    const values &pass(lab_pass which, int direction)
    {
        if (made.empty() || which != made_by || direction != made_in)
            made = lab_pass_on_cpu<W>(input[direction], n, which, direction);
        made_by = which, made_in = direction;
        return made;
    }
    const values &keep(values v)
    {
        other = std::move(v);
        return other;
    }

  private:
    values made, other;
    lab_pass made_by;
    int made_in;
};

/* Buffers of one run, of either direction. */
template <class W> struct level_set {
    lab_level<W> level;
    lab_source<W> source;
    typename W::S *in[2], *out, *scratch[2];
};

template <class W> static level_set<W> make_set(const picture<W> &p)
{
    const int n = p.n;
    level_set<W> s;
    size_t bytes = p.input[0].size() * sizeof(typename W::S),
           padded = (size_t)lab_stride(n) * n * sizeof(typename W::S);
    for (int d = 0; d < 2; d++) {
        CHECK(cudaMalloc(&s.in[d], bytes));
        CHECK(cudaMemcpy(s.in[d], p.input[d].data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&s.scratch[d], padded));
    }
    CHECK(cudaMalloc(&s.out, bytes));
    s.level = lab_level<W>{s.in[L2K_FORWARD], n, s.out, n, s.out, n, n};
    s.source = lab_source<W>{s.out, n, s.in[L2K_INVERSE], n, s.in[L2K_INVERSE], n, n};
    return s;
}

template <class W> static void free_set(level_set<W> &s)
{
    CHECK(cudaFree(s.out));
    for (int d = 0; d < 2; d++) {
        CHECK(cudaFree(s.in[d]));
        CHECK(cudaFree(s.scratch[d]));
    }
}

/* A picture with as many sets as keep runs from finding their samples in a cache, and the time of a copy. */
template <class W> struct scene {
    picture<W> of;
    std::vector<level_set<W>> sets;
    double copy;

    explicit scene(int n) : of(n)
    {
        size_t bytes = (size_t)n * n * sizeof(typename W::S);
        copy = copy_us(stream, bytes, bytes, cold_sets(bytes, bytes));
        for (unsigned i = 0; i < cold_sets(bytes, bytes); i++)
            sets.push_back(make_set(of));
    }
    ~scene()
    {
        for (level_set<W> &s : sets)
            free_set(s);
    }
};

/* ---- What is measured ------------------------------------------------------------------------------------------- */

template <class W> struct trial {
    typedef std::function<void(const level_set<W> &, cudaStream_t)> launch;
    std::string name;
    int direction;
    launch run;
    std::function<const typename picture<W>::values &(picture<W> &)> reference;
    launch checked; /* what is compared in place of `run`, which stores nothing */
};

template <class W> static bool is_right(const trial<W> &t, const level_set<W> &s, picture<W> &p)
{
    const typename picture<W>::values &expected = t.reference(p);
    typename picture<W>::values seen(expected.size());
    size_t bytes = expected.size() * sizeof(typename W::S), differ = 0;
    CHECK(cudaMemset(s.out, 0x5A, bytes));
    (t.checked ? t.checked : t.run)(s, stream);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(seen.data(), s.out, bytes, cudaMemcpyDeviceToHost));
    if (memcmp(seen.data(), expected.data(), bytes) == 0)
        return true;
    for (size_t i = 0; i < seen.size(); i++)
        differ += memcmp(&seen[i], &expected[i], sizeof seen[i]) != 0;
    fprintf(stderr, "%s, %s, %s, %d: WRONG: %zu of %zu values differ\n", t.name.c_str(), name_of((W *)0),
            direction_names[t.direction], p.n, differ, seen.size());
    any_wrong = true;
    return false;
}

/* Microseconds, or less than 0 if the kernel is wrong. */
template <class W> static double time_trial(const trial<W> &t, scene<W> &s)
{
    if (!is_right(t, s.sets[0], s.of))
        return -1;
    std::vector<cudaGraphExec_t> graphs;
    for (const level_set<W> &set : s.sets)
        graphs.push_back(record_graph(stream, [&] { t.run(set, stream); }));
    double us = median_us(stream, [&](int i) { CHECK(cudaGraphLaunch(graphs[i % graphs.size()], stream)); });
    for (cudaGraphExec_t graph : graphs)
        CHECK(cudaGraphExecDestroy(graph));
    return us;
}

template <class W> static void check_trial(const trial<W> &t, const level_set<W> &s, picture<W> &p)
{
    if (is_right(t, s, p))
        fprintf(stderr, "%s, %s, %s, %d: equal to the CPU\n", t.name.c_str(), name_of((W *)0),
                direction_names[t.direction], p.n);
}

/* ---- The trials ------------------------------------------------------------------------------------------------- */

/* A pass in either direction. */
template <class W, class F, class I>
static void add_pass(std::vector<trial<W>> &to, const char *name, lab_pass which, F forward, I inverse)
{
    for (int d = 0; d < 2; d++) {
        auto run = [=](const level_set<W> &s, cudaStream_t in) {
            typename W::S *scratch[2] = {s.scratch[0], s.scratch[1]};
            if (d == L2K_FORWARD)
                forward(s.level, scratch, in);
            else
                inverse(s.source, scratch, in);
        };
        auto reference = [=](picture<W> &p) -> const typename picture<W>::values & { return p.pass(which, d); };
        to.push_back(trial<W>{name, d, run, reference, nullptr});
    }
}

static void add_convolution(std::vector<trial<lab_97>> &trials)
{
    static const lab_taps taps = lab_taps_of_97();
    auto forward = [](const lab_level<lab_97> &l, float **, cudaStream_t in) {
        pair_by_convolution_kernel<<<lab_segment<lab_97, 1>::grid(l.size), PASS_THREADS, 0, in>>>(l, taps);
    };
    auto inverse = [](const lab_source<lab_97> &l, float **, cudaStream_t in) {
        pair_by_convolution_inverse_kernel<<<lab_segment<lab_97, 1>::grid(l.size), PASS_THREADS, 0, in>>>(l, taps);
    };
    add_pass(trials, "rows: a pair a thread, convolution", LAB_ROWS_CONVOLVED, forward, inverse);
}
template <class W> static void add_convolution(std::vector<trial<W>> &)
{
}

template <class W> static std::vector<trial<W>> all_passes(void)
{
    std::vector<trial<W>> t;
    add_convolution(t);
    add_pass(t, "rows: a pair a thread, lifting", LAB_ROWS, pairs_by_lifting<W, 1>, pairs_by_lifting_inverse<W, 1>);
    add_pass(t, "rows: four pairs a thread", LAB_ROWS, pairs_by_lifting<W, 4>, pairs_by_lifting_inverse<W, 4>);
    add_pass(t, "rows: a barrier after each lifting step", LAB_ROWS, row_with_barriers<W>,
             row_with_barriers_inverse<W>);
    add_pass(t, "rows: 8 a thread, no shared memory", LAB_ROWS, row_eight<W>, row_eight_inverse<W>);
    add_pass(t, "columns: transposed, four pairs a thread", LAB_COLUMNS, column_transposed<W>,
             column_transposed_inverse<W>);
    add_pass(t, "columns: window of 16 rows, barriers", LAB_COLUMNS, column_with_barriers<W>,
             column_with_barriers_inverse<W>);
    add_pass(t, "columns: window of 64 rows, none in lifting", LAB_COLUMNS, column_free_window<W>,
             column_free_window_inverse<W>);
    add_pass(t, "columns: 8 a thread, no shared memory", LAB_COLUMNS, column_eight<W>, column_eight_inverse<W>);
    return t;
}

/* Forward passes first, then inverse ones, so that neighbours have the same reference. */
template <class W> static std::vector<trial<W>> passes_by_direction(void)
{
    std::vector<trial<W>> t = all_passes<W>();
    std::stable_sort(t.begin(), t.end(),
                     [](const trial<W> &a, const trial<W> &b) { return a.direction < b.direction; });
    return t;
}

template <class W> static trial<W> level(std::string name, void (*run)(const lab_level<W> &, cudaStream_t))
{
    auto launch = [run](const level_set<W> &s, cudaStream_t in) { run(s.level, in); };
    auto reference = [](picture<W> &p) -> const typename picture<W>::values & { return p.level[L2K_FORWARD]; };
    return trial<W>{name, L2K_FORWARD, launch, reference, nullptr};
}

template <class W> static trial<W> level_up(std::string name, void (*run)(const lab_source<W> &, cudaStream_t))
{
    auto launch = [run](const level_set<W> &s, cudaStream_t in) { run(s.source, in); };
    auto reference = [](picture<W> &p) -> const typename picture<W>::values & { return p.level[L2K_INVERSE]; };
    return trial<W>{name, L2K_INVERSE, launch, reference, nullptr};
}

template <class W> struct tile_kernel {
    int height;
    const void *kernel;
    trial<W> of;
};

template <class W, int HEIGHT> static void add_height(std::vector<tile_kernel<W>> (&to)[2])
{
    typedef lab_tile_of_height<W, HEIGHT> tile;
    const std::string name = "tile of 64 x " + std::to_string(HEIGHT);
    to[L2K_FORWARD].push_back({HEIGHT, tile::kernel(), level<W>(name, tile::template level<lab_everything>)});
    to[L2K_INVERSE].push_back(
        {HEIGHT, tile::inverse_kernel(), level_up<W>(name, tile::template level_up<lab_everything>)});
}

/* All forward ones, then all inverse ones. */
template <class W> static std::vector<tile_kernel<W>> all_heights(void)
{
    std::vector<tile_kernel<W>> t[2];
    add_height<W, 10>(t);
    add_height<W, 20>(t);
    add_height<W, 30>(t);
    add_height<W, 40>(t);
    add_height<W, 50>(t);
    add_height<W, 60>(t);
    add_height<W, 70>(t);
    t[0].insert(t[0].end(), t[1].begin(), t[1].end());
    return t[0];
}

template <class W, class P> static trial<W> part(const char *name, int direction)
{
    typedef lab_tile_of_height<W, 20> tile;
    return direction ? level_up<W>(name, tile::template level_up<P>) : level<W>(name, tile::template level<P>);
}

/* Memory alone, arithmetic alone, both, and both with the exchange in slots, of a direction. */
template <class W> static void add_parts(std::vector<trial<W>> &to, int d)
{
    typedef typename picture<W>::values values;
    trial<W> memory = part<W, lab_memory_alone>("memory alone", d);
    memory.reference = [d](picture<W> &p) -> const values & { return p.keep(lab_moved_on_cpu(p.input[d], p.n, d)); };
    trial<W> arithmetic = part<W, lab_arithmetic_alone>("arithmetic alone", d);
    arithmetic.reference = [d](picture<W> &p) -> const values & {
        return p.keep(lab_made_up_on_cpu<W>(p.n, lab_tile_of_height<W, 20>::OUT_ROWS, d));
    };
    arithmetic.checked = part<W, lab_arithmetic_stored>("", d).run;
    to.insert(to.end(), {memory, arithmetic, part<W, lab_everything>("both", d),
                         part<W, lab_exchange_in_slots>("both, exchange in slots", d)});
}

template <class W> static std::vector<trial<W>> all_parts(void)
{
    std::vector<trial<W>> parts;
    add_parts(parts, L2K_FORWARD);
    add_parts(parts, L2K_INVERSE);
    return parts;
}

/* ---- Tables ----------------------------------------------------------------------------------------------------- */

static std::string cell(double us, double scale, const char *format)
{
    char text[32];
    snprintf(text, sizeof text, format, us * scale);
    return us < 0 ? "WRONG" : text;
}

template <class W> static void print_passes(void)
{
    scene<W> scenes[2] = {scene<W>(ONE_MEGAPIXEL), scene<W>(TEN_MEGAPIXELS)};
    auto picoseconds = [](double us, const scene<W> &s) {
        return cell(us, 1e6 / ((double)s.of.n * s.of.n), "%.2f") + " (" + cell(us, 1 / s.copy, "%.2f") + ")";
    };
    printf("| copy | %s | | %s | %s |\n", name_of((W *)0), picoseconds(scenes[0].copy, scenes[0]).c_str(),
           picoseconds(scenes[1].copy, scenes[1]).c_str());
    for (const trial<W> &t : passes_by_direction<W>()) {
        printf("| %s | %s | %s |", t.name.c_str(), name_of((W *)0), direction_names[t.direction]);
        for (scene<W> &s : scenes)
            printf(" %s |", picoseconds(time_trial(t, s), s).c_str());
        printf("\n");
    }
    fflush(stdout);
}

template <class W> static void print_heights(scene<W> &s)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    for (const tile_kernel<W> &t : all_heights<W>()) {
        cudaFuncAttributes a;
        int blocks = 0;
        CHECK(cudaFuncGetAttributes(&a, t.kernel));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, t.kernel, 128, 0));
        const double us = time_trial(t.of, s);
        printf("| %d | %s | %s | %d | %d | %.0f | %.2f | %s | %s |\n", t.height, name_of((W *)0),
               direction_names[t.of.direction], a.numRegs, (int)a.localSizeBytes,
               100.0 * blocks * 128 / device.maxThreadsPerMultiProcessor, lab_loads_of_tile<W>(t.height),
               cell(us, 1, "%.1f").c_str(), cell(us, 1 / s.copy, "%.2f").c_str());
        fflush(stdout);
    }
}

template <class W> static std::string parts_of(scene<W> &s)
{
    std::string rows;
    for (const trial<W> &t : all_parts<W>()) {
        const double us = time_trial(t, s);
        rows += "| " + t.name + " | " + name_of((W *)0) + " | " + direction_names[t.direction] + " | " +
                cell(us, 1, "%.1f") + " | " + cell(us, 1 / s.copy, "%.2f") + " |\n";
    }
    return rows;
}

/* Prints the heights, and gives the parts, which have the same pictures. */
template <class W> static std::string print_tiles(void)
{
    scene<W> s(TILE_SIZE);
    printf("| copy | %s | | | | | | %.1f | 1.00 |\n", name_of((W *)0), s.copy);
    print_heights(s);
    return parts_of(s);
}

static void print_tables(void)
{
    print_device();
    printf("\n\nOne level; median of %d. Every kernel's result equalled the CPU's.\n\n", REPEATS);
    printf("Passes, picoseconds a pixel (times a copy):\n\n| pass | wavelet | direction | %d x %d | %d x %d "
           "|\n|---|---|---|---|---|\n",
           ONE_MEGAPIXEL, ONE_MEGAPIXEL, TEN_MEGAPIXELS, TEN_MEGAPIXELS);
    print_passes<lab_53>();
    print_passes<lab_53_wide>();
    print_passes<lab_97>();
    printf(
        "\nTiles of 64 columns in registers, %d x %d:\n\n| height | wavelet | direction | registers | bytes of local "
        "memory | occupancy, %% | samples loaded for one stored | us | times a copy "
        "|\n|---|---|---|---|---|---|---|---|---|\n",
        TILE_SIZE, TILE_SIZE);
    std::string parts = print_tiles<lab_53>();
    parts += print_tiles<lab_53_wide>();
    parts += print_tiles<lab_97>();
    printf("\nParts of the tile of 64 x 20, %d x %d:\n\n| what | wavelet | direction | us | times a copy "
           "|\n|---|---|---|---|---|\n%s",
           TILE_SIZE, TILE_SIZE, parts.c_str());
}

/* ---- The other two modes ---------------------------------------------------------------------------------------- */

template <class W> static void check_all(int n)
{
    picture<W> p(n);
    level_set<W> s = make_set(p);
    for (const trial<W> &t : passes_by_direction<W>())
        check_trial(t, s, p);
    for (const tile_kernel<W> &t : all_heights<W>())
        check_trial(t.of, s, p);
    for (const trial<W> &t : all_parts<W>())
        check_trial(t, s, p);
    free_set(s);
}

/* Taps are right if what they make is near what lifting makes. */
static void check_taps(void)
{
    picture<lab_97> p(MIN_SIZE);
    for (int d = 0; d < 2; d++) {
        const std::vector<float> lifted = p.pass(LAB_ROWS, d), &convolved = p.pass(LAB_ROWS_CONVOLVED, d);
        for (size_t i = 0; i < lifted.size(); i++)
            any_wrong = any_wrong || !(std::abs(lifted[i] - convolved[i]) < 1e-3f);
    }
    fprintf(stderr, "convolution beside lifting: %s\n", any_wrong ? "WRONG" : "equal to 0.001");
}

static int check_only(void)
{
    check_taps();
    for (int n : {96, 352, 1056}) {
        check_all<lab_53>(n);
        check_all<lab_53_wide>(n);
        check_all<lab_97>(n);
    }
    printf("%s\n", any_wrong ? "some kernels are WRONG" : "all kernels equal the CPU");
    return any_wrong;
}

/* A launch each, in the order of the lines: wavelet, direction, height, MB to load without any cache, least MB, MB to
 * store. */
template <class W> static void profile(void)
{
    const picture<W> p(TILE_SIZE);
    level_set<W> s = make_set(p);
    const double all = (double)p.input[0].size() * sizeof(typename W::S) / 1e6;
    for (const tile_kernel<W> &t : all_heights<W>()) {
        printf("model\t%s\t%s\t%d\t%.1f\t%.1f\t%.1f\n", name_of((W *)0), direction_names[t.of.direction], t.height,
               all * lab_loads_of_tile<W>(t.height), all, all);
        t.of.run(s, stream);
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
