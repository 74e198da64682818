/* The help of lift2k and of its subcommands: texts, and the rows of their options, in lines of at most 80 columns. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options/table.h"

enum { WIDTH = 80, COLUMN = 26 };

/* A space in the texts below at which no line is broken. */
#define NO_BREAK "\x1f"

const char cli_guide[] = "lift2k makes JPEG 2000 files from pictures, and pictures from JPEG 2000 files:\n"
                         "\n"
                         "  lift2k encode photo.png photo.jp2              lossless\n"
                         "  lift2k encode photo.png photo.jp2 -I -r 20     a twentieth of the size\n"
                         "  lift2k decode photo.jp2 photo.png              and back\n"
                         "\n"
                         "lift2k --help lists all commands, lift2k encode --help the options of one.\n";

static const char overview[] = "lift2k: a JPEG 2000 codec\n"
                               "\n"
                               "  lift2k encode IN OUT [options]  PNG, JPEG, TIFF, PNM, Y4M ... to JPEG 2000\n"
                               "  lift2k decode IN OUT [options]  JPEG 2000 to PNG, TIFF, PNM, PGX, Y4M or raw\n"
                               "  lift2k encode|decode FILES... --out-dir D [options]\n"
                               "                                  many files at once\n"
                               "  lift2k transcode IN OUT [options]\n"
                               "                                  to HT and back, in another order\n"
                               "  lift2k info FILE...             what JPEG 2000 files contain\n"
                               "  lift2k info --devices           where this build can compute\n"
                               "  lift2k compare A B              how much two pictures differ\n"
                               "  lift2k view IN OUT [options]    draw the subbands of a picture or file\n"
                               "  lift2k dump IN DIR [options]    write their coefficients into files\n"
                               "  lift2k --version                the version, and how it was built\n"
                               "\n"
                               "lift2k COMMAND --help lists the options of a command.\n";

/* In these texts each line is a paragraph to be wrapped; one with a tab is a term and its explanation. */
typedef struct page {
    const char *before, *after; /* the options */
} page;

#define CODED_OR_PICTURE                                                                                               \
    "IN is a JP2 file or bare codestream, whose own coefficients are used, or a PNG, JPEG, TIFF, PNM, PAM, PGX or "    \
    "Y4M file, "                                                                                                       \
    "which is transformed as by lift2k encode; its content decides. - is standard input.\n"

