/* gpu_ladder: the published GPU wavelet strategies, each reimplemented here, compared with a copy of the same bytes and
 * with the shipped kernels. Forward and inverse, 5 levels, Mallat layout; a rung is timed only if what it makes equals
 * the CPU's bit for bit at that size.
 *
 *   gpu_ladder               the whole table
 *   gpu_ladder SIZE..        the same for these sizes, multiples of 32 from 96 on
 *   gpu_ladder --check       checks only, at small sizes (for compute-sanitizer)
 *
 * The table goes to standard output, progress to standard error. Exits with 1 if a rung is wrong. */
#include "bench/lab/eight_per_thread.cuh"
#include "bench/lab/library.cuh"
#include "bench/lab/register_tile.cuh"
#include "bench/lab/row_pass.cuh"
#include "bench/lab/shared_tile.cuh"
#include "bench/lab/sliding_window.cuh"
#include "bench/lab/transpose.cuh"

#include <cmath>
#include <ctime>
#include <string>

static bool any_wrong;
static l2k_context context;
static cudaStream_t stream;

/* ---- The rungs -------------------------------------------------------------------------------------------------- */

template <class W> struct rung {
    const char *name;
    void (*run[2])(const lab_job<W> &, cudaStream_t); /* forward, inverse; one null: not there, both: the library */

    bool has(int direction) const
    {
        return run[direction] || !run[!direction];
    }
};

static const char *const direction_names[2] = {"forward", "inverse"};

template <class W> static const std::vector<rung<W>> &all_rungs(void)
{
    static const std::vector<rung<W>> rungs = {
        {"row-column-transpose", {row_column_transpose<W>, row_column_transpose_inverse<W>}},
        {"sliding-window-shared", {sliding_window<W>, sliding_window_inverse<W>}},
        {"column-8-per-thread", {eight_per_thread<W>, eight_per_thread_inverse<W>}},
        {"shared-64x20", {shared_64x20<W>, shared_64x20_inverse<W>}},
        {"register-64x20", {register_64x20<W>, register_64x20_inverse<W>}},
        {"register-16byte-tile", {register_16byte_tile<W>, register_16byte_tile_inverse<W>}},
        {"register-16byte-tile, by row", {nullptr, register_16byte_tile_inverse_by_row<W>}},
        {"lift2k", {nullptr, nullptr}},
    };
    return rungs;
}

static const char *wavelet_name(l2k_wavelet wavelet)
{
    return wavelet == L2K_WAVELET_5_3 ? "5/3 int16" : "9/7 float32";
}

/* ---- Pictures --------------------------------------------------------------------------------------------------- */

template <class W> struct picture {
    int n;
    std::vector<typename W::S> samples, references[2]; /* coefficients, and samples made of them */

    explicit picture(int size) : n(size), samples(lab_noise<W>(size))
    {
        references[L2K_FORWARD] = lab_reference<W>(&context, samples, n);
        references[L2K_INVERSE] = lab_restored<W>(&context, references[L2K_FORWARD], n);
    }
    size_t bytes() const
    {
        return samples.size() * sizeof(typename W::S);
    }
};

/* ---- Sets of device buffers ------------------------------------------------------------------------------------- */

template <class W> struct buffers {
    lab_job<W> job;
    typename W::S *samples, *coded;
    l2k_plan *plans[2];
};

template <class W> static size_t low_bytes(int n)
{
    return (size_t)lab_stride(n / 2) * (n / 2) * sizeof(typename W::S);
}

template <class W> static size_t scratch_bytes(int n)
{
    return (size_t)lab_stride(n) * n * sizeof(typename W::S);
}

/* Including the plans, whose coefficients and LL samples take less than another 2 pictures each. */
template <class W> static size_t buffers_bytes(int n)
{
    return 10 * scratch_bytes<W>(n) + 2 * low_bytes<W>(n);
}

template <class W> static buffers<W> make_buffers(const picture<W> &p)
{
    buffers<W> b = {};
    b.job.n = p.n;
    CHECK(cudaMalloc(&b.samples, p.bytes()));
    CHECK(cudaMemcpy(b.samples, p.samples.data(), p.bytes(), cudaMemcpyHostToDevice));
    b.job.samples = b.samples;
    CHECK(cudaMalloc(&b.job.coefficients, p.bytes()));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMalloc(&b.job.low[i], low_bytes<W>(p.n)));
        CHECK(cudaMalloc(&b.job.scratch[i], scratch_bytes<W>(p.n)));
    }
    CHECK(cudaMalloc(&b.coded, p.bytes()));
    CHECK(cudaMemcpy(b.coded, p.references[L2K_FORWARD].data(), p.bytes(), cudaMemcpyHostToDevice));
    b.job.coded = b.coded;
    CHECK(cudaMalloc(&b.job.restored, p.bytes()));
    for (int d = 0; d < 2; d++)
        b.plans[d] = lab_plan<W>(&context, L2K_BACKEND_CUDA, p.n, (l2k_direction)d, LEVELS);
    const l2k_coefficients *view = l2k_plan_coefficients(b.plans[L2K_INVERSE], 0);
    CHECK(cudaMemcpy2D(view->base, view->stride * sizeof(typename W::S), b.coded, p.n * sizeof(typename W::S),
                       p.n * sizeof(typename W::S), p.n, cudaMemcpyDeviceToDevice));
    return b;
}

