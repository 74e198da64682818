/* Update: new georeference and metadata replace the boxes of the file when it is closed. */
#include <cstring>

#include "plugins/gdal/copy.h"

CPLErr Lift2kDataset::SetSpatialRef(const OGRSpatialReference *srs)
{
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetSpatialRef(srs);
    m_oSRS = srs ? *srs : OGRSpatialReference();
    is_changed = true;
    return CE_None;
}

CPLErr Lift2kDataset::SetGeoTransform(double *transform)
{
    static const double none[] = {0, 1, 0, 0, 0, 1};
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetGeoTransform(transform);
    memcpy(adfGeoTransform, transform, sizeof adfGeoTransform);
    bGeoTransformValid = memcmp(transform, none, sizeof none) != 0;
    is_changed = true;
    return CE_None;
}

CPLErr Lift2kDataset::SetGCPs(int count, const GDAL_GCP *points, const OGRSpatialReference *srs)
{
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetGCPs(count, points, srs);
    GDALDeinitGCPs(nGCPCount, pasGCPList);
    CPLFree(pasGCPList);
    m_oSRS = srs ? *srs : OGRSpatialReference();
    nGCPCount = count;
    pasGCPList = GDALDuplicateGCPs(count, points);
    is_changed = true;
    return CE_None;
}

char **Lift2kDataset::GetMetadata(const char *domain)
{
    if (!reversibility || !domain || !EQUAL(domain, "IMAGE_STRUCTURE"))
        return GDALJP2AbstractDataset::GetMetadata(domain);
    GDALDataset::SetMetadataItem("COMPRESSION_REVERSIBILITY", reversibility, domain);
    return GDALGeorefPamDataset::GetMetadata(domain);
}

const char *Lift2kDataset::GetMetadataItem(const char *name, const char *domain)
{
    return reversibility && domain && EQUAL(domain, "IMAGE_STRUCTURE")
               ? CSLFetchNameValue(GetMetadata(domain), name)
               : GDALJP2AbstractDataset::GetMetadataItem(name, domain);
}

CPLErr Lift2kDataset::SetMetadata(char **metadata, const char *domain)
{
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetMetadata(metadata, domain);
    if (!domain || !*domain) {
        CSLDestroy(m_papszMainMD);
        m_papszMainMD = CSLDuplicate(metadata);
    }
    is_changed = true;
    return GDALDataset::SetMetadata(metadata, domain);
}

CPLErr Lift2kDataset::SetMetadataItem(const char *name, const char *value, const char *domain)
{
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetMetadataItem(name, value, domain);
    if (!domain || !*domain) {
        GetMetadata(""); /* loads what the .aux.xml file has */
        m_papszMainMD = CSLSetNameValue(m_papszMainMD, name, value);
    }
    is_changed = true;
    return GDALDataset::SetMetadataItem(name, value, domain);
}

/* What the boxes of a file allow. */
struct Found {
    vsi_l_offset box = 0, at = 0, bytes = 0; /* of the codestream's box and content */
    vsi_l_offset rights = 0;                 /* the flag in the image header */
    bool has_gml = false, has_geotiff = false;
    bool is_other = false;    /* boxes that would be lost */
    bool is_in_front = false; /* some that change stand before the codestream */
};

