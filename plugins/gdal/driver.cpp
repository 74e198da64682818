/* The driver's name and options, as GDAL's tools list them. */
#include "plugins/gdal/dataset.h"

extern "C" CPL_DLL void GDALRegister_JP2Lift2k();

extern const char lift2k_open_options[], lift2k_creation_options[]; /* open.xml and create.xml, by CMake */

void GDALRegister_JP2Lift2k()
{
    if (!GDAL_CHECK_VERSION("JP2Lift2k") || GDALGetDriverByName("JP2Lift2k"))
        return;
    GDALDriver *driver = new GDALDriver;
    driver->SetDescription("JP2Lift2k");
    for (const char *can : {GDAL_DCAP_RASTER, GDAL_DCAP_VECTOR, GDAL_DCAP_VIRTUALIO})
        driver->SetMetadataItem(can, "YES");
    driver->SetMetadataItem(GDAL_DMD_LONGNAME, "JPEG 2000 (lift2k)");
    driver->SetMetadataItem(GDAL_DMD_MIMETYPE, "image/jp2");
    driver->SetMetadataItem(GDAL_DMD_EXTENSION, "jp2");
    driver->SetMetadataItem(GDAL_DMD_EXTENSIONS, "jp2 j2k jph jhc");
    driver->SetMetadataItem(GDAL_DMD_CREATIONDATATYPES, "Byte Int16 UInt16 Int32 UInt32");
    driver->SetMetadataItem(GDAL_DMD_OPENOPTIONLIST, lift2k_open_options);
    driver->SetMetadataItem(GDAL_DMD_CREATIONOPTIONLIST, lift2k_creation_options);
    driver->pfnIdentify = Lift2kDataset::Identify;
    driver->pfnOpen = Lift2kDataset::Open;
    driver->pfnCreateCopy = Lift2kDataset::CreateCopy;
    GetGDALDriverManager()->RegisterDriver(driver);
}
