/* Boxes of JP2 and JPH files: Annex I of 15444-1, GMLJP2, GeoJP2, XMP, IPR. */
#include <cstdlib>

#include "plugins/gdal/copy.h"

static void write_box(VSILFILE *file, const GDALJP2Box *box, const char *type)
{
    if (!box)
        return;
    GUInt32 bytes = CPL_MSBWORD32(static_cast<GUInt32>(box->GetDataLength() + 8));
    VSIFWriteL(&bytes, 4, 1, file);
    VSIFWriteL(type, 4, 1, file);
    VSIFWriteL(box->GetWritableData(), 1, static_cast<size_t>(box->GetDataLength()), file);
}

static void write_and_delete(VSILFILE *file, GDALJP2Box *box)
{
    write_box(file, box, box ? box->GetType() : nullptr);
    delete box;
}

Lift2kBoxes::Lift2kBoxes(GDALDataset *from_, CSLConstList options_, Lift2kCoding &coding_)
    : from(from_), options(options_), coding(coding_)
{
    has_metadata = wants("WRITE_METADATA", false);
    has_all = has_metadata && !wants("MAIN_MD_DOMAIN_ONLY", false);
    has_rights = has_metadata && from->GetMetadata("xml:IPR");
    is_behind = wants("GEOBOXES_AFTER_JP2C", coding.is_inspire);
}

bool Lift2kBoxes::take_reference()
{
    const char *definition = CSLFetchNameValue(options, "GMLJP2V2_DEF");
    const bool forced = CPLGetConfigOption("GMLJP2OVERRIDE", nullptr); /* a document of the user's, version 1 */
    const bool wants_gml = definition || wants("GMLJP2", true), has_points = from->GetGCPCount() > 0;
    Lift2kTransform transform;
    const bool has_transform = !has_points && from->GetGeoTransform(transform) == CE_None;
    const OGRSpatialReference *srs = has_points ? from->GetGCPSpatialRef() : from->GetSpatialRef();
    const Lift2kList rpc = from->GetMetadata("RPC");
    if (definition && coding.is_inspire) {
        CPLError(CE_Failure, CPLE_NotSupported, "INSPIRE_TG=YES takes version 1 of GMLJP2 only");
        return false;
    }
    if (!coding.is_jp2)
        return true;
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
    is_referenced = (has_points || has_transform || srs || rpc) && wants("GeoJP2", true);
    const bool may_gml = forced || (has_transform && srs && !srs->IsEmpty());
    if (!may_gml && wants("GMLJP2", false))
        CPLError(CE_Warning, CPLE_AppDefined, "No GMLJP2 box: it needs a coordinate system and a geotransform");
    if (!is_referenced && wants("GeoJP2", false))
        CPLError(CE_Warning, CPLE_AppDefined, "No GeoJP2 box: the source has no georeference");
    if (!may_gml || !wants_gml)
        return true;
    gml.reset(definition && !forced ? metadata.CreateGMLJP2V2(coding.width, coding.height, definition, from)
                                    : metadata.CreateGMLJP2(coding.width, coding.height));
    return gml != nullptr;
}

void Lift2kBoxes::write_before(VSILFILE *file)
{
    const bool is_jpx = wants("JPX", true);
    const char *own = coding.is_ht ? "jph " : "jp2 ";
    GDALJP2Box signature, type, features;
    signature.AppendWritableData(4, "\x0D\x0A\x87\x0A");
    write_box(file, &signature, "jP  ");
    type.AppendWritableData(4, is_jpx && CSLFetchNameValue(options, "GMLJP2V2_DEF") ? "jpx " : own);
    type.AppendUInt32(0);
    type.AppendWritableData(4, own);
    if (gml && is_jpx)
        type.AppendWritableData(4, "jpx "); /* which has association boxes */
    else if (gml && coding.is_inspire)
        CPLError(CE_Warning, CPLE_AppDefined, "INSPIRE_TG=YES with GMLJP2 recommends JPX=YES");
    write_box(file, &type, "ftyp");

    /* What a reader of JPX should know: the profile, GMLJP2 and rights. */
    const int known[] = {coding.profile ? 4 : 5, 67, 35}, count = has_rights ? 3 : 2;
    features.AppendUInt8(1);
    features.AppendUInt8(has_rights ? 0xE0 : 0xC0);
    features.AppendUInt8(0x80);
    features.AppendUInt16(static_cast<GUInt16>(count));
    for (int i = 0; i < count; i++) {
        features.AppendUInt16(static_cast<GUInt16>(known[i]));
        features.AppendUInt8(static_cast<GByte>(0x80 >> i));
    }
    features.AppendUInt16(0);
    if (gml && is_jpx)
        write_box(file, &features, "rreq");
    write_header(file);
    if (!is_behind)
        write_others(file);
}

