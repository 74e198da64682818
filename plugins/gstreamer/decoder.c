/* lift2kdec: a codestream to a raw frame. What a damaged one still gives is shown, marked as corrupted. */
#include "plugins/gstreamer/plugin.h"

static const lift2k_property properties[] = {
    {"backend", "Where frames are decoded", L2K_DECODER_BACKEND, BACKENDS},
    {"num-threads", "Threads; 0: one for each processor", L2K_DECODER_THREADS, 1024}};

struct _Lift2kDec {
    GstVideoDecoder parent;
    l2k_decoder *codec;
    GstVideoCodecState *input;
    gboolean is_rgb; /* as caps say, if they do */
    gint64 numbers[G_N_ELEMENTS(properties)];
};

G_DEFINE_TYPE(Lift2kDec, lift2k_dec, GST_TYPE_VIDEO_DECODER)

static void report(void *user, l2k_severity severity, const char *text)
{
    (void)severity;
    GST_WARNING_OBJECT(user, "%s", text);
}

static gboolean start(GstVideoDecoder *decoder)
{
    Lift2kDec *self = (Lift2kDec *)decoder;
    const l2k_hooks hooks = {.message = report, .user = self};
    self->codec = l2k_decoder_new(&hooks);
    gst_video_decoder_set_packetized(decoder, TRUE);
    for (guint i = 0; self->codec && i < G_N_ELEMENTS(properties); i++)
        l2k_decoder_set(self->codec, (l2k_decoder_option)properties[i].option, self->numbers[i]);
    return self->codec != NULL;
}

static gboolean stop(GstVideoDecoder *decoder)
{
    Lift2kDec *self = (Lift2kDec *)decoder;
    g_clear_pointer(&self->codec, l2k_decoder_free);
    g_clear_pointer(&self->input, gst_video_codec_state_unref);
    return TRUE;
}

static gboolean set_format(GstVideoDecoder *decoder, GstVideoCodecState *state)
{
    Lift2kDec *self = (Lift2kDec *)decoder;
    const GstStructure *caps = gst_caps_get_structure(state->caps, 0);
    const char *sampling = gst_structure_get_string(caps, "sampling");
    const char *space = gst_structure_get_string(caps, "colorspace");
    self->is_rgb = space ? g_str_equal(space, "sRGB") : sampling && g_str_has_prefix(sampling, "RGB");
    g_clear_pointer(&self->input, gst_video_codec_state_unref);
    self->input = gst_video_codec_state_ref(state);
    return TRUE;
}

/* The output's format and size are those of the codestream, which caps may lack. */
static GstFlowReturn negotiate(Lift2kDec *self, const l2k_image *image, bool is_rgb)
{
    GstVideoDecoder *decoder = GST_VIDEO_DECODER(self);
    GstVideoCodecState *output = gst_video_decoder_get_output_state(decoder);
    const GstVideoFormat format = lift2k_raw_format(image, is_rgb);
    const guint width = image->x1 - image->x0, height = image->y1 - image->y0;
    const gboolean same = output && GST_VIDEO_INFO_FORMAT(&output->info) == format &&
                          GST_VIDEO_INFO_WIDTH(&output->info) == (gint)width &&
                          GST_VIDEO_INFO_HEIGHT(&output->info) == (gint)height;
    g_clear_pointer(&output, gst_video_codec_state_unref);
    if (same)
        return GST_FLOW_OK;
    if (format == GST_VIDEO_FORMAT_UNKNOWN)
        return GST_FLOW_NOT_NEGOTIATED;
    gst_video_codec_state_unref(gst_video_decoder_set_output_state(decoder, format, width, height, self->input));
    return gst_video_decoder_negotiate(decoder) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn decode(Lift2kDec *self, GstVideoCodecFrame *frame, l2k_status *status)
{
    GstVideoFrame raw;
    l2k_plane planes[MOST_COMPONENTS];
    GstVideoCodecState *output = gst_video_decoder_get_output_state(GST_VIDEO_DECODER(self));
    GstFlowReturn flow = gst_video_decoder_allocate_output_frame(GST_VIDEO_DECODER(self), frame);
    if (flow == GST_FLOW_OK && !gst_video_frame_map(&raw, &output->info, frame->output_buffer, GST_MAP_WRITE))
        flow = GST_FLOW_ERROR;
    gst_video_codec_state_unref(output);
    if (flow != GST_FLOW_OK)
        return flow;
    lift2k_planes(&raw, planes);
    *status = l2k_decoder_decode(self->codec, planes);
    gst_video_frame_unmap(&raw);
    if (*status == L2K_INCOMPLETE)
        GST_BUFFER_FLAG_SET(frame->output_buffer, GST_BUFFER_FLAG_CORRUPTED);
    return GST_FLOW_OK;
}

static GstFlowReturn handle_frame(GstVideoDecoder *decoder, GstVideoCodecFrame *frame)
{
    Lift2kDec *self = (Lift2kDec *)decoder;
    GstMapInfo coded;
    l2k_image image;
    l2k_info info;
    GstFlowReturn flow = GST_FLOW_OK;
    if (!gst_buffer_map(frame->input_buffer, &coded, GST_MAP_READ)) {
        gst_video_decoder_release_frame(decoder, frame);
        return GST_FLOW_ERROR;
    }
    /* openjpegenc writes the type of the box backwards. */
    const gsize header =
        coded.size > BOX_HEADER && coded.data[0] != 0xFF && coded.data[BOX_HEADER] == 0xFF ? BOX_HEADER : 0;
    l2k_status status = l2k_decoder_open_memory(self->codec, coded.data + header, coded.size - header);
    if (status == L2K_OK)
        status = l2k_decoder_info(self->codec, &info);
    if (status == L2K_OK)
        status = l2k_decoder_image(self->codec, &image);
    if (status == L2K_OK)
        flow = negotiate(self, &image, self->is_rgb || info.component_transform);
    if (status == L2K_OK && flow == GST_FLOW_OK)
        flow = decode(self, frame, &status);
    gst_buffer_unmap(frame->input_buffer, &coded);
    if (flow == GST_FLOW_OK && (status == L2K_OK || status == L2K_INCOMPLETE))
        return gst_video_decoder_finish_frame(decoder, frame);
    gst_video_decoder_drop_frame(decoder, frame);
    if (flow == GST_FLOW_NOT_NEGOTIATED)
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("no raw format has these components"), (NULL));
    else if (flow == GST_FLOW_OK)
        GST_VIDEO_DECODER_ERROR(self, 1, STREAM, DECODE, ("%s", l2k_strerror(status)), (NULL), flow);
    return flow;
}

static void lift2k_dec_init(Lift2kDec *self)
{
    (void)self;
}

static void lift2k_dec_class_init(Lift2kDecClass *class)
{
    GstVideoDecoderClass *decoder = GST_VIDEO_DECODER_CLASS(class);
    decoder->start = start;
    decoder->stop = stop;
    decoder->set_format = set_format;
    decoder->handle_frame = handle_frame;
    lift2k_install_properties(G_OBJECT_CLASS(class), properties, G_N_ELEMENTS(properties),
                              offsetof(Lift2kDec, numbers));
    lift2k_describe(GST_ELEMENT_CLASS(class), false);
}
