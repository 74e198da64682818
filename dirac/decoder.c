/* The decoder of Dirac and VC-2: data units (VC-2, clause 10) from pushed bytes, the way of pictures through the stages,
 * the buffer of references, and frames in display order. */
#include <string.h>

#include "base/buffer.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/pool.h"
#include "dirac/engine.h"
#include "transform/device.h"

enum { PICTURE = 0x08 }; /* bit of the parse codes of pictures */

/* Frames that wait for display, as deep as either standard reorders; those whose turn has come, and which an engine may
 * still work on; pictures that can be referred to. */
enum { WAITING = 2, READY = L2K_DIRAC_AHEAD + 1, REFERENCES = 8 };

/* A frame with its picture, or with both fields. */
typedef struct coded_frame {
    uint32_t number; /* of its first picture */
    l2k_dirac_picture pictures[2];
    unsigned decoded; /* bit for each of them */
    unsigned holders; /* the queue, the caller, a reference each */
    bool damaged;
    uint32_t mark; /* the engine's, of its last picture */
    size_t bytes;
    l2k_plane planes[L2K_DIRAC_PLANES];
    void *samples;
} coded_frame;

struct l2k_video_decoder {
    l2k_context context;
    l2k_pool pool;
    int64_t options[L2K_VIDEO_NUM_OPTIONS];
    l2k_buffer input;
    l2k_context input_context; /* whose hooks are the engine's */
    size_t at, searched;       /* in the input: the next data unit, and how far the end of one was looked for */
    bool has_ended, in_step, draining, has_sequence;
    l2k_buffer header; /* the sequence header as it came, to tell a repetition from a new sequence */
    l2k_dirac_sequence sequence;
    l2k_dirac_transform transform;
    l2k_dirac_motion motion;
    l2k_dirac_engine engine;         /* open if it has a table */
    coded_frame *queue[WAITING + 2]; /* by number */
    coded_frame *ready[READY];       /* in order */
    coded_frame *shown;              /* the one that the caller has */
    unsigned waiting, num_ready, num_references;
    struct {
        coded_frame *frame;
        l2k_dirac_picture *picture;
    } references[REFERENCES]; /* the oldest first */
    l2k_video_frame frame;
    l2k_plane planes[L2K_DIRAC_PLANES];
    l2k_component components[L2K_DIRAC_PLANES];
};

/* ---- Frames and references ------------------------------------------------------------------------------------- */

static void release_frame(l2k_video_decoder *d, coded_frame *frame)
{
    if (!frame || --frame->holders > 0)
        return;
    for (unsigned i = 0; i < 2 * L2K_DIRAC_PLANES; i++)
        d->engine.table->release(&d->engine, frame->pictures[i % 2].planes[i / 2].half);
    d->engine.table->release(&d->engine, frame->samples);
    l2k_release(&d->context, frame);
}

/* Rows of any component take the same number of bytes. */
static l2k_status make_frame(l2k_video_decoder *d, uint32_t number, coded_frame **out)
{
    enum { ROUND = 64 };
    const l2k_dirac_sequence *s = &d->sequence;
    const size_t stride = ((size_t)s->width / ROUND + 1) * ROUND;
    size_t row = 0, rows = s->height + 2 * (size_t)l2k_ceil_shift(s->height, s->chroma_y);
    coded_frame *frame = *out = l2k_allocate_zeroed(&d->context, 1, sizeof *frame);
    const size_t bytes = rows * (stride << s->wide);
    uint8_t *samples = d->engine.table->allocate(&d->engine, bytes);
    if (!frame || !samples) {
        d->engine.table->release(&d->engine, samples);
        l2k_release(&d->context, frame);
        return l2k_check_memory(&d->context, false, "a frame");
    }
    frame->samples = samples;
    frame->bytes = bytes;
    frame->number = number;
    frame->holders = 1;
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; row += l2k_ceil_shift(s->height, c ? s->chroma_y : 0), c++) {
        frame->planes[c] = (l2k_plane){samples + (row * stride << s->wide), (ptrdiff_t)(stride << s->wide),
                                       1 << s->wide, s->wide ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
        for (unsigned field = 0; field < 2; field++) { /* of which one is the lower */
            l2k_dirac_plane *plane = &frame->pictures[field].planes[c];
            const size_t first = row + (s->fields && field == s->top_field_first);
            l2k_dirac_size(s, c, &plane->width, &plane->height);
            plane->data = samples + (first * stride << s->wide);
            plane->stride = (ptrdiff_t)stride << s->fields;
        }
    }
    return L2K_OK;
}

