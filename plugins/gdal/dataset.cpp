/* Windows of a dataset: decoded in one call each, into the caller's buffer where that has the samples' type. */
#include <new>
#include <numeric>

#include "plugins/gdal/dataset.h"

Lift2kDataset::~Lift2kDataset()
{
    FlushCache(true);
    if (is_changed)
        write_boxes();
    Lift2kDataset::CloseDependentDatasets();
}

int Lift2kDataset::CloseDependentDatasets()
{
    const int had_own = GDALJP2AbstractDataset::CloseDependentDatasets(), had = !overviews.empty();
    overviews.clear();
    return had_own || had;
}

/* ---- Decoding ------------------------------------------------------------------------------------------------ */

l2k_plane Lift2kDataset::plane(void *data, GSpacing pixel, GSpacing line) const
{
    return {data, static_cast<ptrdiff_t>(line), static_cast<ptrdiff_t>(pixel), lift2k_sample_type(type)};
}

/* Planes one after the other in `memory`, which is enlarged; bands that are not in the list get none. */
std::vector<l2k_plane> Lift2kDataset::planes_in(std::vector<GByte> &memory, const Lift2kWindow &window, int count,
                                                const int *bands) const
{
    const size_t size = GDALGetDataTypeSizeBytes(type), line = size * window.width, all = line * window.height;
    std::vector<l2k_plane> planes(nBands, plane(nullptr, size, line));
    memory.resize(all * count);
    for (int i = 0; i < count; i++)
        planes[bands[i] - 1].data = memory.data() + i * all;
    return planes;
}

/* Decodes the codestream's components, all or one. */
bool Lift2kDataset::decode_region(const Lift2kWindow &window, const l2k_plane *planes, int component)
{
    const auto end = [this](uint32_t corner, int at, uint32_t image) {
        return static_cast<uint32_t>(std::min<uint64_t>((uint64_t(corner) + at) << level, image));
    };
    l2k_decoder *decoder = source->decoder;
    l2k_decoder_set(decoder, L2K_DECODER_REDUCE, level);
    l2k_decoder_set(decoder, L2K_DECODER_COMPONENT, component);
    l2k_decoder_set_region(decoder, end(x0, window.x, image_x1), end(y0, window.y, image_y1),
                           end(x0, window.x + window.width, image_x1), end(y0, window.y + window.height, image_y1));
    const l2k_status status = source->run([&] { return l2k_decoder_decode(decoder, planes); });
    if (status == L2K_INCOMPLETE && is_strict)
        CPLError(CE_Failure, CPLE_AppDefined, "The file is truncated or damaged: STRICT=NO reads what it holds");
    return status == L2K_OK || (status == L2K_INCOMPLETE && !is_strict);
}

/* Bands without data are left out, but where the component transform needs them. */
bool Lift2kDataset::decode_bands(const Lift2kWindow &window, std::vector<l2k_plane> planes)
{
    std::vector<int> others;
    bool are_apart = true;
    for (int c = 0; c < nBands; c++)
        if (!planes[c].data)
            others.push_back(c + 1);
        else
            are_apart = are_apart && (c >= 3 || !has_transform);
    if (!others.empty() && are_apart) {
        for (int c = 0; c < nBands; c++)
            if (planes[c].data && !decode_region(window, &planes[c], c))
                return false;
        return true;
    }
    std::vector<GByte> memory;
    const std::vector<l2k_plane> own = planes_in(memory, window, static_cast<int>(others.size()), others.data());
    for (int band : others)
        planes[band - 1] = own[band - 1];
    return decode_region(window, planes.data(), -1);
}

