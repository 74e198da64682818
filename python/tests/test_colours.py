"""decode(rgb8=True): what the command shows, for files of all colours."""

import io
import re
import struct
import subprocess
import sys
from pathlib import Path

import lift2k
import numpy as np
import pytest
from conftest import boxed, picture, with_header, with_palette
from lift2k import errors

COMMAND = Path(sys.executable).with_name("lift2k")


@pytest.fixture
def commands(tmp_path):
    """The command's output: samples of 8 bits, (height, width) or (height, width, channels)."""
    if not COMMAND.exists():
        pytest.skip("not installed as a wheel")

    def decode(data, *options):
        (tmp_path / "in.jp2").write_bytes(data)
        subprocess.run([COMMAND, "decode", "--rgb8", "--quiet", *options, tmp_path / "in.jp2", tmp_path / "out.pam"], check=True)
        head, _, samples = (tmp_path / "out.pam").read_bytes().partition(b"ENDHDR\n")
        shape = [int(n) for n in re.findall(rb"(?:HEIGHT|WIDTH|DEPTH) (\d+)", head)]
        width, height, depth = shape
        return np.frombuffer(samples, np.uint8).reshape((height, width) if depth == 1 else (height, width, depth))

    return decode


def lab(data, *fields):
    """CIELab with ranges, offsets and illuminant of its own."""
    colour = boxed(b"colr", bytes([1, 0, 0]) + struct.pack(">I", 14) + struct.pack(">7I", *fields))
    return with_header(data, lambda content: re.sub(rb"(?s)....colr.{7}", lambda _: colour, content))


def files(random):
    a = picture(random, (75, 91, 4), np.uint16)
    eight = (a >> 8).astype(np.uint8)
    yield lift2k.encode(eight[..., :3])
    yield lift2k.encode(eight[..., 0], tile_width=40)
    yield lift2k.encode(eight)
    yield lift2k.encode(eight[..., :2], style="ht")
    yield lift2k.encode(eight, channels=["opacity", "colour", "colour", "colour"])
    yield lift2k.encode(eight, format="codestream")  # the last of four that are unknown is opacity
    for precision in (1, 3, 11, 12, 16):
        yield lift2k.encode(a >> 16 - precision, precision=precision)
    yield lift2k.encode((a[..., :3].astype(np.int32) - 32768).astype(np.int16))
    yield lift2k.encode((a.astype(np.uint32) << 7)[..., :3], precision=23)
    for colour in ("sycc", "esycc", "cielab"):
        yield lift2k.encode(eight[..., :3], colour=colour)
        yield lift2k.encode(a[..., :3] >> 6, precision=10, colour=colour)
        yield lift2k.encode(eight, colour=colour)
    for illuminant in (0x00443530, 0x00443635, 0x00443735, 0x00005341, 0x00463131, 0x43541388, 0x43541F40):
        yield lab(lift2k.encode(eight[..., :3], colour="cielab"), 90, 0, 150, 128, 190, 100, illuminant)
    yield lift2k.encode(eight, colour="cmyk", channels=["colour"] * 4)
    yield lift2k.encode(a, colour="cmyk", channels=["colour"] * 4)
    for steps in ((2, 2), (2, 1), (1, 3)):
        for origin in ((0, 0), (5, 3)):
            x1, y1 = origin[0] + 91, origin[1] + 75
            width, height = (-(-end // step) - -(-start // step) for start, end, step in zip(origin, (x1, y1), steps))
            planes = [eight[..., 0], *(np.ascontiguousarray(eight[:height, :width, c]) for c in (1, 2))]
            yield lift2k.encode(planes, subsampling=[(1, 1), steps, steps], origin=origin)
            yield lift2k.encode(planes, subsampling=[(1, 1), steps, steps], origin=origin, format="codestream", levels=2)
    yield with_palette(lift2k.encode(eight[..., 0] >> 6, precision=2), [[0, 10, 250], [255, 128, 0], [3, 200, 60], [90, 90, 90]])


def test_they_are_those_of_the_command(random, commands):
    decoder = lift2k.Decoder(threads=1)
    for i, data in enumerate(files(random)):
        found = decoder.decode(data, rgb8=True)
        assert found.dtype == np.uint8 and np.array_equal(found, commands(data)), i
        for options, chosen in (("--reduce=1", {"reduce": 1}), ("--region=11,7,50,64", {"region": (11, 7, 50, 64)})):
            assert np.array_equal(lift2k.decode(data, rgb8=True, **chosen), commands(data, *options.split("="))), (i, options)
        assert np.array_equal(lift2k.open(data).read(rgb8=True), found)


def swapped_profile():
    """The profile of sRGB with red and blue exchanged."""
    ImageCms = pytest.importorskip("PIL.ImageCms")
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile.replace(b"rXYZ", b"?XYZ", 1).replace(b"bXYZ", b"rXYZ", 1).replace(b"?XYZ", b"bXYZ", 1)


def test_profiles(random, commands):
    a = picture(random, (70, 50, 4))
    icc = swapped_profile()
    for given in (a[..., :3], a):
        data = lift2k.encode(given, icc=icc)
        try:
            found = lift2k.decode(data, rgb8=True)
        except errors.UnsupportedError as failure:
            assert "Little CMS" in str(failure)
            return
        assert np.abs(found[..., :3].astype(int) - given[..., 2::-1]).max() <= 2 and found.shape == given.shape
        assert np.array_equal(found[..., 3:], given[..., 3:]) and np.array_equal(found, commands(data))
    with pytest.warns(lift2k.Lift2kWarning, match="profile .* ignored"):
        assert np.array_equal(lift2k.decode(lift2k.encode(a[..., :3], icc=b"junk" * 50), rgb8=True), a[..., :3])


def test_inks_are_colours(random):
    """K is no opacity, and no ink is joined with others."""
    a = random.integers(0, 256, (20, 30, 5), np.uint8)
    profile = b"\0" * 16 + b"CMYK" + b"\0" * 108
    for given in ({"colour": "cmyk"}, {"icc": profile}):
        for count in (4, 5):
            with pytest.warns(lift2k.Lift2kWarning, match="brand of the file is JPX"):
                header = lift2k.open(lift2k.encode(a[..., :count], **given)).header
            assert [c.channel for c in header.components] == ["colour"] * 4 + ["opacity"] * (count - 4)
            assert not header.component_transform
    assert [c.channel for c in lift2k.open(lift2k.encode(a[..., :4])).header.components] == ["colour"] * 3 + ["opacity"]


@pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
def test_what_goes_with_it(random):
    a = picture(random, (60, 50, 3), np.uint16)
    data = lift2k.encode(a)
    for wrong in (dict(components=1), dict(out=np.zeros(a.shape, np.uint8)), dict(component=1)):
        with pytest.raises(ValueError, match="rgb8"):
            lift2k.decode(data, rgb8=True, **wrong)
    with pytest.raises(errors.IncompleteError) as caught:
        lift2k.decode(data[:-400], rgb8=True)
    assert caught.value.array.shape == a.shape and caught.value.array.dtype == np.uint8
    shown = lift2k.decode(io.BytesIO(data[:-400]), rgb8=True, incomplete=True)
    assert np.array_equal(shown, caught.value.array)
    wide, high = np.zeros((79, 20000), np.uint8), np.zeros((20000, 79), np.uint8)
    with pytest.raises(errors.UnsupportedError, match="would become"):
        lift2k.decode(lift2k.encode([wide, high], subsampling=[(1, 255), (255, 1)]), rgb8=True)
