/* paper_registers: the tables of Enfedaque, Auli-Llinas, Moure: Implementation of the DWT in a GPU through a
 * Register-based Strategy, on this GPU. Five levels by size (figures 6 and 7, beside van der Laan's sliding window and
 * lift2k); heights of the tile (tables I and III); memory accesses and arithmetic alone (figure 8).
 *
 *   paper_registers [SIZE...]    the tables, as Markdown; sizes are multiples of 32 from 96 on
 *   paper_registers --check      checks only, at small sizes (for compute-sanitizer)
 *   paper_registers --profile    launches the kernel of each height once, for a profiler (registers.sh): a line each,
 *                                with the bytes that the model says
 *
 * A kernel is timed only if what it makes equals the CPU's bit for bit at that size. Exits with 1 if one is wrong. */
#include "bench/papers/register_tile.cuh"
#include "bench/papers/shared_tile.cuh"
#include "bench/papers/sliding_window.cuh"
#include "bench/papers/trial.cuh"

enum { TILE_SIZE = 7168, HEIGHT = 20 };

/* ---- Five levels ----------------------------------------------------------------------------------------------- */

template <class W> using whole = void (*)(const dwt_job<W> &, cudaStream_t);

template <class W, class P> static void registers(const dwt_job<W> &job, cudaStream_t in)
{
    dwt_each_level(job, [&](const dwt_level<W> &l) { dwt_register_tile<W, HEIGHT, P>::level(l, in); });
}

template <class W, class P> static void registers_inverse(const dwt_job<W> &job, cudaStream_t in)
{
    dwt_each_level_up(job, [&](const dwt_source<W> &l) { dwt_register_tile<W, HEIGHT, P>::level_up(l, in); });
}

template <class W>
static void add_whole(std::vector<trial<W>> &to, const char *name, whole<W> forward, whole<W> inverse)
{
    for (int d = 0; d < 2; d++)
        to.push_back({name, d, [=](const buffers<W> &b, cudaStream_t in) { (d ? inverse : forward)(b.job(), in); },
                      nullptr, nullptr});
}

template <class W> static void run_shipped(const buffers<W> &b, int direction, cudaStream_t in)
{
    l2k_plane plane = plane_of<W>(direction ? b.out : b.in[direction], b.n);
    require(l2k_plan_run_on_device(b.plans[direction], &plane, in), "the shipped transform");
}

/* The library's coefficients stay in its plan: they are copied to be compared. */
template <class W> static void check_shipped(const buffers<W> &b, int direction, cudaStream_t in)
{
    const l2k_coefficients *view = l2k_plan_coefficients(b.plans[direction], 0);
    const size_t size = sizeof(typename W::S), row = b.n * size;
    run_shipped(b, direction, in);
    if (direction == L2K_FORWARD)
        CHECK(cudaMemcpy2DAsync(b.out, row, view->base, view->stride * size, row, b.n, cudaMemcpyDeviceToDevice, in));
}

template <class W> static std::vector<trial<W>> five_levels(void)
{
    std::vector<trial<W>> t;
    add_whole<W>(t, "sliding window in shared memory", sliding_window<W>, sliding_window_inverse<W>);
    add_whole<W>(t, "64 x 20 in shared memory", shared_64x20<W>, shared_64x20_inverse<W>);
    add_whole<W>(t, "64 x 20 in registers, shuffles", registers<W, dwt_everything>,
                 registers_inverse<W, dwt_everything>);
    for (int d = 0; d < 2; d++)
        t.push_back({"lift2k", d, [d](const buffers<W> &b, cudaStream_t in) { run_shipped(b, d, in); }, nullptr,
                     [d](const buffers<W> &b, cudaStream_t in) { check_shipped(b, d, in); }});
    return t;
}

template <class W> static void print_five_levels(const std::vector<int> &sizes)
{
    const std::vector<trial<W>> trials = five_levels<W>();
    std::vector<std::string> rows(trials.size() + 1);
    for (int n : sizes) {
        const scene<W> s(n, LEVELS);
        rows[0] += " " + time_cell(s.copy, s.copy) + " |";
        for (size_t i = 0; i < trials.size(); i++)
            rows[1 + i] += " " + time_cell(time_trial(trials[i], s), s.copy) + " |";
    }
    printf("| copy | %s | |%s\n", dwt_types<W>::NAME, rows[0].c_str());
    for (size_t i = 0; i < trials.size(); i++)
        printf("| %s | %s | %s |%s\n", trials[i].name.c_str(), dwt_types<W>::NAME, direction_names[trials[i].direction],
               rows[1 + i].c_str());
    fflush(stdout);
}

