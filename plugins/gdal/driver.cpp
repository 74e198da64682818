/* The driver's names and options, as GDAL's tools list them. */
#include "plugins/gdal/dataset.h"

extern "C" CPL_DLL void GDALRegister_JP2Lift2k();

static const char open_options[] =
    "<OpenOptionList>"
    "<Option name='STRICT' type='boolean' default='YES' description='NO: read what truncated or damaged files hold'/>"
    "<Option name='1BIT_ALPHA_PROMOTION' type='boolean' default='YES' description='Opacity of one bit becomes 0 and "
    "255'/>"
    "<Option name='OPEN_REMOTE_GML' type='boolean' default='NO' description='Fetch vector layers to which GMLJP2 "
    "links'/>"
    "<Option name='GEOREF_SOURCES' type='string' default='PAM,GEOJP2,GMLJP2,WORLDFILE' description='Where to look for "
    "the "
    "georeference, in this order: INTERNAL, GMLJP2, GEOJP2, WORLDFILE, PAM, NONE'/>"
    "<Option name='USE_TILE_AS_BLOCK' type='boolean' default='NO' description='Blocks are always tiles'/>"
    "</OpenOptionList>";

#define BOOLEAN(name, initial, text)                                                                                   \
    "<Option name='" name "' type='boolean' default='" initial "' description='" text "'/>"
#define TEXT(name, text)   "<Option name='" name "' type='string' description='" text "'/>"
#define NUMBER(name, text) "<Option name='" name "' type='int' description='" text "'/>"

