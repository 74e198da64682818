"""Chunks, numcodecs' codec and Zarr's, with the real packages, which find the codecs by their entry points."""

import asyncio
import json
import pickle

import numpy as np
import pytest
from conftest import picture

import lift2k
from lift2k import errors
from lift2k.chunks import ChunkCodec

SHAPES = [(40, 50), (40, 50, 1), (40, 50, 3), (40, 50, 4), (40, 50, 7), (3, 40, 50), (2, 3, 20, 30), (2, 3, 20, 30, 3), (2, 20, 30, 1),
          (70,), (1, 1), (5, 1, 1, 1, 2)]


def chunk(random, shape, dtype, precision=None):
    flat = picture(random, (int(np.prod(shape[:-1])), shape[-1]), dtype, precision)
    return flat.reshape(shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_chunks(random, shape):
    for dtype, options in (("u1", {}), ("i1", {}), ("u2", {}), ("i2", {"style": "ht"}), ("u2", {"precision": 12}),
                           ("u2", {"precision": 7}), ("i4", {"precision": 20}), ("u4", {"precision": 24}), ("b1", {})):
        codec = ChunkCodec(**options)
        a = chunk(random, shape, "u1" if dtype == "b1" else dtype, options.get("precision"))
        a = (a > 99) if dtype == "b1" else a
        data = codec.encode(a)
        b = codec.decode(data, a.shape, a.dtype)
        assert b.shape == a.shape and b.dtype == a.dtype and np.array_equal(a, b)
        alone = data[:2] == b"\xff\x4f"
        assert alone == (shape in ((40, 50), (40, 50, 3), (40, 50, 4), (1, 1)) and dtype != "b1" and options.get("precision") != 7)
        if alone:
            assert np.array_equal(lift2k.decode(data), a)
        assert np.array_equal(codec.decode(codec.encode(a[::-1])), a[::-1])


def test_samples_can_be_said(random):
    a = chunk(random, (30, 40, 3), "u1")
    apart = ChunkCodec(samples=False)
    data = apart.encode(a)
    assert data[:7] == b"L2KS\x01\x03\x02" and np.array_equal(apart.decode(data), a)
    five = ChunkCodec(samples=True)
    many = chunk(random, (30, 40, 5), "u1")
    assert np.array_equal(lift2k.decode(five.encode(many)), many)
    assert ChunkCodec(**json.loads(json.dumps(apart.config()))).config() == apart.config()


def test_damaged_chunks_raise(random, rounds):
    codec = ChunkCodec()
    good = codec.encode(chunk(random, (4, 20, 30), "u2"))
    for bad in (b"", b"L2KS", good[:20], good[:-1], good + b"x", good[:40] + b"\xff" * 8 + good[48:], b"L2KS" + b"\x02" + good[5:],
                good[:7] + b"xx" + good[9:], good[:9] + b"\xff" * 8 + good[17:], b"junk"):
        with pytest.raises(errors.DataError):
            codec.decode(bad)
    with pytest.raises(errors.DataError, match="shape"):
        codec.decode(good, (4, 30, 20), np.uint16)
    for _ in range(rounds):
        bad = bytearray(good)
        bad[int(random.integers(0, 80))] = int(random.integers(256))
        try:
            codec.decode(bytes(bad))
        except errors.Error as failure:
            assert str(failure)


def test_wrong_options():
    for options, kind in (({"wavelett": 1}, TypeError), ({"version": 2}, ValueError), ({"format": "jp2"}, ValueError),
                          ({"levels": 77}, errors.ArgumentError)):
        with pytest.raises(kind):
            ChunkCodec(**options)


def test_numcodecs(random):
    numcodecs = pytest.importorskip("numcodecs")
    codec = numcodecs.get_codec({"id": "lift2k", "version": 1, "wavelet": "9/7", "psnr": [30, 45]})
    assert codec.get_config() == {"id": "lift2k", "version": 1, "wavelet": "9/7", "psnr": [30, 45]}
    assert numcodecs.get_codec(json.loads(json.dumps(codec.get_config()))) == codec
    assert pickle.loads(pickle.dumps(codec)) == codec
    a = chunk(random, (64, 64), "u1")
    error = np.mean((codec.decode(codec.encode(a)).astype(float) - a) ** 2)
    assert abs(10 * np.log10(255**2 / error) - 45) < 2
    exact = numcodecs.get_codec({"id": "lift2k"})
    out = np.empty_like(a)
    exact.decode(exact.encode(a), out=out)
    assert np.array_equal(out, a)


@pytest.mark.parametrize("format", [2, 3])
def test_zarr(random, tmp_path, format):
    zarr = pytest.importorskip("zarr")
    a = chunk(random, (5, 100, 130), "i2")
    if format == 3:
        from lift2k.zarr import Lift2kCodec

        how = {"serializer": Lift2kCodec(style="ht", levels=3), "compressors": None}
    else:
        from lift2k.numcodecs import Lift2k

        how = {"compressors": Lift2k(style="ht", levels=3), "filters": None}
    z = zarr.create_array(tmp_path / "a.zarr", shape=a.shape, chunks=(2, 64, 64), dtype=a.dtype, zarr_format=format, **how)
    z[...] = a
    again = zarr.open_array(tmp_path / "a.zarr", mode="r")
    assert np.array_equal(again[...], a) and np.array_equal(again[1:4, 50:70, 9], a[1:4, 50:70, 9])
    name, key = ("zarr.json", "codecs") if format == 3 else (".zarray", "compressor")
    found = json.loads((tmp_path / "a.zarr" / name).read_text())[key]
    expected = {"version": 1, "style": "ht", "levels": 3}
    assert found == ([{"name": "lift2k", "configuration": expected}] if format == 3 else {"id": "lift2k"} | expected)
    assert pickle.loads(pickle.dumps(again))[3, 4, 5] == a[3, 4, 5]
    chunk_file = next(p for p in (tmp_path / "a.zarr").rglob("*") if p.is_file() and not p.name.startswith((".", "zarr.json")))
    chunk_file.write_bytes(chunk_file.read_bytes()[:-9])
    with pytest.raises(errors.DataError):
        again[...]


def test_zarr_variants(random):
    zarr = pytest.importorskip("zarr")
    from lift2k.zarr import Lift2kCodec

    a = chunk(random, (90, 100, 3), "u1")
    z = zarr.create_array({}, shape=a.shape, chunks=(32, 50, 3), shards=(64, 100, 3), dtype="u1", serializer=Lift2kCodec(), compressors=None)
    z[...] = a
    assert np.array_equal(z[...], a)
    z = zarr.create_array({}, shape=a.shape, chunks=(90, 100, 3), dtype="u1", compressors=None, serializer=Lift2kCodec(),
                          filters=[zarr.codecs.TransposeCodec(order=(2, 0, 1))])
    z[...] = a
    assert np.array_equal(z[...], a)
    big = chunk(random, (50, 60), ">u2")
    z = zarr.create_array({}, shape=big.shape, chunks=(50, 60), dtype=">u2", compressors=None, serializer=Lift2kCodec())
    z[...] = big
    assert np.array_equal(z[...], big)
    for dtype, words in (("f4", "float32"), ("i8", "int64"), ("u4", "precision")):
        with pytest.raises(ValueError, match=words):
            zarr.create_array({}, shape=(9, 9), chunks=(9, 9), dtype=dtype, serializer=Lift2kCodec(), compressors=None)
    assert asyncio.iscoroutinefunction(Lift2kCodec()._encode_single)
