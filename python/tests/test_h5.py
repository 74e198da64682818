"""HDF5 chunks: the plugin, which another build of the tree has made, and hdf5plugin's filter of the same number, each in a
process of its own, on files of the other; chunks past the filter."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import picture

import lift2k
from lift2k import errors, h5

h5py = pytest.importorskip("h5py")
ROOT = Path(__file__).parents[2]
PLUGIN = Path(os.environ.get("LIFT2K_HDF5", ROOT / "build/plugins/hdf5"))
SHAPES = [(1,), (70,), (1, 70), (70, 1), (1, 70, 1, 1), (40, 50), (40, 1, 50), (40, 50, 3), (60, 3), (700, 30)]
TYPES = ["u1", "i1", "u2", "i2"]

# read: all datasets equal the plain ones; write: makes them.
PROGRAM = """
import sys
import numpy as np
import h5py
if sys.argv[1] == "theirs":
    import hdf5plugin
assert h5py.h5z.filter_avail(32033)
count = 0
with h5py.File(sys.argv[3], "a") as file:
    for name, plain in file["plain"].items():
        if sys.argv[2] == "write":
            set = file.create_dataset(name, data=plain, chunks=plain.shape, compression=32033)
            assert set.id.read_direct_chunk((0,) * plain.ndim)[0] == 0, name
            assert (b"lift2k" in set.id.get_create_plist().get_filter(0)[3]) == (sys.argv[1] == "ours")
        elif name in file:
            assert np.array_equal(file[name], plain), name
            count += 1
print(sys.argv[2], count)
"""


def run(program, *arguments):
    environment = os.environ | {"HDF5_PLUGIN_PATH": str(PLUGIN) if arguments[0] == "ours" else ""}
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, env=environment,
                          timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


def file_of(random, path, types, shapes):
    with h5py.File(path, "w") as file:
        for shape in shapes:
            for dtype in types:
                rows = picture(random, (int(np.prod(shape[:-1])), shape[-1]), dtype, 24 if dtype[-1] == "4" else None)
                file[f"plain/{dtype}{shape}"] = rows.reshape(shape)
    return path


def need_plugin():
    if not list(PLUGIN.glob("libh5lift2k.*")):
        pytest.skip(f"no libh5lift2k in {PLUGIN}")


@pytest.mark.parametrize("writer, reader", [("ours", "theirs"), ("theirs", "ours"), ("ours", "ours")])
def test_both_filters(random, tmp_path, writer, reader):
    need_plugin()
    if writer != reader and not hasattr(pytest.importorskip("hdf5plugin"), "Htj2k"):
        pytest.skip("hdf5plugin is older than 7.1")
    more = writer == reader
    path = file_of(random, tmp_path / "a.h5", TYPES + ["u4", "i4", ">i2"] * more, SHAPES + [(3, 20, 30), (2, 3, 10, 20)] * more)
    run(PROGRAM, writer, "write", path)
    assert run(PROGRAM, reader, "read", path) == f"read {len(SHAPES) * len(TYPES) if not more else 84}\n"


def test_chunks_past_the_filter(random, tmp_path):
    need_plugin()
    path = file_of(random, tmp_path / "a.h5", ["u1", "i2", ">u2", "i4"], SHAPES)
    run(PROGRAM, "ours", "write", path)
    with h5py.File(path) as file:
        for name in file["plain"]:
            (chunk,) = h5.read_chunks(file[name])
            assert chunk.dtype == file[name].dtype.newbyteorder("=") and np.array_equal(chunk, file["plain"][name])
        with pytest.raises(ValueError, match="filters"):
            h5.read_chunks(file["plain/u1(70,)"])
    with h5py.File(path, "a") as file:  # what others may put there
        a = picture(random, (40, 50), "u1", 7)
        set = file["i2(40, 50)"]
        set.id.write_direct_chunk((0, 0), lift2k.encode(a, format="codestream", precision=7))
        (chunk,) = h5.read_chunks(set, [(0, 0)])
        assert chunk.dtype == np.int16 and np.array_equal(chunk, a)
        for bad in (b"junk", lift2k.encode(a[1:])):
            set.id.write_direct_chunk((0, 0), bad)
            with pytest.raises(errors.Error):
                h5.read_chunks(set)
        set.id.write_direct_chunk((0, 0), a.astype("<i2").tobytes(), filter_mask=1)
    with h5py.File(path) as file:  # as it is: the library forgets the mask of a chunk that it has just written
        assert np.array_equal(h5.read_chunks(file["i2(40, 50)"]), [a])


def test_compression():
    assert h5.compression() == {"compression": 32033, "compression_opts": None}
    assert h5.compression(psnr=50.5)["compression_opts"] == (0, 0, 0, 0, 0, 2, 50500)
    with pytest.raises(ValueError, match="exclude"):
        h5.compression(ratio=2, psnr=50)
