"""Tiles of JPEG 2000 in TIFF: tifffile with imagecodecs, with lift2k in its place, and the command, on each other's files."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import picture

import lift2k

tifffile = pytest.importorskip("tifffile")
imagecodecs = pytest.importorskip("imagecodecs")
tiff = pytest.importorskip("lift2k.tiff")
COMMAND = Path(sys.executable).with_name("lift2k")
SCHEMES = {"jpeg2000": 34712, "aperio": 33005, "aperio-ycc": 33003}


@pytest.fixture(autouse=True)
def imagecodecs_again():
    """Undoes register(), which is for good."""
    yield unregister()
    unregister()


def unregister():
    for codecs in (tifffile.TIFF.DECOMPRESSORS, tifffile.TIFF.COMPRESSORS):
        for scheme in tiff.SCHEMES:
            codecs._codecs.pop(scheme, None)


def command(*arguments, fails=False):
    if not COMMAND.exists():
        pytest.skip(f"no {COMMAND}")
    done = subprocess.run([COMMAND, *map(str, arguments), "--quiet"], capture_output=True, text=True, timeout=60)
    assert done.returncode in ((0, 1) if fails else (0,)), done.stderr
    return done


def write(path, a, scheme=34712, **options):
    colour = {"photometric": "rgb" if a.shape[-1] in (3, 4) and a.ndim == 3 else "minisblack"}
    tifffile.imwrite(path, a, compression=scheme, **(colour | options))


@pytest.mark.parametrize("options", [{"tile": (64, 48)}, {"rowsperstrip": 20}, {"tile": (64, 48), "planarconfig": "separate"}])
@pytest.mark.parametrize("dtype, shape", [("u1", (90, 130)), ("u2", (90, 130, 3)), ("i2", (90, 130)), ("u1", (90, 130, 4))])
def test_theirs(random, tmp_path, dtype, shape, options):
    """imagecodecs' tiles to the command and to lift2k.tiff."""
    a = picture(random, shape, dtype)
    if "planarconfig" in options:
        if len(shape) == 2:
            pytest.skip("one plane")
        a = np.ascontiguousarray(np.moveaxis(np.atleast_3d(a), 2, 0))
    extra = {"extrasamples": ["unassalpha"]} if shape[2:] == (4,) else {}
    colour = {"photometric": "rgb" if len(shape) == 3 else "minisblack"}
    write(tmp_path / "a.tif", a, **(colour | options | extra))
    command("encode", tmp_path / "a.tif", tmp_path / "a.jp2")
    b = lift2k.decode(tmp_path / "a.jp2")
    assert np.array_equal(b, np.moveaxis(a, 0, 2).reshape(shape) if "planarconfig" in options else a)
    theirs = tifffile.imread(tmp_path / "a.tif")
    tiff.register()
    assert np.array_equal(tifffile.imread(tmp_path / "a.tif"), theirs)


@pytest.mark.parametrize("compression", SCHEMES)
@pytest.mark.parametrize("dtype, shape", [("u1", (300, 270)), ("u2", (257, 30, 3)), ("i1", (20, 513)), ("u1", (256, 256, 4))])
def test_ours(random, tmp_path, compression, dtype, shape):
    """The command's tiles to imagecodecs, and back."""
    ycc = compression == "aperio-ycc"
    a = picture(random, shape, dtype)
    (tmp_path / "a.jp2").write_bytes(lift2k.encode(a))
    done = command("decode", tmp_path / "a.jp2", tmp_path / "a.tif", "--tiff-compression", compression, fails=ycc and shape[2:] != (3,))
    if ycc and shape[2:] != (3,):
        assert done.returncode == 1 and "three RGB samples" in done.stderr
        return
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        page = file.pages[0]
        assert page.compression == SCHEMES[compression] and page.is_tiled
        b = page.asarray()
    command("encode", tmp_path / "a.tif", tmp_path / "b.jp2")
    assert np.array_equal(lift2k.decode(tmp_path / "b.jp2"), b)
    if not ycc:
        assert np.array_equal(a, b)
        return
    most = (1 << 8 * a.itemsize) - 1
    y, cb, cr = b[..., 0], *(b[..., k].astype(float) - (most + 1) / 2 for k in (1, 2))
    for k, back in enumerate((y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb)):
        assert np.abs(back.clip(0, most) - a[..., k]).max() < 2


def test_registered(random, tmp_path):
    tiff.register()
    a = picture(random, (90, 130, 3), "u2")
    write(tmp_path / "a.tif", a, tile=(64, 64), compressionargs={"style": "ht", "levels": 2})
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        start, count = file.pages[0].dataoffsets[0], file.pages[0].databytecounts[0]
    tile = lift2k.open((tmp_path / "a.tif").read_bytes()[start:start + count])
    assert tile.header.levels == 2 and tile.header.style == 64
    assert np.array_equal(tifffile.imread(tmp_path / "a.tif"), a)


def test_smaller_chroma(random, tmp_path):
    tiff.register()
    # 4:2:0 in a codestream: the TIFF file does not say so.
    planes = [picture(random, (64, 64)), picture(random, (32, 32)), picture(random, (32, 32))]
    data = lift2k.encode(planes, format="codestream", subsampling=[(1, 1), (2, 2), (2, 2)])
    wide = np.stack([planes[0], *(p.repeat(2, 0).repeat(2, 1) for p in planes[1:])], 2)
    tifffile.imwrite(tmp_path / "a.tif", iter([data]), shape=(64, 64, 3), dtype=np.uint8, tile=(64, 64), photometric="rgb",
                     compression=33003)
    assert np.array_equal(tifffile.imread(tmp_path / "a.tif"), wide)
    command("encode", tmp_path / "a.tif", tmp_path / "a.jp2")
    image = lift2k.open(tmp_path / "a.jp2")
    assert np.array_equal(image[...], wide) and image.header.colour == "sycc"


def test_damaged(random, tmp_path, rounds):
    """The command ends by itself, with a picture or an error."""
    write(tmp_path / "a.tif", picture(random, (40, 50, 3)), tile=(32, 32))
    good = bytearray((tmp_path / "a.tif").read_bytes())
    failed = 0
    for i in range(rounds):
        bad = bytearray(good)
        for _ in range(random.integers(1, 4)):
            bad[random.integers(8, len(bad))] = random.integers(256)
        (tmp_path / "b.tif").write_bytes(bad[:random.integers(8, len(bad))] if i % 8 == 0 else bad)
        failed += command("encode", tmp_path / "b.tif", tmp_path / "b.jp2", fails=True).returncode
    assert rounds // 10 < failed
    for data in (b"junk", lift2k.encode(picture(random, (32, 31, 3)), format="codestream"),
                 lift2k.encode(picture(random, (32, 32)), format="codestream"),
                 lift2k.encode(picture(random, (32, 32, 3), "u2"), format="codestream")):
        tifffile.imwrite(tmp_path / "c.tif", iter([data]), shape=(32, 32, 3), dtype=np.uint8, tile=(32, 32), photometric="rgb",
                         compression=34712)
        assert command("encode", tmp_path / "c.tif", tmp_path / "c.jp2", fails=True).returncode == 1
