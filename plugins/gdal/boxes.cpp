/* Boxes of JP2 and JPH files: Annex I of 15444-1, GMLJP2, GeoJP2, XMP, IPR. */
#include <cstdlib>

#include "plugins/gdal/copy.h"

/* A new box behind the others. */
static GDALJP2Box &add(Lift2kBoxes &boxes, const char *type)
{
    boxes.emplace_back(new GDALJP2Box);
    boxes.back()->SetType(type);
    return *boxes.back();
}

/* ---- The JP2 header box -------------------------------------------------------------------------------------- */

static GByte depth_of(const l2k_component &component)
{
    return static_cast<GByte>((component.precision - 1) | (component.is_signed ? 0x80 : 0));
}

/* Colours with opacity only if some are not opaque. */
static int columns_of(CSLConstList options, const Lift2kCoding &c, int entries)
{
    const int given = atoi(CSLFetchNameValueDef(options, "CT_COMPONENTS", "0"));
    if (c.is_inspire && given != 0 && given != 3)
        CPLError(CE_Warning, CPLE_AppDefined, "INSPIRE_TG=YES asks for CT_COMPONENTS=3");
    if (given == 3 || given == 4 || c.is_inspire)
        return given == 4 ? 4 : 3;
    for (int i = 0; i < entries; i++)
        if (c.table->GetColorEntry(i)->c4 != 255)
            return 4;
    return 3;
}

static void add_palette(CSLConstList options, Lift2kCoding &c, Lift2kBoxes &boxes)
{
    const int entries = std::min(c.table->GetColorEntryCount(), 256), columns = columns_of(options, c, entries);
    GDALJP2Box &palette = add(boxes, "pclr"), &mapping = add(boxes, "cmap");
    palette.AppendUInt16(static_cast<GUInt16>(entries));
    palette.AppendUInt8(static_cast<GByte>(columns));
    for (int i = 0; i < columns; i++) {
        palette.AppendUInt8(7);
        mapping.AppendUInt16(0);
        mapping.AppendUInt8(1);
        mapping.AppendUInt8(static_cast<GByte>(i));
    }
    for (int i = 0; i < entries; i++) {
        const GDALColorEntry *entry = c.table->GetColorEntry(i);
        const short values[] = {entry->c1, entry->c2, entry->c3, entry->c4};
        for (int k = 0; k < columns; k++)
            palette.AppendUInt8(static_cast<GByte>(values[k]));
    }
    c.red = 0;
    c.green = 1;
    c.blue = 2;
    c.alpha = columns == 4 ? 3 : -1;
}

static void add_definitions(const Lift2kCoding &c, Lift2kBoxes &boxes)
{
    const int count = c.table ? 3 + (c.alpha >= 0) : static_cast<int>(c.components.size());
    const bool is_rgb = c.space != L2K_COLOUR_GRAY && (count == 3 || count == 4);
    if (c.alpha < 0 && !(is_rgb && (c.red != 0 || c.green != 1 || c.blue != 2)))
        return;
    GDALJP2Box &box = add(boxes, "cdef");
    box.AppendUInt16(static_cast<GUInt16>(count));
    for (int i = 0; i < count; i++) {
        int association = 65535; /* no colour */
        if (i == c.alpha)
            association = 0;
        else if (c.space == L2K_COLOUR_GRAY && count == 2)
            association = 1;
        else if (is_rgb)
            association = i == c.red ? 1 : i == c.green ? 2 : i == c.blue ? 3 : 65535;
        if (is_rgb && association == 65535)
            CPLError(CE_Warning, CPLE_AppDefined, "Band %d is neither red, green nor blue", i + 1);
        box.AppendUInt16(static_cast<GUInt16>(i));
        box.AppendUInt16(i == c.alpha);
        box.AppendUInt16(static_cast<GUInt16>(association));
    }
}

/* Value as numerator and denominator of 16 bits. */
static void append_fraction(GDALJP2Box &box, double value)
{
    int below = 1;
    for (; below < 32767 && value < 32767; below *= 2)
        value *= 2;
    box.AppendUInt16(static_cast<GUInt16>(value));
    box.AppendUInt16(static_cast<GUInt16>(below));
}

static GDALJP2Box *super_box(const char *type, const Lift2kBoxes &inner)
{
    std::vector<const GDALJP2Box *> boxes;
    for (const auto &box : inner)
        boxes.push_back(box.get());
    return GDALJP2Box::CreateSuperBox(type, static_cast<int>(boxes.size()), boxes.data());
}

