/* paper_registers: the tables of Enfedaque, Auli-Llinas, Moure: Implementation of the DWT in a GPU through a
 * Register-based Strategy, on this GPU. Five levels by size (figures 6 and 7, beside van der Laan's sliding window and
 * lift2k); heights of the tile (tables I and III).
 *
 *   paper_registers [SIZE...]    the tables, as Markdown; sizes are multiples of 32 from 96 on
 *   paper_registers --check      checks only, at small sizes (for compute-sanitizer)
 *
 * A kernel is timed only if what it makes equals the CPU's bit for bit at that size. Exits with 1 if one is wrong. */
#include "bench/papers/register_tile.cuh"
#include "bench/papers/shared_tile.cuh"
#include "bench/papers/sliding_window.cuh"
#include "bench/papers/trial.cuh"

enum { TILE_SIZE = 7168, HEIGHT = 20 };

/* ---- Five levels ----------------------------------------------------------------------------------------------- */

template <class W> using whole = void (*)(const dwt_job<W> &, cudaStream_t);

template <class W> static void registers(const dwt_job<W> &job, cudaStream_t in)
{
    dwt_each_level(job, [&](const dwt_level<W> &l) { dwt_register_tile<W, HEIGHT>::level(l, in); });
}

template <class W> static void registers_inverse(const dwt_job<W> &job, cudaStream_t in)
{
    dwt_each_level_up(job, [&](const dwt_source<W> &l) { dwt_register_tile<W, HEIGHT>::level_up(l, in); });
}

template <class W>
static void add_whole(std::vector<trial<W>> &to, const char *name, whole<W> forward, whole<W> inverse)
{
    for (int d = 0; d < 2; d++)
        to.push_back(
            {name, d, [=](const buffers<W> &b, cudaStream_t in) { (d ? inverse : forward)(b.job(), in); }, nullptr});
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
    add_whole<W>(t, "64 x 20 in registers, shuffles", registers<W>, registers_inverse<W>);
    for (int d = 0; d < 2; d++)
        t.push_back({"lift2k", d, [d](const buffers<W> &b, cudaStream_t in) { run_shipped(b, d, in); },
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

template <class W> static trial<W> one_level(std::string name, void (*run)(const dwt_level<W> &, cudaStream_t))
{
    return {name, L2K_FORWARD, [run](const buffers<W> &b, cudaStream_t in) { run(b.level(), in); }, nullptr};
}

template <class W, int... HEIGHTS> static std::vector<tile_kernel<W>> heights(void)
{
    return {{HEIGHTS, dwt_register_tile<W, HEIGHTS>::kernel(),
             one_level<W>("tile of 64 x " + std::to_string(HEIGHTS), dwt_register_tile<W, HEIGHTS>::level)}...};
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

template <class W> static void print_heights(void)
{
    const scene<W> s(TILE_SIZE, 1);
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
    print_heights<dwt_53>();
    print_heights<dwt_97>();
}

template <class W> static void check_all(void)
{
    std::vector<trial<W>> tiles;
    for (const tile_kernel<W> &t : all_heights<W>())
        tiles.push_back(t.of);
    check_trials(tiles, 1);
    check_trials(five_levels<W>(), LEVELS);
}

static std::vector<int> read_sizes(int argc, char **argv)
{
    std::vector<int> sizes;
    for (int i = 1; i < argc; i++) {
        const int n = atoi(argv[i]);
        if (n < MIN_SIZE || n > MAX_SIZE || n % SIZE_STEP != 0) {
            fprintf(stderr, "%s: --check, or sizes from %d to %d, multiples of %d\n", argv[i], MIN_SIZE, MAX_SIZE,
                    SIZE_STEP);
            exit(2);
        }
        sizes.push_back(n);
    }
    return sizes.empty() ? std::vector<int>{1024, 2048, 4096, 8192, 10240} : sizes;
}

int main(int argc, char **argv)
{
    const bool checks = argc == 2 && strcmp(argv[1], "--check") == 0;
    const std::vector<int> sizes = checks ? std::vector<int>() : read_sizes(argc, argv);
    set_up();
    if (checks) {
        check_all<dwt_53>();
        check_all<dwt_97>();
        return report_check();
    }
    print_tables(sizes);
    return any_wrong;
}
