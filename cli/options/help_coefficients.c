#include "cli/commands.h"
#include "cli/options/help_parts.h"

/* What `view` and `dump` have in common. */
#define HELP_INPUT                                                                                                     \
    "IN is a JP2 file or a bare codestream, whose own coefficients are taken, or a PNG, TIFF, PNM, PAM or PGX file, "  \
    "which "                                                                                                           \
    "is\n"                                                                                                             \
    "transformed as lift2k encode would do it; its content tells. - is standard input.\n"

#define HELP_PICTURES                                                                                                  \
    "Of pictures:\n"                                                                                                   \
    "  -I, --irreversible        9/7 wavelet instead of 5/3\n"                                                         \
    "      --levels N            decomposition levels, 0 to 32 (5)\n"                                                  \
    "  -t, --tile W,H            tile size (one tile)\n"                                                               \
    "  -d, --origin X,Y          origin of the picture on the reference grid (0,0)\n"                                  \
    "      --no-mct              no component transform\n"                                                             \
    "Of JPEG 2000 files:\n"                                                                                            \
    "      --layers N            the first N quality layers, 0 = all (0)\n"

#define HELP_END CLI_HELP_LIMITS CLI_HELP_THREADS CLI_HELP_PROGRESS CLI_HELP_END

const char cli_help_dump[] =
    "lift2k dump IN DIR [options]\n"
    "\n"
    "Writes the coefficients of each subband of each tile-component into a file of its own in the folder DIR, which "
    "is\n"
    "made where it is missing, and a description of all of them, subbands.json.\n"
    "\n" HELP_INPUT "\n"
    "      --format pgx|raw      PGX, signed, or rows of 32-bit integers, low byte first, without a header (pgx)\n"
    "      --component N         only this component\n"
    "      --tile-index N        only this tile, 0 = the first\n"
    "      --reduce N            leave out the subbands of the N highest resolutions (0)\n" HELP_PICTURES
    "Of both:\n" HELP_END "\n"
    "Names of files sort by tile, component and the order of subbands in QCD: t0_c0_b00_LL5.pgx, t0_c0_b01_HL5.pgx.\n"
    "Values of the 5/3 are the coefficients, of the 9/7 the quantiser indices with their signs. Where the file leaves "
    "the\n"
    "last p bits of a magnitude open, they are 10..0: the middle of what it can be.\n"
    "\n"
    "Keys of subbands.json; later versions may add some:\n"
    "  file, source, format      name of IN; \"codestream\" or \"picture\"; \"pgx\" or \"raw\"\n"
    "  image                     x0, y0, x1, y1 on the reference grid\n"
    "  tiles_across, tiles_down  how many\n"
    "  components                for each: precision in bits, signed, dx, dy (sub-sampling)\n"
    "  subbands                  for each:\n"
    "    file                    its name in DIR, or null where the subband is empty\n"
    "    tile, component, band   numbers from 0; band counts as QCD does\n"
    "    resolution, orientation, level\n"
    "                            0 = the lowest; \"LL\", \"HL\", \"LH\" or \"HH\"; decomposition level\n"
    "    width, height, rect     of the subband; x0, y0, x1, y1 in its own domain (B-15)\n"
    "    tile_component          x0, y0, x1, y1 of all of it, in the component's domain\n"
    "    wavelet, component_transform, value\n"
    "                            \"5/3\", \"9/7\"; \"none\", \"RCT\", \"ICT\"; \"coefficient\", \"quantiser index\"\n"
    "    step_exponent, step_mantissa, step_size\n"
    "                            quantiser step as QCD has it, and in units of samples (1 for the 5/3)\n"
    "    magnitude_bits, bits    Mb (E-2); bits of a value in the file\n"
    "  complete                  false where IN ends early, with exit status 3\n";

const char cli_help_view[] =
    "lift2k view IN OUT [options]\n"
    "\n"
    "Draws the subbands as a picture, in Mallat layout: LL as it is, top left, the details around mid-gray, larger "
    "and\n"
    "smaller coefficients brighter and darker, by a gain for each subband. OUT is a PNG, TIFF, PNM, PAM, PGX or raw "
    "file, as for\n"
    "lift2k decode.\n"
    "\n" HELP_INPUT "\n"
    "      --component N         this component (0)\n"
    "      --rgb                 components 0 to 2 as red, green and blue, the component transform undone\n"
    "      --tile-index N        only this tile, 0 = the first; else all, each in its place\n"
    "      --reduce N            leave out the subbands of the N highest resolutions (0)\n"
    "      --level N             only the subbands of decomposition level N\n"
    "      --band NAME           only this subband: LL5, HL1, LH1, HH1, ...\n"
    "      --gain G              the same gain for all details; 1 is the scale of LL (by itself: for each subband the "
    "one\n"
    "                            that takes 98 % of what is not 0 to less than black and white, at most 32)\n"
    "      --labels              names of the subbands and their gains, where there is room\n"
    "      --no-borders          no lines between subbands (white) and tiles (black)\n"
    "      --zoom N              N x N pixels for a coefficient, 1 to 32 (1)\n" HELP_PICTURES "Of both:\n" HELP_END;
