/* CreateCopy: rows are read, coded and written one part after another. */
#include <algorithm>
#include <cstring>

#include <vrtdataset.h>
#include <new>

#include "plugins/gdal/copy.h"

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Red, green and blue become Y, and Cb and Cr of every second sample and row, as JP2OpenJPEG computes them. */
static void subsample(std::vector<GByte> &samples, int width, int rows)
{
    const size_t all = size_t(width) * rows;
    std::vector<GByte> blue(all / 4), red(all / 4);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++) {
            const size_t at = size_t(y) * width + x, half = size_t(y / 2) * (width / 2) + x / 2;
            const int r = samples[at], g = samples[all + at], b = samples[2 * all + at];
            samples[at] = static_cast<GByte>(0.299 * r + 0.587 * g + 0.114 * b);
            blue[half] = lift2k_clamp(-0.1687 * r - 0.3313 * g + 0.5 * b + 128);
            red[half] = lift2k_clamp(0.5 * r - 0.4187 * g - 0.0813 * b + 128);
        }
    std::copy(blue.begin(), blue.end(), samples.begin() + all);
    std::copy(red.begin(), red.end(), samples.begin() + 2 * all);
}

/* The rows of a dataset from `y` on, as planes in `samples`. */
static bool read_rows(GDALDataset *from, const Lift2kCoding &c, int y, int rows, std::vector<GByte> &samples,
                      std::vector<l2k_plane> &planes)
{
    const int size = GDALGetDataTypeSizeBytes(c.type), count = static_cast<int>(c.components.size());
    const size_t line = size_t(size) * c.width, all = line * rows;
    samples.resize(all * count);
    if (from->RasterIO(GF_Read, 0, y, c.width, rows, samples.data(), c.width, rows, c.type, count, nullptr, 0, 0, 0,
                       nullptr) != CE_None)
        return false;
    planes.clear();
    for (int i = 0; i < count; i++)
        planes.push_back({samples.data() + i * all, static_cast<ptrdiff_t>(line / c.components[i].dx), size,
                          lift2k_sample_type(c.type)});
    for (size_t i = 0; c.is_alpha_bit && i < all; i += size) {
        GByte *value = samples.data() + c.alpha * all + i;
        const bool is_set = std::any_of(value, value + size, [](GByte byte) { return byte != 0; });
        memset(value, 0, size);
        value[CPL_IS_LSB ? 0 : size - 1] = is_set;
    }
    if (c.is_420)
        subsample(samples, c.width, rows);
    return true;
}

/* ---- The codestream ------------------------------------------------------------------------------------------ */

struct Output {
    VSILFILE *file;
    vsi_l_offset start;
};

static int write(void *user, const void *buffer, size_t bytes)
{
    return VSIFWriteL(buffer, 1, bytes, static_cast<Output *>(user)->file) == bytes ? 0 : -1;
}

static int rewrite(void *user, uint64_t offset, const void *buffer, size_t bytes)
{
    const Output *out = static_cast<Output *>(user);
    VSIFSeekL(out->file, out->start + offset, SEEK_SET);
    const int result = write(user, buffer, bytes);
    return VSIFSeekL(out->file, 0, SEEK_END) == 0 ? result : -1;
}

/* Of the size that QUALITY means: of all bands at full resolution, and of small pictures what headers take. */
static std::vector<double> ratios_of(const Lift2kCoding &c)
{
    enum { MAIN_HEADER = 256, TILE = 64 };
    const double all = double(c.width) * c.height, tile = double(c.tile_width) * c.tile_height;
    double raw = 0;
    std::vector<double> ratios;
    for (const l2k_component &k : c.components)
        raw += all / (k.dx * k.dy) * k.precision / 8;
    for (double ratio : c.ratios) {
        const double wanted = all * c.components.size() * c.bits / 8 / ratio;
        ratios.push_back(ratio <= 1 ? 1 : raw / std::max(wanted, MAIN_HEADER + TILE * std::max(all / tile, 1.0)));
    }
    return ratios;
}

static bool set_options(l2k_encoder *encoder, const Lift2kCoding &c)
{
    std::vector<std::pair<l2k_encoder_option, int64_t>> all = {
        {L2K_ENCODER_FORMAT, L2K_FORMAT_CODESTREAM},
        {L2K_ENCODER_WAVELET, c.is_reversible ? L2K_WAVELET_5_3 : L2K_WAVELET_9_7},
        {L2K_ENCODER_LEVELS, c.levels},
        {L2K_ENCODER_TILE_WIDTH, c.tile_width},
        {L2K_ENCODER_TILE_HEIGHT, c.tile_height},
        {L2K_ENCODER_BLOCK_WIDTH, c.block_width},
        {L2K_ENCODER_BLOCK_HEIGHT, c.block_height},
        {L2K_ENCODER_PROFILE, c.profile},
        {L2K_ENCODER_THREADS, lift2k_threads()}};
    all.insert(all.end(), c.others.begin(), c.others.end());
    for (const auto &[option, value] : all)
        if (l2k_encoder_set(encoder, option, value) != L2K_OK)
            return false;
    const std::vector<double> ratios = ratios_of(c);
    return l2k_encoder_set_precincts(encoder, c.precincts.data(), c.precincts.size()) == L2K_OK &&
           l2k_encoder_set_comment(encoder, c.comment.c_str()) == L2K_OK &&
           l2k_encoder_set_layers(encoder, L2K_TARGET_RATIO, ratios.data(), ratios.size()) == L2K_OK;
}

