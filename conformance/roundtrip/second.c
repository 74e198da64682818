/* Decoding with FFmpeg's own JPEG 2000 decoder, and the limits of that decoder. */
#include "conformance/roundtrip/second.h"

#include <string.h>

#ifdef CONFORMANCE_WITH_LIBAVCODEC

#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool second_available(void)
{
    return avcodec_find_decoder(AV_CODEC_ID_JPEG2000) != NULL;
}

static _Thread_local char last_line[200];

/* Keeps the first error; unimplemented features are reported as warnings. */
static void keep_line(void *object, int level, const char *format, va_list arguments)
{
    char line[sizeof last_line];
    (void)object;
    vsnprintf(line, sizeof line, format, arguments);
    bool says_why = level <= AV_LOG_ERROR && strncmp(line, "error during", 12) != 0;
    if (last_line[0] || (!says_why && strncmp(line, "Too many", 8) != 0))
        return;
    line[strcspn(line, "\n")] = 0;
    snprintf(last_line, sizeof last_line, "%s", line);
}

/* Samples occupy the highest bits of the pixel format, except gray with opacity of more than 8 bits, where they occupy
 * the lowest; signed ones are offset to unsigned. */
static int32_t sample_at(const AVFrame *frame, const AVComponentDescriptor *d, uint32_t x, uint32_t y, unsigned bits)
{
    const uint8_t *at = frame->data[d->plane] + (ptrdiff_t)y * frame->linesize[d->plane] + (ptrdiff_t)x * d->step;
    at += d->offset;
    int32_t value = d->depth > 8 ? at[0] | at[1] << 8 : at[0];
    return frame->format == AV_PIX_FMT_YA16LE ? value : value >> (d->depth - (int)bits);
}

static picture *take_frame(const AVFrame *frame, const picture *like)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (format->nb_components != like->image.num_components || (format->flags & AV_PIX_FMT_FLAG_PAL))
        return NULL;
    picture *p = picture_empty(&like->image);
    for (uint32_t c = 0; c < p->image.num_components; c++) {
        const l2k_component *k = &p->components[c];
        for (uint32_t y = 0; y < k->height; y++)
            for (uint32_t x = 0; x < k->width; x++) {
                int32_t v = sample_at(frame, &format->comp[c], x, y, k->precision);
                p->samples[c][(size_t)y * k->width + x] = k->is_signed ? v - (1 << (k->precision - 1)) : v;
            }
    }
    return p;
}

static bool decode_frame(AVCodecContext *decoder, const bytes *file, AVFrame *frame)
{
    AVPacket *packet = av_packet_alloc();
    bool done = packet && av_new_packet(packet, (int)file->size) == 0;
    if (done) {
        memcpy(packet->data, file->data, file->size);
        done = avcodec_send_packet(decoder, packet) == 0 && avcodec_receive_frame(decoder, frame) == 0;
    }
    av_packet_free(&packet);
    return done;
}

picture *second_decode(const bytes *file, const picture *like, char *reason, size_t room)
{
    const AVCodec *codec = avcodec_find_decoder(AV_CODEC_ID_JPEG2000);
    AVCodecContext *decoder = avcodec_alloc_context3(codec);
    AVFrame *frame = av_frame_alloc();
    picture *p = NULL;
    last_line[0] = 0;
    av_log_set_callback(keep_line);
    decoder->thread_count = 1;
    if (avcodec_open2(decoder, codec, NULL) == 0 && decode_frame(decoder, file, frame)) {
        p = take_frame(frame, like);
        if (!p)
            snprintf(last_line, sizeof last_line, "pixel format %s", av_get_pix_fmt_name(frame->format));
    }
    snprintf(reason, room, "%s", last_line);
    av_frame_free(&frame);
    avcodec_free_context(&decoder);
    return p;
}

#else

bool second_available(void)
{
    return false;
}

picture *second_decode(const bytes *file, const picture *like, char *reason, size_t room)
{
    (void)file, (void)like, (void)reason, (void)room;
    return NULL;
}

#endif

const char *second_limit(const char *reason, const picture *p, const coding *o)
{
    static const struct {
        const char *start, *limit;
    } limits[] = {{"Unknown pix_fmt", "no pixel format for this precision and sub-sampling"},
                  {"Invalid sample separation", "sub-sampling that is no power of two"},
                  {"Picture size", "components that are all sub-sampled, less than a pixel wide or high"},
                  {"Too many tile parts", "more than 32 tile-parts in a tile"}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strncmp(reason, limits[i].start, strlen(limits[i].start)) == 0)
            return limits[i].limit;
    if (!*reason && o->tlm && (o->tile_parts || coding_tiles(o, &p->image) > 255))
        return "TLM for more than 255 tile-parts: it counts them in a byte";
    if (!*reason && coding_levels(o) > 15 && coding_has_order(o, L2K_RPCL, L2K_CPRL))
        return "RPCL, PCRL or CPRL over more than 15 levels: it says that it has not implemented them";
    return p->image.num_components > 4 ? "more than 4 components" : NULL;
}

/* Its four-component formats have the second and third sub-sampled, and it does not check whether the file's are. */
static bool fits_yuva(const picture *p)
{
    const l2k_component *c = p->components;
    return p->image.num_components < 4 || (c[0].dx == c[3].dx && c[0].dy == c[3].dy && c[1].dx == c[2].dx &&
                                           c[1].dy == c[2].dy && c[1].dx >= c[0].dx && c[1].dy >= c[0].dy);
}

/* Found with this test; OpenJPEG and lift2k, which also decode the conformance streams in these orders, agree. */
const char *second_disorder(const picture *p, const coding *o)
{
    if (!fits_yuva(p))
        return "four components of which others than the second and third are sub-sampled";
    if (o->num_precincts && coding_has_order(o, L2K_RPCL, L2K_CPRL) &&
        (coding_tiles(o, &p->image) > 1 || p->image.x0 || p->image.y0))
        return "RPCL, PCRL or CPRL over precincts of tiles that do not start at 0,0: it takes packets in another order";
    return NULL;
}
