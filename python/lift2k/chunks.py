"""Chunks of an n-dimensional array as bytes, for the codecs of numcodecs and Zarr.

A chunk (height, width), or (height, width, samples) with 1 to 4 samples, is one codestream (ISO/IEC 15444-1) if that alone
gives back its shape and dtype. Any other chunk is a sequence of codestreams, the images of its last two dimensions, or of its
last three where the last has 1 to 4 samples, in C order. All integers are unsigned and little-endian:

    4 bytes     L2KS
    1 byte      1: the version of this layout
    1 byte      N, the number of the chunk's dimensions
    1 byte      2 or 3, how many of these an image has; 1-dimensional chunks count as (1, n)
    2 bytes     dtype in NumPy's letters: b1, u1, i1, u2, i2, u4 or i4
    N x 8       the chunk's shape
    M x 8       lengths in bytes of the M codestreams, M the product of the dimensions before an image's
    ...         the codestreams
"""

from __future__ import annotations

import functools
import os
import struct
import threading
from typing import Any

import numpy as np

from . import _arrays, _decoder, _encoder, errors

MAGIC = b"L2KS"
VERSION = 1
LETTERS = (b"b1", b"u1", b"i1", b"u2", b"i2", b"u4", b"i4")
_HEAD = struct.Struct("<4s3B2s")
_kept = threading.local()


def _keep(coder: Any, **coding: Any) -> Any:
    """A coder of this thread, kept with its memory for the next chunk."""
    key = coder, repr(sorted(coding.items()))
    if getattr(_kept, "process", None) != os.getpid():
        _kept.coders, _kept.process = {}, os.getpid()
    if key not in _kept.coders:
        if len(_kept.coders) >= 8:
            _kept.coders.clear()
        _kept.coders[key] = coder(**coding)
    return _kept.coders[key]


def _image_ndim(shape: tuple[int, ...], samples: bool | None) -> int:
    if samples is None:
        samples = len(shape) >= 3 and 1 <= shape[-1] <= 4
    if samples and len(shape) < 3:
        raise ValueError(f"a chunk of shape {shape} has no dimension of samples")
    return 3 if samples else min(len(shape), 2)


