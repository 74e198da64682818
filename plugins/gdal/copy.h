/* Writing: creation options, boxes, codestream. */
#ifndef COPY_H
#define COPY_H

#include <string>

#include "plugins/gdal/dataset.h"

/* What the creation options ask for, with JP2OpenJPEG's defaults. */
struct Lift2kCoding {
    bool is_jp2, is_inspire, is_ht, is_reversible, is_sop, is_eph, is_plt, is_tlm, is_ycc, is_420;
    bool is_alpha_bit; /* opacity has one bit */
    GDALDataType type;
    unsigned bits;
    int width, height, tile_width, tile_height, block_width, block_height;
    int levels;
    l2k_progression progression;
    l2k_tile_parts tile_parts;
    unsigned style, profile; /* Rsiz: 0 or 2 */
    std::vector<double> ratios;
    std::vector<l2k_size> precincts;
    std::string comment;
    int red, green, blue, alpha; /* bands, from 0; -1: none */
    GDALColorTable *table;
    l2k_colour space;
    std::vector<l2k_component> components;

    bool is_lossless() const
    {
        return is_reversible && ratios.back() <= 1 && !is_420;
    }
};

/* False, with GDAL's error, for what cannot be written. */
bool lift2k_read_options(const char *name, GDALDataset *from, CSLConstList options, Lift2kCoding &coding);

/* The boxes of a file: those before the codestream, and those that may as well stand behind it. */
class Lift2kBoxes
{
  public:
    Lift2kBoxes(GDALDataset *from, CSLConstList options, Lift2kCoding &coding);
    bool take_reference(); /* false if a GMLJP2 box fails */
    void write_before(VSILFILE *file);
    void write_behind(VSILFILE *file);

  private:
    bool wants(const char *option, bool by_default) const
    {
        return CPLFetchBool(options, option, by_default);
    }
    void write_header(VSILFILE *file);
    void write_others(VSILFILE *file);

    GDALDataset *from;
    CSLConstList options;
    Lift2kCoding &coding;
    GDALJP2Metadata metadata;
    std::unique_ptr<GDALJP2Box> gml;
    bool is_referenced = false, has_metadata, has_all, has_rights, is_behind;
};

#endif