/* 4:2:0, rounded as JP2OpenJPEG does. */
bool Lift2kDataset::decode_subsampled(const Lift2kWindow &window, const std::vector<l2k_plane> &planes)
{
    const int skip_x = window.x % 2, skip_y = window.y % 2;
    const Lift2kWindow even = {window.x - skip_x, window.y - skip_y, window.width + skip_x, window.height + skip_y};
    const int bands[] = {1, 2, 3, 4}, across = (even.width + 1) / 2;
    std::vector<GByte> memory;
    std::vector<l2k_plane> own = planes_in(memory, even, nBands, bands);
    own[1].row_stride = own[2].row_stride = across;
    if (!decode_region(even, own.data(), -1))
        return false;
    for (int y = 0; y < window.height; y++)
        for (int x = 0; x < window.width; x++) {
            const size_t luma = size_t(y + skip_y) * even.width + x + skip_x;
            const size_t chroma = size_t(y + skip_y) / 2 * across + (x + skip_x) / 2;
            const int l = static_cast<GByte *>(own[0].data)[luma];
            const int b = static_cast<GByte *>(own[1].data)[chroma] - 128,
                      r = static_cast<GByte *>(own[2].data)[chroma] - 128;
            const GByte values[] = {lift2k_clamp(l + 1.402 * r), lift2k_clamp(l - 0.34414 * b - 0.71414 * r),
                                    lift2k_clamp(l + 1.772 * b),
                                    nBands > 3 ? static_cast<GByte *>(own[3].data)[luma] : GByte(0)};
            for (int c = 0; c < nBands; c++)
                if (planes[c].data)
                    static_cast<GByte *>(planes[c].data)[y * planes[c].row_stride + x * planes[c].sample_stride] =
                        values[c];
        }
    return true;
}

/* Decodes a window of the bands whose planes have data. */
bool Lift2kDataset::decode(const Lift2kWindow &window, const std::vector<l2k_plane> &planes)
{
    if (!(is_subsampled ? decode_subsampled(window, planes) : decode_bands(window, planes)))
        return false;
    const l2k_plane *alpha = promotes_alpha ? &planes[colours->alpha] : nullptr;
    for (int y = 0; alpha && alpha->data && y < window.height; y++)
        for (int x = 0; x < window.width; x++)
            static_cast<GByte *>(alpha->data)[y * alpha->row_stride + x * alpha->sample_stride] *= 255;
    return true;
}

/* ---- Windows that are kept: for other bands, for parts, for blocks -------------------------------------------- */

static const size_t most_kept = size_t(64) << 20;

static bool contains(const Lift2kWindow &one, const Lift2kWindow &other)
{
    return other.x >= one.x && other.y >= one.y && other.x + other.width <= one.x + one.width &&
           other.y + other.height <= one.y + one.height;
}

/* Decodes all bands of a window, or of one that was announced and has it, unless they take too much memory. */
bool Lift2kDataset::keep(const Lift2kWindow &window)
try {
    if (contains(kept, window))
        return true;
    const Lift2kWindow whole = contains(advised, window) ? advised : window;
    std::vector<int> bands(nBands);
    std::iota(bands.begin(), bands.end(), 1);
    kept = {};
    if (size_t(whole.width) * whole.height * GDALGetDataTypeSizeBytes(type) > most_kept / nBands)
        return false;
    kept_planes = planes_in(kept_samples, whole, nBands, bands.data());
    if (decode(whole, kept_planes))
        kept = whole;
    return contains(kept, window);
} catch (const std::bad_alloc &) {
    return lift2k_no_memory();
}

/* Copies a window of a plane that begins with `from`. */
void Lift2kDataset::copy(const l2k_plane &plane, const Lift2kWindow &from, const Lift2kWindow &window, void *data,
                         GDALDataType to, GSpacing pixel, GSpacing line) const
{
    const GByte *first = static_cast<GByte *>(plane.data) + (window.y - from.y) * plane.row_stride +
                         (window.x - from.x) * plane.sample_stride;
    for (int y = 0; y < window.height; y++)
        GDALCopyWords64(first + y * plane.row_stride, type, static_cast<int>(plane.sample_stride),
                        static_cast<GByte *>(data) + y * line, to, static_cast<int>(pixel), window.width);
}

/* ---- RasterIO ------------------------------------------------------------------------------------------------ */

/* Reads from what is kept; else decodes in place, or in strips if the samples have to be converted. */
CPLErr Lift2kDataset::read_window(const Lift2kWindow &window, void *data, GDALDataType to, int count, const int *bands,
                                  GSpacing pixel, GSpacing line, GSpacing band)
