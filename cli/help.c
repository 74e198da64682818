#include "cli/commands.h"

#define LIMIT_HELP                                                                                                     \
    "      --max-pixels N        refuse pictures of more pixels; K, M and G behind N are 10^3, 10^6 and 10^9\n"        \
    "      --max-memory BYTES    refuse what takes more memory, samples included; also with K, M, G\n"                 \
    "      --timeout SECONDS     stop coding a file that takes longer\n"

#define CODING_HELP                                                                                                    \
    LIMIT_HELP                                                                                                         \
    "  -j, --threads N           threads, 0 = all processors (0)\n"                                                    \
    "      --backend NAME        auto, cpu or cuda (auto)\n"                                                           \
    "      --gpu-min-samples N   auto takes the GPU for tiles of at least N samples, 0 = always\n"                     \
    "      --progress            show how far it is, as without this option only on a terminal\n"                      \
    "      --no-progress         do not show it\n"                                                                     \
    "      --timings             a table of how long each stage took\n"                                                \
    "      --quiet               errors only\n"                                                                        \
    "  -h, --help                this text\n"

const char cli_guide[] =
    "lift2k makes JPEG 2000 files of pictures and pictures of JPEG 2000 files. Say what it shall do:\n"
    "\n"
    "  lift2k encode photo.png photo.jp2              without loss\n"
    "  lift2k encode photo.png photo.jp2 -I -r 20     a twentieth of the size\n"
    "  lift2k decode photo.jp2 photo.png              and back\n"
    "\n"
    "lift2k --help lists all commands, lift2k encode --help the options of one of them.\n";

const char cli_help[] = "lift2k: a JPEG 2000 codec\n"
                        "\n"
                        "  lift2k encode IN OUT [options]   PNG, PNM, PAM or PGX to JPEG 2000\n"
                        "  lift2k decode IN OUT [options]   JPEG 2000 to PNG, PNM, PAM or PGX\n"
                        "  lift2k encode|decode FILES... --out-dir D\n"
                        "                                   many files at once\n"
                        "  lift2k info FILE                 what a JPEG 2000 file holds\n"
                        "  lift2k info --devices            where this build can compute\n"
                        "  lift2k compare A B               how far two pictures are apart\n"
                        "  lift2k view IN OUT [options]     the subbands of a picture or of a JPEG 2000 file\n"
                        "  lift2k dump IN DIR [options]     their coefficients as files\n"
                        "  lift2k --version                 this version, and what it was built with\n"
                        "\n"
                        "lift2k COMMAND --help lists the options of a command.\n";

const char cli_help_encode[] =
    "lift2k encode IN OUT [options]\n"
    "lift2k encode FILE|DIRECTORY... --out-dir D [options]\n"
    "\n"
    "IN is a PNG, PNM, PAM or PGX file, told by its content, or - for standard input. If NAME.pgx does not exist, the\n"
    "planes NAME_0.pgx, NAME_1.pgx, ... are read as components. OUT ends in .jp2, or in .j2k, .j2c or .jpc for the "
    "bare\n"
    "codestream; - is a JP2 to standard output. Without options: lossless.\n"
    "\n"
    "  -r, --rate R[,R..]        quality layers by compression ratio, falling; 1 = everything\n"
    "  -q, --psnr DB[,DB..]      quality layers by PSNR in dB, rising; 0 = everything\n"
    "  -I, --irreversible        9/7 wavelet (lossy) instead of 5/3\n"
    "      --levels N            decomposition levels, 0 to 32 (5)\n"
    "  -t, --tile W,H            tile size (one tile)\n"
    "      --tile-origin X,Y     origin of the first tile on the reference grid (0,0)\n"
    "  -d, --origin X,Y          origin of the image on the reference grid (0,0)\n"
    "  -b, --block W,H           code-block size, powers of two 4 to 1024, area at most 4096 (64,64)\n"
    "  -c, --precincts W,H[,W,H..]\n"
    "                            precinct sizes from the highest resolution down, powers of two (maximal);\n"
    "                            resolutions beyond the last pair halve it\n"
    "  -p, --progression ORDER   LRCP, RLCP, RPCL, PCRL or CPRL (LRCP)\n"
    "      --style S[,S..]       code-block styles: bypass, reset, termall, vsc, pterm, segsym (none)\n"
    "      --no-mct              no component transform\n"
    "      --sop, --eph          packet markers: start of packet, end of packet header\n"
    "      --plt, --tlm          lengths of packets, lengths of tile-parts\n"
    "      --tile-parts R|L|C    a tile-part for each resolution, layer or component (one)\n"
    "      --verify              decode what was written and compare: a lossless file that is not identical, or one\n"
    "                            that cannot be decoded, is not kept; for a lossy one PSNR and peak error are told\n"
    "      --out-dir D           many files: each goes into the directory D under its own name; of a directory, all "
    "that\n"
    "                            can be taken are. A file that fails is told, and the others go on\n"
    "      --ext EXT             with --out-dir: what the names of the outputs end in (jp2)\n" CODING_HELP;