/* The frame of a picture: a waiting one, or a new one in its place among them. */
static l2k_status find_frame(l2k_video_decoder *d, uint32_t number, coded_frame **out)
{
    unsigned at = d->waiting;
    while (at > 0 && (int32_t)(number - d->queue[at - 1]->number) < 0)
        at--;
    *out = at > 0 ? d->queue[at - 1] : NULL;
    if (*out && (*out)->number == number)
        return L2K_OK;
    L2K_TRY(make_frame(d, number, out));
    memmove(&d->queue[at + 1], &d->queue[at], (d->waiting++ - at) * sizeof *d->queue);
    d->queue[at] = *out;
    return L2K_OK;
}

static unsigned find_reference(const l2k_video_decoder *d, uint32_t number)
{
    unsigned i = 0;
    while (i < d->num_references && d->references[i].picture->number != number)
        i++;
    return i;
}

/* Nothing where there is no such reference. */
static void remove_reference(l2k_video_decoder *d, unsigned i)
{
    if (i >= d->num_references)
        return;
    release_frame(d, d->references[i].frame);
    memmove(&d->references[i], &d->references[i + 1], (--d->num_references - i) * sizeof *d->references);
}

/* The newest reference in place of a picture, or grey. */
static l2k_status conceal(l2k_video_decoder *d, l2k_dirac_picture *picture)
{
    const l2k_dirac_picture *from = d->num_references ? d->references[d->num_references - 1].picture : NULL;
    return d->engine.table->conceal(&d->engine, &d->sequence, from, picture);
}

/* ---- Stages ---------------------------------------------------------------------------------------------------- */

/* What earlier pictures were decoded from may change now. */
static l2k_status settle(l2k_video_decoder *d)
{
    return d->engine.table->settle ? d->engine.table->settle(&d->engine) : L2K_OK;
}

static l2k_status mark(l2k_video_decoder *d, coded_frame *frame)
{
    return d->engine.table->mark ? d->engine.table->mark(&d->engine, &frame->mark) : L2K_OK;
}

/* Behind the picture header. Clears *concealed once the picture is whole, though perhaps damaged. */
static l2k_status decode_stages(l2k_video_decoder *d, unsigned num_references, l2k_dirac_picture *const references[2],
                                l2k_dirac_bits *bits, l2k_dirac_picture *picture, bool *concealed)
{
    l2k_dirac_transform *t = &d->transform;
    l2k_dirac_residue residues[L2K_DIRAC_PLANES] = {{0}};
    l2k_status status = L2K_OK;
    if (num_references || t->syntax != L2K_DIRAC_HIGH_QUALITY)
        L2K_TRY(settle(d));
    t->intra = num_references == 0;
    l2k_dirac_align(bits);
    if (num_references)
        L2K_TRY(l2k_dirac_motion_read(&d->context, &d->motion, &d->sequence, num_references,
                                      t->syntax == L2K_DIRAC_ARITHMETIC, bits));
    l2k_dirac_align(bits);
    const bool has_residues = t->intra || !l2k_dirac_flag(bits);
    if (l2k_dirac_is_over(bits)) {
        status = l2k_fail(&d->context, L2K_ERROR_TRUNCATED, "a picture ends early");
        if (t->intra)
            return status;
    } else if (has_residues) {
        L2K_TRY(l2k_dirac_transform_read(&d->context, &d->sequence, bits, t));
        status = d->engine.table->residues(&d->engine, &d->sequence, *bits, t, picture, residues);
    }
    if (num_references && !l2k_dirac_is_fatal(status))
        L2K_TRY(d->engine.table->predict(&d->engine, &d->sequence, &d->motion, references, residues, picture));
    *concealed = l2k_dirac_is_fatal(status);
    return status;
}