void Lift2kBoxes::write_behind(VSILFILE *file)
{
    if (has_metadata)
        write_and_delete(file, GDALJP2Metadata::CreateIPRBox(from));
    if (is_behind)
        write_others(file);
}

void Lift2kBoxes::write_others(VSILFILE *file)
{
    int count = 0;
    if (is_referenced)
        write_and_delete(file, metadata.CreateJP2GeoTIFF());
    if (has_all)
        write_and_delete(file, GDALJP2Metadata::CreateXMPBox(from));
    GDALJP2Box **boxes = has_all ? GDALJP2Metadata::CreateXMLBoxes(from, &count) : nullptr;
    for (int i = 0; i < count; i++)
        write_and_delete(file, boxes[i]);
    CPLFree(boxes);
    if (has_metadata)
        write_and_delete(file, GDALJP2Metadata::CreateGDALMultiDomainMetadataXMLBox(from, !has_all));
    write_box(file, gml.get(), "asoc");
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

static void fill_palette(CSLConstList options, Lift2kCoding &c, GDALJP2Box &palette, GDALJP2Box &mapping)
{
    const int entries = std::min(c.table->GetColorEntryCount(), 256), columns = columns_of(options, c, entries);
    palette.SetType("pclr");
    palette.AppendUInt16(static_cast<GUInt16>(entries));
    palette.AppendUInt8(static_cast<GByte>(columns));
    mapping.SetType("cmap");
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

static void fill_definitions(const Lift2kCoding &c, GDALJP2Box &box)
{
    const int count = c.table ? 3 + (c.alpha >= 0) : static_cast<int>(c.components.size());
    const bool is_rgb = c.space != L2K_COLOUR_GRAY && (count == 3 || count == 4);
    if (c.alpha < 0 && !(is_rgb && (c.red != 0 || c.green != 1 || c.blue != 2)))
        return;
    box.SetType("cdef");
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

/* The tags of TIFF in samples per metre; NULL without them. */
static GDALJP2Box *make_resolution(GDALDataset *from)
{
    const char *across = from->GetMetadataItem("TIFFTAG_XRESOLUTION"),
               *down = from->GetMetadataItem("TIFFTAG_YRESOLUTION");
    const char *unit = from->GetMetadataItem("TIFFTAG_RESOLUTIONUNIT");
    const double factor = unit && atoi(unit) == 2   ? 39.37 / 100
                          : unit && atoi(unit) == 3 ? 1
                                                    : 0; /* inch, centimetre */
    const double x = across ? CPLAtof(across) * factor : 0, y = down ? CPLAtof(down) * factor : 0;
    if (!(x > 0 && x < 65535 && y > 0 && y < 65535))
        return nullptr;
    GDALJP2Box inner;
    inner.SetType("resd");
    append_fraction(inner, y);
    append_fraction(inner, x);
    inner.AppendUInt8(2);
    inner.AppendUInt8(2);
    const GDALJP2Box *boxes[] = {&inner};
    return GDALJP2Box::CreateSuperBox("res ", 1, boxes);
}

void Lift2kBoxes::write_header(VSILFILE *file)
{
    const bool is_mixed = coding.is_alpha_bit && coding.bits != 1;
    GDALJP2Box header, depths, colour, palette, mapping, definitions;
    header.SetType("ihdr");
    header.AppendUInt32(coding.height);
    header.AppendUInt32(coding.width);
    header.AppendUInt16(static_cast<GUInt16>(coding.components.size()));
    header.AppendUInt8(is_mixed ? 255 : depth_of(coding.components[0]));
    header.AppendUInt8(7);
    header.AppendUInt8(0);
    header.AppendUInt8(has_rights);
    depths.SetType("bpcc");
    for (size_t i = 0; is_mixed && i < coding.components.size(); i++)
        depths.AppendUInt8(depth_of(coding.components[i]));
    colour.SetType("colr");
    const GByte enumerated[] = {1, 0, 0};
    colour.AppendWritableData(3, enumerated);
    colour.AppendUInt32(coding.space == L2K_COLOUR_SRGB ? 16 : coding.space == L2K_COLOUR_SYCC ? 18 : 17);
    if (coding.table)
        fill_palette(options, coding, palette, mapping);
    fill_definitions(coding, definitions);
    const std::unique_ptr<GDALJP2Box> resolution(make_resolution(from));
    std::vector<const GDALJP2Box *> boxes;
    const GDALJP2Box *const all[] = {&header, &depths, &colour, &palette, &mapping, &definitions, resolution.get()};
    for (const GDALJP2Box *box : all)
        if (box && box->GetDataLength() > 0)
            boxes.push_back(box);
    write_and_delete(file, GDALJP2Box::CreateSuperBox("jp2h", static_cast<int>(boxes.size()), boxes.data()));
}
