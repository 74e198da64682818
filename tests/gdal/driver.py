"""Reads and writes with JP2Lift2k and JP2OpenJPEG: the same samples, georeference and metadata; windows as programs ask for
them; files far away in few rounds; damaged files."""

import os
import random
import subprocess
import sys

import numpy as np
from osgeo import gdal, osr

from server import Server

OURS, THEIRS = "JP2Lift2k", "JP2OpenJPEG"
gdal.UseExceptions()
gdal.PushErrorHandler("CPLQuietErrorHandler")
failures = 0
if not gdal.GetDriverByName(THEIRS):
    print("SKIPPED: this GDAL has no JP2OpenJPEG")
    sys.exit(77)


def check(name, is_right, *what):
    global failures
    if not is_right:
        failures += 1
        print("FAILED:", name, *what[: failures < 9])


def opened(name, driver=OURS, **options):
    return gdal.OpenEx(name, allowed_drivers=[driver], open_options=[f"{k}={v}" for k, v in options.items()])


def picture(width, height, bands=1, dtype=np.uint8, bits=None, seed=1):
    """A dataset with slopes, noise and coordinates of the earth."""
    rng = np.random.default_rng(seed)
    top = 2 ** ((bits or np.dtype(dtype).itemsize * 8) - (bits is not None and dtype == np.int32)) - 1
    y, x = np.mgrid[0:height, 0:width]
    low = np.iinfo(dtype).min if bits is None else 0
    ds = gdal.GetDriverByName("MEM").Create("", width, height, bands, {np.uint8: gdal.GDT_Byte, np.uint16: gdal.GDT_UInt16,
                                                                     np.int16: gdal.GDT_Int16, np.int32: gdal.GDT_Int32}[dtype])
    for b in range(bands):
        wave = np.sin(x / (7 + b)) + np.cos(y / (11 - b)) + rng.normal(0, 0.1, x.shape)
        ds.GetRasterBand(b + 1).WriteArray((low + np.clip((wave + 2) / 4, 0, 1) * top).astype(dtype))
        if bits:
            ds.GetRasterBand(b + 1).SetMetadataItem("NBITS", str(bits), "IMAGE_STRUCTURE")
    if bands in (3, 4):
        for b, colour in enumerate((gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand, gdal.GCI_AlphaBand)[:bands]):
            ds.GetRasterBand(b + 1).SetColorInterpretation(colour)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32632)
    ds.SetProjection(srs.ExportToWkt())
    ds.SetGeoTransform((600000, 10, 0, 5000000, 0, -10))
    return ds


def write(driver, source, name="/vsimem/file.jp2", **options):
    return gdal.GetDriverByName(driver).CreateCopy(name, source, options=[f"{k}={v}" for k, v in options.items()])


def description(ds):
    bands = [ds.GetRasterBand(b + 1) for b in range(ds.RasterCount)]
    return (ds.RasterXSize, ds.RasterYSize, ds.GetProjection(), ds.GetGeoTransform(), ds.GetMetadata(), ds.GetGCPCount(),
            [(b.DataType, b.GetBlockSize(), b.GetColorInterpretation(), b.GetMetadata("IMAGE_STRUCTURE"), b.GetMaskFlags(),
              b.GetColorTable() and [b.GetColorTable().GetColorEntry(i) for i in range(b.GetColorTable().GetCount())],
              [b.GetOverview(i).XSize for i in range(b.GetOverviewCount())]) for b in bands])