/* ---- Heights, one level ---------------------------------------------------------------------------------------- */

template <class W> struct tile_kernel {
    int height;
    const void *kernel;
    trial<W> of;
};

template <class W, class P> static trial<W> part(std::string name, void (*run)(const dwt_level<W> &, cudaStream_t))
{
    return {name, L2K_FORWARD, [run](const buffers<W> &b, cudaStream_t in) { run(b.level(), in); }, nullptr, nullptr};
}

template <class W, int... HEIGHTS> static std::vector<tile_kernel<W>> heights(void)
{
    return {{HEIGHTS, dwt_register_tile<W, HEIGHTS, dwt_everything>::kernel(),
             part<W, dwt_everything>("tile of 64 x " + std::to_string(HEIGHTS),
                                     dwt_register_tile<W, HEIGHTS, dwt_everything>::level)}...};
}

template <class W> static std::vector<tile_kernel<W>> all_heights(void)
{
    return heights<W, 10, 20, 30, 40, 50, 60, 70>();
}

/* Samples that a level loads for each that it stores, if nothing of the halo comes from a cache: equation 4 of the
 * paper, with the rows that this kernel does not load left out. */
template <class W> static double loads_of_tile(int height)
{
    return 64.0 / (64 - 4 * (W::STEPS / 2)) * (height - 1) / (height - 2 * W::STEPS);
}

template <class W> static void print_heights(const scene<W> &s)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("| copy | %s | | | | | %s |\n", dwt_types<W>::NAME, time_cell(s.copy, s.copy).c_str());
    for (const tile_kernel<W> &t : all_heights<W>()) {
        cudaFuncAttributes a;
        int blocks = 0;
        CHECK(cudaFuncGetAttributes(&a, t.kernel));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, t.kernel, 128, 0));
        printf("| %d | %s | %d | %d | %.0f | %.2f | %s |\n", t.height, dwt_types<W>::NAME, a.numRegs,
               (int)a.localSizeBytes, 100.0 * blocks * 128 / device.maxThreadsPerMultiProcessor,
               loads_of_tile<W>(t.height), time_cell(time_trial(t.of, s), s.copy).c_str());
        fflush(stdout);
    }
}

/* ---- What the time of a level consists of ---------------------------------------------------------------------- */

/* Where row or column i of n goes. */
static int parted(int i, int n)
{
    return i / 2 + (i & 1) * (n / 2);
}

/* What memory accesses alone leave: samples at the places of coefficients. */
template <class W> static typename picture<W>::values moved_on_cpu(const picture<W> &p)
{
    typename picture<W>::values out(p.input[0].size());
    for (int y = 0; y < p.n; y++)
        for (int x = 0; x < p.n; x++)
            out[(size_t)parted(y, p.n) * p.n + parted(x, p.n)] = p.input[0][(size_t)y * p.n + x];
    return out;
}

/* Lifts `length` values, `apart` from each other, where both neighbours are there. */
template <class W> static void lift_inside(typename W::T *at, int length, int apart)
{
    for (int k = 0; k < W::STEPS; k++)
        for (int i = 1 + (k & 1); i + 1 < length; i += 2)
            at[i * apart] = W::step(k, at[i * apart], at[(i - 1) * apart], at[(i + 1) * apart]);
}

/* What arithmetic alone makes: every tile has equal rows of the numbers 0 to 63, lifted as far as that does not need
 * other tiles. */
template <class W> static typename picture<W>::values made_up_on_cpu(const picture<W> &p)
{
    enum { HALO = W::STEPS, ROWS = HEIGHT - 1, OUT_ROWS = HEIGHT - 2 * W::STEPS };
    typename W::T v[ROWS * 64];
    for (int i = 0; i < ROWS * 64; i++)
        v[i] = (typename W::T)(i % 64);
    for (int x = 0; x < 64; x++)
        lift_inside<W>(&v[x], ROWS, 64);
    for (int i = 0; i < ROWS * 64; i++)
        v[i] = W::scale(v[i], i / 64 & 1);
    for (int y = 0; y < ROWS; y++)
        lift_inside<W>(&v[y * 64], 64, 1);
    for (int i = 0; i < ROWS * 64; i++)
        v[i] = W::scale(v[i], i & 1);
    typename picture<W>::values out(p.input[0].size());
    for (int y = 0; y < p.n; y++)
        for (int x = 0; x < p.n; x++)
            out[(size_t)parted(y, p.n) * p.n + parted(x, p.n)] =
                (typename W::S)v[(W::STEPS + y % OUT_ROWS) * 64 + HALO + x % (64 - 2 * HALO)];
    return out;
}