static const page pages[CLI_NUM_COMMANDS] = {
    [CLI_ENCODE] =
        {"lift2k encode IN OUT [options]\n"
         "lift2k encode FILE|DIRECTORY... --out-dir D [options]\n"
         "\n"
         "IN is a PNG, JPEG, TIFF, PNM, PAM, PGX or Y4M file, recognised by its content, or - for standard input; with "
         "--raw, samples without a header. If NAME.pgx does not exist, the planes NAME_0.pgx, NAME_1.pgx, ... are read "
         "as components. OUT ends in .jp2, with --ht in .jph, or in .j2k, .j2c or .jpc (with --ht also .jhc) for a "
         "bare codestream; - writes a JP2 or JPH file to standard output. Without options the result is lossless.\n"
         "\n"
         "A tiled picture is read and encoded one row of tiles at a time, so it can be larger than memory. This needs "
         "--by-rows if there are layer targets, if OUT is a pipe, or if a TIFF file has strips or tiles more than 16 "
         "times as high, which would be unpacked too often.\n",
         ""},
    [CLI_DECODE] =
        {"lift2k decode IN OUT [options]\n"
         "lift2k decode FILE|DIRECTORY... --out-dir D [options]\n"
         "lift2k decode FILE|DIRECTORY... FILM.y4m [options]\n"
         "\n"
         "IN is a JP2 file or a bare codestream, recognised by its content, or - for standard input. OUT ends in\n"
         ".png\tgray or RGB, with or without opacity, 1 to 16 bits\n"
         ".tif .tiff\tany number of components, 1 to 31 bits, signed or not; BigTIFF from 4 GiB up\n"
         ".pbm .pgm .ppm .pnm\tone bit; gray; RGB (also from gray); gray or RGB\n"
         ".pam\tany number of components\n"
         ".y4m\tgray or YCbCr of 8 to 16 bits: a frame of each input, in their order\n"
         ".pgx\tplanes NAME_0.pgx, NAME_1.pgx, ... without any conversion\n"
         ".raw\tthe same in one file without a header (see --raw)\n"
         "or is - for PGM, PPM or PAM, or with --raw for raw samples, on standard output. A tiled picture is decoded "
         "and written one row of tiles at a time, so it can be larger than memory.\n"
#ifdef L2K_WITH_DIRAC
         "IN may also be a stream of Dirac or VC-2, and OUT then a .y4m or .yuv file, or a folder for the frames.\n"
#endif
         ,
         ""},
    [CLI_TRANSCODE] =
        {"lift2k transcode IN OUT [options]\n"
         "lift2k transcode FILE|DIRECTORY... --out-dir D [options]\n"
         "\n"
         "Writes a JP2 or JPH file or a bare codestream again without the transform, so that its coefficients stay the "
         "same. Without options code-blocks, order, packets and boxes are those of IN; with OUT of another kind, "
         "boxes are added or left out. - is standard input or output.\n",
         "\n"
         "--ht and --mq code again only code-blocks of the other kind. MQ code-blocks of several layers become HT "
         "code-blocks of one. Exit status 3: IN ends early or is damaged, and what could be decoded is in OUT.\n"},
    [CLI_INFO] =
        {"lift2k info FILE... [--json]\n"
         "lift2k info --devices [--json]\n"
         "\n"
         "Prints what the main header and the boxes of a JP2 file or bare codestream say; - is standard input.\n",
         "\n"
         "Keys of the JSON object, or of each in an array for several files; later versions may add some:\n"
         "file, format\tname; \"JP2\", \"JPH\", \"JPX\" (colours beyond JP2) or \"codestream\"\n"
         "codestream_bytes, profile\tbytes; Rsiz\n"
         "image\tx0, y0, width, height on the reference grid\n"
         "components\tfor each: width, height in samples, precision in bits, signed, dx, dy (sub-sampling); in JP2 "
         "also channel and association (0 the whole image, 65535 none)\n"
         "colour, icc_bytes\tcolour space; bytes of the ICC profile, or 0\n"
         "palette_entries\t0 = no palette\n"
         "density\tx, y in pixels per metre, or null\n"
         "tiles\tx0, y0, width, height; across, down (numbers of tiles); tile_parts (number of all tile-parts)\n"
         "wavelet, reversible\t\"5/3\", \"9/7\", or the name of a kernel of Part 2; whether it is lossless\n"
         "kernel\tits description as --kernel takes it, or null\n"
         "levels\tdecomposition levels\n"
         "splits\tdirections of each level as --split takes them, or null if all split both ways\n"
         "component_transform\t\"none\", \"RCT\" or \"ICT\"\n"
         "code_blocks\twidth, height, style (a list of names)\n"
         "precincts\twidth and height for each resolution, lowest first, or null if maximal\n"
         "progression, layers\t\"LRCP\", ...; number of quality layers\n"
         "guard_bits, sop, eph\tnumber; whether there are such packet markers\n"
         "tlm, plt\twhether lengths of tile-parts, and of packets in the first tile-part, are stated\n"
         "comment\tthe first one, or null\n"
         "ht\tof Part 15, or null: code_blocks (\"all\", \"where declared\", \"mixed with MQ\"), multiple_sets, "
         "regions, heterogeneous, irreversible, magnitude_bits\n"
         "capabilities\tPcap, 0 without CAP\n"
         "profile_number, corresponding_profile\tof PRF and CPF, or null\n"
         "boxes\tfor each: type, depth (0 = top level), offset and bytes; if it has such: content (\"XMP\", \"Exif\", "
         "\"IPTC\", \"GeoJP2\", \"XML\", \"label\"), uuid, text (of XMP, XML and labels, up to 1 MiB), density (x, y)\n"
         "With --devices: backends, and for each name, usable, and text (what it runs on, or why it cannot); devices, "
         "and for each number, backend, name, vendor, driver, memory in bytes, compute_capability (CUDA), usable, and "
         "text (why it cannot).\n"},
    [CLI_COMPARE] = {"lift2k compare A B\n"
                     "\n"
                     "A and B are JP2 files, bare codestreams, PNG, JPEG, TIFF, PNM, PAM, PGX or Y4M files, recognised "
                     "by their content; one of them may be - for standard input. Samples are compared as they are in "
                     "the files, component by component, without conversion of colours, precision or size; to compare "
                     "what is seen, decode with --rgb8 first. For each component:\n"
                     "peak error\tthe largest absolute difference of two samples\n"
                     "MSE\tmean of the squared differences\n"
                     "PSNR\t10 log10((2^precision - 1)^2 / MSE) in dB; inf if all samples are equal\n"
                     "SSIM\tstructural similarity, 1 if all samples are equal: Gaussian window of 11 x 11, sigma 1.5, "
                     "K1 = 0.01, K2 = 0.03; - for a component smaller than the window\n",
                     "\n"
                     "Exit status: 0 identical, 1 different, 2 not comparable: a file cannot be read or ends early, or "
                     "sizes, precisions or numbers of components differ.\n"},
    [CLI_VIEW] = {"lift2k view IN OUT [options]\n"
                  "\n"
                  "Draws the subbands as a picture in Mallat layout: LL top left, and the details around mid-gray, "
                  "larger coefficients brighter and smaller ones darker, multiplied by a gain for each subband. OUT is "
                  "a PNG, TIFF, PNM, PAM, PGX or raw file, as for lift2k decode.\n"
                  "\n" CODED_OR_PICTURE,
                  ""},
    [CLI_DUMP] = {
        "lift2k dump IN DIR [options]\n"
        "\n"
        "Writes the coefficients of each subband of each tile-component into a file in the folder DIR, which is "
        "created if it does not exist, and a description of all of them, subbands.json.\n"
        "\n" CODED_OR_PICTURE,
        "\n"
        "File names sort by tile, component and the order of subbands in QCD: t0_c0_b00_LL5.pgx, t0_c0_b01_HL5.pgx. "
        "Values are the coefficients of the 5/3, or the quantiser indices with their signs of the 9/7. If the file "
        "leaves the last p bits of a magnitude open, they are 10..0, the middle of their range.\n"
        "\n"
        "Keys of subbands.json; later versions may add some:\n"
        "file, source, format\tname of IN; \"codestream\" or \"picture\"; \"pgx\" or \"raw\"\n"
        "image\tx0, y0, x1, y1 on the reference grid\n"
        "tiles_across, tiles_down\tnumbers of tiles\n"
        "components\tfor each: precision in bits, signed, dx, dy (sub-sampling)\n"
        "complete\tfalse if IN ends early, with exit status 3\n"
        "subbands\tfor each:\n"
        "  file\tits name in DIR, or null if the subband is empty\n"
        "  tile, component, band\tnumbers from 0; band counts as QCD does\n"
        "  resolution, orientation, level\t0 = the lowest; \"LL\", \"HL\", \"LH\" or \"HH\"; decomposition level\n"
        "  width, height, rect\tof the subband; x0, y0, x1, y1 in its own domain (B-15)\n"
        "  tile_component\tx0, y0, x1, y1 of the whole tile-component, in the component's domain\n"
        "  wavelet, component_transform, value\t\"5/3\", \"9/7\"; \"none\", \"RCT\", \"ICT\"; \"coefficient\", "
        "\"quantiser index\"\n"
        "  step_exponent, step_mantissa, step_size\tquantiser step as in QCD, and in units of samples (1 for the "
        "5/3)\n"
        "  magnitude_bits, bits\tMb (E-2); bits of a value in the file\n"}};

