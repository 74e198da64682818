/* GDAL's driver JP2Lift2k: reads and writes JPEG 2000, with the names and options of its driver JP2OpenJPEG. */
#ifndef DATASET_H
#define DATASET_H

#include <algorithm>
#include <memory>
#include <vector>

#include <gdal_priv.h>
#include <gdaljp2abstractdataset.h>
#include <gdaljp2metadata.h>

#include "plugins/gdal/source.h"

#ifndef BANDMAP_TYPE /* before GDAL 3.10 */
#define BANDMAP_TYPE int *
#endif
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 12, 0)
typedef GDALGeoTransform Lift2kTransform;
typedef const GDALGeoTransform &Lift2kTransformIn;
#define adfGeoTransform m_gt
#else
typedef double Lift2kTransform[6];
typedef double *Lift2kTransformIn;
#endif
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 13, 0)
typedef CSLConstList Lift2kList;
#else
typedef char **Lift2kList;
#endif

/* What the boxes of the file header say of the codestream's components. */
struct Lift2kColours {
    l2k_colour space = L2K_COLOUR_UNKNOWN;
    int rgb[3] = {0, 1, 2}, alpha = -1; /* components, -1: none */
    std::unique_ptr<GDALColorTable> table;
};

/* Begins the text of COM. */
#define LIFT2K_COMMENT "lift2k (GDAL)"

/* The codestream of a file; 0 bytes: none. Reads colours on the way there. */
struct Lift2kPlace {
    vsi_l_offset at, bytes;
};
Lift2kPlace lift2k_find_codestream(VSILFILE *file, Lift2kColours *colours = nullptr);

inline l2k_sample_type lift2k_sample_type(GDALDataType type)
{
    return type == GDT_Byte     ? L2K_SAMPLE_U8
           : type == GDT_UInt16 ? L2K_SAMPLE_U16
           : type == GDT_Int16  ? L2K_SAMPLE_S16
                                : L2K_SAMPLE_S32;
}

inline GByte lift2k_clamp(double value)
{
    return static_cast<GByte>(std::max(0, std::min(static_cast<int>(value), 255)));
}

/* Reports it; always false. */
inline bool lift2k_no_memory()
{
    CPLError(CE_Failure, CPLE_OutOfMemory, "out of memory");
    return false;
}

/* A window of samples in a dataset, in its columns and rows. */
struct Lift2kWindow {
    int x, y, width, height;
};

/* A resolution of a file. The first one owns the others, its overviews. */
class Lift2kDataset final : public GDALJP2AbstractDataset
{
  public:
    Lift2kDataset() = default;
    ~Lift2kDataset() override;

    static int Identify(GDALOpenInfo *info);
    static GDALDataset *Open(GDALOpenInfo *info);
    static GDALDataset *CreateCopy(const char *name, GDALDataset *from, int strict, Lift2kList options,
                                   GDALProgressFunc progress, void *user);

    CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *data, int buffer_width,
                     int buffer_height, GDALDataType type, int count, BANDMAP_TYPE bands, GSpacing pixel, GSpacing line,
                     GSpacing band, GDALRasterIOExtraArg *extra) override;
    CPLErr AdviseRead(int x, int y, int width, int height, int buffer_width, int buffer_height, GDALDataType type,
                      int count, int *bands, Lift2kList options) override;
    CPLErr IBuildOverviews(const char *resampling, int count, const int *factors, int band_count, const int *bands,
                           GDALProgressFunc progress, void *user, CSLConstList options) override;

    /* GDAL's own look at COM does not know this library's. */
    Lift2kList GetMetadata(const char *domain) override;

    /* With GA_Update they change the boxes of the file when it is closed. */
    CPLErr SetSpatialRef(const OGRSpatialReference *srs) override;
    CPLErr SetGeoTransform(Lift2kTransformIn transform) override;
    CPLErr SetGCPs(int count, const GDAL_GCP *points, const OGRSpatialReference *srs) override;
    CPLErr SetMetadata(Lift2kList metadata, const char *domain) override;
    CPLErr SetMetadataItem(const char *name, const char *value, const char *domain) override;

  protected:
    VSILFILE *GetFileHandle() override
    {
        return source ? source->file : nullptr;
    }
    int CloseDependentDatasets() override;

  private:
    friend class Lift2kBand;

    bool take_type(const l2k_image &image);
    void take_level(const l2k_image &image, unsigned reduce);
    void add_bands(const l2k_image &image, int block_width, int block_height);
    void add_overviews(const l2k_info &main, int block_width, int block_height, bool is_tile);

    l2k_plane plane(void *data, GSpacing pixel, GSpacing line) const;
    std::vector<l2k_plane> planes_in(std::vector<GByte> &memory, const Lift2kWindow &window, int count,
                                     const int *bands) const;
    bool decode(const Lift2kWindow &window, const std::vector<l2k_plane> &planes);
    bool decode_subsampled(const Lift2kWindow &window, const std::vector<l2k_plane> &planes);
    bool decode_bands(const Lift2kWindow &window, std::vector<l2k_plane> planes);
    bool decode_region(const Lift2kWindow &window, const l2k_plane *planes, int component);

    bool keep(const Lift2kWindow &window);
    void copy(const l2k_plane &plane, const Lift2kWindow &from, const Lift2kWindow &window, void *data, GDALDataType to,
              GSpacing pixel, GSpacing line) const;
    bool is_direct(const Lift2kWindow &window, int buffer_width, int buffer_height);
    CPLErr read_window(const Lift2kWindow &window, void *data, GDALDataType to, int count, const int *bands,
                       GSpacing pixel, GSpacing line, GSpacing band);

    void write_boxes();

    std::shared_ptr<Source> source;
    std::vector<std::unique_ptr<Lift2kDataset>> overviews;
    std::shared_ptr<Lift2kColours> colours;
    unsigned level = 0;
    uint32_t x0 = 0, y0 = 0, image_x1 = 0,
             image_y1 = 0; /* the corner in this resolution, the end on the reference grid */
    GDALDataType type = GDT_Byte;
    bool is_subsampled = false;          /* 4:2:0 */
    const char *reversibility = nullptr; /* as COM says, of files that this driver has written */
    bool is_strict = true;
    bool promotes_alpha = false;
    bool has_transform = false;  /* of components */
    bool was_referenced = false; /* on opening */
    bool is_changed = false;

    Lift2kWindow kept = {}, advised = {}; /* empty: none */
    std::vector<GByte> kept_samples;
    std::vector<l2k_plane> kept_planes;
};

class Lift2kBand final : public GDALPamRasterBand
{
  public:
    Lift2kBand(Lift2kDataset *dataset, int number, unsigned bits, int block_width, int block_height);

    CPLErr IReadBlock(int column, int row, void *data) override;
    CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int width, int height, void *data, int buffer_width,
                     int buffer_height, GDALDataType type, GSpacing pixel, GSpacing line,
                     GDALRasterIOExtraArg *extra) override;
    CPLErr AdviseRead(int x, int y, int width, int height, int buffer_width, int buffer_height, GDALDataType type,
                      Lift2kList options) override;
    GDALColorInterp GetColorInterpretation() override;
    GDALColorTable *GetColorTable() override;
    int GetOverviewCount() override;
    GDALRasterBand *GetOverview(int index) override;
    int HasArbitraryOverviews() override;

  private:
    friend class Lift2kDataset;

    Lift2kDataset *parent() const
    {
        return static_cast<Lift2kDataset *>(poDS);
    }
};

#endif
