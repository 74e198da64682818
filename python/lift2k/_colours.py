"""Decoded samples as 8-bit gray or sRGB: what `lift2k decode --rgb8` shows, by the command's own code."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _arrays, _call, errors
from ._native import ffi, lib


class Conversion:
    """The conversion of an l2k_image's samples to gray or sRGB, with opacity last if it has any. Only __init__ needs the
    l2k_image."""

    def __init__(self, image: Any, reduce: int) -> None:
        native = lib.l2k_py_rgb8_new(image, reduce)
        said, assumed = (ffi.string(lib.l2k_py_line(severity)).decode()
                         for severity in (lib.L2K_SEVERITY_ERROR, lib.L2K_SEVERITY_WARNING))
        if native == ffi.NULL:
            raise errors.UnsupportedError(said)
        if assumed:
            warnings.warn(assumed, errors.Lift2kWarning, stacklevel=_call.outside())
        self.native = ffi.gc(native, lib.l2k_py_rgb8_free)
        shape = ffi.new("uint32_t[3]")
        lib.l2k_py_rgb8_shape(native, shape)
        self.shape = tuple(shape)

    def __call__(self, samples: Any) -> _arrays.Array:
        planes, result = _arrays.planes_of(samples), np.empty(self.shape, np.uint8)
        lib.l2k_py_rgb8_convert(self.native, planes.native(), ffi.from_buffer("uint8_t[]", result))
        return result[..., 0] if self.shape[2] == 1 else result
