/* The table of all options. Help, shell completions and the option lists of lift2k(1) are printed from it, in its
 * order. */
#include "cli/options/table.h"

#define ENCODE    (1u << CLI_ENCODE)
#define DECODE    (1u << CLI_DECODE)
#define INFO      (1u << CLI_INFO)
#define COMPARE   (1u << CLI_COMPARE)
#define VIEW      (1u << CLI_VIEW)
#define DUMP      (1u << CLI_DUMP)
#define TRANSCODE (1u << CLI_TRANSCODE)
#define ALL       (ENCODE | DECODE | TRANSCODE | INFO | COMPARE | VIEW | DUMP)

#define MEMBER(member)  .target = offsetof(cli_options, member)
#define ENCODER(option) .target = offsetof(cli_options, encoder[L2K_ENCODER_##option])

#define MOST_THREADS 1024

const cli_name cli_progressions[] = {{"LRCP", L2K_LRCP}, {"RLCP", L2K_RLCP}, {"RPCL", L2K_RPCL},
                                     {"PCRL", L2K_PCRL}, {"CPRL", L2K_CPRL}, {NULL, 0}};
static const cli_name profiles[] = {{"broadcast", L2K_PROFILE_BROADCAST},
                                    {"broadcastmulti", L2K_PROFILE_BROADCAST_MULTI},
                                    {"broadcastmulti-r", L2K_PROFILE_BROADCAST_MULTI_R},
                                    {"cinema2k", L2K_PROFILE_CINEMA_2K},
                                    {"cinema4k", L2K_PROFILE_CINEMA_4K},
                                    {"imf2k", L2K_PROFILE_IMF_2K},
                                    {"imf4k", L2K_PROFILE_IMF_4K},
                                    {"imf8k", L2K_PROFILE_IMF_8K},
                                    {"imf2k-r", L2K_PROFILE_IMF_2K_R},
                                    {"imf4k-r", L2K_PROFILE_IMF_4K_R},
                                    {"imf8k-r", L2K_PROFILE_IMF_8K_R},
                                    {NULL, 0}};
static const cli_name kernels[] = {{"haar", L2K_WAVELET_HAAR},
                                   {"1-3", L2K_WAVELET_1_3},
                                   {"dd-9-7", L2K_WAVELET_DD_9_7},
                                   {"dd-13-7", L2K_WAVELET_DD_13_7},
                                   {"daubechies-int", L2K_WAVELET_DAUBECHIES_INT},
                                   {"fidelity", L2K_WAVELET_FIDELITY},
                                   {"w4", L2K_WAVELET_W4},
                                   {NULL, 0}};
static const cli_name styles[] = {{"bypass", L2K_STYLE_BYPASS},
                                  {"reset", L2K_STYLE_RESET},
                                  {"termall", L2K_STYLE_TERMALL},
                                  {"vsc", L2K_STYLE_VSC},
                                  {"pterm", L2K_STYLE_PTERM},
                                  {"segsym", L2K_STYLE_SEGSYM},
                                  {NULL, 0}};
static const cli_name tile_parts[] = {
    {"R", L2K_TILE_PARTS_RESOLUTION}, {"L", L2K_TILE_PARTS_LAYER}, {"C", L2K_TILE_PARTS_COMPONENT}, {NULL, 0}};
const cli_name cli_backends[] = {{"auto", L2K_BACKEND_AUTO},
                                 {"cpu", L2K_BACKEND_CPU},
                                 {"cuda", L2K_BACKEND_CUDA},
                                 {"opencl", L2K_BACKEND_OPENCL},
                                 {NULL, 0}};
static const cli_name cpus[] = {{"auto", L2K_CPU_AUTO},     {"c", L2K_CPU_C},       {"avx2", L2K_CPU_AVX2},
                                {"avx512", L2K_CPU_AVX512}, {"neon", L2K_CPU_NEON}, {NULL, 0}};
static const cli_name compressions[] = {{"none", CLI_COMPRESSION_NONE},
                                        {"deflate", CLI_COMPRESSION_DEFLATE},
                                        {"lzw", CLI_COMPRESSION_LZW},
                                        {"jpeg2000", CLI_COMPRESSION_J2K},
                                        {"aperio", CLI_COMPRESSION_APERIO},
                                        {"aperio-ycc", CLI_COMPRESSION_APERIO_YCC},
                                        {NULL, 0}};
