/* Writing: creation options, boxes, codestream. */
#ifndef COPY_H
#define COPY_H

#include <string>

#include "plugins/gdal/dataset.h"

/* What the creation options ask for, with JP2OpenJPEG's defaults. */
struct Lift2kCoding {
    bool is_jp2, is_inspire, is_ht, is_reversible, is_420;
    bool is_alpha_bit; /* opacity has one bit */
    GDALDataType type;
    unsigned bits;
    int width, height, tile_width, tile_height, block_width, block_height;
    int levels;
    unsigned profile;                                           /* Rsiz: 0 or 2 */
    std::vector<std::pair<l2k_encoder_option, int64_t>> others; /* that nothing else depends on */
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

typedef std::vector<std::unique_ptr<GDALJP2Box>> Lift2kBoxes;

/* The boxes of a JP2 file before and behind that of the codestream. False, with GDAL's error, if a GMLJP2 box fails. */
bool lift2k_make_boxes(GDALDataset *from, CSLConstList options, Lift2kCoding &coding, Lift2kBoxes &before,
                       Lift2kBoxes &behind);

#endif
