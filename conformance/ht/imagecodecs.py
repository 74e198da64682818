#!/usr/bin/env python3
"""imagecodecs.py FOLDER: decodes the files that `conformance_ht --keep FOLDER` wrote with the OpenJPH inside the PyPI
package imagecodecs, and compares. It knows components of one size, precision and sign; others are counted as refused."""
import pathlib
import sys

import imagecodecs
import numpy


def expected(path):
    """Tolerance, and the planes, or None where they differ in kind."""
    with open(path, "rb") as f:
        words = [int(w) for w in f.readline().split()]
        tolerance, count, kinds = words[0], words[1], [tuple(words[3 + 4 * c : 7 + 4 * c]) for c in range(words[1])]
        width, height, _, _ = kinds[0]
        if len(set(kinds)) != 1:
            return tolerance, None
        planes = numpy.fromfile(f, numpy.int32, count * width * height)
    return tolerance, planes.reshape(count, height, width)


def as_planes(array, shape):
    """Components first, as imagecodecs may give them last."""
    if array.ndim == 2:
        array = array[None]
    return array if array.shape == shape else numpy.moveaxis(array, -1, 0)


def distance(got, want):
    """The greatest difference; None for another shape. imagecodecs does not clamp: what exceeds the type wraps around."""
    if got.shape != want.shape:
        return None
    limits = numpy.iinfo(got.dtype)
    got = got.astype(numpy.int64)
    wrapped = ((want == limits.max) & (got < limits.min // 2 + limits.max // 2)) | (
        (want == limits.min) & (got > limits.min // 2 + limits.max // 2)
    )
    return int(abs(numpy.where(wrapped, 0, got - want)).max())


failures = compared = refused = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("[0-9]*.raw")):
    tolerance, want = expected(path)
    got = None
    if want is not None:
        try:
            got = as_planes(imagecodecs.htj2k_decode(path.with_suffix(".j2c").read_bytes()), want.shape)
        except (imagecodecs.Htj2kError, ValueError, NotImplementedError) as error:
            if "--verbose" in sys.argv:
                print(path.stem, "refused:", error)
    if got is None:
        refused += 1
        continue
    compared += 1
    worst = distance(got, want)
    if worst is None or worst > tolerance:
        failures += 1
        print("FAIL", path.stem, got.shape, got.dtype, "greatest difference", worst, "allowed", tolerance)
print(f"imagecodecs {imagecodecs.__version__}, {imagecodecs.htj2k_version()}: {compared} compared, {refused} refused, "
      f"{failures} failures")
sys.exit(failures > 0)
