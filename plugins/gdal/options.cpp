/* Creation options: names, values and defaults are those of JP2OpenJPEG, and HT. */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "plugins/gdal/copy.h"

static bool refuse(const char *text)
{
    CPLError(CE_Failure, CPLE_NotSupported, "%s", text);
    return false;
}

static void ignore(const char *option, const char *value, const char *instead)
{
    CPLError(CE_Warning, CPLE_NotSupported, "%s=%s is not possible: %s", option, value, instead);
}

static unsigned floor_power(unsigned value)
{
    unsigned power = 1;
    while (power <= value / 2)
        power *= 2;
    return power;
}

/* The place of a value among names; that of the default, with a warning, if it is none of them. */
static int place_of(CSLConstList options, const char *option, const char *names, const char *by_default)
{
    const char *value = CSLFetchNameValueDef(options, option, by_default);
    const CPLStringList list(CSLTokenizeString2(names, " ", 0));
    const int place = list.FindString(value);
    if (place < 0)
        ignore(option, value, by_default);
    return place < 0 ? list.FindString(by_default) : place;
}

static int number(CSLConstList options, const char *option, const char *by_default)
{
    return atoi(CSLFetchNameValueDef(options, option, by_default));
}

static bool read_tiles(CSLConstList options, Lift2kCoding &c)
{
    c.tile_width = number(options, "BLOCKXSIZE", "1024");
    c.tile_height = number(options, "BLOCKYSIZE", "1024");
    const bool as_given = CPLFetchBool(options, "BLOCKSIZE_STRICT", CPLFetchBool(options, "@BLOCKSIZE_STRICT", false));
    const int least = as_given ? 1 : 32;
    if (c.tile_width < least || c.tile_height < least)
        return refuse("BLOCKXSIZE and BLOCKYSIZE are too small");
    if (!as_given) {
        c.tile_width = std::min(c.tile_width, c.width);
        c.tile_height = std::min(c.tile_height, c.height);
    }
    return true;
}

static void read_quality(CSLConstList options, Lift2kCoding &c)
{
    const char *by_default = c.table ? "100" : "25", *text = CSLFetchNameValueDef(options, "QUALITY", by_default);
    const CPLStringList list(CSLTokenizeString2(text, ",", 0));
    bool is_right = list.size() > 0;
    for (int i = 0; i < list.size(); i++) {
        c.ratios.push_back(100 / CPLAtof(list[i]));
        is_right = is_right && c.ratios[i] >= 1 && c.ratios[i] < 1e9;
    }
    if (!is_right) {
        ignore("QUALITY", text, by_default);
        c.ratios.assign(1, 100 / CPLAtof(by_default));
    }
    if (c.table && !c.is_lossless())
        CPLError(CE_Warning, CPLE_AppDefined, "Without REVERSIBLE=YES and QUALITY=100, indices into a palette change");
}

static void read_levels(CSLConstList options, Lift2kCoding &c)
{
    const int side = std::max(c.tile_width, c.tile_height);
    const char *text = CSLFetchNameValue(options, "RESOLUTIONS");
    c.levels = 0;
    while (side >> c.levels > 128)
        c.levels++;
    if (!text)
        return;
    const int resolutions = atoi(text);
    if (resolutions > 0 && resolutions < 32 && side >> resolutions > 0)
        c.levels = resolutions - 1;
    else
        ignore("RESOLUTIONS", text, CPLSPrintf("%d", c.levels + 1));
}

static void read_blocks(CSLConstList options, Lift2kCoding &c)
{
    const int width = number(options, "CODEBLOCK_WIDTH", "64"), height = number(options, "CODEBLOCK_HEIGHT", "64");
    const bool is_right = width >= 4 && width <= 1024 && height >= 4 && height <= 1024 && width * height <= 4096;
    c.block_width = is_right ? floor_power(width) : 64;
    c.block_height = is_right ? floor_power(height) : 64;
    if (c.block_width != width || c.block_height != height)
        ignore("CODEBLOCK_WIDTH", CPLSPrintf("%d, _HEIGHT=%d", width, height),
               CPLSPrintf("%d x %d", c.block_width, c.block_height));

    static const char names[] = "BYPASS RESET TERMALL VSC PREDICTABLE SEGSYM"; /* in the order of l2k_style */
    const char *text = CSLFetchNameValueDef(options, "CODEBLOCK_STYLE", "");
    const CPLStringList list(CSLTokenizeString2(text, ", ", 0)), known(CSLTokenizeString2(names, " ", 0));
    const bool is_number = CPLGetValueType(text) == CPL_VALUE_INTEGER && atoi(text) >= 0 && atoi(text) <= 63;
    int style = is_number ? atoi(text) : 0;
    for (int i = 0; !is_number && i < list.size(); i++)
        if (known.FindString(list[i]) >= 0)
            style |= 1 << known.FindString(list[i]);
        else
            ignore("CODEBLOCK_STYLE", list[i], "left out");
    c.others.emplace_back(L2K_ENCODER_STYLE, c.is_ht ? (style & L2K_STYLE_VSC) | L2K_STYLE_HT : style);
}