/* What is damaged is reported, and the frame marked; a status other than L2K_OK is that of memory or a limit. */
static l2k_status decode_picture(l2k_video_decoder *d, unsigned code, l2k_dirac_bits *bits)
{
    const unsigned fields = d->sequence.fields, num_references = code & 3;
    const uint32_t number = l2k_dirac_read(bits, 32);
    const bool is_reference = (code & 0x0c) == 0x0c;
    l2k_dirac_picture *references[2] = {NULL, NULL};
    coded_frame *frame;
    bool found = num_references < 3, concealed = true;
    const bool slices = (code & 0x88) == 0x88;
    d->transform.syntax = slices        ? code & 0x20 ? L2K_DIRAC_HIGH_QUALITY : L2K_DIRAC_LOW_DELAY
                          : code & 0x40 ? L2K_DIRAC_PLAIN
                                        : L2K_DIRAC_ARITHMETIC;
    L2K_TRY(find_frame(d, number & ~fields, &frame));
    l2k_dirac_picture *picture = &frame->pictures[fields ? number & 1 : 0];
    if (frame->decoded >> (picture - frame->pictures) & 1) {
        frame->damaged = true;
        return l2k_fail(&d->context, L2K_ERROR_CORRUPT, "picture %u comes twice", number), L2K_OK;
    }
    picture->number = number;
    for (unsigned i = 0; i < num_references && i < 2; i++) {
        const unsigned at = find_reference(d, number + (uint32_t)l2k_dirac_sint(bits));
        found = found && at < d->num_references;
        references[i] = found ? d->references[at].picture : NULL;
    }
    const uint32_t retired = is_reference ? number + (uint32_t)l2k_dirac_sint(bits) : number;
    const l2k_status status =
        is_reference && slices && d->sequence.version >= 3
            ? l2k_fail(&d->context, L2K_ERROR_UNSUPPORTED, "picture %u is in fragments", number)
        : found ? decode_stages(d, num_references, references, bits, picture, &concealed)
                : l2k_fail(&d->context, L2K_ERROR_CORRUPT, "picture %u refers to one that is not there", number);
    const l2k_status replaced = concealed ? conceal(d, picture) : L2K_OK;
    L2K_TRY(mark(d, frame));
    L2K_TRY(replaced);
    frame->decoded |= 1u << (picture - frame->pictures);
    frame->damaged = frame->damaged || status != L2K_OK;
    if (is_reference) {
        remove_reference(d, find_reference(d, retired));
        remove_reference(d, d->num_references == REFERENCES ? 0 : d->num_references);
        d->references[d->num_references].frame = frame;
        d->references[d->num_references++].picture = picture;
        frame->holders++;
    }
    return l2k_dirac_is_fatal(status) ? status : L2K_OK;
}

/* ---- Data units ------------------------------------------------------------------------------------------------ */

/* The next parse info from `at` on, or where it may begin in bytes to come. */
static size_t find_parse_info(const l2k_video_decoder *d, size_t at)
{
    while (at + 4 <= d->input.size && memcmp(d->input.data + at, "BBCD", 4) != 0)
        at++;
    return at;
}

/* The next data unit: its bytes from the parse info on. 0: not yet there, or the stream has ended. */
static size_t next_unit(l2k_video_decoder *d)
{
    const size_t found = find_parse_info(d, d->at);
    if (found > d->at && d->in_step)
        l2k_warn(&d->context, "bytes between data units are skipped");
    d->in_step = found == d->at && d->in_step;
    d->at = found;
    const size_t left = d->input.size - d->at;
    if (left < L2K_DIRAC_PARSE_INFO)
        return 0;
    d->in_step = true;
    size_t bytes = l2k_get_be(d->input.data + d->at + 5, 4);
    if (d->input.data[d->at + 4] == L2K_DIRAC_END_OF_SEQUENCE)
        bytes = L2K_DIRAC_PARSE_INFO;
    else if (bytes < L2K_DIRAC_PARSE_INFO) { /* a unit without a length ends at the next one */
        const size_t from = d->at + L2K_DIRAC_PARSE_INFO;
        d->searched = find_parse_info(d, d->searched > from ? d->searched : from);
        bytes = d->searched + 4 <= d->input.size ? d->searched - d->at : SIZE_MAX;
    }
    return bytes <= left ? bytes : d->has_ended ? left : 0;
}

static void close_engine(l2k_video_decoder *d)
{
    if (d->engine.table && d->engine.table->close)
        d->engine.table->close(&d->engine);
    d->engine.table = NULL;
}