const char cli_help_decode[] =
    "lift2k decode IN OUT [options]\n"
    "lift2k decode FILE|DIRECTORY... --out-dir D [options]\n"
    "\n"
    "IN is a JP2 file or a bare codestream, told by its content, or - for standard input. OUT ends in\n"
    "  .png                      gray or RGB, with or without opacity, 1 to 16 bits\n"
    "  .pbm .pgm .ppm .pnm       one bit, gray, RGB (also from gray), gray or RGB\n"
    "  .pam                      any number of components\n"
    "  .pgx                      raw planes NAME_0.pgx, NAME_1.pgx, ... without any conversion\n"
    "or is - for PGM, PPM or PAM to standard output.\n"
    "\n"
    "      --reduce N            leave out the N highest resolutions: each halves width and height (0)\n"
    "      --layers N            decode the first N quality layers, 0 = all (0)\n"
    "      --region X0,Y0,X1,Y1  only this part of the reference grid, X1 and Y1 not included\n"
    "      --component N         only this component, before the inverse component transform\n"
    "      --rgb8                8 bits, gray or sRGB: ICC profile, YCC, CIELab, CMYK, palette, sub-sampling applied\n"
    "      --strict              a file that ends early, or has boxes that the standard forbids, is an error; else "
    "what is\n"
    "                            there is decoded, with exit status 3 where the file ends early\n"
    "      --out-dir D           many files: each goes into the directory D under its own name; of a directory, all "
    "that\n"
    "                            can be taken are. A file that fails is told, and the others go on\n"
    "      --ext EXT             with --out-dir: what the names of the outputs end in (png)\n" CODING_HELP;

const char cli_help_info[] =
    "lift2k info FILE [--json]\n"
    "lift2k info --devices [--json]\n"
    "\n"
    "Tells what the main header and the boxes of a JP2 file or bare codestream say; - is standard input.\n"
    "\n"
    "      --devices             the backends of this build\n"
    "      --json                the same as one JSON object, for programs\n" LIMIT_HELP
    "  -h, --help                this text\n"
    "\n"
    "Keys of the JSON object; later versions may add some:\n"
    "  file, format              name; \"JP2\" or \"codestream\"\n"
    "  codestream_bytes, profile bytes; Rsiz\n"
    "  image                     x0, y0, width, height on the reference grid\n"
    "  components                for each: width, height in samples, precision in bits, signed, dx, dy "
    "(sub-sampling);\n"
    "                            in JP2 also channel and association (0 the whole image, 65535 none)\n"
    "  colour, icc_bytes         colour space; bytes of the ICC profile, or 0\n"
    "  palette_entries           0 = no palette\n"
    "  density                   x, y in pixels per metre, or null\n"
    "  tiles                     x0, y0, width, height, across, down (how many), tile_parts (how many in all)\n"
    "  wavelet, reversible       \"5/3\" or \"9/7\"; true for the 5/3\n"
    "  levels                    decomposition levels\n"
    "  component_transform       \"none\", \"RCT\" or \"ICT\"\n"
    "  code_blocks               width, height, style (a list of names)\n"
    "  precincts                 width and height for each resolution, lowest first, or null where maximal\n"
    "  progression, layers       \"LRCP\", ...; number of quality layers\n"
    "  guard_bits, sop, eph      number; whether there are such packet markers\n"
    "  comment                   the first one, or null\n"
    "  boxes                     for each: type, depth (0 = top level), offset and bytes\n"
    "With --devices: backends, for each name, usable, text (what it runs on, or why it cannot).\n";

const char cli_help_compare[] =
    "lift2k compare A B\n"
    "\n"
    "A and B are JP2 files, bare codestreams, PNG, PNM, PAM or PGX files, told by their content; one of them may be -\n"
    "for standard input. Samples are compared as the files have them, component by component, without conversion of\n"
    "colours, precision or size; to compare what is seen, decode with --rgb8 first. For each component:\n"
    "  peak error                the largest absolute difference of two samples\n"
    "  MSE                       mean of the squared differences\n"
    "  PSNR                      10 log10((2^precision - 1)^2 / MSE) in dB; inf where all samples are equal\n"
    "  SSIM                      structural similarity, 1 where all samples are equal: Gaussian window of 11 x 11,\n"
    "                            sigma 1.5, K1 = 0.01, K2 = 0.03; - for a component smaller than the window\n"
    "\n" LIMIT_HELP "      --quiet               no figures: the exit status alone\n"
    "  -h, --help                this text\n"
    "\n"
    "Exit status: 0 identical, 1 different, 2 not to be compared: a file that cannot be read or ends early, or "
    "different\n"
    "sizes, precisions or numbers of components.\n";