/* {width,height},{width,height} and so on, from the highest resolution down. */
static void read_precincts(CSLConstList options, Lift2kCoding &c)
{
    const char *text = CSLFetchNameValue(options, "PRECINCTS");
    const CPLStringList list(CSLTokenizeString2(text ? text : "", "{},", 0));
    for (unsigned width = 512; !text && width >= 2; width /= 2)
        c.precincts.push_back({width, 512});
    for (int i = 0; i + 1 < list.size() && i < 66 && atoi(list[i]) > 0 && atoi(list[i + 1]) > 0; i += 2)
        c.precincts.push_back({floor_power(atoi(list[i])), floor_power(atoi(list[i + 1]))});
}

static void read_bands(GDALDataset *from, CSLConstList options, Lift2kCoding &c)
{
    const int count = from->GetRasterCount();
    int *const places[] = {&c.red, &c.green, &c.blue, &c.alpha};
    for (int *place : places)
        *place = -1;
    for (int i = 0; i < count; i++) {
        const int colour = from->GetRasterBand(i + 1)->GetColorInterpretation() - GCI_RedBand;
        if (colour >= 0 && colour < 4)
            *places[colour] = i;
    }
    if (c.alpha < 0 && count > 1 && CPLFetchBool(options, "ALPHA", false))
        c.alpha = count - 1;

    const bool is_rgb = count == 3 || count == 4;
    const bool is_even = c.width % 2 == 0 && c.height % 2 == 0 && c.tile_width % 2 == 0 && c.tile_height % 2 == 0;
    c.is_420 = CPLFetchBool(options, "YCBCR420", false);
    if (c.is_420 && !(is_rgb && c.type == GDT_Byte && c.red == 0 && c.green == 1 && c.blue == 2 && is_even)) {
        ignore("YCBCR420", "YES", "needs red, green and blue of 8 bits, and even sizes of picture and tiles");
        c.is_420 = false;
    }
    c.others.emplace_back(L2K_ENCODER_COMPONENT_TRANSFORM, is_rgb && !c.is_420 && CPLFetchBool(options, "YCC", true));
    if (c.is_420 && CSLFetchNameValue(options, "YCC"))
        ignore("YCC", CSLFetchNameValue(options, "YCC"), "YCBCR420 has its own transform");
    c.space = c.is_420                                                           ? L2K_COLOUR_SYCC
              : c.table || (is_rgb && c.red >= 0 && c.green >= 0 && c.blue >= 0) ? L2K_COLOUR_SRGB
                                                                                 : L2K_COLOUR_GRAY;
}

/* Profile 1 of Part 1, if the coding is within its bounds. */
static bool read_profile(CSLConstList options, Lift2kCoding &c)
{
    enum { AUTO, ASKED, NONE, NONE_FORCED, FORCED };
    const int choice =
        place_of(options, "PROFILE", "AUTO PROFILE_1 UNRESTRICTED UNRESTRICTED_FORCED PROFILE_1_FORCED", "AUTO");
    const char *fault = nullptr;
    const bool is_tiled = c.tile_width != c.width || c.tile_height != c.height;
    if (choice == NONE || c.is_ht)
        fault = "no HT code-blocks, and not PROFILE=UNRESTRICTED";
    else if (is_tiled && (c.tile_width != c.tile_height || c.tile_width > 1024))
        fault = "one tile, or square ones of at most 1024 samples";
    else if (std::max(c.tile_width, c.tile_height) >> c.levels > 128)
        fault = "more resolutions, down to 128 samples";
    else if (c.block_width > 64 || c.block_height > 64)
        fault = "code-blocks of at most 64 x 64";
    c.profile = choice == FORCED || (!fault && choice != NONE_FORCED) ? 2 : 0;
    return !fault || choice >= NONE_FORCED || (choice != ASKED && !c.is_inspire) ||
           refuse(CPLSPrintf("Profile 1, which INSPIRE_TG needs, too, has %s", fault));
}

static bool read_bits(GDALDataset *from, CSLConstList options, Lift2kCoding &c)
{
    const unsigned whole = GDALGetDataTypeSizeBits(c.type);
    const char *given = CSLFetchNameValue(options, "NBITS");
    const char *own = from->GetRasterBand(1)->GetMetadataItem("NBITS", "IMAGE_STRUCTURE");
    c.bits = given ? atoi(given) : own ? atoi(own) : whole;
    const bool is_whole = c.bits == 1 || c.bits == 8 || c.bits == 16 || c.bits == 32;
    if (c.is_inspire && !is_whole && given)
        return refuse("INSPIRE_TG=YES needs NBITS of 1, 8, 16 or 32 (TG requirement 24)");
    if (c.is_inspire && !is_whole)
        c.bits = whole;
    if (c.bits > whole || c.bits <= (whole == 8 ? 0 : whole / 2)) {
        ignore("NBITS", CPLSPrintf("%u", c.bits), CPLSPrintf("%u", whole));
        c.bits = whole;
    }
    if (c.bits > (c.is_reversible ? 24 : 16))
        return refuse(
            CPLSPrintf("%u bits are too many: up to 24 with REVERSIBLE=YES and 16 without; see NBITS", c.bits));
    return true;
}

