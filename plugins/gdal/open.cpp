/* Opening: the boxes of the file header by GDAL's reader, the codestream by lift2k. */
#include <algorithm>
#include <cstring>
#include <new>

#include "plugins/gdal/dataset.h"

static const GByte signature[] = {'j', 'P', ' ', ' '}, codestream[] = {0xFF, 0x4F, 0xFF, 0x51};

int Lift2kDataset::Identify(GDALOpenInfo *info)
{
    return info->nHeaderBytes >= 16 && (memcmp(info->pabyHeader, codestream, sizeof codestream) == 0 ||
                                        memcmp(info->pabyHeader + 4, signature, sizeof signature) == 0);
}

/* ---- Colours: Annex I of 15444-1 ----------------------------------------------------------------------------- */

static unsigned be16(const GByte *data)
{
    return data[0] << 8 | data[1];
}

static l2k_colour space_of(const GByte *colr)
{
    const unsigned number = be16(colr + 3) << 16 | be16(colr + 5);
    if (colr[0] != 1)
        return L2K_COLOUR_UNKNOWN;
    return number == 17                                   ? L2K_COLOUR_GRAY
           : number == 18                                 ? L2K_COLOUR_SYCC
           : number == 16 || number == 20 || number == 21 ? L2K_COLOUR_SRGB /* and the RGB of JPX */
                                                          : L2K_COLOUR_UNKNOWN;
}

static void read_definitions(const GByte *cdef, int count, Lift2kColours &colours)
{
    if (static_cast<int>(be16(cdef)) != count)
        return;
    std::fill_n(colours.rgb, 3, -1);
    for (const GByte *at = cdef + 2; at < cdef + 2 + 6 * count; at += 6) {
        const int channel = be16(at), kind = be16(at + 2), association = be16(at + 4);
        if (channel >= count || (kind == 0 && association > count && association != 65535)) {
            CPLError(CE_Failure, CPLE_AppDefined, "Box cdef: channel %d is colour %d", channel, association);
            return;
        }
        if (kind == 1)
            colours.alpha = channel;
        else if (kind == 0 && association >= 1 && association <= 3)
            colours.rgb[association - 1] = channel;
    }
}

/* Palettes that GDAL's tables can hold: 256 entries of 8 bits. */
static std::unique_ptr<GDALColorTable> table_of(const GByte *pclr, GIntBig bytes)
{
    const int entries = be16(pclr), columns = pclr[2];
    if (entries > 256 || (columns != 3 && columns != 4) || bytes != 3 + columns + columns * entries)
        return nullptr;
    for (int i = 0; i < columns; i++)
        if (pclr[3 + i] != 7)
            return nullptr;
    std::unique_ptr<GDALColorTable> table(new GDALColorTable);
    const GByte *at = pclr + 3 + columns;
    for (int i = 0; i < entries; i++, at += columns) {
        const GDALColorEntry entry = {at[0], at[1], at[2], static_cast<short>(columns == 4 ? at[3] : 255)};
        table->SetColorEntry(i, &entry);
    }
    return table;
}

static void read_header_box(GDALJP2Box &box, Lift2kColours &colours)
{
    GDALJP2Box inner(box.GetFILE());
    int count = 0; /* of components, as ihdr says */
    for (int is_read = inner.ReadFirstChild(&box); is_read && strlen(inner.GetType()) > 0;
         is_read = inner.ReadNextChild(&box)) {
        const GIntBig bytes = inner.GetDataLength();
        const bool is_header = EQUAL(inner.GetType(), "ihdr") && bytes == 14;
        const bool is_palette = EQUAL(inner.GetType(), "pclr") && !colours.table && bytes >= 3 && bytes <= 2048;
        const bool is_colour = EQUAL(inner.GetType(), "colr") && bytes == 7;
        const bool is_definition = EQUAL(inner.GetType(), "cdef") && bytes == 2 + 6 * GIntBig(count);
        GByte *data = is_header || is_palette || is_colour || is_definition ? inner.ReadBoxData() : nullptr;
        if (data && is_header)
            count = be16(data + 8);
        else if (data && is_palette)
            colours.table = table_of(data, bytes);
        else if (data && is_colour)
            colours.space = space_of(data);
        else if (data)
            read_definitions(data, count, colours);
        CPLFree(data);
    }
}

