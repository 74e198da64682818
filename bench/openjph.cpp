/* OpenJPH from memory to memory. Its objects are kept from picture to picture, as ours are. */
#include "bench/openjph.h"

#include <stdio.h>

#include <exception>

#include <openjph/ojph_arch.h>
#include <openjph/ojph_base.h>
#include <openjph/ojph_codestream.h>
#include <openjph/ojph_file.h>
#include <openjph/ojph_mem.h>
#include <openjph/ojph_params.h>
#include <openjph/ojph_version.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

struct openjph {
    ojph::codestream encoder, decoder;
    ojph::mem_outfile file;
};

const char *openjph_version(void)
{
    return TEXT(OPENJPH_VERSION_MAJOR) "." TEXT(OPENJPH_VERSION_MINOR) "." TEXT(OPENJPH_VERSION_PATCH);
}

openjph *openjph_new(void)
{
    return new openjph;
}

void openjph_free(openjph *codec)
{
    delete codec;
}

/* A row of a component, to and from OpenJPH's line of 32-bit samples. */
template <typename sample> static void load(const sample *__restrict row, uint32_t width, ojph::si32 *__restrict line)
{
    for (uint32_t x = 0; x < width; x++)
        line[x] = row[x];
}

template <typename sample>
static void store(sample *__restrict row, uint32_t width, ojph::si32 most, const ojph::si32 *__restrict line)
{
    for (uint32_t x = 0; x < width; x++) {
        const ojph::si32 v = line[x] < 0 ? 0 : line[x];
        row[x] = static_cast<sample>(v > most ? most : v);
    }
}

/* Where line i of component c begins, in samples: lines come by rows with the component transform, else by components.
 */
static size_t line_start(const openjph_picture *p, size_t i, uint32_t c)
{
    const size_t y = p->components == 3 ? i / 3 : i % p->height;
    return (c * static_cast<size_t>(p->height) + y) * p->width;
}

static void set_parameters(ojph::codestream &encoder, const openjph_picture *p, float step)
{
    ojph::param_siz siz = encoder.access_siz();
    siz.set_image_extent(ojph::point(p->width, p->height));
    siz.set_num_components(p->components);
    for (uint32_t c = 0; c < p->components; c++)
        siz.set_component(c, ojph::point(1, 1), p->precision, false);
    ojph::param_cod cod = encoder.access_cod();
    cod.set_num_decomposition(5);
    cod.set_block_dims(64, 64);
    cod.set_progression_order("RPCL");
    cod.set_color_transform(p->components == 3);
    cod.set_reversible(step == 0);
    if (step != 0)
        encoder.access_qcd().set_irrev_quant(step);
    encoder.set_planar(p->components != 3);
}

static void encode(openjph *codec, const openjph_picture *p, float step)
{
    ojph::codestream &encoder = codec->encoder;
    encoder.restart();
    set_parameters(encoder, p, step);
    codec->file.open();
    encoder.write_headers(&codec->file);
    const size_t lines = static_cast<size_t>(p->height) * p->components;
    uint32_t c;
    ojph::line_buf *line = encoder.exchange(nullptr, c);
    for (size_t i = 0; i < lines; i++) {
        const size_t start = line_start(p, i, c);
        if (p->precision > 8)
            load(static_cast<const uint16_t *>(p->samples) + start, p->width, line->i32);
        else
            load(static_cast<const uint8_t *>(p->samples) + start, p->width, line->i32);
        line = encoder.exchange(line, c);
    }
    encoder.flush();
}

static void decode(openjph *codec, const uint8_t *bytes, size_t count, const openjph_picture *p)
{
    ojph::codestream &decoder = codec->decoder;
    ojph::mem_infile file;
    decoder.restart();
    file.open(bytes, count);
    decoder.read_headers(&file);
    decoder.set_planar(p->components != 3);
    decoder.create();
    const ojph::si32 most = (1 << p->precision) - 1;
    const size_t lines = static_cast<size_t>(p->height) * p->components;
    for (size_t i = 0; i < lines; i++) {
        uint32_t c;
        const ojph::line_buf *line = decoder.pull(c);
        const size_t start = line_start(p, i, c);
        if (p->precision > 8)
            store(static_cast<uint16_t *>(p->samples) + start, p->width, most, line->i32);
        else
            store(static_cast<uint8_t *>(p->samples) + start, p->width, most, line->i32);
    }
    decoder.close();
}

bool openjph_encode(openjph *codec, const openjph_picture *picture, float step, const uint8_t **bytes, size_t *count)
{
    try {
        encode(codec, picture, step);
    } catch (const std::exception &failure) {
        fprintf(stderr, "OpenJPH: %s\n", failure.what());
        return false;
    }
    *bytes = codec->file.get_data();
    *count = codec->file.get_used_size();
    return true;
}

bool openjph_decode(openjph *codec, const uint8_t *bytes, size_t count, const openjph_picture *picture)
{
    try {
        decode(codec, bytes, count, picture);
    } catch (const std::exception &failure) {
        fprintf(stderr, "OpenJPH: %s\n", failure.what());
        return false;
    }
    return true;
}
