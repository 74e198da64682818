"""mypy finds no error in the package, and those of code that uses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[2]
CODE = '''
from typing import Any, assert_type
import numpy as np
import lift2k

Array = np.ndarray[Any, np.dtype[Any]]
data = lift2k.encode(np.zeros((9, 9), np.uint8), levels=3, style=["bypass"], profile="cinema2k")
lift2k.encode(np.zeros((9, 9), np.uint8), profile="cinema_2k")  # wrong
lift2k.encode(np.zeros((9, 9), np.uint8), level=3)  # wrong
array = lift2k.decode(data)
assert_type(array, Array | Any)
array.shape
array.shapes  # wrong
lift2k.Decoder().decode(data).shapes  # wrong
lift2k.decode(data, regoin=(0, 0, 1, 1))  # wrong
lift2k.decode(data, region=(0, 0, 1))  # wrong
for piece in lift2k.rows(data, region=(0, 0, 1, 1), reduce=1):
    assert_type(piece, Array | Any)
    piece.shapes  # wrong
lift2k.rows(data, rgb8=True)  # wrong
planes: list[Array] = list(lift2k.decode(data))
with lift2k.open(data) as img:
    assert_type(img[1:2], Array)
    assert_type(img[1:2, ..., ::-1], Array)
    assert_type(img[...], Array)
    assert_type(img[3], Array | Any)
    assert_type(img[1:3, 2, np.int16(1)], Array | Any)
    assert_type(img[img.tiles[0].slices], Any)
    img.read().shapes  # wrong
    img[1:2].shapes  # wrong
    img["1"]  # wrong
    img[1.5]  # wrong
    img[None]  # wrong
    img[[1, 2]]  # wrong
    lift2k.encode(img[:3], precision=8)
for frame in lift2k.frames([b""], backend="cuda", limit_samples=1):
    assert_type(frame, lift2k.VideoFrame)
    assert_type(frame.planes, list[Array])
    frame.plane  # wrong
lift2k.frames(data, backend="opencl")  # wrong
lift2k.frames(5)  # wrong
'''


def test_types(tmp_path):
    (tmp_path / "code.py").write_text(CODE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path / "cache",
         "--no-pretty", "--no-error-summary", ROOT / "python/lift2k", tmp_path / "code.py"],
        capture_output=True, text=True, env=os.environ | {"MYPYPATH": str(ROOT / "python")}, cwd=ROOT, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    found = {int(line.split(":")[1]) for line in errors if line.startswith(str(tmp_path / "code.py"))}
    wrong = {number for number, line in enumerate(CODE.splitlines(), 1) if "# wrong" in line}
    others = [line for line in errors if not line.startswith(str(tmp_path / "code.py"))]
    assert (found, others, done.stderr) == (wrong, [], ""), done.stdout