Lift2kPlace lift2k_find_codestream(VSILFILE *file, Lift2kColours *colours)
{
    GByte start[16] = {};
    VSIFSeekL(file, 0, SEEK_END);
    const vsi_l_offset end = VSIFTellL(file);
    VSIFSeekL(file, 0, SEEK_SET);
    VSIFReadL(start, 1, sizeof start, file);
    if (memcmp(start, codestream, sizeof codestream) == 0)
        return {0, end};
    if (memcmp(start + 4, signature, sizeof signature) != 0)
        return {0, 0};
    GDALJP2Box box(file);
    for (int is_read = box.ReadFirst(); is_read && strlen(box.GetType()) > 0; is_read = box.ReadNext())
        if (colours && EQUAL(box.GetType(), "jp2h")) {
            read_header_box(box, *colours);
        } else if (EQUAL(box.GetType(), "jp2c")) {
            const vsi_l_offset at = box.GetDataOffset(), left = end > at ? end - at : 0; /* a file may be cut */
            return {at, std::min(left, static_cast<vsi_l_offset>(std::max<GIntBig>(box.GetDataLength(), 0)))};
        }
    return {0, 0};
}

/* ---- Resolutions --------------------------------------------------------------------------------------------- */

/* One type for all bands. False where their sizes differ otherwise than in 4:2:0. */
bool Lift2kDataset::take_type(const l2k_image &image)
{
    const l2k_component *all = image.components;
    const uint32_t width = image.x1 - image.x0, height = image.y1 - image.y0;
    bool has_sign = false, is_alike = true;
    unsigned bits = 0;
    for (uint32_t c = 0; c < image.num_components; c++)
        has_sign = has_sign || all[c].is_signed;
    for (uint32_t c = 0; c < image.num_components; c++) {
        bits = std::max(bits, all[c].precision + (has_sign && !all[c].is_signed));
        is_alike = is_alike && all[c].width == width && all[c].height == height;
    }
    type = has_sign     ? (bits <= 16 ? GDT_Int16 : GDT_Int32)
           : bits <= 8  ? GDT_Byte
           : bits <= 16 ? GDT_UInt16
                        : GDT_UInt32;
    const auto is_half = [&](uint32_t c) { return all[c].width == width / 2 && all[c].height == height / 2; };
    is_subsampled = !is_alike && type == GDT_Byte && (image.num_components == 3 || image.num_components == 4) &&
                    width % 2 == 0 && height % 2 == 0 && image.x0 % 2 == 0 && image.y0 % 2 == 0 &&
                    colours->space != L2K_COLOUR_SRGB && is_half(1) && is_half(2) && all[0].width == width &&
                    all[0].height == height && (image.num_components == 3 || all[3].width == width);
    return (is_alike || is_subsampled) && width <= INT_MAX && height <= INT_MAX;
}

static uint32_t reduced(uint32_t value, unsigned levels)
{
    return static_cast<uint32_t>((value + (uint64_t(1) << levels) - 1) >> levels);
}

void Lift2kDataset::take_level(const l2k_image &image, unsigned reduce)
{
    level = reduce;
    x0 = reduced(image.x0, reduce);
    y0 = reduced(image.y0, reduce);
    image_x1 = image.x1;
    image_y1 = image.y1;
    nRasterXSize = reduced(image.x1, reduce) - x0;
    nRasterYSize = reduced(image.y1, reduce) - y0;
}

void Lift2kDataset::add_bands(const l2k_image &image, int block_width, int block_height)
{
    for (uint32_t c = 0; c < image.num_components; c++) {
        const bool is_promoted = promotes_alpha && static_cast<int>(c) == colours->alpha;
        SetBand(c + 1, new Lift2kBand(this, c + 1, is_promoted ? 8 : image.components[c].precision, block_width,
                                      block_height));
    }
}