#ifdef L2K_WITH_DIRAC
static const cli_name vc2_words[] = {{"dd-9-7", 1},
                                     {"5-3", 2},
                                     {"dd-13-7", 4},
                                     {"haar", 8},
                                     {"haar-shifted", 16},
                                     {"fidelity", 32},
                                     {"daubechies-int", 64},
                                     {"low-delay", CLI_VC2_LOW_DELAY},
                                     {NULL, 0}};
#endif
static const cli_name dump_formats[] = {{"pgx", CLI_DUMP_PGX}, {"raw", CLI_DUMP_RAW}, {NULL, 0}};
/* Only for completion. */
static const cli_name coded_extensions[] = {{"jp2", 0}, {"j2k", 0}, {"j2c", 0}, {"jpc", 0}, {NULL, 0}};
static const cli_name picture_extensions[] = {{"png", 0}, {"tif", 0}, {"pgm", 0}, {"ppm", 0}, {"pnm", 0},
                                              {"pam", 0}, {"pgx", 0}, {"raw", 0}, {NULL, 0}};

/* Rows by what their value is: true, a constant, a number from least to most, one of some names, or what a parser of
 * its own takes. The help, with further members behind it, comes last. */
#define ROW(on, option, form, parser, ...)                                                                             \
    {                                                                                                                  \
        .commands = on, .name = option, .argument = form, .parse = cli_take_##parser, .help = __VA_ARGS__              \
    }
#define FLAG(on, option, member, ...)           ROW(on, option, NULL, flag, __VA_ARGS__, MEMBER(member))
#define CONSTANT(on, option, place, value, ...) ROW(on, option, NULL, constant, __VA_ARGS__, place, .most = value)
#define NUMBER(on, option, place, low, high, ...)                                                                      \
    ROW(on, option, "N", number, __VA_ARGS__, place, .least = low, .most = high)
#define NAME(on, option, form, place, list, ...) ROW(on, option, form, name, __VA_ARGS__, place, .names = list)