/* Opacity has one bit where that is asked for, or was so. */
static void make_components(GDALDataset *from, CSLConstList options, Lift2kCoding &c)
{
    const int count = from->GetRasterCount();
    l2k_component k = {};
    k.dx = k.dy = 1;
    k.precision = c.bits;
    k.is_signed = c.type == GDT_Int16 || c.type == GDT_Int32;
    c.components.assign(count, k);
    for (int i = 1; c.is_420 && i < 3; i++)
        c.components[i].dx = c.components[i].dy = 2;
    if (c.alpha < 0)
        return;
    const char *bits = from->GetRasterBand(c.alpha + 1)->GetMetadataItem("NBITS", "IMAGE_STRUCTURE");
    const bool is_asked = (bits && EQUAL(bits, "1")) || CPLFetchBool(options, "1BIT_ALPHA", c.is_inspire);
    c.is_alpha_bit = is_asked && (c.alpha == count - 1 || c.bits == 1);
    if (is_asked && !c.is_alpha_bit)
        ignore("1BIT_ALPHA", "YES", "only the last band can have one bit");
    if (c.is_inspire && !c.is_alpha_bit)
        ignore("1BIT_ALPHA", "NO", "INSPIRE_TG=YES recommends one bit (recommendation 38)");
    if (c.is_alpha_bit) {
        c.components[c.alpha].precision = 1;
        c.components[c.alpha].is_signed = false;
    }
}

static bool check_source(GDALDataset *from, Lift2kCoding &c)
{
    const int count = from->GetRasterCount();
    if (count < 1 || count > static_cast<int>(L2K_MAX_COMPONENTS))
        return refuse(CPLSPrintf("%d bands: JPEG 2000 takes 1 to 16384", count));
    c.table = from->GetRasterBand(1)->GetColorTable();
    c.type = from->GetRasterBand(1)->GetRasterDataType();
    c.width = from->GetRasterXSize();
    c.height = from->GetRasterYSize();
    if (c.table && count > 1)
        return refuse("Only a single band can have a colour table");
    if (c.type != GDT_Byte && c.type != GDT_Int16 && c.type != GDT_UInt16 && c.type != GDT_Int32 &&
        c.type != GDT_UInt32)
        return refuse("Only bands of types Byte, Int16, UInt16, Int32 and UInt32 can be written");
    return true;
}

bool lift2k_read_options(const char *name, GDALDataset *from, CSLConstList options, Lift2kCoding &c)
{
    if (!check_source(from, c))
        return false;
    const bool is_named = EQUAL(CPLGetExtension(name), "jp2") || EQUAL(CPLGetExtension(name), "jph");
    c.is_inspire = CPLFetchBool(options, "INSPIRE_TG", false);
    c.is_jp2 = place_of(options, "CODEC", "J2K JP2", is_named ? "JP2" : "J2K") == 1;
    if (c.is_inspire && !c.is_jp2)
        return refuse("INSPIRE_TG=YES needs CODEC=JP2 (TG requirement 21)");
    c.is_ht = CPLFetchBool(options, "HT", false);
    c.is_reversible = CPLFetchBool(options, "REVERSIBLE", c.table != nullptr);
    if (!read_tiles(options, c))
        return false;
    c.others = {{L2K_ENCODER_SOP, CPLFetchBool(options, "SOP", false)},
                {L2K_ENCODER_EPH, CPLFetchBool(options, "EPH", false)},
                {L2K_ENCODER_PLT, CPLFetchBool(options, "PLT", false)},
                {L2K_ENCODER_TLM, CPLFetchBool(options, "TLM", false)},
                {L2K_ENCODER_PROGRESSION, place_of(options, "PROGRESSION", "LRCP RLCP RPCL PCRL CPRL", "LRCP")}};
    const int tile_parts = place_of(options, "TILEPARTS", "DISABLED RESOLUTIONS LAYERS COMPONENTS", "DISABLED");
    c.others.emplace_back(L2K_ENCODER_TILE_PARTS, tile_parts);
    read_bands(from, options, c);
    read_quality(options, c);
    read_levels(options, c);
    read_blocks(options, c);
    read_precincts(options, c);
    if (!read_profile(options, c) || !read_bits(from, options, c))
        return false;
    make_components(from, options, c);
    const char *comment = CSLFetchNameValue(options, "COMMENT");
    c.comment = comment ? comment : LIFT2K_COMMENT;
    if (!comment)
        c.comment += c.is_lossless() ? ": lossless" : ": lossy";
    if (tile_parts == L2K_TILE_PARTS_LAYER && c.ratios.size() == 1)
        CPLError(CE_Warning, CPLE_AppDefined, "TILEPARTS=LAYERS has no effect with one layer");
    return true;
}
