/* What lift2kenc and lift2kdec share: raw formats, caps of codestreams, backends. image/x-jpc is a bare codestream,
 * image/x-j2c one in a box of type jp2c, as in QuickTime and MP4. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <gst/video/video.h>

#include <lift2k/lift2k.h>

enum { BOX_HEADER = 8, MOST_COMPONENTS = 4, BACKENDS = -1 };

G_DECLARE_FINAL_TYPE(Lift2kEnc, lift2k_enc, LIFT2K, ENC, GstVideoEncoder)
G_DECLARE_FINAL_TYPE(Lift2kDec, lift2k_dec, LIFT2K, DEC, GstVideoDecoder)

/* A property is a number that an option of the codec takes. */
typedef struct lift2k_property {
    const char *name, *text;
    int option;
    gint64 most; /* 1: a boolean; BACKENDS: l2k_backend */
} lift2k_property;

/* `offset`: of the numbers, one for each row, in the element's structure. */
void lift2k_install_properties(GObjectClass *object, const lift2k_property *rows, guint count, gsize offset);

/* Pads and description: raw frames in and codestreams out, or the other way. */
void lift2k_describe(GstElementClass *element, bool encodes);

/* Caps of codestreams with samplings as RFC 5371 names them, colorspace and num-components. */
GstCaps *lift2k_coded_caps(const char *name, const GstVideoFormatInfo *info);

/* The format that has components like these; UNKNOWN if none has. */
GstVideoFormat lift2k_raw_format(const l2k_image *image, bool is_rgb);

/* The samples of a mapped frame. */
void lift2k_planes(GstVideoFrame *frame, l2k_plane planes[MOST_COMPONENTS]);

#endif