try {
    const GSpacing size = GDALGetDataTypeSizeBytes(type);
    bool fits = to == type && (reinterpret_cast<uintptr_t>(data) | pixel | line | band) % size == 0;
    std::vector<l2k_plane> planes(nBands, plane(nullptr, pixel, line));
    for (int i = 0; i < count; i++) {
        fits = fits && !planes[bands[i] - 1].data;
        planes[bands[i] - 1].data = static_cast<GByte *>(data) + i * band;
    }
    const bool is_shared = contains(kept, window) || contains(advised, window) || (count < nBands && nBands <= 4);
    const bool is_kept = is_shared && keep(window);
    if (!is_kept && fits)
        return decode(window, planes) ? CE_None : CE_Failure;
    std::vector<GByte> memory;
    const int rows = is_kept ? window.height : int(std::max<size_t>(128, most_kept / (size * window.width * count)));
    for (int y = 0; y < window.height; y += rows) {
        const Lift2kWindow strip = {window.x, window.y + y, window.width, std::min(rows, window.height - y)};
        if (!is_kept) {
            planes = planes_in(memory, strip, count, bands);
            if (!decode(strip, planes))
                return CE_Failure;
        }
        for (int i = 0; i < count; i++)
            copy((is_kept ? kept_planes : planes)[bands[i] - 1], is_kept ? kept : strip, strip,
                 static_cast<GByte *>(data) + i * band + y * line, to, pixel, line);
    }
    return CE_None;
} catch (const std::bad_alloc &) {
    return lift2k_no_memory() ? CE_None : CE_Failure;
}

/* Whether a window is decoded by itself. Others, small or resampled, are read from blocks, several of which are decoded
 * together. */
bool Lift2kDataset::is_direct(const Lift2kWindow &window, int buffer_width, int buffer_height)
{
    enum { LEAST = 64 };
    if (buffer_width == window.width && buffer_height == window.height &&
        ((window.width >= LEAST && window.height >= LEAST) ||
         (window.width == nRasterXSize && window.height == nRasterYSize) || contains(advised, window)))
        return true;
    int across, down;
    GetRasterBand(1)->GetBlockSize(&across, &down);
    Lift2kWindow blocks = {window.x / across * across, window.y / down * down, 0, 0};
    blocks.width =
        int(std::min<GIntBig>(nRasterXSize, (GIntBig(window.x) + window.width + across - 1) / across * across)) -
        blocks.x;
    blocks.height =
        int(std::min<GIntBig>(nRasterYSize, (GIntBig(window.y) + window.height + down - 1) / down * down)) - blocks.y;
    if (window.width >= LEAST && window.height >= LEAST && (blocks.width > across || blocks.height > down))
        keep(blocks);
    return false;
}

CPLErr Lift2kDataset::IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *data, int buffer_width,
                                int buffer_height, GDALDataType to, int count, BANDMAP_TYPE bands, GSpacing pixel,
                                GSpacing line, GSpacing band, GDALRasterIOExtraArg *extra)
{
    int is_done = FALSE;
    CPLErr result = CE_Failure;
    if (flag != GF_Read)
        return CE_Failure;
    if ((buffer_width < width || buffer_height < height) && GetRasterBand(bands[0])->GetOverviewCount() > 0)
        result = TryOverviewRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, to, count, bands,
                                     pixel, line, band, extra, &is_done);
    if (is_done)
        return result;
    if (!is_direct({x, y, width, height}, buffer_width, buffer_height))
        return GDALJP2AbstractDataset::IRasterIO(flag, x, y, width, height, data, buffer_width, buffer_height, to,
                                                 count, bands, pixel, line, band, extra);
    result = read_window({x, y, width, height}, data, to, count, bands, pixel, line, band);
    return result == CE_None && extra->pfnProgress && !extra->pfnProgress(1, "", extra->pProgressData) ? CE_Failure
                                                                                                       : result;
}

/* An announced window is decoded when the first part of it is read. */
CPLErr Lift2kDataset::AdviseRead(int x, int y, int width, int height, int buffer_width, int buffer_height, GDALDataType,
                                 int, int *, Lift2kList)
{
    const bool is_smaller = buffer_width < width || buffer_height < height;
    const int overview = is_smaller ? GDALBandGetBestOverviewLevel2(GetRasterBand(1), x, y, width, height, buffer_width,
                                                                    buffer_height, nullptr)
                                    : -1;
    if (overview < int(overviews.size()))
        (overview < 0 ? this : overviews[overview].get())->advised = {x, y, width, height};
    return CE_None;
}

CPLErr Lift2kDataset::IBuildOverviews(const char *resampling, int count, const int *factors, int band_count,
                                      const int *bands, GDALProgressFunc progress, void *user, CSLConstList options)
{
    overviews.clear(); /* they would hide others beside the file */
    return GDALJP2AbstractDataset::IBuildOverviews(resampling, count, factors, band_count, bands, progress, user,
                                                   options);
}