static bool encode(VSILFILE *file, GDALDataset *from, const Lift2kCoding &c, GDALProgressFunc progress, void *user)
{
    Messages messages;
    Output out = {file, VSIFTellL(file)};
    const l2k_hooks hooks = messages.hooks();
    const l2k_stream stream = {nullptr, write, rewrite, &out};
    l2k_image image = {};
    image.x1 = c.width;
    image.y1 = c.height;
    image.num_components = static_cast<uint32_t>(c.components.size());
    image.components = c.components.data();
    const std::unique_ptr<l2k_encoder, decltype(&l2k_encoder_free)> owned(l2k_encoder_new(&hooks), l2k_encoder_free);
    l2k_encoder *encoder = owned.get();
    std::vector<GByte> samples;
    std::vector<l2k_plane> planes;
    uint32_t y0 = 0, y1 = 0;
    bool is_right = encoder && progress(0, "", user) && set_options(encoder, c) &&
                    l2k_encoder_begin(encoder, &image, &stream) == L2K_OK;
    while (is_right && y1 < image.y1)
        is_right = l2k_encoder_next_rows(encoder, &y0, &y1) == L2K_OK &&
                   read_rows(from, c, static_cast<int>(y0), static_cast<int>(y1 - y0), samples, planes) &&
                   l2k_encoder_put_rows(encoder, planes.data()) == L2K_OK && progress(double(y1) / c.height, "", user);
    is_right = is_right && l2k_encoder_end(encoder) == L2K_OK;
    messages.report();
    return is_right;
}

/* The file that a dataset stands for, also through a VRT. */
static std::string name_of(GDALDataset *from)
{
    VRTDataset *virtual_one = dynamic_cast<VRTDataset *>(from);
    GDALDataset *simple = virtual_one ? virtual_one->GetSingleSimpleSource() : nullptr;
    return (simple ? simple : from)->GetDescription();
}

/* Copies the codestream of the source, but Rsiz where a profile is asked for. */
static bool copy_codestream(VSILFILE *file, VSILFILE *source, const Lift2kPlace &place, CSLConstList options,
                            bool is_inspire, GDALProgressFunc progress, void *user)
{
    const CPLStringList ignored(
        CSLTokenizeString2("BLOCKXSIZE BLOCKYSIZE QUALITY REVERSIBLE RESOLUTIONS PROGRESSION SOP EPH YCBCR420 YCC "
                           "NBITS 1BIT_ALPHA PRECINCTS "
                           "TILEPARTS CODEBLOCK_WIDTH CODEBLOCK_HEIGHT CODEBLOCK_STYLE PLT TLM HT",
                           " ", 0));
    for (int i = 0; i < ignored.size(); i++)
        if (CSLFetchNameValue(options, ignored[i]))
            CPLError(CE_Warning, CPLE_NotSupported, "USE_SRC_CODESTREAM=YES: %s has no effect", ignored[i]);
    const char *profile = CSLFetchNameValueDef(options, "PROFILE", "");
    std::vector<GByte> buffer(1 << 20);
    VSIFSeekL(source, place.at, SEEK_SET);
    for (vsi_l_offset done = 0; done < place.bytes;) {
        const size_t bytes = static_cast<size_t>(std::min<vsi_l_offset>(buffer.size(), place.bytes - done));
        if (VSIFReadL(buffer.data(), 1, bytes, source) != bytes)
            return false;
        if (done == 0 && bytes > 8 && buffer[3] == 0x51 &&
            (is_inspire || EQUAL(profile, "PROFILE_1") || EQUAL(profile, "UNRESTRICTED"))) {
            buffer[6] = 0;
            buffer[7] = EQUAL(profile, "UNRESTRICTED") ? 0 : 2;
        }
        done += bytes;
        if (VSIFWriteL(buffer.data(), 1, bytes, file) != bytes || !progress(double(done) / place.bytes, "", user))
            return false;
    }
    return true;
}

/* ---- The file ------------------------------------------------------------------------------------------------ */

