/* Boxes of JP2 and JPH files: Annex I of 15444-1, GMLJP2, GeoJP2, XMP, IPR. */
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "plugins/gdal/copy.h"

void lift2k_write_box(VSILFILE *file, GDALJP2Box *box)
{
    if (!box)
        return;
    GUInt32 bytes = CPL_MSBWORD32(static_cast<GUInt32>(box->GetDataLength() + 8));
    VSIFWriteL(&bytes, 4, 1, file);
    VSIFWriteL(box->GetType(), 4, 1, file);
    VSIFWriteL(box->GetWritableData(), 1, static_cast<size_t>(box->GetDataLength()), file);
}

static void write_and_delete(VSILFILE *file, GDALJP2Box *box)
{
    lift2k_write_box(file, box);
    delete box;
}

void lift2k_write_metadata(VSILFILE *file, GDALDataset *from, bool main_only)
{
    int count = 0;
    GDALJP2Box **boxes = main_only ? nullptr : GDALJP2Metadata::CreateXMLBoxes(from, &count);
    for (int i = 0; i < count; i++)
        write_and_delete(file, boxes[i]);
    CPLFree(boxes);
    write_and_delete(file, GDALJP2Metadata::CreateGDALMultiDomainMetadataXMLBox(from, main_only));
}

void lift2k_write_rights(VSILFILE *file, GDALDataset *from)
{
    write_and_delete(file, GDALJP2Metadata::CreateIPRBox(from));
}

void lift2k_write_xmp(VSILFILE *file, GDALDataset *from)
{
    write_and_delete(file, GDALJP2Metadata::CreateXMPBox(from));
}

void lift2k_write_geotiff(VSILFILE *file, Lift2kReference &reference)
{
    write_and_delete(file, reference.metadata.CreateJP2GeoTIFF());
}

void Lift2kReference::take(GDALDataset *from, bool with_rpc)
{
    double transform[6];
    const OGRSpatialReference *srs = from->GetSpatialRef();
    if (from->GetGCPCount() > 0) {
        metadata.SetGCPs(from->GetGCPCount(), from->GetGCPs());
        srs = from->GetGCPSpatialRef();
        is_geotiff = true;
    } else if (from->GetGeoTransform(transform) == CE_None) {
        metadata.SetGeoTransform(transform);
        is_geotiff = true;
    }
    if (srs)
        metadata.SetSpatialRef(srs);
    is_geotiff = is_geotiff || srs;
    if (with_rpc && from->GetMetadata("RPC")) {
        metadata.SetRPCMD(from->GetMetadata("RPC"));
        is_geotiff = true;
    }
    const char *sense = from->GetMetadataItem(GDALMD_AREA_OR_POINT);
    metadata.bPixelIsPoint = sense && EQUAL(sense, GDALMD_AOP_POINT);
}

/* ---- The file header ----------------------------------------------------------------------------------------- */

static void write_type(VSILFILE *file, CSLConstList options, const Lift2kCoding &c, bool has_gml)
{
    const bool is_jpx = CPLFetchBool(options, "JPX", true);
    const char *own = c.is_ht ? "jph " : "jp2 ";
    GDALJP2Box signature, type;
    signature.SetType("jP  ");
    signature.AppendWritableData(4, "\x0D\x0A\x87\x0A");
    lift2k_write_box(file, &signature);
    type.SetType("ftyp");
    type.AppendWritableData(4, is_jpx && CSLFetchNameValue(options, "GMLJP2V2_DEF") ? "jpx " : own);
    type.AppendUInt32(0);
    type.AppendWritableData(4, own);
    if (has_gml && is_jpx)
        type.AppendWritableData(4, "jpx "); /* which has association boxes */
    else if (has_gml && c.is_inspire)
        CPLError(CE_Warning, CPLE_AppDefined, "INSPIRE_TG=YES with GMLJP2 recommends JPX=YES");
    lift2k_write_box(file, &type);
}

