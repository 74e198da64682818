/* psnr REFERENCE OTHER: decodes two JPEG 2000 files with liblift2k and prints the PSNR of the second against the first.
 *
 * Shows how to decode into the caller's planes: open, ask for the sizes, allocate, decode. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <lift2k/lift2k.h>

typedef struct picture {
    l2k_decoder *decoder;
    l2k_image image;
    l2k_plane *planes;
} picture;

static ptrdiff_t read_file(void *user, void *buffer, size_t bytes)
{
    size_t got = fread(buffer, 1, bytes, user);
    return ferror((FILE *)user) ? -1 : (ptrdiff_t)got;
}

static void print_message(void *user, l2k_severity severity, const char *text)
{
    if (severity == L2K_SEVERITY_ERROR)
        fprintf(stderr, "psnr: %s: %s\n", (const char *)user, text);
}

/* One plane of 32-bit samples per component, which hold any precision. */
static l2k_plane *allocate_planes(const l2k_image *image)
{
    l2k_plane *planes = calloc(image->num_components, sizeof *planes);
    for (uint32_t c = 0; planes && c < image->num_components; c++) {
        const l2k_component *component = &image->components[c];
        planes[c] = (l2k_plane){.data = calloc((size_t)component->width * component->height, sizeof(int32_t)),
                                .row_stride = (ptrdiff_t)(component->width * sizeof(int32_t)),
                                .sample_stride = sizeof(int32_t),
                                .type = L2K_SAMPLE_S32};
        if (!planes[c].data)
            return NULL;
    }
    return planes;
}

static picture open_picture(char *name)
{
    picture p = {0};
    l2k_hooks hooks = {.message = print_message, .user = name};
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        exit(1);
    }
    p.decoder = l2k_decoder_new(&hooks);
    l2k_stream stream = {.read = read_file, .user = file};
    if (!p.decoder || l2k_decoder_open(p.decoder, &stream) != L2K_OK ||
        l2k_decoder_image(p.decoder, &p.image) != L2K_OK || !(p.planes = allocate_planes(&p.image)) ||
        l2k_decoder_decode(p.decoder, p.planes) != L2K_OK)
        exit(1);
    fclose(file);
    return p;
}

static void close_picture(picture *p)
{
    for (uint32_t c = 0; c < p->image.num_components; c++)
        free(p->planes[c].data);
    free(p->planes);
    l2k_decoder_free(p->decoder);
}

static double squared_error(const picture *a, const picture *b, uint32_t c)
{
    const int32_t *from = a->planes[c].data, *to = b->planes[c].data;
    size_t count = (size_t)a->image.components[c].width * a->image.components[c].height;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)from[i] - to[i]) * ((double)from[i] - to[i]);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: psnr REFERENCE.jp2 OTHER.jp2\n");
        return 2;
    }
    picture a = open_picture(argv[1]), b = open_picture(argv[2]);
    double error = 0, samples = 0;
    int status = 0;
    for (uint32_t c = 0; c < a.image.num_components && status == 0; c++) {
        const l2k_component *one = &a.image.components[c], *other = &b.image.components[c];
        status = a.image.num_components != b.image.num_components || one->width != other->width ||
                 one->height != other->height;
        if (status == 0)
            error += squared_error(&a, &b, c);
        samples += (double)one->width * one->height;
    }
    double peak = pow(2, a.image.components[0].precision) - 1;
    if (status != 0)
        fprintf(stderr, "psnr: the pictures have different shapes\n");
    else if (error == 0)
        printf("identical\n");
    else
        printf("PSNR %.2f dB\n", 10 * log10(peak * peak * samples / error));
    close_picture(&a);
    close_picture(&b);
    return status;
}
