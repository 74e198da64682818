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

/* The georeference of a dataset as boxes. */
struct Lift2kReference {
    GDALJP2Metadata metadata;
    bool is_geotiff = false; /* there is something to write */
    std::unique_ptr<GDALJP2Box> gml;

    void take(GDALDataset *from, bool with_rpc);
};

/* All of these write at the position of the file. */
void lift2k_write_box(VSILFILE *file, GDALJP2Box *box);
void lift2k_write_header(VSILFILE *file, GDALDataset *from, CSLConstList options, Lift2kCoding &coding,
                         const Lift2kReference &reference, bool has_rights);
void lift2k_write_metadata(VSILFILE *file, GDALDataset *from, bool main_only);
void lift2k_write_rights(VSILFILE *file, GDALDataset *from);
void lift2k_write_xmp(VSILFILE *file, GDALDataset *from);
void lift2k_write_geotiff(VSILFILE *file, Lift2kReference &reference);

/* The length of a box that begins at `start` and ends at the end of the file; `is_long`: in XLBox. */
bool lift2k_end_codestream_box(VSILFILE *file, vsi_l_offset start, bool is_long);

#endif
