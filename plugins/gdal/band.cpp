/* Bands, and their blocks for small windows. */
#include <algorithm>

#include "plugins/gdal/dataset.h"

Lift2kBand::Lift2kBand(Lift2kDataset *dataset, int number, unsigned bits, int block_width, int block_height)
{
    poDS = dataset;
    nBand = number;
    eDataType = dataset->type;
    nBlockXSize = block_width;
    nBlockYSize = block_height;
    if (bits % 8 != 0)
        GDALRasterBand::SetMetadataItem("NBITS", CPLSPrintf("%u", bits), "IMAGE_STRUCTURE");
    GDALRasterBand::SetMetadataItem("COMPRESSION", "JPEG2000", "IMAGE_STRUCTURE");
}

/* Up to four bands are decoded together, for the blocks of the others. */
CPLErr Lift2kBand::IReadBlock(int column, int row, void *data)
{
    Lift2kDataset *ds = parent();
    const int x = column * nBlockXSize, y = row * nBlockYSize;
    const GSpacing size = GDALGetDataTypeSizeBytes(eDataType), line = size * nBlockXSize;
    const Lift2kWindow window = {x, y, std::min(nBlockXSize, ds->nRasterXSize - x),
                                 std::min(nBlockYSize, ds->nRasterYSize - y)};
    if (ds->nBands <= 4)
        ds->keep(window);
    return ds->read_window(window, data, eDataType, 1, &nBand, size, line, 0);
}

CPLErr Lift2kBand::IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *data, int buffer_width,
                             int buffer_height, GDALDataType type, GSpacing pixel, GSpacing line,
                             GDALRasterIOExtraArg *extra)
{
    int is_done = FALSE;
    CPLErr result = CE_Failure;
    if (flag != GF_Read)
        return CE_Failure;
    if ((buffer_width < width || buffer_height < height) && GetOverviewCount() > 0)
        result = TryOverviewRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, type, pixel, line,
                                     extra, &is_done);
    if (is_done)
        return result;
    return parent()->is_direct({x, y, width, height}, buffer_width, buffer_height)
               ? parent()->IRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, type, 1, &nBand,
                                     pixel, line, 0, extra)
               : GDALPamRasterBand::IRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, type, pixel,
                                              line, extra);
}

CPLErr Lift2kBand::AdviseRead(int x, int y, int width, int height, int buffer_width, int buffer_height,
                              GDALDataType type, Lift2kList options)
{
    return parent()->AdviseRead(x, y, width, height, buffer_width, buffer_height, type, 1, &nBand, options);
}

GDALColorInterp Lift2kBand::GetColorInterpretation()
{
    const Lift2kColours &colours = *parent()->colours;
    const bool is_rgb = colours.space == L2K_COLOUR_SRGB || colours.space == L2K_COLOUR_SYCC;
    const int index = nBand - 1;
    if (GetColorTable())
        return GCI_PaletteIndex;
    if (index == colours.alpha)
        return GCI_AlphaBand;
    if (colours.space == L2K_COLOUR_GRAY && parent()->nBands <= 2)
        return GCI_GrayIndex;
    for (int i = 0; is_rgb && i < 3; i++)
        if (index == colours.rgb[i])
            return static_cast<GDALColorInterp>(GCI_RedBand + i);
    return GCI_Undefined;
}

GDALColorTable *Lift2kBand::GetColorTable()
{
    return nBand == 1 && parent()->level == 0 ? parent()->colours->table.get() : nullptr;
}

int Lift2kBand::GetOverviewCount()
{
    if (!parent()->AreOverviewsEnabled())
        return 0;
    const int outside = GDALPamRasterBand::GetOverviewCount();
    return outside > 0 ? outside : static_cast<int>(parent()->overviews.size());
}

GDALRasterBand *Lift2kBand::GetOverview(int index)
{
    const auto &overviews = parent()->overviews;
    if (GDALPamRasterBand::GetOverviewCount() > 0)
        return GDALPamRasterBand::GetOverview(index);
    return index >= 0 && index < static_cast<int>(overviews.size()) ? overviews[index]->GetRasterBand(nBand) : nullptr;
}

int Lift2kBand::HasArbitraryOverviews()
{
    return !parent()->colours->table;
}
