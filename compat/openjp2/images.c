/* opj_image_...: images and the memory of their samples. */
#include <openjpeg.h>
#include <stdlib.h>

enum { ALIGNMENT = 64 };

void *OPJ_CALLCONV opj_image_data_alloc(OPJ_SIZE_T size)
{
    void *data = NULL;
    return size && posix_memalign(&data, ALIGNMENT, size) == 0 ? data : NULL;
}

void OPJ_CALLCONV opj_image_data_free(void *ptr)
{
    free(ptr);
}

opj_image_t *OPJ_CALLCONV opj_image_tile_create(OPJ_UINT32 numcmpts, opj_image_cmptparm_t *cmptparms,
                                                OPJ_COLOR_SPACE clrspc)
{
    opj_image_t *image = numcmpts ? calloc(1, sizeof *image) : NULL;
    if (!image)
        return NULL;
    image->color_space = clrspc;
    image->numcomps = numcmpts;
    image->comps = calloc(numcmpts, sizeof *image->comps);
    if (!image->comps) {
        opj_image_destroy(image);
        return NULL;
    }
    for (OPJ_UINT32 c = 0; c < numcmpts; c++) {
        const opj_image_cmptparm_t *from = &cmptparms[c];
        image->comps[c] = (opj_image_comp_t){.dx = from->dx,
                                             .dy = from->dy,
                                             .w = from->w,
                                             .h = from->h,
                                             .x0 = from->x0,
                                             .y0 = from->y0,
                                             .prec = from->prec,
                                             .sgnd = from->sgnd};
    }
    return image;
}

opj_image_t *OPJ_CALLCONV opj_image_create(OPJ_UINT32 numcmpts, opj_image_cmptparm_t *cmptparms, OPJ_COLOR_SPACE clrspc)
{
    opj_image_t *image = opj_image_tile_create(numcmpts, cmptparms, clrspc);
    for (OPJ_UINT32 c = 0; image && c < numcmpts; c++) {
        opj_image_comp_t *component = &image->comps[c];
        size_t samples = (size_t)component->w * component->h;
        if (samples > SIZE_MAX / sizeof *component->data ||
            (samples && !(component->data = opj_image_data_alloc(samples * sizeof *component->data)))) {
            opj_image_destroy(image);
            return NULL;
        }
        for (size_t i = 0; i < samples; i++)
            component->data[i] = 0;
    }
    return image;
}

void OPJ_CALLCONV opj_image_destroy(opj_image_t *image)
{
    if (!image)
        return;
    for (OPJ_UINT32 c = 0; image->comps && c < image->numcomps; c++)
        opj_image_data_free(image->comps[c].data);
    free(image->comps);
    free(image->icc_profile_buf);
    free(image);
}