template <class W> static void free_buffers(buffers<W> &b)
{
    CHECK(cudaFree(b.samples));
    CHECK(cudaFree(b.job.coefficients));
    CHECK(cudaFree(b.coded));
    CHECK(cudaFree(b.job.restored));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaFree(b.job.low[i]));
        CHECK(cudaFree(b.job.scratch[i]));
    }
    for (l2k_plan *plan : b.plans)
        l2k_plan_free(plan);
}

template <class W> static void enqueue(const rung<W> &r, const buffers<W> &b, int direction)
{
    if (r.run[direction])
        r.run[direction](b.job, stream);
    else
        shipped<W>(b.plans[direction], direction == L2K_FORWARD ? b.samples : b.job.restored, b.job.n, stream);
    CHECK(cudaGetLastError());
}

/* ---- The check -------------------------------------------------------------------------------------------------- */

/* Describes a position of the Mallat layout. */
static void print_place(int n, int x, int y)
{
    int level = 1;
    while (level < LEVELS && x < n >> level && y < n >> level)
        level++;
    int half = n >> level;
    const char *band = y < half ? (x < half ? "LL" : "HL") : (x < half ? "LH" : "HH");
    fprintf(stderr, "level %d, %s, column %d, row %d", level, band, x < half ? x : x - half, y < half ? y : y - half);
}

template <class W> static bool compare(const picture<W> &p, const std::vector<typename W::S> &seen, int direction)
{
    const std::vector<typename W::S> &reference = p.references[direction];
    size_t differ = 0, first = 0;
    for (size_t i = 0; i < seen.size(); i++)
        if (memcmp(&seen[i], &reference[i], sizeof seen[i]) != 0 && differ++ == 0)
            first = i;
    if (differ == 0)
        return true;
    fprintf(stderr, "    WRONG: %zu of %zu values differ; the first: ", differ, seen.size());
    if (direction == L2K_FORWARD)
        print_place(p.n, (int)(first % p.n), (int)(first / p.n));
    else
        fprintf(stderr, "column %d, row %d", (int)(first % p.n), (int)(first / p.n));
    fprintf(stderr, ": %.9g, on the CPU %.9g\n", (double)seen[first], (double)reference[first]);
    any_wrong = true;
    return false;
}

/* One run into poisoned memory, so that no rung succeeds with another's results. */
template <class W> static bool is_right(const rung<W> &r, const picture<W> &p, const buffers<W> &b, int direction)
{
    const l2k_coefficients *view = l2k_plan_coefficients(b.plans[L2K_FORWARD], 0);
    typedef typename W::S S;
    const bool of_view = direction == L2K_FORWARD && !r.run[direction];
    S *result = of_view ? static_cast<S *>(view->base) : direction == L2K_FORWARD ? b.job.coefficients : b.job.restored;
    size_t stride = (of_view ? view->stride : (size_t)p.n) * sizeof(S), row = p.n * sizeof(S);
    std::vector<S> seen(p.samples.size());
    CHECK(cudaMemset2DAsync(result, stride, 0x5A, row, p.n, stream));
    enqueue(r, b, direction);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy2D(seen.data(), row, result, stride, row, p.n, cudaMemcpyDeviceToHost));
    return compare(p, seen, direction);
}

template <class W> static void check_size(int n)
{
    picture<W> p(n);
    buffers<W> b = make_buffers(p);
    for (const rung<W> &r : all_rungs<W>())
        for (int direction = 0; direction < 2; direction++) {
            if (!r.has(direction))
                continue;
            fprintf(stderr, "%s, %s, %s, %d:\n", r.name, direction_names[direction], wavelet_name(lab_wavelet((W *)0)),
                    n);
            if (is_right(r, p, b, direction))
                fprintf(stderr, "    equal to the CPU\n");
        }
    free_buffers(b);
}

static int check_only(void)
{
    for (int n : {96, 352, 1056}) { /* the least; levels of odd multiples of 2; more than one of everything */
        check_size<lab_53>(n);
        check_size<lab_97>(n);
    }
    printf("%s\n", any_wrong ? "some rungs are WRONG" : "all rungs equal the CPU");
    return any_wrong;
}

/* ---- The table -------------------------------------------------------------------------------------------------- */

/* cells[0] is the copy, cells[1 + 2 * r + d] rung r in direction d; each row gets one cell per size. */
typedef std::vector<std::string> cells;

