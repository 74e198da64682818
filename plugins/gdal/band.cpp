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

/* With up to four bands, the block of the others is filled as well. */
CPLErr Lift2kBand::IReadBlock(int column, int row, void *data)
{
    Lift2kDataset *ds = parent();
    const int x = column * nBlockXSize, y = row * nBlockYSize;
    const Lift2kWindow window = {x, y, std::min(nBlockXSize, ds->nRasterXSize - x),
                                 std::min(nBlockYSize, ds->nRasterYSize - y)};
    const GSpacing size = GDALGetDataTypeSizeBytes(eDataType);
    std::vector<l2k_plane> planes(ds->nBands, ds->plane(nullptr, size, size * nBlockXSize));
    std::vector<GDALRasterBlock *> blocks;
    planes[nBand - 1].data = data;
    for (int i = 1; ds->nBands <= 4 && i <= ds->nBands; i++) {
        if (i == nBand)
            continue;
        GDALRasterBand *other = ds->GetRasterBand(i);
        if (GDALRasterBlock *block = other->TryGetLockedBlockRef(column, row)) {
            block->DropLock();
        } else if ((block = other->GetLockedBlockRef(column, row, TRUE))) {
            planes[i - 1].data = block->GetDataRef();
            blocks.push_back(block);
        }
    }
    const bool is_right = ds->decode(window, planes);
    for (GDALRasterBlock *block : blocks) {
        const int band = block->GetBand()->GetBand();
        block->DropLock();
        if (!is_right)
            ds->GetRasterBand(band)->FlushBlock(column, row, FALSE);
    }
    return is_right ? CE_None : CE_Failure;
}

CPLErr Lift2kBand::IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *data, int buffer_width,
                             int buffer_height, GDALDataType type, GSpacing pixel, GSpacing line,
                             GDALRasterIOExtraArg *extra)
{
    Lift2kDataset *ds = parent();
    const Lift2kWindow window = {x, y, width, height};
    if (flag != GF_Read)
        return CE_Failure;
    if ((buffer_width < width || buffer_height < height) && GetOverviewCount() > 0) {
        int is_done = FALSE;
        const CPLErr result = TryOverviewRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, type,
                                                  pixel, line, extra, &is_done);
        if (is_done)
            return result;
    }
    if (ds->is_direct(window, buffer_width, buffer_height)) {
        const CPLErr result = ds->read_window(window, data, type, 1, &nBand, pixel, line, 0);
        if (result == CE_None && extra->pfnProgress && !extra->pfnProgress(1, "", extra->pProgressData))
            return CE_Failure;
        return result;
    }
    ds->fill_blocks(window, 1, &nBand);
    return GDALPamRasterBand::IRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, type, pixel, line,
                                        extra);
}

CPLErr Lift2kBand::AdviseRead(int x, int y, int width, int height, int buffer_width, int buffer_height,
                              GDALDataType type, char **options)
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
    return !is_rgb                  ? GCI_Undefined
           : index == colours.red   ? GCI_RedBand
           : index == colours.green ? GCI_GreenBand
           : index == colours.blue  ? GCI_BlueBand
                                    : GCI_Undefined;
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
