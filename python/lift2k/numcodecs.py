"""The codec `lift2k` of numcodecs, for Zarr's format 2 and other users of such codecs. Found by its entry point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray_like, ndarray_copy

from .chunks import Configured


class Lift2k(Configured, Codec):  # type: ignore[misc]
    """JPEG 2000 and HTJ2K; options as in lift2k.encode(), lossless without. See lift2k.chunks for what chunks are."""

    codec_id = "lift2k"

    def encode(self, buf: Any) -> bytes:
        return self.chunks.encode(np.asarray(ensure_ndarray_like(buf)))

    def decode(self, buf: Any, out: Any = None) -> Any:
        result = self.chunks.decode(np.asarray(ensure_ndarray_like(buf)).reshape(-1).view(np.uint8))
        return result if out is None else ndarray_copy(result, out)

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, **self.chunks.config()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Lift2k:
        return cls(**{name: value for name, value in config.items() if name != "id"})