template <class W> static double time_rung(const rung<W> &r, const std::vector<buffers<W>> &sets, int direction)
{
    std::vector<cudaGraphExec_t> graphs;
    for (const buffers<W> &b : sets)
        graphs.push_back(record_graph(stream, [&] { enqueue(r, b, direction); }));
    double us = median_us(stream, [&](int i) { CHECK(cudaGraphLaunch(graphs[i % graphs.size()], stream)); });
    for (cudaGraphExec_t graph : graphs)
        CHECK(cudaGraphExecDestroy(graph));
    return us;
}

static std::string time_cell(double us, double copy)
{
    char text[64];
    snprintf(text, sizeof text, "%.1f (%.2f)", us, us / copy);
    return text;
}

static bool has_room(size_t bytes)
{
    size_t room, total;
    CHECK(cudaMemGetInfo(&room, &total));
    return bytes < room;
}

template <class W> static void measure_size(int n, std::vector<cells> &table)
{
    size_t bytes = (size_t)n * n * sizeof(typename W::S);
    unsigned count = cold_sets(bytes, bytes);
    if (!has_room(count * buffers_bytes<W>(n))) {
        fprintf(stderr, "%s, %d: not enough device memory\n", wavelet_name(lab_wavelet((W *)0)), n);
        for (cells &row : table)
            row.push_back("no room");
        return;
    }
    double copy = copy_us(stream, bytes, bytes, count);
    table[0].push_back(time_cell(copy, copy));
    picture<W> p(n);
    std::vector<buffers<W>> sets;
    for (unsigned i = 0; i < count; i++)
        sets.push_back(make_buffers(p));
    for (size_t i = 0; i < all_rungs<W>().size(); i++) {
        const rung<W> &r = all_rungs<W>()[i];
        fprintf(stderr, "%s, %s, %d\n", r.name, wavelet_name(lab_wavelet((W *)0)), n);
        for (int d = 0; d < 2; d++)
            if (r.has(d))
                table[1 + 2 * i + d].push_back(is_right(r, p, sets[0], d) ? time_cell(time_rung(r, sets, d), copy)
                                                                          : "WRONG");
    }
    for (buffers<W> &b : sets)
        free_buffers(b);
}

static void print_row(const char *name, const char *wavelet, const char *direction, const cells &row)
{
    printf("| %s | %s | %s |", name, wavelet, direction);
    for (const std::string &cell : row)
        printf(" %s |", cell.c_str());
    printf("\n");
}

template <class W> static void measure(const std::vector<int> &sizes)
{
    const std::vector<rung<W>> &rungs = all_rungs<W>();
    const char *wavelet = wavelet_name(lab_wavelet((W *)0));
    std::vector<cells> table(2 * rungs.size() + 1);
    for (int n : sizes)
        measure_size<W>(n, table);
    print_row("copy", wavelet, "", table[0]);
    for (size_t i = 0; i < rungs.size(); i++)
        for (int d = 0; d < 2; d++)
            if (rungs[i].has(d))
                print_row(rungs[i].name, wavelet, direction_names[d], table[1 + 2 * i + d]);
    fflush(stdout);
}

static void print_head(const std::vector<int> &sizes)
{
    char date[32];
    time_t now = time(nullptr);
    strftime(date, sizeof date, "%Y-%m-%d", localtime(&now));
    print_device();
    printf("; %s\n\n", date);
    printf("%d levels, n x n samples: microseconds (times a copy of the same bytes), median of %d.\n\n", LEVELS,
           REPEATS);
    printf("| rung | wavelet | direction |");
    for (int n : sizes)
        printf(" %d |", n);
    printf("\n|---|---|---|");
    for (size_t i = 0; i < sizes.size(); i++)
        printf("---|");
    printf("\n");
}

static std::vector<int> read_sizes(int argc, char **argv)
{
    std::vector<int> sizes;
    for (int i = 1; i < argc; i++) {
        int n = atoi(argv[i]);
        if (n < MIN_SIZE || n > MAX_SIZE || n % SIZE_STEP != 0) {
            fprintf(stderr, "%s: --check, or sizes from %d to %d, multiples of %d\n", argv[i], MIN_SIZE, MAX_SIZE,
                    SIZE_STEP);
            exit(2);
        }
        sizes.push_back(n);
    }
    if (sizes.empty())
        sizes = {1024, 2048, 4096, 8192, 10240};
    return sizes;
}

static void print_message(void *, l2k_severity, const char *text)
{
    fprintf(stderr, "lift2k: %s\n", text);
}

int main(int argc, char **argv)
{
    context.hooks.message = print_message;
    context.threads = l2k_thread_count(0);
    bool check = argc == 2 && strcmp(argv[1], "--check") == 0;
    std::vector<int> sizes = check ? std::vector<int>() : read_sizes(argc, argv);
    CHECK(cudaStreamCreate(&stream));
    if (check)
        return check_only();
    print_head(sizes);
    measure<lab_53>(sizes);
    measure<lab_97>(sizes);
    return any_wrong;
}
