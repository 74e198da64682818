"""The codec `lift2k` of Zarr 3: the array-to-bytes codec of a chunk. Found by its entry point."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from zarr.abc.codec import ArrayBytesCodec
from zarr.registry import register_codec

from .chunks import LETTERS, Configured


class Lift2kCodec(Configured, ArrayBytesCodec):  # type: ignore[misc]
    """JPEG 2000 and HTJ2K; options as in lift2k.encode(), lossless without. See lift2k.chunks for what chunks are.

    zarr.create_array(..., serializer=Lift2kCodec(wavelet="9/7", psnr=50), compressors=None)
    """

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Lift2kCodec:
        if data["name"] != "lift2k":
            raise ValueError(f"the codec is {data['name']}, not lift2k")
        return cls(**data.get("configuration", {}))

    def to_dict(self) -> dict[str, Any]:
        return {"name": "lift2k", "configuration": self.chunks.config()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lift2kCodec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        native = dtype.to_native_dtype() if hasattr(dtype, "to_native_dtype") else np.dtype(dtype)
        if native.str[1:].encode() not in LETTERS:
            raise ValueError(f"lift2k codes integers of 8, 16 or 32 bits, not {native}")
        if native.itemsize == 4 and "precision" not in self.chunks.coding:
            raise ValueError(f"precision= is needed for {native}: the bits that samples use, at most 24")
        if not shape:
            raise ValueError("an array without dimensions is no picture")

    async def _decode_single(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

    async def _encode_single(self, chunk_array: Any, chunk_spec: Any) -> Any:
        return await asyncio.to_thread(self._encode_sync, chunk_array, chunk_spec)

    def _decode_sync(self, chunk_bytes: Any, chunk_spec: Any) -> Any:
        dtype = chunk_spec.dtype.to_native_dtype().newbyteorder("=")
        array = self.chunks.decode(chunk_bytes.as_array_like(), chunk_spec.shape, dtype)
        return chunk_spec.prototype.nd_buffer.from_ndarray_like(array)

    def _encode_sync(self, chunk_array: Any, chunk_spec: Any) -> Any:
        data = self.chunks.encode(chunk_array.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(data)

    def compute_encoded_size(self, input_byte_length: int, _chunk_spec: Any) -> int:
        raise NotImplementedError("it depends on the samples")


register_codec("lift2k", Lift2kCodec)
