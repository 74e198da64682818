/* paper_passes: tables I and III of Kucis, Barina, Kula, Zemcik: 2-D Discrete Wavelet Transform Using GPU, on this GPU:
 * passes of one level of the 9/7 along rows and along columns, in picoseconds a pixel. The paper's kernels are
 * OpenCL's, these are CUDA's.
 *
 *   paper_passes             the tables, as Markdown
 *   paper_passes --check     checks only, at small sizes (for compute-sanitizer)
 *
 * A pass is timed only if what it makes equals the CPU's bit for bit at that size. Exits with 1 if one is wrong. */
#include "bench/papers/on_cpu.cuh"
#include "bench/papers/trial.cuh"

#include <cmath>

enum { ONE_MEGAPIXEL = 1024, TEN_MEGAPIXELS = 3168 };

/* A pass, and what the paper has for one and ten megapixels. */
struct pass {
    trial<dwt_97> of;
    const char *paper[2];
};

template <class F> static pass make_pass(const char *name, dwt_pass which, F run, const char *one, const char *ten)
{
    auto launch = [run](const buffers<dwt_97> &b, cudaStream_t in) {
        float *scratch[2] = {b.scratch[0], b.scratch[1]};
        run(b.level(), scratch, in);
    };
    auto reference = [which](const picture<dwt_97> &p) { return dwt_pass_on_cpu(p.input[L2K_FORWARD], p.n, which); };
    return {{name, L2K_FORWARD, launch, reference, nullptr}, {one, ten}};
}

static void row_by_convolution(const dwt_level<dwt_97> &l, float **, cudaStream_t in)
{
    static const dwt_taps taps = dwt_taps_of_97();
    pair_by_convolution_kernel<<<dwt_segment<dwt_97, 1>::grid(l.size), PASS_THREADS, 0, in>>>(l, taps);
}

static std::vector<pass> all_passes(void)
{
    typedef dwt_97 W;
    return {
        make_pass("rows: a pair a thread, convolution", DWT_ROWS_CONVOLVED, row_by_convolution, "87.1", "81.9"),
        make_pass("rows: a pair a thread, lifting", DWT_ROWS, pairs_by_lifting<W, 1>, "95.4", "89.3"),
        make_pass("rows: four pairs a thread", DWT_ROWS, pairs_by_lifting<W, 4>, "56.0", "56.7"),
        make_pass("rows: a barrier after each lifting step", DWT_ROWS, row_with_barriers<W>, "103.0", "80.6"),
        make_pass("rows: 8 a thread, no shared memory", DWT_ROWS, row_eight<W>, "", ""),
        make_pass("columns: transposed, four pairs a thread", DWT_COLUMNS, column_transposed<W>, "167.0", "186.5"),
        make_pass("columns: window of 16 rows, barriers", DWT_COLUMNS, column_with_barriers<W>, "119.3", "79.6"),
        make_pass("columns: window of 64 rows, none in lifting", DWT_COLUMNS, column_free_window<W>, "69.6", "63.5"),
        make_pass("columns: 8 a thread, no shared memory", DWT_COLUMNS, column_eight<W>, "", "")};
}

static void print_table(void)
{
    const scene<dwt_97> scenes[2] = {{ONE_MEGAPIXEL, 1}, {TEN_MEGAPIXELS, 1}};
    auto cell = [](double us, const scene<dwt_97> &s) {
        return time_cell(us, 1e6 / ((double)s.of.n * s.of.n), "%.2f") + " (" + time_cell(us, 1 / s.copy, "%.2f") + ")";
    };
    print_device();
    printf("; median of %d; picoseconds a pixel (times a copy of the same bytes)\n\n| pass of the 9/7, forward | %d x "
           "%d | %d x %d | paper, 1 megapixel | 10 megapixels |\n|---|---|---|---|---|\n",
           REPEATS, ONE_MEGAPIXEL, ONE_MEGAPIXEL, TEN_MEGAPIXELS, TEN_MEGAPIXELS);
    printf("| copy | %s | %s | | |\n", cell(scenes[0].copy, scenes[0]).c_str(),
           cell(scenes[1].copy, scenes[1]).c_str());
    for (const pass &p : all_passes()) {
        printf("| %s |", p.of.name.c_str());
        for (const scene<dwt_97> &s : scenes)
            printf(" %s |", cell(time_trial(p.of, s), s).c_str());
        printf(" %s | %s |\n", p.paper[0], p.paper[1]);
        fflush(stdout);
    }
}

/* Taps are right if what they make is near what lifting makes. */
static void check_taps(void)
{
    const picture<dwt_97> p(MIN_SIZE, 1);
    const std::vector<float> lifted = dwt_pass_on_cpu(p.input[0], p.n, DWT_ROWS),
                             convolved = dwt_pass_on_cpu(p.input[0], p.n, DWT_ROWS_CONVOLVED);
    for (size_t i = 0; i < lifted.size(); i++)
        any_wrong |= !(std::abs(lifted[i] - convolved[i]) < 1e-3f);
    fprintf(stderr, "convolution beside lifting: %s\n", any_wrong ? "WRONG" : "equal to 0.001");
}

int main(int argc, char **argv)
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--check") != 0)) {
        fprintf(stderr, "usage: paper_passes [--check]\n");
        return 2;
    }
    set_up();
    if (argc == 1) {
        print_table();
        return any_wrong;
    }
    std::vector<trial<dwt_97>> trials;
    for (const pass &p : all_passes())
        trials.push_back(p.of);
    check_taps();
    check_trials(trials, 1);
    return report_check();
}