const cli_option cli_option_table[] = {
    /* info */
    FLAG(INFO, "devices", devices, "list the backends of this build, and what they run on, instead of a file"),
    FLAG(INFO, "json", json, "print one JSON object, for programs", .detail = "The help lists its keys.",
         .video = INFO),

    /* view and dump */
    NUMBER(VIEW, "component", MEMBER(component), 0, L2K_MAX_COMPONENTS - 1, "show this component", .fallback = "0"),
    FLAG(VIEW, "rgb", rgb, "show components 0 to 2 as red, green and blue, with the component transform undone"),
    NUMBER(VIEW, "level", MEMBER(level), 1, L2K_MAX_LEVELS, "show only the subbands of decomposition level N"),
    ROW(VIEW, "band", "NAME", band, "show only this subband, such as LL5, HL1, LH1 or HH1"),
    ROW(VIEW, "gain", "G", gain, "multiply all details by G; 1 is the scale of LL",
        .fallback = "chosen for each subband, and for LL where it has less than a quarter of the range",
        .detail = "By default, 98 % of the nonzero coefficients of a subband fall short of black and white."),
    FLAG(VIEW, "labels", labels, "write the names and gains of the subbands into their corners, where there is room"),
    FLAG(VIEW, "no-borders", no_borders, "draw no lines between subbands (white) and tiles (black)"),
    NAME(DUMP, "format", "pgx|raw", MEMBER(dump_format), dump_formats,
         "signed PGX, or rows of little-endian 32-bit integers without a header", .fallback = "pgx"),
    NUMBER(DUMP, "component", MEMBER(component), 0, L2K_MAX_COMPONENTS - 1, "only this component", .fallback = "all"),
    NUMBER(VIEW | DUMP, "tile-index", MEMBER(tile_index), 0, UINT32_MAX - 1, "only this tile, counted from 0",
           .fallback = "all"),

    /* encode */
    ROW(ENCODE, "raw", "W,H,C,BITS,u|s[,be|le][,planar|interleaved]", raw,
        "IN has no header: it is C components of W x H samples of BITS bits (1 to 24), unsigned or signed",
        .fallback = "le, planar",
        .detail = "A sample takes one byte up to 8 bits, two up to 16, else four, big-endian or little-endian, in "
                  "two's complement. Each component comes whole before the next (planar), or one sample of each "
                  "component before the next pixel (interleaved)."),
    ROW(ENCODE, "precision", "BITS[,keep]", precision,
        "scale samples to this precision, or keep their values, all of which must fit",
        .fallback = "that of the picture",
        .detail = "To fewer bits, the lowest bits are dropped, so 12 bits in the upper part of 16 come out as they "
                  "were; to more, the largest value becomes the largest value."),
    ROW(ENCODE, "page", "N|all", page,
        "encode this page of a TIFF file, or frame of a Y4M file, counted from 1, or each into a file of its own",
        .fallback = "1",
        .detail = "With all, the number of the page follows the name of the output: OUT_1.jp2, OUT_2.jp2. Overviews "
                  "and masks in a TIFF file, such as those of a COG, are no pages."),
    FLAG(ENCODE, "by-rows", by_rows,
         "encode one row of tiles at a time in any case; each row then meets the targets of layers separately",
         .detail = "This includes TIFF files whose strips or tiles are more than 16 times as high as the tiles to be "
                   "made; these are unpacked again for each row of tiles. To a pipe, the codestream box of the JP2 "
                   "file has unspecified length, and --tlm is not possible."),
    ROW(ENCODE, "rate", "R[,R...]", layers, "quality layers by compression ratio, falling; 1 = everything",
        .letter = 'r', .most = L2K_TARGET_RATIO),
    ROW(ENCODE, "psnr", "DB[,DB...]", layers, "quality layers by PSNR in dB, an estimate, rising; 0 = everything",
        .letter = 'q', .most = L2K_TARGET_PSNR,
        .detail = "The estimate is from coefficients: above 45 dB it is up to 2 dB too high with the 5/3. Without "
                  "--ht, the 9/7 leaves out the error of the quantiser's steps, with which 8-bit pictures end near 50 "
                  "dB. --verify prints what came out."),
    CONSTANT(ENCODE | VIEW | DUMP, "irreversible", ENCODER(WAVELET), L2K_WAVELET_9_7,
             "use the 9/7 wavelet, which is lossy, instead of the 5/3", .letter = 'I', .input = CLI_PICTURE_INPUT),
    ROW(ENCODE, "kernel", "NAME|FILE", kernel,
        "use a lifting kernel of Part 2: haar, 1-3, dd-9-7, dd-13-7, daubechies-int, fidelity, w4, or one in FILE",
        .detail = "Few other decoders read such files. All but w4 are reversible, that is lossless. With 1-3, reduced "
                  "pictures hold exactly every second sample. FILE describes a kernel in a few lines of text.",
        .names = kernels),
    ROW(ENCODE, "split", "B|H|V...", split,
        "directions in which each level splits, from the full size on: bhvhb is both, horizontally, vertically, ...",
        .fallback = "b for all",
        .detail =
            "Further levels split both ways. Few other decoders read such files, which are of Part 2 (DFS). A level "
            "that splits horizontally alone needs no rows from below: less delay where samples come row by row."),
    ROW(ENCODE, "step", "S", step,
        "with --irreversible or an irreversible kernel: base step of the quantiser as a fraction of the range of the "
        "samples",
        .fallback = "about 1/2^bits",
        .detail = "A subband's step is S times the range over the norm of its basis, so that an error of one step "
                  "costs the same everywhere. These are the steps of OpenJPH's -qstep. From 2^-24 to 1."),
    ROW(ENCODE, "quality", "Q", number,
        "with --irreversible: quality factor 1 to 100, visual quality about that of JPEG's", ENCODER(QUALITY),
        .letter = 'Q', .least = 1, .most = 100,
        .detail = "Steps by what eyes see in each subband of luma and chroma, as OpenJPH's -qfactor has them; for "
                  "gray, 4:4:4, 4:2:2 and 4:2:0. Not with --step. With a size as well, code-blocks are cut to it."),
    ROW(ENCODE, "visual", "[=N]", number,
        "weigh errors by what eyes see from a distance of N samples of the picture, 1 to 16000", ENCODER(VISUAL),
        .fallback = "2500", .least = 1, .most = 16000,
        .detail = "Sizes and PSNRs then count errors in each subband of luma and chroma by contrast sensitivity, and "
                  "the steps of --ht with a size, --step and --quality follow it. For gray, 4:4:4, 4:2:2 and 4:2:0. "
                  "--quality alone is for 4000."),
    FLAG(ENCODE, "ht", ht, "high-throughput code-blocks (Part 15): a faster block coder, files 5 to 10 % larger",
         .detail = "OUT is a .jph file, or a bare codestream. Sizes and PSNRs work as without --ht; with "
                   "--irreversible they also choose the quantiser's steps. They take 2 or 4 bytes a sample of the "
                   "picture, or of a row of tiles with --by-rows."),
    NUMBER(ENCODE, "ht-passes", ENCODER(HT_PASSES), 1, 3,
           "with --ht: coding passes of a code-block: 1 cleanup, 2 and SigProp, 3 and MagRef", .fallback = "1",
           .detail = "A size, a PSNR or a limit gives a code-block as many passes as are good, but at most N, or 3 "
                     "with several layers. Without any of these, 2 or 3 are lossy even with the 5/3 wavelet."),
    NUMBER(ENCODE | VIEW | DUMP, "levels", ENCODER(LEVELS), 0, L2K_MAX_LEVELS, "decomposition levels, 0 to 32",
           .fallback = "5", .input = CLI_PICTURE_INPUT, .video = ENCODE),
    ROW(ENCODE | VIEW | DUMP, "tile", "W,H", tile, "tile size on the reference grid", ENCODER(TILE_WIDTH),
        .letter = 't', .fallback = "one tile", .input = CLI_PICTURE_INPUT),
    ROW(ENCODE, "tile-origin", "X,Y", pair, "origin of the first tile on the reference grid", ENCODER(TILE_X0),
        .fallback = "0,0"),
    ROW(ENCODE | VIEW | DUMP, "origin", "X,Y", pair, "origin of the image on the reference grid", MEMBER(origin),
        .letter = 'd', .fallback = "0,0", .input = CLI_PICTURE_INPUT),
    ROW(ENCODE, "block", "W,H", pair, "code-block size: powers of two from 4 to 1024, area at most 4096",
        ENCODER(BLOCK_WIDTH), .letter = 'b', .fallback = "64,64"),
    ROW(ENCODE | TRANSCODE, "precincts", "W,H[,W,H...]", precincts,
        "precinct sizes from the highest resolution down, powers of two; further resolutions halve the last pair",
        .letter = 'c', .fallback = "maximal"),
    NAME(ENCODE | TRANSCODE, "progression", "ORDER", ENCODER(PROGRESSION), cli_progressions,
         "progression order: LRCP, RLCP, RPCL, PCRL or CPRL", .letter = 'p', .fallback = "LRCP"),
    ROW(ENCODE | TRANSCODE, "poc", "[T:]RS,CS,LE,RE,CE,ORDER[/...]", poc,
        "progression order changes: of resolutions RS to RE - 1, components CS to CE - 1, layers below LE",
        .detail =
            "Each takes those of its packets that have not come before, in its ORDER, and starts a tile-part; together "
            "they must take all. With T: only of tile T, counted from 0, in place of those without T. Resolution 0 is "
            "the lowest. --poc 0,0,1,3,3,RPCL/3,0,1,6,3,LRCP orders six resolutions of three components in two ways."),
    ROW(ENCODE, "roi", "C,SHIFT", pair,
        "component C, counted from 0, is a region of interest: its bit-planes count as higher by SHIFT, 0 to 37",
        ENCODER(ROI_COMPONENT),
        .detail =
            "This is all that OpenJPEG's -ROI does, too. It changes no sample; where layers cut bit-planes, the shift "
            "has no effect on which. Most decoders take up to 30 bit-planes, SHIFT included. Not with --ht."),
    ROW(ENCODE | TRANSCODE, "profile", "NAME[,main=N][,sub=N][,fps=F]", profile,
        "cinema2k, cinema4k, broadcast, broadcastmulti, broadcastmulti-r, or of IMF imf2k, imf4k, imf8k, imf2k-r, "
        "imf4k-r, imf8k-r",
        .detail = "Sets what the profile fixes: wavelet, code-blocks, precincts, progression (4K cinema: two), "
                  "tile-parts, TLM, most levels, and limits of bytes: those of cinema at 24 or 48 frames per second "
                  "(24), those of an IMF sub-level or broadcast level if F is given; --max-bytes and --component-bytes "
                  "may be lower. Other options and pictures that violate the profile are refused. IMF has main levels "
                  "0 to 11 and sub-levels 0 to 9 (0), broadcast main levels 1 to 5, or 6 and 7.",
        .names = profiles),
#ifdef L2K_WITH_DIRAC
    ROW(ENCODE, "vc2", "[=low-delay][,WAVELET]", names,
        "write all frames of a Y4M file as a stream of VC-2, of high quality or low delay", MEMBER(vc2),
        .detail =
            "WAVELET is dd-9-7, the default, 5-3, dd-13-7, haar, haar-shifted, fidelity or daubechies-int. With "
            "--max-bytes each frame, or field of an interlaced film, has just as many bytes; without, high quality is "
            "lossless. --levels are 1 to 4, by default 3.",
        .names = vc2_words, .video = ENCODE),
    ROW(ENCODE, "slice", "W,H", pair, "with --vc2: about the size of slices, in luma samples", MEMBER(slice),
        .fallback = "32,8", .video = ENCODE),
#endif
    ROW(ENCODE, "max-bytes", "N[K|M|G]", bytes, "the most bytes of output, whatever layers ask for", ENCODER(MAX_BYTES),
        .video = ENCODE),
    ROW(ENCODE, "component-bytes", "N[K|M|G]", bytes, "the most bytes of packets of each component",
        ENCODER(COMPONENT_BYTES)),
    NUMBER(ENCODE, "guard-bits", ENCODER(GUARD_BITS), 1, 7,
           "guard bits of the quantiser, 1 to 7; samples that need more get more", .fallback = "2"),
    ROW(ENCODE | TRANSCODE, "comment", "TEXT", comment,
        "text of the comment in the codestream (COM), at most 65531 bytes; \"\" for none",
        .fallback = "Created by lift2k"),
    ROW(ENCODE, "style", "S[,S...]", names, "code-block styles: bypass, reset, termall, vsc, pterm, segsym",
        .fallback = "none", .names = styles, ENCODER(STYLE)),
    CONSTANT(ENCODE | VIEW | DUMP, "no-mct", ENCODER(COMPONENT_TRANSFORM), 0, "no component transform",
             .input = CLI_PICTURE_INPUT),
    CONSTANT(ENCODE | VIEW | DUMP, "mct", ENCODER(COMPONENT_TRANSFORM), 1,
             "join the first three components even if there are more colours or bands (default: only three colours)",
             .input = CLI_PICTURE_INPUT),
    CONSTANT(ENCODE | TRANSCODE, "sop", ENCODER(SOP), 1, "mark the start of each packet (SOP)"),
    CONSTANT(ENCODE | TRANSCODE, "eph", ENCODER(EPH), 1, "mark the end of each packet header (EPH)"),
    CONSTANT(ENCODE | TRANSCODE, "plt", ENCODER(PLT), 1, "list packet lengths in the tile-part headers (PLT)"),
    CONSTANT(ENCODE | TRANSCODE, "tlm", ENCODER(TLM), 1, "list tile-part lengths in the main header (TLM)"),
    NAME(ENCODE | TRANSCODE, "tile-parts", "R|L|C", ENCODER(TILE_PARTS), tile_parts,
         "start a tile-part for each resolution, layer or component", .fallback = "one per tile"),
    FLAG(ENCODE, "verify", verify,
         "decode the output and compare it; if a lossless file differs, or any cannot be decoded, it is not kept",
         .detail =
             "The exit status is then 1. For lossy files the PSNR in dB and the peak error of each component are "
             "printed. A picture that is encoded by rows is read a second time, so its file must not change meanwhile; "
             "one from a pipe cannot be read again and is held in memory, or refused if --by-rows is given."),

    ROW(ENCODE, "xmp", "FILE", box, "add the XMP packet in FILE, in place of the picture's own",
        .most = L2K_CONTENT_XMP),
    ROW(ENCODE, "exif", "FILE", box, "add the Exif in FILE, in place of the picture's own",
        .detail = "FILE begins like a TIFF file, or with Exif and two zero bytes before that.",
        .most = L2K_CONTENT_EXIF),
    ROW(ENCODE, "xml", "FILE", box, "add the XML document in FILE; may be repeated", .most = L2K_CONTENT_XML),
    ROW(ENCODE, "gml", "FILE", box, "add the GML document in FILE as GMLJP2, which says where on earth the picture is",
        .most = L2K_CONTENT_XML, .least = true,
        .detail = "It becomes the root instance: gml.root-instance in gml.data. The document is not checked."),
    ROW(ENCODE, "uuid", "ID,FILE", uuid,
        "add FILE as a UUID box with this ID of 32 hexadecimal digits; may be repeated"),
    FLAG(ENCODE, "palette", palette,
         "keep the palette of a PNG file: code its indices, with a palette box; only for lossless files",
         .detail = "Smaller where neighbouring indices are alike, as in maps and drawings, best with --levels 0. By "
                   "default the colours are coded."),
    FLAG(ENCODE | DECODE, "no-metadata", no_metadata,
         "leave out XMP, Exif, IPTC and GeoTIFF tags of the input; colour profile and density stay",
         .detail = "By default encode carries them over from PNG and TIFF files, and decode to these."),

    /* transcode, which shares many */
    FLAG(TRANSCODE, "ht", ht, "MQ code-blocks become high-throughput code-blocks (Part 15)"),
    CONSTANT(TRANSCODE, "mq", ENCODER(STYLE), 0, "HT code-blocks become MQ code-blocks (Part 1)"),

    /* decode; reduce and layers also view and dump */
    NUMBER(DECODE | TRANSCODE | VIEW | DUMP, "reduce", MEMBER(reduce), 0, L2K_MAX_LEVELS,
           "leave out the N highest resolutions, each of which halves width and height", .fallback = "0"),
    NUMBER(DECODE | TRANSCODE | VIEW | DUMP, "layers", MEMBER(layers), 0, 65535,
           "decode the first N quality layers; 0 = all", .fallback = "0", .input = CLI_CODED_INPUT),
    ROW(DECODE, "region", "X0,Y0,X1,Y1", region, "only this part of the reference grid; X1 and Y1 are not included"),
    NUMBER(DECODE, "component", MEMBER(component), 0, L2K_MAX_COMPONENTS - 1,
           "only this component, without the inverse component transform"),
    FLAG(DECODE, "rgb8", rgb8, "8 bits, gray or sRGB: apply ICC profile, YCC, CIELab, CMYK, palette and sub-sampling"),
    ROW(DECODE, "raw", "be|le[,planar|interleaved]", raw_order,
        "how samples without a header are written: byte order; component by component or pixel by pixel",
        .fallback = "le, planar",
        .detail = "Sample sizes are those of encode --raw. With this option, standard output gets raw samples."),
    FLAG(DECODE, "by-rows", by_rows,
         "one row of tiles at a time, however small; otherwise as many as keep all threads busy"),
    NAME(DECODE, "tiff-compression", "S", MEMBER(compression), compressions,
         "compression of TIFF: none, deflate, lzw, jpeg2000, aperio or aperio-ycc", .fallback = "none",
         .detail = "The last three make tiles of lossless codestreams, from 1 to 4 samples of 8 or 16 bits; aperio-ycc "
                   "rounds RGB to YCbCr.",
         .video = DECODE),
    ROW(DECODE, "fps", "N[:D]", fps, "frames a second of a Y4M file, or N in D seconds", .fallback = "25",
        .video = DECODE),
    NUMBER(DECODE, "png-level", MEMBER(png_level), 0, 9, "compression of PNG: 0 (none) to 9 (smallest, slow)",
           .fallback = "1", .video = DECODE),
    FLAG(DECODE | TRANSCODE, "strict", strict, "fail if the file ends early or has boxes that the standard forbids",
         .detail = "Without it, whatever is present is decoded, with exit status 3 if the file ends early."),

    /* Many files */
    ROW(ENCODE | DECODE | TRANSCODE, "out-dir", "D", out_dir,
        "many files: write each into the directory D under its own name, with another extension; existing files are "
        "replaced",
        .detail =
            "D is created if it does not exist. For a directory among the inputs, all files directly in it with a "
            "suitable extension are taken, in the order of their names; with encode --raw those ending in .raw; "
            "directories in it are left out unless --recursive is given. A file that fails is reported, and the others "
            "are still processed; two inputs with the same output are an error before any work. Files are read and "
            "written while others are coded; each that is under way is held in memory unless it is coded by rows.",
        .video = ALL),
    FLAG(ENCODE | DECODE | TRANSCODE, "recursive", recursive,
         "with --out-dir: also the files in folders of the folders, into folders of the same names",
         .detail = "Links to folders are left out."),
    FLAG(ENCODE | DECODE | TRANSCODE, "skip-existing", skip_existing, "leave out files whose output exists already"),
    NUMBER(
        ENCODE | DECODE | TRANSCODE, "in-flight", MEMBER(in_flight), 1, 64,
        "with --out-dir: code N files at once, 1 to 64, and divide the threads among them",
        .fallback = "by the sizes of the files",
        .detail =
            "Each has memory of its own, on the GPU too. By default small files are coded on one processor each, "
            "larger ones on more, but two at once; with a GPU up to 8, to decode 16, and with several 4 to 8 on each."),
    ROW(ENCODE | TRANSCODE, "ext", "EXT", extension, "with --out-dir: the extension of the outputs",
        .fallback = "jp2, with --ht jph", .names = coded_extensions),
    ROW(DECODE, "ext", "EXT", extension, "with --out-dir: the extension of the outputs", .fallback = "png",
        .names = picture_extensions, .video = DECODE),

    /* Limits and machine */
    ROW(ALL, "max-pixels", "N", bytes,
        "refuse pictures of more than N pixels; N may end in K, M or G for 10^3, 10^6 or 10^9", MEMBER(max_pixels),
        .detail = "By default there is no limit for pictures, and one that depends on the length of the file for JPEG "
                  "2000 files.",
        .video = ALL),
    ROW(ALL, "max-memory", "BYTES", bytes,
        "refuse a file that needs more memory, samples included; K, M and G as above", MEMBER(max_memory),
        .detail = "By default there is no limit for pictures, and one that depends on the length of the file for JPEG "
                  "2000 files. For compare, this is the memory for both files together.",
        .video = ALL),
    NUMBER(ENCODE | DECODE | TRANSCODE | VIEW | DUMP, "threads", MEMBER(threads), 0, MOST_THREADS,
           "threads; 0 = all processors", .letter = 'j', .fallback = "0", .video = ALL),
    NAME(ENCODE | DECODE, "backend", "NAME", MEMBER(backend), cli_backends,
         "where to compute: auto, cpu, cuda or opencl", .fallback = "auto",
         .detail = "The result is the same to the bit.", .video = DECODE),
    ROW(ENCODE | DECODE, "devices", "N[,N...]|all", devices,
        "the GPUs to use, as info --devices numbers them: files are divided among them, or the tiles of one",
        .detail =
            "Each GPU codes several files at once, and a faster one takes more of them. Of one file, or with --by-rows "
            "or --max-memory of one after another, the tiles are divided. A GPU that fails leaves its files to the "
            "others, and if none is left to the CPU, with a warning; with --backend cuda they then fail."),
    NUMBER(ENCODE | DECODE, "gpu-min-samples", MEMBER(gpu_min_samples), 0, UINT32_MAX,
           "backend auto uses the GPU for tiles of at least N samples; 0 = always"),
    NAME(ENCODE | DECODE | TRANSCODE | VIEW | DUMP, "cpu", "NAME", MEMBER(cpu), cpus,
         "instruction set on the CPU: auto, c, avx2, avx512 or neon", .fallback = "auto",
         .detail = "The result is the same to the bit. It is an error if the processor or the build lacks the set.",
         .video = ALL),

    /* Reports */
    CONSTANT(ENCODE | DECODE | TRANSCODE | VIEW | DUMP, "progress", MEMBER(progress), 1,
             "show progress on standard error", .fallback = "on a terminal, if it takes longer than half a second"),
    CONSTANT(ENCODE | DECODE | TRANSCODE | VIEW | DUMP, "no-progress", MEMBER(progress), 0, "do not show progress",
             .video = ALL),
    FLAG(ENCODE | DECODE, "timings", timings, "print a table of the time that each stage took"),
    FLAG(COMPARE, "quiet", quiet, "print no figures; the exit status is the result"),
    FLAG(ENCODE | DECODE | TRANSCODE | VIEW | DUMP, "quiet", quiet, "print errors only", .video = ALL),
    FLAG(ALL, "help", help, "print this help", .letter = 'h'),
};

const size_t cli_num_options = sizeof cli_option_table / sizeof cli_option_table[0];

const char *const cli_command_names[CLI_NUM_COMMANDS] = {
    [CLI_ENCODE] = "encode", [CLI_DECODE] = "decode", [CLI_INFO] = "info",          [CLI_COMPARE] = "compare",
    [CLI_VIEW] = "view",     [CLI_DUMP] = "dump",     [CLI_TRANSCODE] = "transcode"};
