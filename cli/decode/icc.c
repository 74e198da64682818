/* Colours by ICC profile, through Little CMS; without it, files with a profile are refused. */
#include "cli/decode/rgb8.h"

#include "pictures/user/report.h"

#ifdef L2K_WITH_LCMS2

#include <lcms2.h>

/* Disables optimisation, which would use a coarse table for anything but 8-bit samples. */
static cmsHTRANSFORM make_transform(cmsHPROFILE profile, uint32_t *available)
{
    cmsColorSpaceSignature space = cmsGetColorSpace(profile);
    uint32_t colours = cmsChannelsOf(space);
    if (colours > *available)
        return NULL;
    *available = colours;
    cmsUInt32Number from =
        COLORSPACE_SH((cmsUInt32Number)_cmsLCMScolorSpace(space)) | CHANNELS_SH(colours) | BYTES_SH(2);
    cmsHPROFILE srgb = cmsCreate_sRGBProfile();
    if (!srgb)
        return NULL;
    cmsHTRANSFORM transform =
        cmsCreateTransform(profile, from, srgb, TYPE_RGB_8, cmsGetHeaderRenderingIntent(profile), cmsFLAGS_NOOPTIMIZE);
    cmsCloseProfile(srgb);
    return transform;
}

cli_icc *cli_icc_open(const l2k_image *image, uint32_t *colours, const char *name, bool *usable)
{
    cmsHPROFILE profile = cmsOpenProfileFromMem(image->icc, (cmsUInt32Number)image->icc_bytes);
    cmsHTRANSFORM transform = profile ? make_transform(profile, colours) : NULL;
    if (profile)
        cmsCloseProfile(profile);
    *usable = transform != NULL;
    if (!transform)
        cli_warning(name, "the ICC profile does not match %u colour%s and is ignored", *colours,
                    *colours == 1 ? "" : "s");
    return transform;
}

void cli_icc_row(const cli_icc *icc, const uint16_t *samples, uint8_t *rgb, uint32_t pixels)
{
    cmsDoTransform((cmsHTRANSFORM)(uintptr_t)icc, samples, rgb, pixels);
}

void cli_icc_close(cli_icc *icc)
{
    if (icc)
        cmsDeleteTransform(icc);
}

#else

cli_icc *cli_icc_open(const l2k_image *image, uint32_t *colours, const char *name, bool *usable)
{
    (void)image, (void)colours;
    *usable = true;
    cli_error(name, "the colours have an ICC profile, and this build of lift2k has no Little CMS to apply it");
    return NULL;
}

void cli_icc_row(const cli_icc *icc, const uint16_t *samples, uint8_t *rgb, uint32_t pixels)
{
    (void)icc, (void)samples, (void)rgb, (void)pixels;
}

void cli_icc_close(cli_icc *icc)
{
    (void)icc;
}

#endif
