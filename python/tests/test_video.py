"""Frames of Dirac and VC-2: those of the manifest, from all kinds of sources; facts, damage, limits, memory."""

import gc
import hashlib
import io
import mmap
import re
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import lift2k
from lift2k import _video, errors

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data/dirac"
MANIFEST = [line.split("\t") for line in (DATA / "manifest.tsv").read_text().splitlines()[1:]]
FILM = DATA / "inter_haar0.drc"
pytestmark = pytest.mark.skipif(not hasattr(_video.lib, "l2k_video_decoder_new"), reason="a build without Dirac")


def digests(source, **coding):
    return [hashlib.md5(b"".join(plane.tobytes() for plane in frame.planes)).hexdigest()[:16]
            for frame in lift2k.frames(source, **coding)]


@pytest.mark.parametrize("name, width, height, chroma, bits, expected", MANIFEST, ids=[row[0] for row in MANIFEST])
def test_frames_are_those_of_the_manifest(name, width, height, chroma, bits, expected):
    assert digests(DATA / name) == expected.split()
    frame = next(lift2k.frames(DATA / name))
    s, size = frame.sequence, (int(height), int(width))
    assert (s.height, s.width) == size == frame.planes[0].shape and s.depth == (int(bits), int(bits))
    assert (s.chroma_x, s.chroma_y) == {"444": (0, 0), "422": (1, 0), "420": (1, 1)}[chroma]
    assert [plane.shape for plane in frame.planes[1:]] == [(-(-size[0] >> s.chroma_y), -(-size[1] >> s.chroma_x))] * 2
    for plane in frame.planes:
        assert plane.dtype == (np.uint16 if int(bits) > 8 else np.uint8) and plane.flags.owndata and plane.flags.writeable


def test_sources(tmp_path):
    data = FILM.read_bytes()
    expected = digests(data)
    assert len(expected) == 24
    pieces = [data[at:at + 999] for at in range(0, len(data), 999)]

    class Reader:  # only read()
        def __init__(self):
            self.file = io.BytesIO(data)

        def read(self, size):
            return self.file.read(min(size, 5000))

    with open(FILM, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for source in (str(FILM), bytearray(data), memoryview(data), mapped, file, io.BytesIO(data), Reader(), pieces, iter(pieces),
                       [b"", data, b""], (memoryview(piece) for piece in pieces), [np.frombuffer(data[:40000], np.uint16), data[40000:]]):
            assert digests(source) == expected
    both = data + (DATA / "depth1.drc").read_bytes()
    assert [frame.planes[0].shape for frame in lift2k.frames(both)] == [(288, 352)] * 24 + [(134, 178)]
    (tmp_path / "empty.drc").touch()
    for source in (b"", [], tmp_path / "empty.drc", b"no stream"):
        with pytest.raises(errors.FormatError, match="no frame of Dirac or VC-2"):
            next(lift2k.frames(source))


def test_after_a_fork(monkeypatch):
    monkeypatch.setattr(_video._call, "forked", True)
    assert len(digests(FILM)) == 24
    monkeypatch.setattr(_video._call.os, "getpid", lambda: 1)
    frames = lift2k.frames(FILM)
    monkeypatch.undo()
    with pytest.raises(errors.StateError, match="before a fork"):
        next(frames)


def test_facts():
    frames = list(lift2k.frames(FILM, cpu="c", backend="cpu"))
    assert [frame.number for frame in frames] == list(range(24)) and not any(frame.incomplete for frame in frames)
    s = frames[-1].sequence
    assert (s.rate, s.aspect, s.clean, s.offset, s.colour) == ((25, 1), (1, 1), (352, 288, 0, 0), (0, 128), (0, 0, 0))
    assert (s.interlaced, s.fields, s.wide) == (False, False, False)
    header = re.search(r"typedef struct l2k_video_sequence \{(.*?)\}", (ROOT / "include/lift2k/lift2k.h").read_text(), re.S)[1]
    assert set(vars(s)) == set(re.findall(r"\b(\w+)(?:\[\d\])?[,;]", re.sub(r"/\*.*?\*/", "", header, flags=re.S)))


def test_damage_is_a_warning_and_marks_the_frame():
    data = FILM.read_bytes()
    with pytest.warns(lift2k.Lift2kWarning, match="subband 0 of plane 0 ends early") as said:
        frames = list(lift2k.frames(data[:30000]))
    assert [frame.incomplete for frame in frames].count(True) == 1
    assert len(said) == 1
    assert all(warning.filename == __file__ for warning in said)
    second = data.index(b"BBCD", data.index(b"BBCD", 100) + 4)
    with pytest.warns(lift2k.Lift2kWarning, match="bytes between data units are skipped"):
        assert len(list(lift2k.frames(data[:second] + b"xx" + data[second:]))) == 24


def test_errors():
    with pytest.raises(errors.LimitError, match="352 x 288 exceed the limit of samples"):
        list(lift2k.frames(FILM, limit_samples=352 * 288 * 3 // 2 - 1))
    assert len(digests(FILM, limit_samples=352 * 288 * 3 // 2)) == 24
    with pytest.raises(errors.LimitError):
        list(lift2k.frames(FILM, limit_memory=100000))
    # These are found at the call.
    with pytest.raises(TypeError, match="no option 'limit_sample'. Did you mean 'limit_samples'"):
        lift2k.frames(FILM, limit_sample=1)
    with pytest.raises(errors.ArgumentError):
        lift2k.frames(FILM, limit_samples=-1)
    with pytest.raises(ValueError, match="is not one of"):
        lift2k.frames(FILM, backend="gpu")
    with pytest.raises(FileNotFoundError):
        lift2k.frames("nothing.drc")
    with pytest.raises(TypeError):
        lift2k.frames(5)

    def failing():
        yield FILM.read_bytes()[:20000]
        raise KeyError("of the source")

    with pytest.raises(KeyError, match="of the source"):
        list(lift2k.frames(failing()))


def test_memory_is_released(monkeypatch):
    made = []

    class Watched(_video._Decoder):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(weakref.ref(self.pointer))

    monkeypatch.setattr(_video, "_Decoder", Watched)
    gc.disable()  # reference counts suffice
    try:
        frames = lift2k.frames(FILM)
        first = next(frames)
        assert made[0]() is not None
        del frames
        assert made[0]() is None
        frames = lift2k.frames(FILM)
        assert np.array_equal(next(frames).planes[0], first.planes[0]) and len(list(frames)) == 23
        assert made[1]() is None  # at the end
    finally:
        gc.enable()


def test_a_build_without_it(monkeypatch, tmp_path):
    header, output = ROOT / "include/lift2k/lift2k.h", tmp_path / "native.c"
    for dirac in "01":
        subprocess.run([sys.executable, ROOT / "python/native.py", header, output, dirac], check=True)
        text = output.read_text()
        called = set(re.findall(r"\bl2k_video_\w+(?=\()", text))
        assert called == (set(re.findall(r"\bl2k_video_\w+(?=\()", header.read_text())) if dirac == "1" else set())
        assert "l2k_decoder_decode(" in text
    monkeypatch.setattr(_video, "lib", object())
    with pytest.raises(errors.UnsupportedError, match="this build has no decoder of Dirac and VC-2"):
        lift2k.frames(FILM)
