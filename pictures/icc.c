/* Colours by ICC profile, and illuminants of CIELab, through Little CMS; without it, files with these are refused. */
#include "pictures/rgb8.h"

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

/* False if the illuminant is unknown. */
static bool white_of(uint32_t illuminant, cmsCIEXYZ *white)
{
    static const struct {
        uint32_t code;
        cmsCIEXYZ white;
    } known[] = {{CLI_D50, {0.96422, 1, 0.82521}},    {0x00443635, {0.95047, 1, 1.08883}},
                 {0x00443735, {0.94972, 1, 1.22638}}, {0x00005341, {1.09850, 1, 0.35585}},
                 {0x00005343, {0.98074, 1, 1.18232}}, {0x00004632, {0.99186, 1, 0.67393}},
                 {0x00004637, {0.95041, 1, 1.08747}}, {0x00463131, {1.00962, 1, 0.64350}}};
    cmsCIExyY light;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == illuminant) {
            *white = known[i].white;
            return true;
        }
    if (illuminant >> 16 != 0x4354 || !cmsWhitePointFromTemp(&light, illuminant & 0xFFFF))
        return false;
    cmsxyY2XYZ(white, &light);
    return true;
}

/* By way of D65, the white of sRGB. */
bool cli_lab_matrix(uint32_t illuminant, double matrix[3][3], const char *name)
{
    static const double to_srgb[3][3] = {{3.2404542, -1.5371385, -0.4985314},
                                         {-0.9692660, 1.8760108, 0.0415560},
                                         {0.0556434, -0.2040259, 1.0572252}}; /* IEC 61966-2-1 */
    cmsCIEXYZ white, d65;
    white_of(0x00443635, &d65);
    if (!white_of(illuminant, &white)) {
        cli_warning(name, "illuminant %08X of CIELab is unknown; D50 is assumed", illuminant);
        white_of(CLI_D50, &white);
    }
    const cmsCIEXYZ parts[3] = {{white.X, 0, 0}, {0, white.Y, 0}, {0, 0, white.Z}};
    for (int k = 0; k < 3; k++) {
        cmsCIEXYZ adapted;
        cmsAdaptToIlluminant(&adapted, &white, &d65, &parts[k]);
        for (int i = 0; i < 3; i++)
            matrix[i][k] = to_srgb[i][0] * adapted.X + to_srgb[i][1] * adapted.Y + to_srgb[i][2] * adapted.Z;
    }
    return true;
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

bool cli_lab_matrix(uint32_t illuminant, double matrix[3][3], const char *name)
{
    (void)illuminant, (void)matrix;
    return cli_error(name, "the colours are CIELab, and this build of lift2k has no Little CMS to convert them");
}

#endif