static l2k_status open_engine(l2k_video_decoder *d)
{
    const int64_t backend = d->options[L2K_VIDEO_BACKEND];
    const bool on_device = backend == L2K_BACKEND_CUDA || d->options[L2K_VIDEO_MEMORY] == L2K_MEMORY_DEVICE ||
                           (backend == L2K_BACKEND_AUTO && l2k_device_usable(&d->context, L2K_BACKEND_CUDA, NULL, 0));
    if (d->engine.table)
        return L2K_OK;
    if (on_device && backend == L2K_BACKEND_CPU)
        return l2k_fail(&d->context, L2K_ERROR_ARGUMENT, "the CPU writes no planes in device memory");
    d->engine = (l2k_dirac_engine){.context = &d->context, .table = &l2k_dirac_cpu, .most_samples = UINT64_MAX};
    if (on_device) {
#ifdef L2K_WITH_CUDA
        d->engine.table = &l2k_dirac_cuda;
#else
        d->engine.table = NULL;
        return l2k_fail(&d->context, L2K_ERROR_BACKEND, "this build has no CUDA backend");
#endif
    }
    const l2k_status status = d->engine.table->open ? d->engine.table->open(&d->engine) : L2K_OK;
    if (status != L2K_OK)
        close_engine(d);
    return status;
}

static l2k_status start_sequence(l2k_video_decoder *d, const uint8_t *data, size_t bytes)
{
    l2k_dirac_bits bits = l2k_dirac_bits_of(data, bytes);
    const l2k_dirac_sequence *s = &d->sequence;
    d->transform.needs_32[0] = d->transform.needs_32[1] = false;
    L2K_TRY(open_engine(d));
    L2K_TRY(l2k_dirac_sequence_read(&d->context, &bits, &d->sequence));
    const uint64_t chroma = (uint64_t)l2k_ceil_shift(s->width, s->chroma_x) * l2k_ceil_shift(s->height, s->chroma_y);
    const uint64_t limit = (uint64_t)d->options[L2K_VIDEO_LIMIT_SAMPLES];
    const uint64_t most = limit < d->engine.most_samples ? limit : d->engine.most_samples;
    if (s->width > UINT16_MAX || s->height > UINT16_MAX || (uint64_t)s->width * s->height + 2 * chroma > most)
        return l2k_fail(&d->context, L2K_ERROR_LIMIT, "frames of %u x %u exceed the limit of samples", s->width,
                        s->height);
    d->header.size = 0;
    l2k_buffer_append(&d->header, data, bytes);
    const l2k_status status = l2k_buffer_status(&d->header);
    d->has_sequence = status == L2K_OK;
    if (status != L2K_OK)
        l2k_buffer_release(&d->header);
    return status;
}

/* Before a new sequence, or the end of one, its frames have to be shown: the unit then waits. */
static l2k_status decode_unit(l2k_video_decoder *d, size_t bytes)
{
    const uint8_t *unit = d->input.data + d->at, *data = unit + L2K_DIRAC_PARSE_INFO;
    const size_t size = bytes - L2K_DIRAC_PARSE_INFO;
    const bool is_header = unit[4] == L2K_DIRAC_SEQUENCE_HEADER;
    if (is_header && d->has_sequence && size == d->header.size && memcmp(data, d->header.data, size) == 0) {
        d->at += bytes;
        return L2K_OK;
    }
    if (is_header || unit[4] == L2K_DIRAC_END_OF_SEQUENCE) {
        d->draining = d->waiting + d->num_ready > 0;
        if (d->draining)
            return L2K_OK;
        while (d->num_references)
            remove_reference(d, 0);
        d->has_sequence = false;
    }
    d->at += bytes;
    l2k_dirac_bits bits = l2k_dirac_bits_of(data, size);
    return is_header                              ? start_sequence(d, data, size)
           : unit[4] & PICTURE && d->has_sequence ? decode_picture(d, unit[4], &bits)
                                                  : L2K_OK;
}

/* ---- The interface ---------------------------------------------------------------------------------------------- */