/* The tags of TIFF in samples per metre. */
static void add_resolution(GDALDataset *from, Lift2kBoxes &boxes)
{
    const char *across = from->GetMetadataItem("TIFFTAG_XRESOLUTION"),
               *down = from->GetMetadataItem("TIFFTAG_YRESOLUTION");
    const char *unit = from->GetMetadataItem("TIFFTAG_RESOLUTIONUNIT");
    const double factor = unit && atoi(unit) == 2   ? 39.37 / 100
                          : unit && atoi(unit) == 3 ? 1
                                                    : 0; /* inch, centimetre */
    const double x = across ? CPLAtof(across) * factor : 0, y = down ? CPLAtof(down) * factor : 0;
    if (!(x > 0 && x < 65535 && y > 0 && y < 65535))
        return;
    Lift2kBoxes inner;
    GDALJP2Box &box = add(inner, "resd");
    append_fraction(box, y);
    append_fraction(box, x);
    box.AppendUInt8(2);
    box.AppendUInt8(2);
    boxes.emplace_back(super_box("res ", inner));
}

static GDALJP2Box *make_header(GDALDataset *from, CSLConstList options, Lift2kCoding &coding, bool has_rights)
{
    Lift2kBoxes boxes;
    const bool is_mixed = coding.is_alpha_bit && coding.bits != 1;
    GDALJP2Box &header = add(boxes, "ihdr");
    header.AppendUInt32(coding.height);
    header.AppendUInt32(coding.width);
    header.AppendUInt16(static_cast<GUInt16>(coding.components.size()));
    header.AppendUInt8(is_mixed ? 255 : depth_of(coding.components[0]));
    header.AppendUInt8(7);
    header.AppendUInt8(0);
    header.AppendUInt8(has_rights);
    if (is_mixed) {
        GDALJP2Box &depths = add(boxes, "bpcc");
        for (const l2k_component &component : coding.components)
            depths.AppendUInt8(depth_of(component));
    }
    GDALJP2Box &colour = add(boxes, "colr");
    const GByte enumerated[] = {1, 0, 0};
    colour.AppendWritableData(3, enumerated);
    colour.AppendUInt32(coding.space == L2K_COLOUR_SRGB ? 16 : coding.space == L2K_COLOUR_SYCC ? 18 : 17);
    if (coding.table)
        add_palette(options, coding, boxes);
    add_definitions(coding, boxes);
    add_resolution(from, boxes);
    return super_box("jp2h", boxes);
}

/* ---- All boxes ----------------------------------------------------------------------------------------------- */

static void add_metadata(GDALDataset *from, bool has_all, Lift2kBoxes &boxes)
{
    int count = 0;
    if (has_all)
        boxes.emplace_back(GDALJP2Metadata::CreateXMPBox(from));
    GDALJP2Box **xml = has_all ? GDALJP2Metadata::CreateXMLBoxes(from, &count) : nullptr;
    for (int i = 0; i < count; i++)
        boxes.emplace_back(xml[i]);
    CPLFree(xml);
    boxes.emplace_back(GDALJP2Metadata::CreateGDALMultiDomainMetadataXMLBox(from, !has_all));
}

/* What a reader of JPX should know: the profile, GMLJP2 and rights. */
static void add_requirements(const Lift2kCoding &coding, bool has_rights, Lift2kBoxes &boxes)
{
    const int known[] = {coding.profile ? 4 : 5, 67, 35}, count = has_rights ? 3 : 2;
    GDALJP2Box &features = add(boxes, "rreq");
    features.AppendUInt8(1);
    features.AppendUInt8(has_rights ? 0xE0 : 0xC0);
    features.AppendUInt8(0x80);
    features.AppendUInt16(static_cast<GUInt16>(count));
    for (int i = 0; i < count; i++) {
        features.AppendUInt16(static_cast<GUInt16>(known[i]));
        features.AppendUInt8(static_cast<GByte>(0x80 >> i));
    }
    features.AppendUInt16(0);
}