template <class W> static std::vector<trial<W>> all_parts(void)
{
    std::vector<trial<W>> t = {
        part<W, dwt_memory_alone>("memory alone", dwt_register_tile<W, HEIGHT, dwt_memory_alone>::level),
        part<W, dwt_arithmetic_alone>("arithmetic alone", dwt_register_tile<W, HEIGHT, dwt_arithmetic_alone>::level),
        part<W, dwt_everything>("both", dwt_register_tile<W, HEIGHT, dwt_everything>::level)};
    t[0].reference = moved_on_cpu<W>;
    t[1].reference = made_up_on_cpu<W>;
    t[1].checked = part<W, dwt_arithmetic_stored>("", dwt_register_tile<W, HEIGHT, dwt_arithmetic_stored>::level).run;
    return t;
}

template <class W> static std::string parts_of(const scene<W> &s)
{
    std::string rows;
    for (const trial<W> &t : all_parts<W>())
        rows += "| " + t.name + " | " + dwt_types<W>::NAME + " | " + time_cell(time_trial(t, s), s.copy) + " |\n";
    return rows;
}

/* Prints the heights, and gives the parts, which have the same pictures. */
template <class W> static std::string print_tiles(void)
{
    const scene<W> s(TILE_SIZE, 1);
    print_heights(s);
    return parts_of(s);
}

/* ---- The program ----------------------------------------------------------------------------------------------- */

static void print_tables(const std::vector<int> &sizes)
{
    print_device();
    printf("; median of %d; microseconds (times a copy of the same bytes)\n\n", REPEATS);
    printf("Five levels:\n\n| method | wavelet | direction |");
    for (int n : sizes)
        printf(" %d |", n);
    printf("\n|---|---|---|");
    for (size_t i = 0; i < sizes.size(); i++)
        printf("---|");
    printf("\n");
    print_five_levels<dwt_53>(sizes);
    print_five_levels<dwt_97>(sizes);
    printf("\nHeights of a tile of 64 columns in registers, one level forward, %d x %d:\n\n| height | wavelet | "
           "registers | bytes of local memory | occupancy, %% | samples loaded for one stored | us "
           "|\n|---|---|---|---|---|---|---|\n",
           TILE_SIZE, TILE_SIZE);
    std::string parts = print_tiles<dwt_53>();
    parts += print_tiles<dwt_97>();
    printf("\nParts of the tile of 64 x %d:\n\n| what | wavelet | us |\n|---|---|---|\n%s", HEIGHT, parts.c_str());
}

template <class W> static void check_all(void)
{
    std::vector<trial<W>> one_level = all_parts<W>();
    for (const tile_kernel<W> &t : all_heights<W>())
        one_level.push_back(t.of);
    check_trials(one_level, 1);
    check_trials(five_levels<W>(), LEVELS);
}

/* A launch each, in the order of the lines: wavelet, height, MB to load without any cache, least MB, MB to store. */
template <class W> static void profile(void)
{
    const picture<W> p(TILE_SIZE, 1);
    buffers<W> b = make_buffers(p);
    const double all = (double)p.bytes() / 1e6;
    for (const tile_kernel<W> &t : all_heights<W>()) {
        printf("model\t%s\t%d\t%.1f\t%.1f\t%.1f\n", dwt_types<W>::NAME, t.height, all * loads_of_tile<W>(t.height), all,
               all);
        t.of.run(b, stream);
        CHECK(cudaStreamSynchronize(stream));
    }
    free_buffers(b);
}

static std::vector<int> read_sizes(int argc, char **argv)
{
    std::vector<int> sizes;
    for (int i = 1; i < argc; i++) {
        const int n = atoi(argv[i]);
        if (n < MIN_SIZE || n > MAX_SIZE || n % SIZE_STEP != 0) {
            fprintf(stderr, "%s: --check, --profile, or sizes from %d to %d, multiples of %d\n", argv[i], MIN_SIZE,
                    MAX_SIZE, SIZE_STEP);
            exit(2);
        }
        sizes.push_back(n);
    }
    return sizes.empty() ? std::vector<int>{1024, 2048, 4096, 8192, 10240} : sizes;
}

int main(int argc, char **argv)
{
    const bool checks = argc == 2 && strcmp(argv[1], "--check") == 0,
               profiles = argc == 2 && strcmp(argv[1], "--profile") == 0;
    const std::vector<int> sizes = checks || profiles ? std::vector<int>() : read_sizes(argc, argv);
    set_up();
    if (checks) {
        check_all<dwt_53>();
        check_all<dwt_97>();
        return report_check();
    }
    if (profiles) {
        profile<dwt_53>();
        profile<dwt_97>();
        return 0;
    }
    print_tables(sizes);
    return any_wrong;
}