/* Down to 128 samples. A palette's indices have no lower resolutions. */
void Lift2kDataset::add_overviews(const l2k_info &main, int block_width, int block_height, bool is_tile)
{
    char splits[L2K_MAX_LEVELS + 1];
    size_t length = 0;
    l2k_decoder_splits(source->decoder, 0, splits, sizeof splits, &length);
    int width = nRasterXSize, height = nRasterYSize;
    for (unsigned reduce = 1; !colours->table && length == 0 && reduce <= main.levels && (width > 128 || height > 128);
         reduce++) {
        std::unique_ptr<Lift2kDataset> overview(new Lift2kDataset);
        overview->take_level(main.image, reduce);
        width = overview->nRasterXSize;
        height = overview->nRasterYSize;
        if (width < 1 || height < 1)
            return;
        overview->SetDescription(GetDescription());
        overview->source = source;
        overview->colours = colours;
        overview->type = type;
        overview->is_subsampled = is_subsampled;
        overview->is_strict = is_strict;
        overview->promotes_alpha = promotes_alpha;
        overview->has_transform = has_transform;
        overview->add_bands(main.image, is_tile ? reduced(block_width, reduce) : std::min(width, block_width),
                            is_tile ? reduced(block_height, reduce) : std::min(height, block_height));
        overviews.push_back(std::move(overview));
    }
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

/* Blocks are tiles, but of very small ones all of the picture, and without tiles a part of it. */
static bool choose_block(const l2k_info &main, bool as_tile, int *width, int *height)
{
    const uint32_t across = main.image.x1 - main.image.x0, down = main.image.y1 - main.image.y0;
    const bool is_small = across <= 1024 && down <= 1024 && main.tile_width < 32 && main.tile_height < 32;
    const bool is_tiled = as_tile || (!is_small && (main.tile_width < across || main.tile_height < down));
    const uint32_t most = is_tiled ? INT_MAX : across < main.tile_width && down < main.tile_height ? 2048 : 1024;
    *width = static_cast<int>(std::min(is_tiled ? main.tile_width : across, most));
    *height = static_cast<int>(std::min(is_tiled ? main.tile_height : down, most));
    return is_tiled;
}

GDALDataset *Lift2kDataset::Open(GDALOpenInfo *info)
try {
    if (!Identify(info) || !info->fpL)
        return nullptr;
    std::unique_ptr<Lift2kDataset> ds(new Lift2kDataset);
    ds->colours = std::make_shared<Lift2kColours>();
    const Lift2kPlace place = lift2k_find_codestream(info->fpL, ds->colours.get());
    if (place.bytes == 0) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s has no codestream", info->pszFilename);
        return nullptr;
    }
    l2k_info main;
    ds->source = std::make_shared<Source>(info->fpL, info->pszFilename, place.at, place.bytes);
    info->fpL = nullptr;
    if (!ds->source->decoder || ds->source->open(&main) != L2K_OK)
        return nullptr;

    CSLConstList options = info->papszOpenOptions;
    const l2k_component *all = main.image.components;
    if (!ds->take_type(main.image)) {
        CPLError(CE_Failure, CPLE_NotSupported, "The components of %s have different sizes", info->pszFilename);
        return nullptr;
    }
    const int alpha = ds->colours->alpha, count = static_cast<int>(main.image.num_components);
    ds->promotes_alpha = alpha >= 0 && alpha < count && all[alpha].precision == 1 &&
                         all[alpha == 0 && count > 1].precision == 8 &&
                         CPLFetchBool(options, "1BIT_ALPHA_PROMOTION",
                                      CPLTestBool(CPLGetConfigOption("JP2OPENJPEG_PROMOTE_1BIT_ALPHA_AS_8BIT", "YES")));
    ds->has_transform = main.component_transform;
    ds->is_strict = CPLFetchBool(options, "STRICT", true);
    ds->eAccess = place.at > 0 ? info->eAccess : GA_ReadOnly;
    ds->SetDescription(info->pszFilename);
    ds->take_level(main.image, 0);
    int block_width, block_height;
    const bool is_tile =
        choose_block(main, CPLFetchBool(options, "USE_TILE_AS_BLOCK", false), &block_width, &block_height);
    ds->add_bands(main.image, block_width, block_height);
    ds->add_overviews(main, block_width, block_height, is_tile);

    if (main.comment && STARTS_WITH(main.comment, LIFT2K_COMMENT))
        ds->reversibility = strstr(main.comment, "lossless") ? "LOSSLESS" : "LOSSY";
    if (ds->nBands > 1)
        ds->GDALDataset::SetMetadataItem("INTERLEAVE", "PIXEL", "IMAGE_STRUCTURE");
    ds->LoadJP2Metadata(info, nullptr, ds->source->file);
    ds->was_referenced = !ds->m_oSRS.IsEmpty() || ds->nGCPCount != 0 || ds->bGeoTransformValid;
    if (info->nOpenFlags & GDAL_OF_VECTOR) {
        ds->LoadVectorLayers(CPLFetchBool(options, "OPEN_REMOTE_GML", false));
        if (!(info->nOpenFlags & GDAL_OF_RASTER) && ds->GetLayerCount() == 0)
            return nullptr;
    }
    ds->TryLoadXML(info->GetSiblingFiles());
    ds->oOvManager.Initialize(ds.get(), info->pszFilename, info->GetSiblingFiles());
    return ds.release();
} catch (const std::bad_alloc &) {
    lift2k_no_memory();
    return nullptr;
}
