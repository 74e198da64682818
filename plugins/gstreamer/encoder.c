/* lift2kenc: a raw frame to a codestream. The properties are options of l2k_encoder. */
#include "plugins/gstreamer/plugin.h"

static const lift2k_property properties[] = {
    {"ht", "High-throughput code-blocks (Part 15)", L2K_ENCODER_STYLE, 1},
    {"irreversible", "The 9/7 wavelet, which is lossy", L2K_ENCODER_WAVELET, 1},
    {"quality", "With irreversible: quality factor, 1 to 100; 0: none", L2K_ENCODER_QUALITY, 100},
    {"max-bytes", "Most bytes of a frame; 0: any", L2K_ENCODER_MAX_BYTES, G_MAXINT64},
    {"component-bytes", "Most bytes of a component; 0: any", L2K_ENCODER_COMPONENT_BYTES, G_MAXINT64},
    {"profile", "Rsiz, such as 4 for 4K cinema; 0: none", L2K_ENCODER_PROFILE, 65535},
    {"backend", "Where frames are coded", L2K_ENCODER_BACKEND, BACKENDS},
    {"num-threads", "Threads; 0: one for each processor", L2K_ENCODER_THREADS, 1024}};

struct _Lift2kEnc {
    GstVideoEncoder parent;
    l2k_encoder *codec;
    GstVideoCodecState *input;
    l2k_image image;
    l2k_component components[MOST_COMPONENTS];
    gsize box; /* BOX_HEADER for image/x-j2c, else 0 */
    gint64 numbers[G_N_ELEMENTS(properties)];
};

G_DEFINE_TYPE(Lift2kEnc, lift2k_enc, GST_TYPE_VIDEO_ENCODER)

/* May be called from several threads at once, as posting on the bus may. */
static void report(void *user, l2k_severity severity, const char *text)
{
    if (severity == L2K_SEVERITY_ERROR)
        GST_ELEMENT_ERROR(GST_ELEMENT(user), STREAM, ENCODE, ("%s", text), (NULL));
    else
        GST_WARNING_OBJECT(user, "%s", text);
}

static gboolean stop(GstVideoEncoder *encoder)
{
    Lift2kEnc *self = (Lift2kEnc *)encoder;
    g_clear_pointer(&self->codec, l2k_encoder_free);
    g_clear_pointer(&self->input, gst_video_codec_state_unref);
    return TRUE;
}

/* Properties of 0 stay unset, because a profile fixes options itself. */
static l2k_status set_options(Lift2kEnc *self, const GstVideoInfo *info)
{
    const double fps = GST_VIDEO_INFO_FPS_N(info) / (double)GST_VIDEO_INFO_FPS_D(info);
    l2k_encoder_set(self->codec, L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM);
    l2k_encoder_set(self->codec, L2K_ENCODER_COMPONENT_TRANSFORM, GST_VIDEO_INFO_IS_RGB(info));
    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        const l2k_encoder_option option = (l2k_encoder_option)properties[i].option;
        const gint64 number = self->numbers[i];
        const l2k_status status = !number                         ? L2K_OK
                                  : option == L2K_ENCODER_PROFILE ? l2k_encoder_set_profile(self->codec, number, fps)
                                  : option == L2K_ENCODER_STYLE   ? l2k_encoder_set(self->codec, option, L2K_STYLE_HT)
                                                                  : l2k_encoder_set(self->codec, option, number);
        if (status != L2K_OK)
            return status;
    }
    return l2k_encoder_check(self->codec, &self->image);
}

static void describe(Lift2kEnc *self, const GstVideoInfo *info)
{
    const GstVideoFormatInfo *format = info->finfo;
    self->image = (l2k_image){.x1 = (uint32_t)GST_VIDEO_INFO_WIDTH(info),
                              .y1 = (uint32_t)GST_VIDEO_INFO_HEIGHT(info),
                              .num_components = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format),
                              .components = self->components};
    for (guint c = 0; c < self->image.num_components; c++)
        self->components[c] = (l2k_component){.dx = 1u << GST_VIDEO_FORMAT_INFO_W_SUB(format, c),
                                              .dy = 1u << GST_VIDEO_FORMAT_INFO_H_SUB(format, c),
                                              .precision = GST_VIDEO_FORMAT_INFO_DEPTH(format, c)};
}

static gboolean set_format(GstVideoEncoder *encoder, GstVideoCodecState *state)
{
    Lift2kEnc *self = (Lift2kEnc *)encoder;
    const l2k_hooks hooks = {.message = report, .user = encoder};
    GstCaps *allowed = gst_pad_get_allowed_caps(GST_VIDEO_ENCODER_SRC_PAD(encoder));
    const gboolean boxed = allowed && !gst_caps_is_empty(allowed) && !gst_caps_is_any(allowed) &&
                           gst_structure_has_name(gst_caps_get_structure(allowed, 0), "image/x-j2c");
    gst_clear_caps(&allowed);
    stop(encoder);
    self->box = boxed ? BOX_HEADER : 0;
    describe(self, &state->info);
    if (!(self->codec = l2k_encoder_new(&hooks)) || set_options(self, &state->info) != L2K_OK)
        return FALSE;
    self->input = gst_video_codec_state_ref(state);
    GstCaps *caps = lift2k_coded_caps(boxed ? "image/x-j2c" : "image/x-jpc", state->info.finfo);
    gst_video_codec_state_unref(gst_video_encoder_set_output_state(encoder, caps, state));
    return gst_video_encoder_negotiate(encoder);
}

static GstFlowReturn handle_frame(GstVideoEncoder *encoder, GstVideoCodecFrame *frame)
{
    Lift2kEnc *self = (Lift2kEnc *)encoder;
    GstVideoFrame raw;
    l2k_plane planes[MOST_COMPONENTS];
    const uint8_t *bytes;
    size_t count;
    l2k_status status = L2K_ERROR_IO;
    if (gst_video_frame_map(&raw, &self->input->info, frame->input_buffer, GST_MAP_READ)) {
        lift2k_planes(&raw, planes);
        status = l2k_encoder_encode_memory(self->codec, &self->image, planes, &bytes, &count);
        gst_video_frame_unmap(&raw);
    }
    if (status != L2K_OK) {
        gst_video_encoder_finish_frame(encoder, frame); /* without output: it is dropped */
        return GST_FLOW_ERROR;
    }
    guint8 box[BOX_HEADER] = {0, 0, 0, 0, 'j', 'p', '2', 'c'};
    GST_WRITE_UINT32_BE(box, self->box + count);
    frame->output_buffer = gst_video_encoder_allocate_output_buffer(encoder, self->box + count);
    gst_buffer_fill(frame->output_buffer, 0, box, self->box);
    gst_buffer_fill(frame->output_buffer, self->box, bytes, count);
    GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
    return gst_video_encoder_finish_frame(encoder, frame);
}

static void lift2k_enc_init(Lift2kEnc *self)
{
    (void)self;
}

static void lift2k_enc_class_init(Lift2kEncClass *class)
{
    GstVideoEncoderClass *encoder = GST_VIDEO_ENCODER_CLASS(class);
    encoder->stop = stop;
    encoder->set_format = set_format;
    encoder->handle_frame = handle_frame;
    lift2k_install_properties(G_OBJECT_CLASS(class), properties, G_N_ELEMENTS(properties),
                              offsetof(Lift2kEnc, numbers));
    lift2k_describe(GST_ELEMENT_CLASS(class), true);
}