class ChunkCodec:
    """Options of the encoder, as in encode(), which stay in an array's metadata; JSON must be able to express them.

    samples: whether the last dimension is that of an image's samples; None: if it has 1 to 4, of at least three dimensions.
    threads, of encoder and decoder, are not in the metadata: arrays have many chunks, on threads of their own.
    """

    def __init__(self, *, version: int = VERSION, samples: bool | None = None, threads: int = 1, **coding: Any) -> None:
        if version != VERSION:
            raise ValueError(f"version {version} of the codec's metadata is not known here, {VERSION} is")
        if "format" in coding:
            raise ValueError("chunks are bare codestreams: there is no format to choose")
        self.samples, self.threads = samples, threads
        self.coding = {name: tuple(v) if isinstance(v, list) else v for name, v in coding.items()}
        self._plain, self._description = _encoder.split(self.coding, ChunkCodec)
        self._own_encoder()  # raises for options that do not exist

    def config(self) -> dict[str, Any]:
        """The arguments of ChunkCodec(**config), for metadata."""
        plain = {name: _plain(v) for name, v in self.coding.items()}
        return {"version": VERSION} | ({} if self.samples is None else {"samples": self.samples}) | plain

    def _own_encoder(self) -> _encoder.Encoder:
        return _keep(_encoder.Encoder, threads=self.threads, format="codestream", **self._plain)  # type: ignore[no-any-return]

    def _own_decoder(self) -> _decoder.Decoder:
        return _keep(_decoder.Decoder, threads=self.threads, strict=True)  # type: ignore[no-any-return]

    def encode(self, array: np.ndarray[Any, Any]) -> bytes:
        """A chunk as bytes."""
        if array.ndim < 1 or array.size == 0:
            raise ValueError(f"chunks of shape {array.shape} are not possible")
        dtype = array.dtype.newbyteorder("=")
        ndim = _image_ndim(array.shape, self.samples)
        if array.ndim == ndim and array.shape[2:] != (1,) and self._alone(dtype) and ndim > 1:
            return self._own_encoder().encode(array, **self._description)
        images = array.reshape(-1, *(array.shape[-ndim:] if ndim > 1 else (1, array.shape[0])))
        files = self._own_encoder().encode_many(list(images), **self._description)
        head = _HEAD.pack(MAGIC, VERSION, array.ndim, max(ndim, 2), dtype.str[1:].encode())
        lengths = [len(file) for file in files]
        return b"".join([head, struct.pack(f"<{array.ndim}Q{len(lengths)}Q", *array.shape, *lengths), *files])

    def _alone(self, dtype: np.dtype[Any]) -> bool:
        """Whether the codestream alone determines this dtype."""
        precision = self._description.get("precision")
        if precision is None or not isinstance(precision, int):
            return dtype.kind != "b" and precision is None
        return _arrays.dtype_of([_arrays.Wanted(1, 1, precision, dtype.kind == "i")]) == dtype

    def decode(self, data: Any, shape: tuple[int, ...] | None = None, dtype: Any = None) -> Any:
        """The chunk; refuses one of another shape or dtype."""
        view = memoryview(data).cast("B")
        if view[:4] == MAGIC:
            result = self._sequence(view)
        else:
            result = self._own_decoder().decode(view)
        if (shape is not None and result.shape != tuple(shape)) or (dtype is not None and result.dtype != dtype):
            raise errors.DataError(f"the chunk is {result.dtype} of shape {result.shape}, not {dtype} of shape {shape}")
        return result

    def _sequence(self, view: memoryview) -> Any:
        try:
            _, version, ndim, image_ndim, letters = _HEAD.unpack_from(view)
            if version != 1 or letters not in LETTERS or image_ndim not in (2, 3) or ndim < max(1, image_ndim - 1):
                raise errors.CorruptError("the head of the chunk is damaged, or of a later version")
            shape = struct.unpack_from(f"<{ndim}Q", view, _HEAD.size)
            image = shape[-image_ndim:] if ndim >= image_ndim else (1, shape[0])
            count = int(np.prod(shape[:-image_ndim], dtype=object)) if ndim > image_ndim else 1
            start = _HEAD.size + 8 * ndim
            if count > len(view) // 8:
                raise errors.CorruptError("the chunk has too few bytes for its codestreams")
            lengths = struct.unpack_from(f"<{count}Q", view, start)
        except struct.error as failure:
            raise errors.CorruptError(f"the head of the chunk is damaged: {failure}") from None
        start += 8 * count
        if start + sum(lengths) != len(view):
            raise errors.CorruptError("the chunk has not as many bytes as it says")
        return self._images(view, start, lengths, (count, *image), letters.decode()).reshape(shape)

    def _images(self, view: memoryview, start: int, lengths: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        files = []
        for length in lengths:
            files.append(view[start:start + length])
            start += length
        decoder = self._own_decoder()
        for file in files[:1]:  # before allocating memory: all images must be like the first
            decoder.open(file)
            first = decoder.wanted()
            if {(p.height, p.width) for p in first} != {shape[1:3]} or len(first) != (shape[3] if len(shape) == 4 else 1):
                raise errors.CorruptError(f"an image of the chunk is not of shape {shape[1:]}")
        result = np.empty(shape, dtype)
        decoder.decode_many(files, out=list(result))
        return result


class Configured:
    """What the codecs of numcodecs and Zarr share."""

    def __init__(self, **options: Any) -> None:
        self.chunks = ChunkCodec(**options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.chunks.config().items())})"

    def __reduce__(self) -> Any:
        return functools.partial(type(self), threads=self.chunks.threads, **self.chunks.config()), ()


def _plain(value: Any) -> Any:
    """As JSON gives it back."""
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value