static const char
    creation_options[] =
        "<CreationOptionList>"
        "<Option name='CODEC' type='string-select' description='JP2 by the extensions jp2 and jph, else J2K'>"
        "<Value>JP2</Value><Value>J2K</Value></Option>" BOOLEAN(
            "HT",
            "NO", "High-throughput code-blocks (Part 15): JPH") "<"
                                                                "O"
                                                                "p"
                                                                "t"
                                                                "i"
                                                                "o"
                                                                "n"
                                                                " "
                                                                "n"
                                                                "a"
                                                                "m"
                                                                "e"
                                                                "="
                                                                "'"
                                                                "Q"
                                                                "U"
                                                                "A"
                                                                "L"
                                                                "I"
                                                                "T"
                                                                "Y"
                                                                "'"
                                                                " "
                                                                "t"
                                                                "y"
                                                                "p"
                                                                "e"
                                                                "="
                                                                "'"
                                                                "s"
                                                                "t"
                                                                "r"
                                                                "i"
                                                                "n"
                                                                "g"
                                                                "'"
                                                                " "
                                                                "d"
                                                                "e"
                                                                "f"
                                                                "a"
                                                                "u"
                                                                "l"
                                                                "t"
                                                                "="
                                                                "'"
                                                                "2"
                                                                "5"
                                                                "'"
                                                                " "
                                                                "d"
                                                                "e"
                                                                "s"
                                                                "c"
                                                                "r"
                                                                "i"
                                                                "p"
                                                                "t"
                                                                "i"
                                                                "o"
                                                                "n"
                                                                "="
                                                                "'"
                                                                "B"
                                                                "y"
                                                                "t"
                                                                "e"
                                                                "s"
                                                                " "
                                                                "o"
                                                                "f"
                                                                " "
                                                                "e"
                                                                "a"
                                                                "c"
                                                                "h"
                                                                " "
                                                                "l"
                                                                "a"
                                                                "y"
                                                                "e"
                                                                "r"
                                                                " "
                                                                "i"
                                                                "n"
                                                                " "
                                                                "p"
                                                                "e"
                                                                "r"
                                                                "c"
                                                                "e"
                                                                "n"
                                                                "t"
                                                                " "
                                                                "o"
                                                                "f"
                                                                " "
                                                                "t"
                                                                "h"
                                                                "e"
                                                                " "
                                                                "s"
                                                                "a"
                                                                "m"
                                                                "p"
                                                                "l"
                                                                "e"
                                                                "s"
                                                                ","
                                                                " "
                                                                "s"
                                                                "e"
                                                                "p"
                                                                "a"
                                                                "r"
                                                                "a"
                                                                "t"
                                                                "e"
                                                                "d"
                                                                " "
                                                                "b"
                                                                "y"
                                                                " "
                                                                "c"
                                                                "o"
                                                                "m"
                                                                "m"
                                                                "a"
                                                                "s"
                                                                ";"
                                                                " "
                                                                "1"
                                                                "0"
                                                                "0"
                                                                ":"
                                                                " "
                                                                "e"
                                                                "v"
                                                                "e"
                                                                "r"
                                                                "y"
                                                                "t"
                                                                "h"
                                                                "i"
                                                                "n"
                                                                "g"
                                                                "'"
                                                                "/"
                                                                ">" BOOLEAN("REVERSIBLE", "NO",
                                                                            "The 5/3, lossless with QUALITY=100; NO: "
                                                                            "the 9/7") "<Option name='RESOLUTIONS' "
                                                                                       "type='int' min='1' max='31' "
                                                                                       "description='One more than the "
                                                                                       "levels'/>"
                                                                                       "<Option name='BLOCKXSIZE' "
                                                                                       "type='int' default='1024' "
                                                                                       "description='Width of tiles'/>"
                                                                                       "<Option name='BLOCKYSIZE' "
                                                                                       "type='int' default='1024' "
                                                                                       "description='Height of "
                                                                                       "tiles'/>" BOOLEAN(
                                                                                           "BLOCKSIZE_STRICT", "NO",
                                                                                           "Tiles may be larger than "
                                                                                           "the picture, and very "
                                                                                           "small") "<Option "
                                                                                                    "name='PROGRESSION'"
                                                                                                    " type='string-"
                                                                                                    "select' "
                                                                                                    "default='LRCP'>"
                                                                                                    "<Value>LRCP</"
                                                                                                    "Value><Value>RLCP<"
                                                                                                    "/Value><Value>"
                                                                                                    "RPCL</"
                                                                                                    "Value><Value>PCRL<"
                                                                                                    "/Value><Value>"
                                                                                                    "CPRL</Value></"
                                                                                                    "Option>" BOOLEAN(
                                                                                                        "SOP", "NO",
                                                                                                        "SOP marker "
                                                                                                        "segments") BOOLEAN("EPH",
                                                                                                                            "NO",
                                                                                                                            "EPH markers")
                                                                                                        BOOLEAN("PLT",
                                                                                                                "NO",
                                                                                                                "Packet"
                                                                                                                " lengt"
                                                                                                                "hs, "
                                                                                                                "for "
                                                                                                                "window"
                                                                                                                "s") BOOLEAN("TLM",
                                                                                                                             "NO",
                                                                                                                             "Tile-part lengths, for windows")
                                                                                                            BOOLEAN(
                                                                                                                "YCBCR4"
                                                                                                                "20",
                                                                                                                "NO",
                                                                                                                "RGB "
                                                                                                                "become"
                                                                                                                "s "
                                                                                                                "YCbCr "
                                                                                                                "with "
                                                                                                                "a "
                                                                                                                "quarte"
                                                                                                                "r of "
                                                                                                                "the "
                                                                                                                "chrom"
                                                                                                                "a")
                                                                                                                BOOLEAN(
                                                                                                                    "YC"
                                                                                                                    "C",
                                                                                                                    "YE"
                                                                                                                    "S",
                                                                                                                    "Th"
                                                                                                                    "e "
                                                                                                                    "co"
                                                                                                                    "mp"
                                                                                                                    "on"
                                                                                                                    "en"
                                                                                                                    "t "
                                                                                                                    "tr"
                                                                                                                    "an"
                                                                                                                    "sf"
                                                                                                                    "or"
                                                                                                                    "m "
                                                                                                                    "of"
                                                                                                                    " t"
                                                                                                                    "hr"
                                                                                                                    "ee"
                                                                                                                    " o"
                                                                                                                    "r "
                                                                                                                    "fo"
                                                                                                                    "ur"
                                                                                                                    " b"
                                                                                                                    "an"
                                                                                                                    "d"
                                                                                                                    "s")
                                                                                                                    NUMBER(
                                                                                                                        "NBITS",
                                                                                                                        "Bits of a sample, where fewer than those of the type") BOOLEAN("1BIT_ALPHA",
                                                                                                                                                                                        "NO",
                                                                                                                                                                                        "Opacity has one bit") BOOLEAN("ALPHA",
                                                                                                                                                                                                                       "NO", "The last band is opacity") "<Option name='PROFILE' type='string-select' default='AUTO'>"
                                                                                                                                                                                                                                                         "<Value>AUTO</Value><Value>UNRESTRICTED</Value><Value>PROFILE_1</Value></Option>" TEXT("PRECINCTS",
                                                                                                                                                                                                                                                                                                                                                "{width,height},... from the highest resolution down") "<Option name='TILEPARTS' type='string-select' default='DISABLED'>"
                                                                                                                                                                                                                                                                                                                                                                                                       "<Value>DISABLED</Value><Value>RESOLUTIONS</Value><Value>LAYERS</Value><Value>COMPONENTS</Value></Option>"
                                                                                                                                                                                                                                                                                                                                                                                                       "<Option name='CODEBLOCK_WIDTH' type='int' default='64' min='4' max='1024'/>"
                                                                                                                                                                                                                                                                                                                                                                                                       "<Option name='CODEBLOCK_HEIGHT' type='int' default='64' min='4' max='1024'/>" TEXT("CODEBLOCK_STYLE", "BYPASS, RESET, TERMALL, VSC, PREDICTABLE, SEGSYM, or their sum") BOOLEAN("GeoJP2", "YES", "A GeoJP2 box") BOOLEAN("GMLJP2", "YES", "A GMLJP2 box, version 1") TEXT("GMLJP2V2_DEF",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "A file that describes a GMLJP2 box of version 2, or YES") BOOLEAN("GEOBOXES_AFTER_JP2C",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "NO",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                     "These boxes behind the codestream") BOOLEAN("JPX",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "YES", "GMLJP2 makes the file JPX as well") BOOLEAN("INSPIRE_TG",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                      "NO", "What the INSPIRE guidelines for orthoimagery require") "<Option name='CT_COMPONENTS' type='int' min='3' max='4' description='Columns of a palette'/>" BOOLEAN("WRITE_METADATA", "NO", "Metadata in boxes of the file: XML, XMP, IPR") BOOLEAN("MAIN_MD_DOMAIN_ONLY",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "NO",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "Those of the main domain only") BOOLEAN("USE_SRC_CODESTREAM",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "NO",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "The codestream of the source as it is") TEXT("COMMENT",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "The text of COM") "</CreationOptionList>";

void GDALRegister_JP2Lift2k()
{
    if (!GDAL_CHECK_VERSION("JP2Lift2k") || GDALGetDriverByName("JP2Lift2k"))
        return;
    GDALDriver *driver = new GDALDriver;
    driver->SetDescription("JP2Lift2k");
    driver->SetMetadataItem(GDAL_DMD_LONGNAME, "JPEG 2000 (lift2k)");
    driver->SetMetadataItem(GDAL_DCAP_RASTER, "YES");
    driver->SetMetadataItem(GDAL_DCAP_VECTOR, "YES");
    driver->SetMetadataItem(GDAL_DCAP_VIRTUALIO, "YES");
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
