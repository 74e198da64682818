/* paper_video PICTURE.ppm: tables 1 and 2 of van der Laan, Roerdink, Jalba: Accelerating Wavelet-Based Video Coding on
 * Graphics Hardware using CUDA: frames a second and seconds of each stage, decoding films. The paper's codec predicts
 * motion; here each frame is coded on its own, so that of its six stages two have a counterpart: decoding of residuals
 * and the wavelet transform. Frames are cut out of the picture, RGB of 8 bits, 5/3. As there, the device keeps what it
 * decoded, and the CPU uses one thread; beside that all. What the device decodes is compared with the CPU's. */
#include "bench/cuda/plan.cuh"
#include "bench/pnm.h"

#include <string>

enum { COMPONENTS = 3, FRAMES = 64, DIFFERENT = 8, TURNS = 5, FILM = 813 };

struct film_size {
    uint32_t width, height;
    const char *paper;
};
static const film_size sizes[] = {{1920, 1080, "10.5 | 56.4"}, {1024, 576, "33.7 | 125.6"}, {1920, 800, "13.2 | 71.2"}};

struct coding {
    const char *name;
    int64_t style;
    double ratio; /* 0: lossless */
};
static const coding codings[] = {{"HT, lossless", L2K_STYLE_HT, 0}, {"MQ, 20:1", 0, 20}};

static const l2k_hooks hooks = {NULL, NULL, report_message, NULL, NULL};

/* ---- Films ----------------------------------------------------------------------------------------------------- */

static void set_planes(const film_size &s, uint8_t *samples, size_t row, size_t plane, l2k_plane planes[COMPONENTS])
{
    for (int c = 0; c < COMPONENTS; c++)
        planes[c] = l2k_plane{samples + c * plane, (ptrdiff_t)row, 1, L2K_SAMPLE_U8};
}

typedef std::vector<uint8_t> bytes;

static std::vector<bytes> encode_film(const pnm &p, const film_size &s, const coding &k)
{
    std::vector<bytes> film;
    l2k_component components[COMPONENTS] = {};
    l2k_image image = {};
    l2k_encoder *encoder = l2k_encoder_new(&hooks);
    for (l2k_component &component : components) {
        component.dx = component.dy = 1;
        component.precision = 8;
    }
    image.x1 = s.width;
    image.y1 = s.height;
    image.num_components = COMPONENTS;
    image.components = components;
    image.colour = L2K_COLOUR_SRGB;
    check(l2k_encoder_set(encoder, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM) == L2K_OK &&
              l2k_encoder_set(encoder, L2K_ENCODER_STYLE, k.style) == L2K_OK &&
              (k.ratio == 0 || l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, &k.ratio, 1) == L2K_OK),
          "an option");
    for (uint32_t i = 0; i < DIFFERENT; i++) {
        l2k_plane planes[COMPONENTS];
        const uint8_t *data;
        size_t count;
        set_planes(s, p.samples + i * (p.width + 1), p.width, pnm_plane_bytes(&p), planes);
        check(l2k_encoder_encode_memory(encoder, &image, planes, &data, &count) == L2K_OK, "encoding");
        film.emplace_back(data, data + count);
    }
    l2k_encoder_free(encoder);
    return film;
}

/* Seconds a frame, the median of TURNS after one that warms up; stages: of the last turn, or NULL. */
struct decoding {
    double seconds, stages[L2K_NUM_STAGES];
};

template <class F> static decoding time_frames(l2k_decoder *decoder, F decode_all)
{
    std::vector<double> times;
    decoding d = {};
    for (int turn = -1; turn < TURNS; turn++) {
        const double from = now();
        memset(d.stages, 0, sizeof d.stages);
        decode_all([&] {
            double stages[L2K_NUM_STAGES];
            l2k_decoder_timings(decoder, stages);
            for (int i = 0; i < L2K_NUM_STAGES; i++)
                d.stages[i] += stages[i] / FRAMES;
        });
        if (turn >= 0)
            times.push_back((now() - from) / FRAMES);
    }
    std::nth_element(times.begin(), times.begin() + TURNS / 2, times.end());
    d.seconds = times[TURNS / 2];
    return d;
}

/* `frames` gets what each different frame is decoded to. */
static decoding decode_on_cpu(const std::vector<bytes> &film, const film_size &s, unsigned threads,
                              std::vector<bytes> &frames)
{
    const size_t plane = (size_t)s.width * s.height;
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    check(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CPU) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_THREADS, threads) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_TIMINGS, 1) == L2K_OK,
          "an option");
    frames.assign(DIFFERENT, bytes(COMPONENTS * plane));
    const decoding d = time_frames(decoder, [&](auto count_stages) {
        for (int i = 0; i < FRAMES; i++) {
            const bytes &code = film[i % DIFFERENT];
            l2k_plane planes[COMPONENTS];
            set_planes(s, frames[i % DIFFERENT].data(), s.width, plane, planes);
            check(l2k_decoder_open_memory(decoder, code.data(), code.size()) == L2K_OK &&
                      l2k_decoder_decode(decoder, planes) == L2K_OK,
                  "decoding");
            count_stages();
        }
    });
    l2k_decoder_free(decoder);
    return d;
}