/* ---- Lines --------------------------------------------------------------------------------------------------- */

/* Prints the words up to `end` from column `at` on; further lines are indented. */
static void print_words(const char *text, const char *end, size_t at, size_t indent)
{
    bool first = true;
    while (text < end) {
        size_t length = strcspn(text, " \n");
        length = length < (size_t)(end - text) ? length : (size_t)(end - text);
        if (!first && at + 1 + length > WIDTH) {
            printf("\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        fputs(first ? "" : " ", stdout);
        for (size_t i = 0; i < length; i++)
            putchar(text[i] == NO_BREAK[0] ? ' ' : text[i]);
        at += length + !first;
        first = false;
        text += length + 1;
    }
    putchar('\n');
}

/* A term with its explanation in a column of its own, below if the term is too long. */
static void print_entry(const char *term, size_t length, const char *text, const char *end)
{
    printf("%.*s", (int)length, term);
    if (length + 2 > COLUMN)
        printf("\n%*s", COLUMN, "");
    else
        printf("%*s", (int)(COLUMN - length), "");
    print_words(text, end, COLUMN, COLUMN);
}

static void print_text(const char *text)
{
    char term[80];
    for (const char *end; *text; text = end + 1) {
        end = text + strcspn(text, "\n");
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        if (tab) {
            int length = snprintf(term, sizeof term, "  %.*s", (int)(tab - text), text);
            print_entry(term, (size_t)length, tab + 1, end);
        } else {
            print_words(text, end, 0, 0);
        }
    }
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

static void print_row(const cli_option *row, cli_command command)
{
    char term[120], text[400];
    /* In view and dump, some options are for one kind of input only. */
    const char *remark = row->input == CLI_ANY_INPUT || (command != CLI_VIEW && command != CLI_DUMP) ? ""
                         : row->input == CLI_PICTURE_INPUT                                           ? "pictures only: "
                                                           : "JPEG 2000 only: ";
    const char *fallback = command == CLI_TRANSCODE ? NULL : row->fallback; /* which takes what IN has */
    const char letter[] = {'-', row->letter, ',', ' ', 0};
    const int length =
        snprintf(term, sizeof term, "  %s--%s%s%s", row->letter ? letter : "    ", row->name,
                 row->argument && strncmp(row->argument, "[=", 2) ? " " : "", row->argument ? row->argument : "");
    const int end = snprintf(text, sizeof text, "%s%s%s%s%s", remark, row->help, fallback ? " (default:" NO_BREAK : "",
                             fallback ? fallback : "", fallback ? ")" : "");
    print_entry(term, (size_t)length, text, text + end);
}

int cli_print_help(cli_command command)
{
    print_text(pages[command].before);
    putchar('\n');
    for (size_t i = 0; i < cli_num_options; i++)
        if (cli_option_is_for(&cli_option_table[i], command))
            print_row(&cli_option_table[i], command);
    print_text(pages[command].after);
    return cli_finish_output();
}

int cli_print_overview(void)
{
    fputs(overview, stdout);
    return cli_finish_output();
}
