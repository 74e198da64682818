#include "plugins/gstreamer/plugin.h"

static const GstVideoFormat formats[] = {
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_Y42B,      GST_VIDEO_FORMAT_Y444,      GST_VIDEO_FORMAT_I420_10LE,
    GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_I420_12LE, GST_VIDEO_FORMAT_I422_12LE,
    GST_VIDEO_FORMAT_Y444_12LE, GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_GBR_10LE,  GST_VIDEO_FORMAT_GBR_12LE,  GST_VIDEO_FORMAT_ARGB,      GST_VIDEO_FORMAT_AYUV,
    GST_VIDEO_FORMAT_ARGB64,    GST_VIDEO_FORMAT_AYUV64};

static GType backend_type(void)
{
    static const GEnumValue values[] = {{L2K_BACKEND_AUTO, "A GPU where that is faster", "auto"},
                                        {L2K_BACKEND_CPU, "The CPU", "cpu"},
                                        {L2K_BACKEND_CUDA, "CUDA", "cuda"},
                                        {L2K_BACKEND_OPENCL, "OpenCL", "opencl"},
                                        {0, NULL, NULL}};
    static gsize type;
    if (g_once_init_enter(&type))
        g_once_init_leave(&type, g_enum_register_static("Lift2kBackend", values));
    return type;
}

static void set_property(GObject *object, guint offset, const GValue *value, GParamSpec *spec)
{
    GValue number = G_VALUE_INIT;
    (void)spec;
    g_value_transform(value, g_value_init(&number, G_TYPE_INT64));
    G_STRUCT_MEMBER(gint64, object, offset) = g_value_get_int64(&number);
}

static void get_property(GObject *object, guint offset, GValue *value, GParamSpec *spec)
{
    GValue number = G_VALUE_INIT;
    (void)spec;
    g_value_set_int64(g_value_init(&number, G_TYPE_INT64), G_STRUCT_MEMBER(gint64, object, offset));
    g_value_transform(&number, value);
}

/* The number of a property is the offset of its value. */
void lift2k_install_properties(GObjectClass *object, const lift2k_property *rows, guint count, gsize offset)
{
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
    object->set_property = set_property;
    object->get_property = get_property;
    for (guint i = 0; i < count; i++, offset += sizeof(gint64)) {
        const lift2k_property *row = &rows[i];
        GParamSpec *spec =
            row->most == BACKENDS ? g_param_spec_enum(row->name, row->name, row->text, backend_type(), 0, flags)
            : row->most == 1      ? g_param_spec_boolean(row->name, row->name, row->text, FALSE, flags)
                                  : g_param_spec_int64(row->name, row->name, row->text, 0, row->most, 0, flags);
        g_object_class_install_property(object, (guint)offset, spec);
    }
}

void lift2k_describe(GstElementClass *element, bool encodes)
{
    GstCaps *raw = gst_video_make_raw_caps(formats, G_N_ELEMENTS(formats));
    GstCaps *coded = gst_caps_from_string("image/x-jpc; image/x-j2c");
    gst_element_class_add_pad_template(
        element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, encodes ? raw : coded));
    gst_element_class_add_pad_template(element,
                                       gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, encodes ? coded : raw));
    gst_caps_unref(raw);
    gst_caps_unref(coded);
    gst_element_class_set_static_metadata(element, encodes ? "lift2k JPEG 2000 encoder" : "lift2k JPEG 2000 decoder",
                                          encodes ? "Codec/Encoder/Image/Video" : "Codec/Decoder/Image/Video",
                                          "JPEG 2000 and HTJ2K", "the lift2k authors");
}

GstCaps *lift2k_coded_caps(const char *name, const GstVideoFormatInfo *info)
{
    const bool gray = GST_VIDEO_FORMAT_INFO_IS_GRAY(info), rgb = GST_VIDEO_FORMAT_INFO_IS_RGB(info);
    const bool alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info);
    const char *sampling = gray                                   ? "GRAYSCALE"
                           : rgb                                  ? (alpha ? "RGBA" : "RGB")
                           : alpha                                ? "YCbCrA-4:4:4:4"
                           : GST_VIDEO_FORMAT_INFO_H_SUB(info, 1) ? "YCbCr-4:2:0"
                           : GST_VIDEO_FORMAT_INFO_W_SUB(info, 1) ? "YCbCr-4:2:2"
                                                                  : "YCbCr-4:4:4";
    return gst_caps_new_simple(name, "sampling", G_TYPE_STRING, sampling, "colorspace", G_TYPE_STRING,
                               gray  ? "GRAY"
                               : rgb ? "sRGB"
                                     : "sYUV",
                               "num-components", G_TYPE_INT, (gint)GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info), NULL);
}

static bool suits(const GstVideoFormatInfo *info, const l2k_image *image, bool is_rgb)
{
    if (GST_VIDEO_FORMAT_INFO_N_COMPONENTS(info) != image->num_components ||
        (image->num_components > 1 && GST_VIDEO_FORMAT_INFO_IS_RGB(info) != is_rgb))
        return false;
    for (guint c = 0; c < image->num_components; c++) {
        const l2k_component *k = &image->components[c];
        if (k->is_signed || k->precision != GST_VIDEO_FORMAT_INFO_DEPTH(info, c) ||
            k->dx != 1u << GST_VIDEO_FORMAT_INFO_W_SUB(info, c) || k->dy != 1u << GST_VIDEO_FORMAT_INFO_H_SUB(info, c))
            return false;
    }
    return true;
}

GstVideoFormat lift2k_raw_format(const l2k_image *image, bool is_rgb)
{
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
        if (suits(gst_video_format_get_info(formats[i]), image, is_rgb))
            return formats[i];
    return GST_VIDEO_FORMAT_UNKNOWN;
}

void lift2k_planes(GstVideoFrame *frame, l2k_plane planes[MOST_COMPONENTS])
{
    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(frame); c++)
        planes[c] = (l2k_plane){GST_VIDEO_FRAME_COMP_DATA(frame, c), GST_VIDEO_FRAME_COMP_STRIDE(frame, c),
                                GST_VIDEO_FRAME_COMP_PSTRIDE(frame, c),
                                GST_VIDEO_FRAME_COMP_DEPTH(frame, c) > 8 ? L2K_SAMPLE_U16 : L2K_SAMPLE_U8};
}

static gboolean register_elements(GstPlugin *plugin)
{
    return gst_element_register(plugin, "lift2kenc", GST_RANK_SECONDARY, lift2k_enc_get_type()) &&
           gst_element_register(plugin, "lift2kdec", GST_RANK_SECONDARY, lift2k_dec_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, lift2k, "JPEG 2000 and HTJ2K", register_elements, L2K_VERSION,
                  "BSD", "lift2k", "lift2k")
