/* Update: new georeference and metadata replace the boxes of the file when it is closed. */
#include <cstring>

#include "plugins/gdal/dataset.h"

CPLErr Lift2kDataset::SetSpatialRef(const OGRSpatialReference *srs)
{
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetSpatialRef(srs);
    m_oSRS = srs ? *srs : OGRSpatialReference();
    is_changed = true;
    return CE_None;
}

CPLErr Lift2kDataset::SetGeoTransform(Lift2kTransformIn transform)
{
    static const double none[] = {0, 1, 0, 0, 0, 1};
    if (eAccess != GA_Update)
        return GDALJP2AbstractDataset::SetGeoTransform(transform);
    bGeoTransformValid = false;
    for (int i = 0; i < 6; i++) {
        adfGeoTransform[i] = transform[i];
        bGeoTransformValid = bGeoTransformValid || transform[i] != none[i];
    }
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

Lift2kList Lift2kDataset::GetMetadata(const char *domain)
{
    if (!reversibility || !domain || !EQUAL(domain, "IMAGE_STRUCTURE"))
        return GDALJP2AbstractDataset::GetMetadata(domain);
    GDALDataset::SetMetadataItem("COMPRESSION_REVERSIBILITY", reversibility, domain);
    return GDALGeorefPamDataset::GetMetadata(domain);
}

CPLErr Lift2kDataset::SetMetadata(Lift2kList metadata, const char *domain)
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
    CPLStringList all(CSLDuplicate(GetMetadata(domain)));
    return SetMetadata(all.SetNameValue(name, value).List(), domain);
}

/* Another file with the same codestream takes the place of this one, unless it has boxes that would be lost. */
void Lift2kDataset::write_boxes()
{
    bool has_gml = !was_referenced, has_geotiff = !was_referenced, is_known = true;
    GDALJP2Box box(source->file), inner(source->file);
    const CPLStringList known(CSLTokenizeString2("jP  ,ftyp,rreq,jp2h,jp2i,jp2c,xml ", ",", 0));
    for (int is_read = box.ReadFirst(); is_read && box.GetType()[0]; is_read = box.ReadNext()) {
        const bool is_uuid = EQUAL(box.GetType(), "uuid"), is_association = EQUAL(box.GetType(), "asoc");
        GByte *label = is_association && inner.ReadFirstChild(&box) ? inner.ReadBoxData() : nullptr;
        const bool is_gml = label && EQUAL(reinterpret_cast<char *>(label), "gml.data");
        const bool is_geotiff = is_uuid && GDALJP2Metadata::IsUUID_MSI(box.GetUUID());
        CPLFree(label);
        has_gml = has_gml || is_gml;
        has_geotiff = has_geotiff || is_geotiff;
        is_known = is_known && (is_gml || is_geotiff || (is_uuid && GDALJP2Metadata::IsUUID_XMP(box.GetUUID())) ||
                                known.FindString(box.GetType()) >= 0);
    }
    if (!is_known) {
        CPLError(CE_Failure, CPLE_AppDefined, "%s has boxes that would be lost: it stays as it was", GetDescription());
        return;
    }
    has_gml = has_gml && !m_oSRS.IsEmpty() && bGeoTransformValid && nGCPCount == 0;
    CPLStringList options(CSLTokenizeString2("USE_SRC_CODESTREAM=YES CODEC=JP2 WRITE_METADATA=YES", " ", 0));
    options.SetNameValue("GMLJP2", has_gml ? "YES" : "NO");
    options.SetNameValue("GeoJP2", has_geotiff || nGCPCount > 0 ? "YES" : "NO");
    const std::string name = GetDescription(), other = name + ".tmp";
    GDALDataset *copy = CreateCopy(other.c_str(), this, FALSE, options.List(), GDALDummyProgress, nullptr);
    delete copy;
    if (copy)
        VSIRename(other.c_str(), name.c_str());
    else
        VSIUnlink(other.c_str());
    VSIUnlink((other + ".aux.xml").c_str());
}