/* The frames in one batch, from host to device memory. */
static decoding decode_on_device(const std::vector<bytes> &film, const film_size &s, const std::vector<bytes> &expected)
{
    const size_t plane = (size_t)s.width * s.height, frame = COMPONENTS * plane;
    std::vector<l2k_plane> planes(FRAMES * COMPONENTS);
    std::vector<l2k_decode_item> items(FRAMES);
    l2k_decoder *decoder = l2k_decoder_new(&hooks);
    uint8_t *samples;
    CHECK(cudaMalloc(&samples, FRAMES * frame));
    check(l2k_decoder_set(decoder, L2K_DECODER_BACKEND, L2K_BACKEND_CUDA) == L2K_OK &&
              l2k_decoder_set(decoder, L2K_DECODER_MEMORY, L2K_MEMORY_DEVICE) == L2K_OK,
          "an option");
    for (int i = 0; i < FRAMES; i++) {
        const bytes &code = film[i % DIFFERENT];
        set_planes(s, samples + i * frame, s.width, plane, &planes[i * COMPONENTS]);
        items[i] = l2k_decode_item{code.data(), code.size(), &planes[i * COMPONENTS], L2K_OK};
    }
    const decoding d = time_frames(decoder, [&](auto) {
        check(l2k_decoder_decode_batch(decoder, items.data(), FRAMES) == L2K_OK, "decoding on the device");
        CHECK(cudaDeviceSynchronize());
    });
    for (int i = 0; i < FRAMES; i++) {
        bytes seen(frame);
        CHECK(cudaMemcpy(seen.data(), samples + i * frame, frame, cudaMemcpyDeviceToHost));
        check(seen == expected[i % DIFFERENT], "the comparison of frames");
    }
    CHECK(cudaFree(samples));
    l2k_decoder_free(decoder);
    return d;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

static double inverse_on_device(const film_size &s)
{
    const work w = {"", L2K_WAVELET_5_3, L2K_COEFFICIENT_INT16, L2K_SAMPLE_U8, COMPONENTS, 8, false, true};
    l2k_context context = {};
    cudaStream_t stream;
    context.hooks = hooks;
    context.threads = 1;
    CHECK(cudaStreamCreate(&stream));
    return 1e-6 * time_plans(&context, w, extent{s.width, s.height, 5}, 0, stream).us[L2K_INVERSE];
}

static void print_stages(const std::string *rows, const film_size &s)
{
    printf(
        "\nSeconds for %d frames of %u x %u; transform on the device: alone, the rest is what remains of the batch's "
        "time, in which both run side by side; paper: \"residual decode\" and \"wavelet transform\"\n\n"
        "| coding | stage | CPU, 1 thread | GPU | paper, CPU | CUDA |\n|---|---|---|---|---|---|\n%s%s",
        FILM, s.width, s.height, rows[0].c_str(), rows[1].c_str());
}

static std::string stage_rows(const coding &k, const decoding &cpu, const decoding &device, double transform)
{
    char text[400];
    const double on_cpu = cpu.stages[L2K_STAGE_TRANSFORM], rest = cpu.seconds - on_cpu;
    snprintf(text, sizeof text,
             "| %s | packets, code-blocks | %.2f | %.3f | 12.00 | 12.94 |\n"
             "| %s | transform | %.2f | %.3f | 22.52 | 1.63 |\n",
             k.name, FILM * rest, FILM * (device.seconds - transform), k.name, FILM * on_cpu, FILM * transform);
    return text;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: paper_video PICTURE.ppm\n");
        return 2;
    }
    const pnm once = pnm_read(argv[1], 1, 1);
    free(once.samples);
    check(once.components == COMPONENTS && once.bytes == 1, "RGB of 8 bits");
    const pnm p = pnm_read(argv[1], 1 + 2048 / once.width, 1 + 1200 / once.height);
    std::string stages[2];
    print_device();
    printf("; frames a second, median of %d turns with %d frames; paper: Opteron 280 (one thread), GeForce GTX 280\n\n"
           "| frame | coding | bits a pixel | CPU, 1 thread | CPU, all | GPU | paper, CPU | CUDA |\n"
           "|---|---|---|---|---|---|---|---|\n",
           TURNS, FRAMES);
    for (const film_size &s : sizes)
        for (int i = 0; i < 2; i++) {
            const std::vector<bytes> film = encode_film(p, s, codings[i]);
            std::vector<bytes> frames;
            const decoding one = decode_on_cpu(film, s, 1, frames), all = decode_on_cpu(film, s, 0, frames),
                           device = decode_on_device(film, s, frames);
            printf("| %u x %u | %s | %.2f | %.1f | %.1f | %.0f | %s |\n", s.width, s.height, codings[i].name,
                   8.0 * (double)film[0].size() / ((double)s.width * s.height), 1 / one.seconds, 1 / all.seconds,
                   1 / device.seconds, s.paper);
            fflush(stdout);
            if (&s == sizes)
                stages[i] = stage_rows(codings[i], one, device, inverse_on_device(s));
        }
    print_stages(stages, sizes[0]);
    free(p.samples);
    return 0;
}