static const l2k_option_rule rules[] = {
    [L2K_VIDEO_LIMIT_SAMPLES] = {"limit of samples", 0, INT64_MAX, (int64_t)1 << 27},
    [L2K_VIDEO_LIMIT_MEMORY] = {"limit of memory", 0, INT64_MAX, (int64_t)1 << 62},
    [L2K_VIDEO_CPU] = {"instruction set", 0, L2K_CPU_SIMD128, L2K_CPU_AUTO},
    [L2K_VIDEO_BACKEND] = {"backend", 0, L2K_BACKEND_CUDA, L2K_BACKEND_CPU},
    [L2K_VIDEO_MEMORY] = {"memory", 0, L2K_MEMORY_DEVICE, L2K_MEMORY_HOST},
    [L2K_VIDEO_DEVICE] = {"device", -1, L2K_MOST_DEVICES - 1, -1}};

static const l2k_object_kind object_kind = {.bytes = sizeof(l2k_video_decoder),
                                            .pool = offsetof(l2k_video_decoder, pool),
                                            .options = offsetof(l2k_video_decoder, options),
                                            .rules = rules,
                                            .num_options = L2K_VIDEO_NUM_OPTIONS};

l2k_video_decoder *l2k_video_decoder_new(const l2k_hooks *hooks)
{
    l2k_video_decoder *d = l2k_object_create(&object_kind, hooks);
    if (!d)
        return NULL;
    d->input.context = d->header.context = &d->context;
    l2k_dirac_transform_start(&d->transform);
    return d;
}

void l2k_video_decoder_free(l2k_video_decoder *d)
{
    if (!d)
        return;
    const int before = l2k_device_enter(&d->context);
    while (d->num_references)
        remove_reference(d, 0);
    while (d->waiting)
        release_frame(d, d->queue[--d->waiting]);
    while (d->num_ready)
        release_frame(d, d->ready[--d->num_ready]);
    release_frame(d, d->shown);
    l2k_buffer_release(&d->input);
    close_engine(d);
    l2k_device_leave(before);
    void *const blocks[] = {d->motion.blocks, d->motion.space, d->transform.data, d->transform.scratch};
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
        l2k_release(&d->context, blocks[i]);
    l2k_buffer_release(&d->header);
    l2k_object_free(&object_kind, d);
}

l2k_status l2k_video_decoder_set(l2k_video_decoder *d, l2k_video_option option, int64_t value)
{
    if (option >= L2K_VIDEO_BACKEND && d->engine.table)
        return l2k_fail(&d->context, L2K_ERROR_STATE, "the decoder has begun to use an engine");
    L2K_TRY(l2k_object_set(&object_kind, d, option, value));
    d->context.devices = l2k_object_devices(d->options[L2K_VIDEO_BACKEND], d->options[L2K_VIDEO_DEVICE], 0);
    d->context.cpu = (l2k_cpu)d->options[L2K_VIDEO_CPU];
    return l2k_cpu_check(&d->context);
}

/* Room for more bytes of input, in memory that the engine may ask for. It may still read from what came before, so that
 * moves rarely. */
static l2k_status make_room(l2k_video_decoder *d, size_t bytes)
{
    const l2k_hooks *input = d->engine.table ? d->engine.table->input : NULL;
    const bool moves = input && d->input.context != &d->input_context;
    if (!moves && bytes <= d->input.capacity - d->input.size)
        return L2K_OK;
    if (d->engine.table)
        L2K_TRY(settle(d));
    if (d->at > d->input.size / 4 * 3) {
        memmove(d->input.data, d->input.data + d->at, d->input.size -= d->at);
        d->searched -= d->searched < d->at ? d->searched : d->at;
        d->at = 0;
    }
    if (moves) {
        l2k_buffer moved = {.context = &d->input_context};
        d->input_context = d->context;
        d->input_context.hooks.allocate = input->allocate;
        d->input_context.hooks.release = input->release;
        d->input_context.pool = NULL;
        l2k_buffer_append(&moved, d->input.data, d->input.size);
        L2K_TRY(l2k_buffer_status(&moved));
        l2k_buffer_release(&d->input);
        d->input = moved;
    }
    return L2K_OK;
}

l2k_status l2k_video_decoder_push(l2k_video_decoder *d, const uint8_t *data, size_t bytes)
{
    if (d->has_ended)
        return l2k_fail(&d->context, L2K_ERROR_STATE, "the stream has ended");
    const int before = l2k_device_enter(&d->context); /* whose memory the input may be */
    l2k_pool_start_call(&d->pool, &d->context.hooks, (uint64_t)d->options[L2K_VIDEO_LIMIT_MEMORY]);
    l2k_status status = make_room(d, bytes);
    if (status == L2K_OK) {
        d->has_ended = bytes == 0;
        l2k_buffer_append(&d->input, data, bytes);
        status = l2k_buffer_status(&d->input);
    }
    return l2k_device_left(before, status);
}