/* The length of the codestream's box, once known. False where LBox is 0: to the end of the file. */
static bool write_length(VSILFILE *file, vsi_l_offset start, bool is_long)
{
    GUIntBig bytes = VSIFTellL(file) - start;
    GUInt32 low = static_cast<GUInt32>(bytes);
    if (!is_long && low != bytes)
        return false;
    VSIFSeekL(file, is_long ? start + 8 : start, SEEK_SET);
    CPL_MSBPTR64(&bytes);
    CPL_MSBPTR32(&low);
    const bool is_written = VSIFWriteL(is_long ? static_cast<void *>(&bytes) : &low, is_long ? 8 : 4, 1, file) == 1;
    return VSIFSeekL(file, 0, SEEK_END) == 0 && is_written;
}

static void write_boxes(VSILFILE *file, const Lift2kBoxes &boxes)
{
    for (const auto &box : boxes) {
        GByte *data = box ? box->GetWritableBoxData() : nullptr;
        VSIFWriteL(data, 1, data ? static_cast<size_t>(box->GetBoxLength()) : 0, file);
        CPLFree(data);
    }
}

static bool write_file(VSILFILE *file, GDALDataset *from, CSLConstList options, const Lift2kCoding &c,
                       const Lift2kBoxes &before, const Lift2kBoxes &behind, GDALProgressFunc progress, void *user)
{
    const double expected = double(c.width) * c.height * c.components.size() * GDALGetDataTypeSizeBytes(c.type);
    const bool is_copied = CPLFetchBool(options, "USE_SRC_CODESTREAM", false);
    VSILFILE *source = is_copied ? VSIFOpenL(name_of(from).c_str(), "rb") : nullptr;
    const Lift2kPlace place = source ? lift2k_find_codestream(source) : Lift2kPlace{0, 0};
    if (is_copied && place.bytes == 0)
        CPLError(CE_Warning, CPLE_AppDefined, "USE_SRC_CODESTREAM=YES: the source has no codestream");
    const bool is_long = place.bytes ? place.bytes > UINT32_MAX - 8
                                     : CPLFetchBool(options, "JP2C_XLBOX", expected / c.ratios.back() > 4e9);
    write_boxes(file, before);
    const vsi_l_offset start = VSIFTellL(file);
    const GByte box[16] = {0, 0, 0, static_cast<GByte>(is_long), 'j', 'p', '2', 'c'};
    const size_t header = !c.is_jp2 ? 0 : is_long ? 16 : 8;
    const bool is_right = VSIFWriteL(box, 1, header, file) == header &&
                          (place.bytes ? copy_codestream(file, source, place, options, c.is_inspire, progress, user)
                                       : encode(file, from, c, progress, user));
    if (source)
        VSIFCloseL(source);
    if (is_right && c.is_jp2 && !CPLFetchBool(options, "JP2C_LENGTH_ZERO", false) && write_length(file, start, is_long))
        write_boxes(file, behind);
    return is_right;
}

/* What the file has no place for goes to the .aux.xml file. */
static void clone_metadata(GDALPamDataset *to, GDALDataset *from)
{
    CPLStringList own(CSLDuplicate(to->GetMetadata(""))), theirs;
    own.SetNameValue(GDALMD_AREA_OR_POINT, nullptr);
    for (CSLConstList item = from->GetMetadata(); item && *item; item++)
        if (!STARTS_WITH_CI(*item, GDALMD_AREA_OR_POINT "=") && !STARTS_WITH_CI(*item, "Corder=") && (*item)[0] &&
            (*item)[strlen(*item) - 1] != '=')
            theirs.AddString(*item);
    if (theirs.size() > 0 && theirs.size() != own.size())
        to->SetMetadata(theirs.List());
}

GDALDataset *Lift2kDataset::CreateCopy(const char *name, GDALDataset *from, int, Lift2kList options,
                                       GDALProgressFunc progress, void *user)
try {
    Lift2kCoding coding = {};
    if (!lift2k_read_options(name, from, options, coding))
        return nullptr;
    Lift2kBoxes before, behind;
    if (!lift2k_make_boxes(from, options, coding, before, behind))
        return nullptr;
    VSILFILE *file = VSIFOpenL(name, STARTS_WITH_CI(name, "/vsisubfile/") ? "r+b" : "w+b");
    if (!file) {
        CPLError(CE_Failure, CPLE_OpenFailed, "%s cannot be created", name);
        return nullptr;
    }
    const bool is_right = write_file(file, from, options, coding, before, behind, progress, user);
    if (VSIFCloseL(file) != 0 || !is_right)
        return nullptr;
    GDALOpenInfo info(name, GA_ReadOnly);
    Lift2kDataset *result = static_cast<Lift2kDataset *>(Open(&info));
    if (result) {
        result->CloneInfo(from, GCIF_PAM_DEFAULT & ~GCIF_METADATA);
        if (!CPLFetchBool(options, "WRITE_METADATA", false))
            clone_metadata(result, from);
    }
    return result;
} catch (const std::bad_alloc &) {
    lift2k_no_memory();
    return nullptr;
}
