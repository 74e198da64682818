"""Dask with the real package: blocks are tiles, on threads and on a LocalCluster of processes."""

import numpy as np
import pytest
from conftest import picture

import lift2k
from lift2k import errors

pytest.importorskip("dask.array")
import dask  # noqa: E402
import dask.array as da  # noqa: E402

import lift2k.dask as ld  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")


def test_reading(random, tmp_path):
    for shape in ((301, 207), (150, 222, 3)):
        a = picture(random, shape, np.uint16)
        path = tmp_path / "a.jp2"
        lift2k.write(path, a, tile_width=64, tile_height=50, levels=3, origin=(70, 20), tile_x0=10, tile_y0=3)
        x = ld.from_file(path)
        assert x.shape == a.shape and x.dtype == a.dtype and x.chunks[1][0] == 4 and x.chunks[0][:2] == (33, 50)
        assert np.array_equal(x.compute(), a)
        assert np.array_equal(x[100:140:3, 5:9].compute(), a[100:140:3, 5:9])
        assert np.array_equal(ld.from_file(path, level=2).compute(), lift2k.decode(path, reduce=2))
        assert np.array_equal(ld.from_file(path, chunks=100).compute(scheduler="processes", num_workers=2), a)
        assert (x.max().compute(), x.astype(float).mean().compute().round(6)) == (a.max(), a.mean().round(6))
        assert ld.from_file(path, level=3, chunks=-1).npartitions == 1


@pytest.mark.parametrize("coding", [
    {}, {"tlm": True, "tile_parts": "resolution", "progression": "RPCL"}, {"format": "codestream", "plt": True, "sop": True},
    {"style": "ht", "tlm": True}, {"wavelet": "9/7"}, {"tile_x0": 3, "tile_y0": 10, "origin": (30, 11)},
    {"style": "ht", "wavelet": "9/7", "step": 1 / 512}, {"levels": 2, "precincts": [(64, 64)]}], ids=str)
def test_writing(random, tmp_path, coding):
    """The file equals that of a single process."""
    y, x = np.mgrid[0:130, 0:170]
    smooth = np.stack([(y + x) // 2, y, 200 - y], 2).astype(np.uint8)
    coding = {"tile_width": 64, "tile_height": 48} | coding
    suffix = ".jph" if "style" in coding else ".j2k" if "format" in coding else ".jp2"
    mine, theirs = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for a in (smooth, picture(random, (230, 150)), picture(random, (100, 250, 3))):
        ld.to_file(mine, da.from_array(a, chunks=(70, 60, -1)[:a.ndim]), batch=5, **coding)
        lift2k.write(theirs, a, by_rows=True, **coding)
        assert np.array_equal(lift2k.decode(mine, strict=True), lift2k.decode(theirs))
        if coding.get("wavelet") != "9/7":
            assert np.array_equal(lift2k.decode(mine), a)
        # Other pictures may need a third guard bit, there for a row of tiles. HT: here CAP's bound is that of any tile.
        if a is smooth and "style" not in coding:
            assert mine.read_bytes() == theirs.read_bytes()
        assert abs(mine.stat().st_size - theirs.stat().st_size) < 500
        h = lift2k.open(mine).header
        assert (h.tile_width, h.tiles_across * h.tiles_down) == (64, len(lift2k.open(theirs).tiles))


def test_third_guard_bit(tmp_path):
    """Tiles state a quantisation that differs from the main header's."""
    a = np.random.default_rng(1).choice(np.array([0, 255], np.uint8), (192, 192, 3))
    a[:64, :64] = 128
    ld.to_file(tmp_path / "a.j2k", da.from_array(a, chunks=(64, 64, 3)), tile_width=64, tile_height=64, levels=5)
    data = (tmp_path / "a.j2k").read_bytes()
    assert data.count(b"\xff\x5c") > 1  # QCD in tile-part headers
    assert np.array_equal(lift2k.decode(data, strict=True), a)


def test_targets_and_others_read_it(random, tmp_path):
    a = picture(random, (200, 200, 3))
    for coding in ({"ratio": [30, 10]}, {"ratio": 10, "style": "ht"}):
        path = tmp_path / ("a.jph" if "style" in coding else "a.jp2")
        ld.to_file(path, da.from_array(a, chunks=(100, 100, 3)), tile_width=100, tile_height=100, wavelet="9/7", **coding)
        assert path.stat().st_size < a.nbytes / 10 * 1.1
        b = lift2k.decode(path, strict=True)
        theirs = pytest.importorskip("imagecodecs").jpeg2k_decode(path.read_bytes())
        assert np.abs(b.astype(int) - theirs).max() <= 1


def test_failures(random, tmp_path):
    a = picture(random, (100, 100))

    def fails(block):
        raise KeyError("my own")

    x = da.from_array(a, chunks=(50, 50))
    for array, options, kind in ((x.map_blocks(fails, dtype=a.dtype), {}, KeyError), (x, {"levels": 99}, errors.ArgumentError),
                                 (x, {"tile_x0": 5}, ValueError), (x.astype(float), {}, TypeError),
                                 (x, {"progress": lambda done: False}, errors.CancelledError)):
        with pytest.raises(kind):
            ld.to_file(tmp_path / "a.jp2", array, **options)
    assert not list(tmp_path.iterdir())
    (tmp_path / "b.jp2").write_bytes(b"junk" * 9)
    with pytest.raises(errors.FormatError):
        ld.from_file(tmp_path / "b.jp2")


def test_cluster(random, tmp_path):
    distributed = pytest.importorskip("distributed")
    a = picture(random, (500, 400, 3))
    with dask.config.set({"distributed.worker.daemon": True}), distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, distributed.Client(cluster):
        x = da.from_array(a, chunks=(128, 128, 3)).map_blocks(np.bitwise_xor, 255, dtype=a.dtype)
        ld.to_file(tmp_path / "a.jp2", x, tile_width=128, tile_height=128, tlm=True)
        assert np.array_equal(lift2k.decode(tmp_path / "a.jp2"), a ^ 255)
        y = ld.from_file(tmp_path / "a.jp2")
        assert np.array_equal(y.compute(), a ^ 255)
        ld.to_file(tmp_path / "b.jph", y[::2, ::2], style="ht")  # from a file to a file, without the picture here
    assert np.array_equal(lift2k.decode(tmp_path / "b.jph"), (a ^ 255)[::2, ::2])
