/* The driver's name and options, as GDAL's tools list them. */
#include "plugins/gdal/dataset.h"

extern "C" CPL_DLL void GDALRegister_JP2Lift2k();

static const char open_options[] = R"(<OpenOptionList>
<Option name='STRICT' type='boolean' default='YES' description='NO: read what truncated or damaged files hold'/>
<Option name='1BIT_ALPHA_PROMOTION' type='boolean' default='YES' description='Opacity of one bit becomes 0 and 255'/>
<Option name='OPEN_REMOTE_GML' type='boolean' default='NO' description='Fetch vector layers to which GMLJP2 links'/>
<Option name='GEOREF_SOURCES' type='string' default='PAM,GEOJP2,GMLJP2,WORLDFILE' description='Where to look, in order'/>
<Option name='USE_TILE_AS_BLOCK' type='boolean' default='NO' description='Blocks are always tiles'/>
</OpenOptionList>)";

static const char creation_options[] = R"(<CreationOptionList>
<Option name='CODEC' type='string-select' description='JP2 by name, else J2K'><Value>JP2</Value><Value>J2K</Value></Option>
<Option name='HT' type='boolean' default='NO' description='High-throughput code-blocks (Part 15): JPH'/>
<Option name='QUALITY' type='string' default='25' description='Percent of the bytes of the samples, for each layer'/>
<Option name='REVERSIBLE' type='boolean' default='NO' description='The 5/3, lossless with QUALITY=100'/>
<Option name='RESOLUTIONS' type='int' min='1' max='31' description='One more than the levels'/>
<Option name='BLOCKXSIZE' type='int' default='1024' description='Width of tiles'/>
<Option name='BLOCKYSIZE' type='int' default='1024' description='Height of tiles'/>
<Option name='BLOCKSIZE_STRICT' type='boolean' default='NO' description='Tiles may be larger than the picture'/>
<Option name='PROGRESSION' type='string-select' default='LRCP'>
<Value>LRCP</Value><Value>RLCP</Value><Value>RPCL</Value><Value>PCRL</Value><Value>CPRL</Value></Option>
<Option name='SOP' type='boolean' default='NO' description='SOP marker segments'/>
<Option name='EPH' type='boolean' default='NO' description='EPH markers'/>
<Option name='PLT' type='boolean' default='NO' description='Packet lengths, for windows'/>
<Option name='TLM' type='boolean' default='NO' description='Tile-part lengths, for windows'/>
<Option name='YCBCR420' type='boolean' default='NO' description='RGB becomes YCbCr with a quarter of the chroma'/>
<Option name='YCC' type='boolean' default='YES' description='The component transform of three or four bands'/>
<Option name='NBITS' type='int' description='Bits of a sample, where fewer than those of the type'/>
<Option name='1BIT_ALPHA' type='boolean' default='NO' description='Opacity has one bit'/>
<Option name='ALPHA' type='boolean' default='NO' description='The last band is opacity'/>
<Option name='PROFILE' type='string-select' default='AUTO'>
<Value>AUTO</Value><Value>UNRESTRICTED</Value><Value>PROFILE_1</Value></Option>
<Option name='PRECINCTS' type='string' description='{width,height},... from the highest resolution down'/>
<Option name='TILEPARTS' type='string-select' default='DISABLED'>
<Value>DISABLED</Value><Value>RESOLUTIONS</Value><Value>LAYERS</Value><Value>COMPONENTS</Value></Option>
<Option name='CODEBLOCK_WIDTH' type='int' default='64' min='4' max='1024'/>
<Option name='CODEBLOCK_HEIGHT' type='int' default='64' min='4' max='1024'/>
<Option name='CODEBLOCK_STYLE' type='string' description='BYPASS, RESET, TERMALL, VSC, PREDICTABLE, SEGSYM, or a number'/>
<Option name='GeoJP2' type='boolean' default='YES' description='A GeoJP2 box'/>
<Option name='GMLJP2' type='boolean' default='YES' description='A GMLJP2 box, version 1'/>
<Option name='GMLJP2V2_DEF' type='string' description='A file that describes a GMLJP2 box of version 2, or YES'/>
<Option name='GEOBOXES_AFTER_JP2C' type='boolean' default='NO' description='These boxes behind the codestream'/>
<Option name='JPX' type='boolean' default='YES' description='GMLJP2 makes the file JPX as well'/>
<Option name='INSPIRE_TG' type='boolean' default='NO' description='The INSPIRE guidelines for orthoimagery'/>
<Option name='CT_COMPONENTS' type='int' min='3' max='4' description='Columns of a palette'/>
<Option name='WRITE_METADATA' type='boolean' default='NO' description='Metadata in boxes of the file: XML, XMP, IPR'/>
<Option name='MAIN_MD_DOMAIN_ONLY' type='boolean' default='NO' description='Those of the main domain only'/>
<Option name='USE_SRC_CODESTREAM' type='boolean' default='NO' description='The codestream of the source as it is'/>
<Option name='COMMENT' type='string' description='The text of COM'/>
</CreationOptionList>)";

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
    driver->SetMetadataItem(GDAL_DMD_OPENOPTIONLIST, open_options);
    driver->SetMetadataItem(GDAL_DMD_CREATIONOPTIONLIST, creation_options);
    driver->pfnIdentify = Lift2kDataset::Identify;
    driver->pfnOpen = Lift2kDataset::Open;
    driver->pfnCreateCopy = Lift2kDataset::CreateCopy;
    GetGDALDriverManager()->RegisterDriver(driver);
}
