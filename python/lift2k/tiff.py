"""JPEG 2000 in TIFF files, with tifffile."""

from __future__ import annotations

from typing import Any

import numpy as np
import tifffile

from . import _encoder
from ._decoder import Decoder
from .chunks import _keep

SCHEMES = (34712, 33003, 33005)  # the last two are Aperio's: YCbCr and RGB


def decode(data: Any, **_options: Any) -> Any:
    """A strip or tile; samples of smaller components repeat. Colours remain: YCbCr is not converted."""
    planes = _keep(Decoder, threads=1, strict=True).decode(data)
    if not isinstance(planes, list):
        return planes
    height, width = planes[0].shape
    return np.stack([p[np.arange(height) * p.shape[0] // height][:, np.arange(width) * p.shape[1] // width] for p in planes], 2)


def encode(data: Any, codecformat: int = 0, bitspersample: int | None = None, **coding: Any) -> bytes:
    """As a codestream; `coding` is tifffile's compressionargs: options of lift2k.encode()."""
    plain, description = _encoder.split(coding, encode)
    if bitspersample:
        description["precision"] = bitspersample
    return _keep(_encoder.Encoder, threads=1, format="codestream", **plain).encode(data, **description)  # type: ignore[no-any-return]


def register() -> None:
    """From now on tifffile codes JPEG 2000 with lift2k instead of imagecodecs, HT included."""
    for codecs, function in ((tifffile.TIFF.DECOMPRESSORS, decode), (tifffile.TIFF.COMPRESSORS, encode)):
        for scheme in SCHEMES:
            codecs._codecs[scheme] = function