static void look_at(GDALJP2Box &box, Found &found)
{
    GDALJP2Box inner(box.GetFILE());
    const char *type = box.GetType();
    const bool is_uuid = EQUAL(type, "uuid"), is_association = EQUAL(type, "asoc");
    if (EQUAL(type, "jp2c")) {
        found.is_other = found.is_other || found.at > 0;
        found.box = box.GetBoxOffset();
        found.at = box.GetDataOffset();
        found.bytes = box.GetDataLength();
    } else if (EQUAL(type, "jp2h")) {
        if (inner.ReadFirstChild(&box) && EQUAL(inner.GetType(), "ihdr") && inner.GetDataLength() == 14)
            found.rights = inner.GetDataOffset() + 13;
    } else if (is_uuid) {
        found.has_geotiff = found.has_geotiff || GDALJP2Metadata::IsUUID_MSI(box.GetUUID());
        found.is_other = found.is_other ||
                         (!GDALJP2Metadata::IsUUID_MSI(box.GetUUID()) && !GDALJP2Metadata::IsUUID_XMP(box.GetUUID()));
    } else if (is_association) {
        GByte *label = inner.ReadFirstChild(&box) && EQUAL(inner.GetType(), "lbl ") ? inner.ReadBoxData() : nullptr;
        const bool is_gml = label && EQUAL(reinterpret_cast<char *>(label), "gml.data");
        found.has_gml = found.has_gml || is_gml;
        found.is_other = found.is_other || !is_gml;
        CPLFree(label);
    } else {
        const char *known[] = {"jP  ", "ftyp", "rreq", "jp2i", "xml "};
        bool is_known = false;
        for (const char *name : known)
            is_known = is_known || EQUAL(type, name);
        found.is_other = found.is_other || !is_known;
    }
    if ((is_uuid || is_association || EQUAL(type, "xml ")) && found.at == 0)
        found.is_in_front = true;
}

/* Writes all that may change behind the codestream, where nothing else stands. */
static bool write_behind(VSILFILE *file, GDALDataset *ds, const Found &found, bool has_gml, bool has_geotiff)
{
    Lift2kReference reference;
    const GByte rights = ds->GetMetadata("xml:IPR") != nullptr;
    GByte length[4] = {1};
    VSIFSeekL(file, found.box, SEEK_SET);
    VSIFReadL(length, 1, sizeof length, file);
    VSIFTruncateL(file, found.at + found.bytes);
    if (!length[0] && !length[1] && !length[2] && !length[3] && !lift2k_end_codestream_box(file, found.box, false))
        return false;
    if (found.rights) {
        VSIFSeekL(file, found.rights, SEEK_SET);
        VSIFWriteL(&rights, 1, 1, file);
    }
    VSIFSeekL(file, 0, SEEK_END);
    reference.take(ds, false);
    lift2k_write_rights(file, ds);
    if (has_gml)
        reference.gml.reset(reference.metadata.CreateGMLJP2(ds->GetRasterXSize(), ds->GetRasterYSize()));
    lift2k_write_box(file, reference.gml.get());
    lift2k_write_metadata(file, ds, false);
    if (has_geotiff)
        lift2k_write_geotiff(file, reference);
    lift2k_write_xmp(file, ds);
    return true;
}

/* Another file with the same codestream takes the place of this one. */
static void write_again(GDALDataset *ds, bool has_gml, bool has_geotiff)
{
    const std::string name = ds->GetDescription(), other = name + ".tmp";
    const char *options[] = {"USE_SRC_CODESTREAM=YES",
                             "CODEC=JP2",
                             "WRITE_METADATA=YES",
                             has_gml ? "GMLJP2=YES" : "GMLJP2=NO",
                             has_geotiff ? "GeoJP2=YES" : "GeoJP2=NO",
                             nullptr};
    GDALDataset *copy =
        Lift2kDataset::CreateCopy(other.c_str(), ds, FALSE, const_cast<char **>(options), GDALDummyProgress, nullptr);
    delete copy;
    if (copy)
        VSIRename(other.c_str(), name.c_str());
    else
        VSIUnlink(other.c_str());
    VSIUnlink((other + ".aux.xml").c_str());
}

void Lift2kDataset::write_boxes()
{
    Found found;
    GDALJP2Box box(source->file);
    for (int is_read = box.ReadFirst(); is_read && strlen(box.GetType()) > 0; is_read = box.ReadNext())
        look_at(box, found);
    if (found.at == 0 || found.is_other) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s has boxes that would be lost: it is left as it was",
                 GetDescription());
        return;
    }
    const bool may_gml = !m_oSRS.IsEmpty() && bGeoTransformValid && nGCPCount == 0;
    const bool has_gml = may_gml && (found.has_gml || !was_referenced);
    const bool has_geotiff =
        nGCPCount > 0 || ((!m_oSRS.IsEmpty() || bGeoTransformValid) && (found.has_geotiff || !was_referenced));
    if (found.is_in_front || !write_behind(source->file, this, found, has_gml, has_geotiff))
        write_again(this, has_gml, has_geotiff);
}