/* Features of JPX that a reader should know: the profile, GMLJP2 and rights. */
static void write_requirements(VSILFILE *file, const Lift2kCoding &c, bool has_rights)
{
    GDALJP2Box box;
    const int features[] = {c.profile ? 4 : 5, 67, 35}, count = has_rights ? 3 : 2;
    box.SetType("rreq");
    box.AppendUInt8(1);
    box.AppendUInt8(has_rights ? 0xE0 : 0xC0);
    box.AppendUInt8(0x80);
    box.AppendUInt16(static_cast<GUInt16>(count));
    for (int i = 0; i < count; i++) {
        box.AppendUInt16(static_cast<GUInt16>(features[i]));
        box.AppendUInt8(static_cast<GByte>(0x80 >> i));
    }
    box.AppendUInt16(0);
    lift2k_write_box(file, &box);
}

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

static void write_image_header(VSILFILE *file, GDALDataset *from, CSLConstList options, Lift2kCoding &c,
                               bool has_rights)
{
    GDALJP2Box header, depths, colour, palette, mapping, definitions;
    header.SetType("ihdr");
    header.AppendUInt32(c.height);
    header.AppendUInt32(c.width);
    header.AppendUInt16(static_cast<GUInt16>(c.components.size()));
    header.AppendUInt8(c.is_alpha_bit && c.bits != 1 ? 255 : depth_of(c.components[0]));
    header.AppendUInt8(7);
    header.AppendUInt8(0);
    header.AppendUInt8(has_rights);
    if (c.is_alpha_bit && c.bits != 1) {
        depths.SetType("bpcc");
        for (const l2k_component &component : c.components)
            depths.AppendUInt8(depth_of(component));
    }
    colour.SetType("colr");
    colour.AppendUInt8(1);
    colour.AppendUInt8(0);
    colour.AppendUInt8(0);
    colour.AppendUInt32(c.space == L2K_COLOUR_SRGB ? 16 : c.space == L2K_COLOUR_SYCC ? 18 : 17);
    if (c.table)
        fill_palette(options, c, palette, mapping);
    fill_definitions(c, definitions);
    const std::unique_ptr<GDALJP2Box> resolution(make_resolution(from));
    std::vector<const GDALJP2Box *> boxes;
    for (const GDALJP2Box *box :
         {&header, &depths, &colour, &palette, &mapping, &definitions, static_cast<GDALJP2Box *>(resolution.get())})
        if (box && box->GetDataLength() > 0)
            boxes.push_back(box);
    write_and_delete(file, GDALJP2Box::CreateSuperBox("jp2h", static_cast<int>(boxes.size()), boxes.data()));
}

void lift2k_write_header(VSILFILE *file, GDALDataset *from, CSLConstList options, Lift2kCoding &coding,
                         const Lift2kReference &reference, bool has_rights)
{
    write_type(file, options, coding, reference.gml != nullptr);
    if (reference.gml && CPLFetchBool(options, "JPX", true))
        write_requirements(file, coding, has_rights);
    write_image_header(file, from, options, coding, has_rights);
}

bool lift2k_end_codestream_box(VSILFILE *file, vsi_l_offset start, bool is_long)
{
    VSIFSeekL(file, 0, SEEK_END);
    GUIntBig bytes = VSIFTellL(file) - start;
    GUInt32 low = static_cast<GUInt32>(bytes);
    if (!is_long && low != bytes)
        return false; /* LBox 0: to the end of the file */
    VSIFSeekL(file, is_long ? start + 8 : start, SEEK_SET);
    CPL_MSBPTR64(&bytes);
    CPL_MSBPTR32(&low);
    const bool is_written = is_long ? VSIFWriteL(&bytes, 8, 1, file) == 1 : VSIFWriteL(&low, 4, 1, file) == 1;
    return is_written && VSIFSeekL(file, 0, SEEK_END) == 0;
}