def windows(ds):
    """What QGIS and gdalwarp ask for: windows, overviews, bands, resampled parts, rows, points, other types."""
    width, height, rng = ds.RasterXSize, ds.RasterYSize, random.Random(3)
    yield "all", ds.ReadAsArray()
    yield "as doubles", ds.ReadAsArray(buf_type=gdal.GDT_Float64)
    for _ in range(3):
        x, y = rng.randrange(width - 1), rng.randrange(height - 1)
        w, h = rng.randint(1, width - x), rng.randint(1, height - y)
        yield f"{w} x {h} at {x}, {y}", ds.ReadAsArray(x, y, w, h)
        yield "smaller", ds.ReadAsArray(x, y, w, h, buf_xsize=w // 3 + 1, buf_ysize=h // 3 + 1)
        yield "larger", ds.ReadAsArray(x, y, w, h, buf_xsize=w + 5, buf_ysize=h + 3)
        band = ds.GetRasterBand(rng.randint(1, ds.RasterCount))
        yield "a band", band.ReadAsArray(x, y, w, h)
        yield "averaged", band.ReadAsArray(x, y, w, h, buf_xsize=w // 2 + 1, buf_ysize=h // 2 + 1, resample_alg=gdal.GRIORA_Average)
        yield "a row", band.ReadAsArray(0, y, width, 1)
        yield "a point", band.ReadAsArray(x, y, 1, 1)
    if ds.RasterCount > 1:
        yield "interleaved", np.frombuffer(ds.ReadRaster(0, 0, width, height, band_list=[ds.RasterCount, 1], buf_pixel_space=7,
                                                         buf_line_space=7 * width, buf_band_space=3 * (1 + (ds.GetRasterBand(1).DataType != 1))), "u1")[::7]
    for i in range(ds.GetRasterBand(1).GetOverviewCount()):
        yield f"overview {i}", ds.GetRasterBand(ds.RasterCount).GetOverview(i).ReadAsArray()
    yield "warped", gdal.Warp("", ds, format="MEM", dstSRS="EPSG:3857", resampleAlg="bilinear", multithread=True).ReadAsArray()


def compare(name, file="/vsimem/file.jp2", **options):
    one, other = opened(file, **options), opened(file, THEIRS, **options)
    check(name + ": described alike", description(one) == description(other), description(one), description(other))
    for (what, a), (_, b) in zip(windows(one), windows(other)):
        check(f"{name}: {what}", np.array_equal(a, b))


# ---- The same samples, and what both drivers write ------------------------------------------------------------------


CASES = [
    ("grey", picture(300, 200), {}),
    ("tiles", picture(700, 500, 3), {"BLOCKXSIZE": 256, "BLOCKYSIZE": 128, "PROGRESSION": "RPCL", "PLT": "YES", "TLM": "YES"}),
    ("untiled", picture(1200, 1100, 3), {"BLOCKXSIZE": 1200, "BLOCKYSIZE": 1100, "RESOLUTIONS": 5, "CODEBLOCK_WIDTH": 32}),
    ("opacity", picture(336, 224, 4), {"1BIT_ALPHA": "YES", "QUALITY": "20,100", "TILEPARTS": "LAYERS", "SOP": "YES", "EPH": "YES"}),
    ("12 bits", picture(400, 300, 1, np.uint16, 12), {"TILEPARTS": "RESOLUTIONS", "PROGRESSION": "CPRL"}),
    ("signed", picture(254, 126, 2, np.int16), {"PRECINCTS": "{128,128},{64,64}", "PROGRESSION": "PCRL"}),
    ("20 bits", picture(150, 140, 1, np.int32, 20), {"CODEBLOCK_STYLE": "BYPASS,TERMALL"}),
    ("six bands", picture(200, 200, 6, np.uint16), {"TILEPARTS": "COMPONENTS", "PROGRESSION": "RLCP"}),
]

for title, source, options in CASES:
    for writer in (OURS, THEIRS):
        lossless = write(writer, source, REVERSIBLE="YES", **{"QUALITY": 100, **options})
        check(f"{title} by {writer}: lossless", "1BIT_ALPHA" in options or np.array_equal(lossless.ReadAsArray(), source.ReadAsArray()))
        lossless = None
        compare(f"{title} by {writer}")
        if source.GetRasterBand(1).DataType != gdal.GDT_Int32:
            write(writer, source, **{**options, "QUALITY": "30"})
            compare(f"{title} by {writer}, lossy")
    if source.GetRasterBand(1).DataType != gdal.GDT_Int32:
        size = [write(d, source, QUALITY=20).RasterXSize and gdal.VSIStatL("/vsimem/file.jp2").size for d in (OURS, THEIRS)]
        check(f"{title}: sizes", 0.8 < size[0] / size[1] < 1.1, size)

for writer in (OURS, THEIRS):
    write(writer, picture(300, 200, 3), YCBCR420="YES")
    compare(f"4:2:0 by {writer}")
    write(writer, picture(300, 200, 4), YCBCR420="YES", QUALITY=100) # JP2OpenJPEG reads opacity wrong here
    check(f"4:2:0 by {writer}: opacity", np.abs(opened("/vsimem/file.jp2").ReadAsArray()[3].astype(int) -
                                                picture(300, 200, 4).ReadAsArray()[3]).max() <= 2)
high = write(OURS, CASES[1][1], "/vsimem/file.jph", HT="YES", REVERSIBLE="YES", QUALITY=100, BLOCKXSIZE=256, BLOCKYSIZE=256)
check("HT: lossless", np.array_equal(high.ReadAsArray(), CASES[1][1].ReadAsArray()))
high = None
compare("HT", "/vsimem/file.jph")
check("HT: JPH", b"jph " in gdal.VSIFReadL(1, 32, gdal.VSIFOpenL("/vsimem/file.jph", "rb")))

table = gdal.ColorTable()
for entry in range(5):
    table.SetColorEntry(entry, (entry * 50, 255 - entry, 9, 255 if entry else 0))
indexed = picture(200, 100)
indexed.GetRasterBand(1).WriteArray(indexed.ReadAsArray() % 5)
indexed.GetRasterBand(1).SetColorTable(table)
for writer in (OURS, THEIRS):
    write(writer, indexed)
    compare(f"palette by {writer}")

# ---- Georeference and metadata --------------------------------------------------------------------------------------

notes = picture(120, 80, 3)
notes.SetMetadata({"ONE": "1", "AREA_OR_POINT": "Point"})
notes.SetMetadata(["<?xpacket?><x/>"], "xml:XMP")
notes.SetMetadata(["<rights/>"], "xml:IPR")
notes.SetMetadata(["<a/>"], "xml:BOX_0")
for how in ({}, {"GMLJP2": "NO"}, {"GeoJP2": "NO"}, {"GMLJP2V2_DEF": "YES"}, {"INSPIRE_TG": "YES"}, {"WRITE_METADATA": "YES"},
            {"WRITE_METADATA": "YES", "GEOBOXES_AFTER_JP2C": "YES"}, {"WRITE_METADATA": "YES", "MAIN_MD_DOMAIN_ONLY": "YES"}):
    written = []
    for writer in (OURS, THEIRS):
        write(writer, notes, **how)
        compare(f"{how} by {writer}")
        for reader in (OURS, THEIRS):
            ds = opened("/vsimem/file.jp2", reader)
            written.append([ds.GetMetadata(domain) for domain in ("", "xml:XMP", "xml:IPR", "xml:BOX_0")] + [ds.GetGeoTransform()])
    check(f"{how}: metadata", all(w == written[0] for w in written), written)
for domain, value in (("xml:IPR", ["<other/>"]), ("", {"TWO": "2"})):
    ds = gdal.OpenEx("/vsimem/file.jp2", gdal.OF_UPDATE, allowed_drivers=[OURS])
    ds.SetGeoTransform((1, 2, 0, 3, 0, -4))
    ds.SetMetadata(value, domain)
    ds = None
    compare("updated")
    ds = opened("/vsimem/file.jp2", THEIRS)
    check("updated", ds.GetGeoTransform() == (1, 2, 0, 3, 0, -4) and dict(ds.GetMetadata(domain) if not domain else {"TWO": "2"})["TWO"] == "2")
    ds = None
write(THEIRS, notes, USE_SRC_CODESTREAM="NO")
copy = write(OURS, opened("/vsimem/file.jp2"), "/vsimem/copy.jp2", USE_SRC_CODESTREAM="YES", PROFILE="UNRESTRICTED")
copy = None
compare("the codestream copied", "/vsimem/copy.jp2")
write(OURS, notes, "world.j2k", CODEC="J2K")
os.remove("world.j2k.aux.xml")
with open("world.wld", "w", encoding="ascii") as world:
    world.write("3\n0\n0\n-3\n7\n9\n")
check("a world file", opened("world.j2k").GetGeoTransform() == (5.5, 3, 0, 10.5, 0, -3))
compare("a world file", "world.j2k")
write(OURS, CASES[1][1], "ro.jp2")
opened("ro.jp2").BuildOverviews("AVERAGE", [3, 9])
compare("overviews beside", "ro.jp2")

# ---- Far away -------------------------------------------------------------------------------------------------------

gdal.SetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR")
gdal.SetConfigOption("GDAL_HTTP_MAX_RETRY", "0")
source = picture(2100, 2000, 1, np.uint16, 12)
files = {}
for plt in ("NO", "YES"):
    write(OURS, source, REVERSIBLE="YES", QUALITY=100, BLOCKXSIZE=256, BLOCKYSIZE=256, RESOLUTIONS=6, TLM="YES", PLT=plt)
    data = gdal.VSIFOpenL("/vsimem/file.jp2", "rb")
    files[f"plt-{plt}.jp2"] = bytes(gdal.VSIFReadL(1, 1 << 30, data))
near = opened("/vsimem/file.jp2")
server = Server(files, 0.02)
for name, most in (("plt-YES.jp2", (6, 5)), ("plt-NO.jp2", (6, 7))):
    server.rounds()
    far = opened(server.url(name))
    overview = far.ReadAsArray(buf_xsize=263, buf_ysize=250)
    rounds = server.rounds()
    check(f"{name}: an overview", np.array_equal(overview, near.ReadAsArray(buf_xsize=263, buf_ysize=250)))
    check(f"{name}: rounds for it", len(rounds) <= most[0], rounds)
    gdal.VSICurlClearCache()
    far = opened(server.url(name))
    window = far.ReadAsArray(700, 800, 512, 512)
    rounds = server.rounds()
    check(f"{name}: a window", np.array_equal(window, near.ReadAsArray(700, 800, 512, 512)))
    check(f"{name}: rounds for it", len(rounds) <= most[1], rounds)
    far.AdviseRead(100, 100, 600, 600)
    for x in range(100, 700, 100):
        check(f"{name}: parts of an announced window", np.array_equal(far.ReadAsArray(x, 100, 100, 600), near.ReadAsArray(x, 100, 100, 600)))
    check(f"{name}: rounds for these", len(server.rounds()) <= 5)
    gdal.VSICurlClearCache()

# ---- Damaged files: read in a process of its own, which ends by itself ----------------------------------------------

DAMAGE = """
import random, sys
from osgeo import gdal
gdal.PushErrorHandler("CPLQuietErrorHandler")
rng = random.Random(5)
whole = [bytearray(open(name, "rb").read()) for name in sys.argv[1:]]
for _ in range(400):
    data = bytearray(rng.choice(whole))
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(min(len(data), rng.choice((120, 2000, len(data)))))] = rng.choice((0, 255, rng.randrange(256)))
    data = data[: rng.randrange(len(data)) if rng.random() < 0.2 else len(data)]
    gdal.FileFromMemBuffer("/vsimem/damaged.jp2", bytes(data))
    for strict in ("YES", "NO"):
        ds = gdal.OpenEx("/vsimem/damaged.jp2", gdal.OF_UPDATE * (strict == "NO"), ["JP2Lift2k"], ["STRICT=" + strict])
        if not ds or ds.RasterXSize * ds.RasterYSize * ds.RasterCount > 1 << 24:
            continue
        ds.ReadAsArray()
        ds.GetRasterBand(1).ReadAsArray(1, 1, ds.RasterXSize // 2, ds.RasterYSize // 2, buf_xsize=7, buf_ysize=9)
        if strict == "NO":
            ds.SetGeoTransform((1, 2, 0, 3, 0, -4))
        ds = None
"""
names = []
for number, (title, source, options) in enumerate(CASES[1:5]):
    names.append(f"case{number}.jp2")
    write(OURS, picture(200, 130, source.RasterCount), names[-1], **{**options, "BLOCKXSIZE": 128, "BLOCKYSIZE": 128, "RESOLUTIONS": 3})
result = subprocess.run([sys.executable, "-c", DAMAGE, *names], timeout=120, stderr=subprocess.DEVNULL)
check("damaged files", result.returncode == 0, result.returncode)

print(f"{failures} failures" if failures else "all right")
sys.exit(failures > 0)
