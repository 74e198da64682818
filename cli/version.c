/* `lift2k --version`: the version, the libraries and the compiler, as a bug report needs them. */
#include <stdio.h>
#include <string.h>

#ifdef L2K_WITH_PNG
#include <png.h>
#endif

#ifdef L2K_WITH_JPEG
#include <jpeglib.h>
#endif

#ifdef L2K_WITH_LCMS2
#include <lcms2.h>
#endif

#ifdef L2K_WITH_TIFF
#include <tiffio.h>
#endif

#include "cli/commands.h"
#include "lift2k/lift2k.h"

#define LABEL "%-12s"

static void print_backend(const char *name, l2k_backend backend)
{
    char text[256];
    l2k_backend_usable(backend, text, sizeof text);
    printf(LABEL "%s\n", name, text);
}

/* The text is "LIBTIFF, Version 4.5.0" followed by a copyright. */
static void print_tiff(void)
{
#ifdef L2K_WITH_TIFF
    const char *text = TIFFGetVersion(), *number = text + strcspn(text, "0123456789");
    printf(LABEL "%.*s\n", "libtiff", (int)strspn(number, "0123456789."), number);
#else
    printf(LABEL "no: TIFF is neither read nor written\n", "libtiff");
#endif
}

#define TEXT_OF(macro) #macro
#define TEXT(macro)    TEXT_OF(macro)

static void print_jpeg(void)
{
#if defined(L2K_WITH_JPEG) && defined(LIBJPEG_TURBO_VERSION)
    printf(LABEL "turbo %s\n", "libjpeg", TEXT(LIBJPEG_TURBO_VERSION));
#elif defined(L2K_WITH_JPEG)
    printf(LABEL "%d\n", "libjpeg", JPEG_LIB_VERSION);
#else
    printf(LABEL "no: JPEG is not read\n", "libjpeg");
#endif
}

int cli_print_version(void)
{
    printf("lift2k %s\n", l2k_version());
#ifdef L2K_WITH_OPENMP
    printf(LABEL "yes\n", "OpenMP");
#else
    printf(LABEL "no: one thread\n", "OpenMP");
#endif
    print_backend("CUDA", L2K_BACKEND_CUDA);
    print_backend("OpenCL", L2K_BACKEND_OPENCL);
#ifdef L2K_WITH_PNG
    printf(LABEL "%s\n", "libpng", png_get_libpng_ver(NULL));
#else
    printf(LABEL "no: PNG is neither read nor written\n", "libpng");
#endif
    print_tiff();
    print_jpeg();
#ifdef L2K_WITH_LCMS2
    const int version = cmsGetEncodedCMMversion(); /* 2140 is 2.14 */
    printf(LABEL "%d.%d\n", "Little CMS", version / 1000, version % 1000 / 10);
#else
    printf(LABEL "no: ICC profiles are not applied\n", "Little CMS");
#endif
#ifdef __VERSION__
    printf(LABEL "%s\n", "compiler", __VERSION__);
#endif
    return cli_finish_output();
}