/* The first frame's turn has come. */
static l2k_status leave_queue(l2k_video_decoder *d)
{
    coded_frame *frame = d->ready[d->num_ready++] = d->queue[0];
    memmove(d->queue, d->queue + 1, --d->waiting * sizeof *d->queue);
    for (unsigned i = 0; i <= d->sequence.fields; i++)
        if (!(frame->decoded >> i & 1)) {
            frame->damaged = true;
            l2k_fail(&d->context, L2K_ERROR_CORRUPT, "frame %u lacks a picture", frame->number >> d->sequence.fields);
            L2K_TRY(conceal(d, &frame->pictures[i]));
            L2K_TRY(mark(d, frame));
        }
    return L2K_OK;
}

static l2k_status show(l2k_video_decoder *d, const l2k_video_frame **out)
{
    const l2k_dirac_sequence *s = &d->sequence;
    coded_frame *frame = d->shown = d->ready[0];
    void *samples = frame->samples;
    memmove(d->ready, d->ready + 1, --d->num_ready * sizeof *d->ready);
    if (d->engine.table->show)
        L2K_TRY(d->engine.table->show(&d->engine, frame->mark, (l2k_memory)d->options[L2K_VIDEO_MEMORY], frame->bytes,
                                      &samples));
    for (unsigned c = 0; c < L2K_DIRAC_PLANES; c++) {
        const unsigned x = c ? s->chroma_x : 0, y = c ? s->chroma_y : 0;
        l2k_component *k = &d->components[c];
        d->planes[c] = frame->planes[c];
        d->planes[c].data = (uint8_t *)samples + ((uint8_t *)frame->planes[c].data - (uint8_t *)frame->samples);
        *k = (l2k_component){.dx = 1u << x, .dy = 1u << y, .precision = l2k_dirac_depth(s, c)};
        k->width = l2k_ceil_shift(s->width, x), k->height = l2k_ceil_shift(s->height, y);
    }
    d->frame = (l2k_video_frame){.planes = d->planes, .number = frame->number >> s->fields, .sequence = *s};
    d->frame.image = (l2k_image){.x1 = s->width, .y1 = s->height, .num_components = L2K_DIRAC_PLANES};
    d->frame.image.components = d->components;
    d->frame.image.colour = s->colour[1] == 3   ? L2K_COLOUR_SRGB
                            : s->colour[1] == 2 ? L2K_COLOUR_UNKNOWN /* YCgCo */
                                                : L2K_COLOUR_SYCC;
    *out = &d->frame;
    return frame->damaged ? L2K_INCOMPLETE : L2K_OK;
}

static l2k_status pull(l2k_video_decoder *d, const l2k_video_frame **frame)
{
    release_frame(d, d->shown);
    d->shown = NULL;
    l2k_pool_start_call(&d->pool, &d->context.hooks, (uint64_t)d->options[L2K_VIDEO_LIMIT_MEMORY]);
    while (d->num_ready <= d->engine.ahead) {
        const bool awaits_field = d->sequence.fields && d->waiting && d->queue[0]->decoded != 3; /* of the first */
        if (d->waiting > (d->draining ? 0 : WAITING + (unsigned)awaits_field)) {
            L2K_TRY(leave_queue(d));
            continue;
        }
        if (d->draining && d->num_ready)
            break;
        const size_t bytes = next_unit(d);
        d->draining = !bytes && d->has_ended && d->waiting;
        if (bytes)
            L2K_TRY(decode_unit(d, bytes));
        else if (d->num_ready)
            break;
        else if (!d->draining)
            return d->has_ended && !d->frame.planes
                       ? l2k_fail(&d->context, L2K_ERROR_FORMAT, "no frame of Dirac or VC-2")
                       : L2K_OK;
    }
    return show(d, frame);
}

l2k_status l2k_video_decoder_pull(l2k_video_decoder *d, const l2k_video_frame **frame)
{
    *frame = NULL;
    const int before = l2k_device_enter(&d->context);
    return l2k_device_left(before, pull(d, frame));
}