/* A GeoJP2 box, and one of GMLJP2, each NULL where it is not wanted or not possible. False if the latter fails. */
static bool make_reference(GDALDataset *from, CSLConstList options, const Lift2kCoding &coding,
                           std::unique_ptr<GDALJP2Box> &geotiff, std::unique_ptr<GDALJP2Box> &gml)
{
    const char *definition = CSLFetchNameValue(options, "GMLJP2V2_DEF");
    const bool forced = CPLGetConfigOption("GMLJP2OVERRIDE", nullptr); /* a document of the user's, version 1 */
    const bool has_points = from->GetGCPCount() > 0;
    GDALJP2Metadata metadata;
    Lift2kTransform transform;
    const bool has_transform = !has_points && from->GetGeoTransform(transform) == CE_None;
    const OGRSpatialReference *srs = has_points ? from->GetGCPSpatialRef() : from->GetSpatialRef();
    const Lift2kList rpc = from->GetMetadata("RPC");
    if (has_points)
        metadata.SetGCPs(from->GetGCPCount(), from->GetGCPs());
    if (has_transform)
        metadata.SetGeoTransform(transform);
    if (srs)
        metadata.SetSpatialRef(srs);
    if (rpc)
        metadata.SetRPCMD(rpc);
    const char *sense = from->GetMetadataItem(GDALMD_AREA_OR_POINT);
    metadata.bPixelIsPoint = sense && EQUAL(sense, GDALMD_AOP_POINT);
    const bool may_gml = forced || (has_transform && srs && !srs->IsEmpty());
    if (!may_gml && CPLFetchBool(options, "GMLJP2", false))
        CPLError(CE_Warning, CPLE_AppDefined, "No GMLJP2 box: it needs a coordinate system and a geotransform");
    if ((has_points || has_transform || srs || rpc) && CPLFetchBool(options, "GeoJP2", true))
        geotiff.reset(metadata.CreateJP2GeoTIFF());
    else if (CPLFetchBool(options, "GeoJP2", false))
        CPLError(CE_Warning, CPLE_AppDefined, "No GeoJP2 box: the source has no georeference");
    if (!may_gml || !(definition || CPLFetchBool(options, "GMLJP2", true)))
        return true;
    gml.reset(definition && !forced ? metadata.CreateGMLJP2V2(coding.width, coding.height, definition, from)
                                    : metadata.CreateGMLJP2(coding.width, coding.height));
    return gml != nullptr;
}

bool lift2k_make_boxes(GDALDataset *from, CSLConstList options, Lift2kCoding &coding, Lift2kBoxes &before,
                       Lift2kBoxes &behind)
{
    const bool has_metadata = CPLFetchBool(options, "WRITE_METADATA", false),
               is_jpx = CPLFetchBool(options, "JPX", true);
    const bool has_all = has_metadata && !CPLFetchBool(options, "MAIN_MD_DOMAIN_ONLY", false);
    const bool has_rights = has_metadata && from->GetMetadata("xml:IPR");
    const bool is_second = CSLFetchNameValue(options, "GMLJP2V2_DEF"); /* version of GMLJP2 */
    const char *own = coding.is_ht ? "jph " : "jp2 ";
    std::unique_ptr<GDALJP2Box> geotiff, gml;
    if (is_second && coding.is_inspire) {
        CPLError(CE_Failure, CPLE_NotSupported, "INSPIRE_TG=YES takes version 1 of GMLJP2 only");
        return false;
    }
    if (!coding.is_jp2)
        return true;
    if (!make_reference(from, options, coding, geotiff, gml))
        return false;
    add(before, "jP  ").AppendWritableData(4, "\x0D\x0A\x87\x0A");
    GDALJP2Box &type = add(before, "ftyp");
    type.AppendWritableData(4, is_jpx && is_second ? "jpx " : own);
    type.AppendUInt32(0);
    type.AppendWritableData(4, own);
    if (gml && is_jpx) {
        type.AppendWritableData(4, "jpx "); /* which has association boxes */
        add_requirements(coding, has_rights, before);
    } else if (gml && coding.is_inspire) {
        CPLError(CE_Warning, CPLE_AppDefined, "INSPIRE_TG=YES with GMLJP2 recommends JPX=YES");
    }
    before.emplace_back(make_header(from, options, coding, has_rights));
    if (has_metadata)
        behind.emplace_back(GDALJP2Metadata::CreateIPRBox(from));
    Lift2kBoxes &others = CPLFetchBool(options, "GEOBOXES_AFTER_JP2C", coding.is_inspire) ? behind : before;
    others.push_back(std::move(geotiff));
    if (has_metadata)
        add_metadata(from, has_all, others);
    others.push_back(std::move(gml));
    return true;
}
