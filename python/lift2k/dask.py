"""Dask: a file as an array whose blocks are tiles, and a file from such an array, its tiles encoded wherever Dask works."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Unpack

import dask
import dask.array as da
import numpy as np

from . import _call, _encoder, _file, errors, options
from ._native import ffi, lib

# ---- Reading -------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def _opened(path: str, state: Any, level: int, coding: tuple[tuple[str, Any], ...]) -> _file.Image:
    """A process opens a file once; its threads share it."""
    img = _file.Image(path, **dict(coding))
    return img.level(level) if level else img


def _open(path: str, level: int, coding: tuple[tuple[str, Any], ...]) -> _file.Image:
    facts = os.stat(path)
    return _opened(path, (facts.st_ino, facts.st_mtime_ns, facts.st_size), level, coding)


def _block(path: str, level: int, coding: tuple[tuple[str, Any], ...], block_info: Any = None) -> Any:
    location = block_info[None]["array-location"]
    return _open(path, level, coding)[tuple(slice(*ends) for ends in location)]


def _tile_chunks(img: _file.Image) -> tuple[tuple[int, ...], ...]:
    """The sizes of tiles, without those that are empty at a level."""
    tiles, across = img.tiles, img.header.tiles_across
    columns = [tile.slices[1] for tile in tiles[:across] if tile.slices]
    rows = [tile.slices[0] for tile in tiles[::across] if tile.slices]
    sizes = [tuple(s.stop - s.start for s in part if s.stop > s.start) for part in (rows, columns)]
    return (*sizes, *((n,) for n in img.shape[2:]))


def from_file(path: str | os.PathLike[str], *, level: int = 0, chunks: Any = None,
              **coding: Unpack[options.DecoderOptions]) -> da.Array:
    """A file as a dask.array, (height, width) or (height, width, components). Blocks are the tiles at that level unless
    `chunks` says otherwise; a task decodes one, with one thread unless options say otherwise. Every process that works on
    it must see the file under this name."""
    path = os.path.abspath(path)
    frozen = tuple(sorted(({"threads": 1} | dict(coding)).items()))
    img = _open(path, level, frozen)
    if not img.shape:
        raise ValueError("components differ in size: they are no array")
    sizes = _tile_chunks(img) if chunks is None else da.core.normalize_chunks(chunks, img.shape, dtype=img.dtype)
    name = "lift2k-" + dask.base.tokenize(path, os.stat(path).st_mtime_ns, level, frozen, sizes)
    return da.map_blocks(_block, path, level, frozen, chunks=sizes, dtype=img.dtype, meta=np.empty((0,) * img.ndim, img.dtype),
                         name=name)


# ---- Writing -------------------------------------------------------------------------------------------------------


class _Grid(NamedTuple):
    """Image area and tiles (B.3)."""

    x0: int
    y0: int
    x1: int
    y1: int
    tile_x0: int
    tile_y0: int
    width: int
    height: int

    def sizes(self, start: int, stop: int, first: int, step: int) -> tuple[int, ...]:
        edges = [start, *range(first + step, stop, step), stop]
        return tuple(b - a for a, b in zip(edges, edges[1:]))


class _Head(io.BytesIO):
    """Takes what is before the first tile-part of a file, and no more."""

    def write(self, data: Any) -> int:
        super().write(data)
        raise EOFError


def _head_of(shape: Sequence[int], dtype: Any, coding: dict[str, Any], description: dict[str, Any]) -> bytes:
    """The head that the library writes with the first row of tiles, for an image of zeros."""
    zeros = np.broadcast_to(np.zeros((1,) * len(shape), dtype), shape)
    encoder, head = _encoder.Encoder(**coding), _Head()
    with contextlib.suppress(EOFError):
        _encoder._write_rows(encoder, _encoder._File(head, encoder.listener), zeros, shape, description)
    return head.getvalue()


def _segments(codestream: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Marker segments of a header (A.1.4): marker, start, end, up to SOT or SOD."""
    while True:
        (marker,) = struct.unpack_from(">H", codestream, at)
        if marker in (0xFF90, 0xFF93):
            return
        end = at + 2 + struct.unpack_from(">H", codestream, at + 2)[0]
        yield marker, at, end
        at = end


def _quantisation(header: bytes, start: int) -> bytes:
    """QCD and all QCC (A.6.4, A.6.5)."""
    return b"".join(header[a:b] for marker, a, b in _segments(header, start) if marker in (0xFF5C, 0xFF5D))


def _tile(block: Any, index: int, origin: tuple[int, int], quantisation: bytes, coding: dict[str, Any],
          description: dict[str, Any]) -> tuple[bytes, list[int]]:
    """Tile-parts of a tile, and their lengths. The tile is encoded as an image of its own at its place on the reference
    grid, so that its code, except for its number, is valid in the whole image."""
    file = _encoder.Encoder(**coding).encode(np.ascontiguousarray(block), **description, origin=origin)
    at = 2
    for _, _, end in _segments(file, 2):
        at = end
    mine = _quantisation(file, 2)
    extra = b"" if mine == quantisation else mine  # another number of guard bits, or steps of its own
    parts, lengths = [], []
    while file[at:at + 2] == b"\xff\x90":
        _, _, _, length, number, count = struct.unpack_from(">HHHIBB", file, at)  # SOT (A.4.2)
        parts.append(struct.pack(">HHHIBB", 0xFF90, 10, index, length + len(extra), number, count) + extra)
        parts.append(file[at + 12:at + length])
        lengths.append(length + len(extra))
        at, extra = at + length, b""
    return b"".join(parts), lengths


def _complete(head: bytearray, start: int, lengths: list[int], codestream_bytes: int) -> None:
    """Completes the head: TLM (A.7.1) and the length of the codestream's box (I.4)."""
    left = iter(lengths)
    for marker, at, end in _segments(bytes(head) + b"\xff\x90", start + 2):
        if marker == 0xFF55:
            index_bytes = head[at + 5] >> 4 & 3
            for entry in range(at + 6, end, index_bytes + 4):
                struct.pack_into(">I", head, entry + index_bytes, next(left))
    if start > 0 and codestream_bytes + 8 < 1 << 32:
        struct.pack_into(">I", head, start - 8, codestream_bytes + 8)


def _plan(array: da.Array, coding: dict[str, Any], origin: tuple[int, int]) -> tuple[_Grid, da.Array]:
    """The tiles, and the array with these as blocks."""
    if array.ndim not in (2, 3):
        raise ValueError(f"an array of shape {array.shape} is neither (height, width) nor (height, width, components)")
    (x0, y0), (height, width) = origin, array.shape[:2]
    grid = _Grid(x0, y0, x0 + width, y0 + height, coding.get("tile_x0", 0), coding.get("tile_y0", 0),
                 coding.get("tile_width") or 1024, coding.get("tile_height") or 1024)
    if not (grid.tile_x0 <= x0 < grid.tile_x0 + grid.width and grid.tile_y0 <= y0 < grid.tile_y0 + grid.height):
        raise ValueError("the first tile must contain the image's first pixel")
    rows = grid.sizes(grid.y0, grid.y1, grid.tile_y0, grid.height)
    columns = grid.sizes(grid.x0, grid.x1, grid.tile_x0, grid.width)
    return grid, array.rechunk((rows, columns, *((n,) for n in array.shape[2:])))


def _tasks(array: da.Array, grid: _Grid, quantisation: bytes, coding: dict[str, Any], description: dict[str, Any]) -> list[Any]:
    blocks = array.to_delayed()
    blocks = blocks if array.ndim == 2 else blocks[:, :, 0]
    coding = {"threads": 1} | coding | {"format": "codestream", "tlm": False, "tile_width": grid.width, "tile_height": grid.height}
    result: list[Any] = []
    encode = dask.delayed(_tile, pure=False)
    for q, row in enumerate(blocks):
        for p, block in enumerate(row):
            left, top = grid.tile_x0 + p * grid.width, grid.tile_y0 + q * grid.height
            place = {"tile_x0": left, "tile_y0": top}
            result.append(encode(block, len(result), (max(left, grid.x0), max(top, grid.y0)), quantisation, coding | place,
                                 description))
    return result


def to_file(path: str | os.PathLike[str], array: da.Array, *, batch: int = 256, progress: _call.Progress = None,
            **arguments: Unpack[options.EncodeOptions]) -> None:
    """Encodes a dask.array to a file: each tile (1024 x 1024 unless options say otherwise) is a task for Dask, on threads,
    processes or a cluster, which needs lift2k but not the file. `batch` tiles at a time are computed, collected and written
    in their order; the file appears when it is complete.

    The file is that of write() by rows, except that targets (ratio, psnr) hold for each tile separately, and that tiles
    state what differs from the main header: a third guard bit, or quantiser steps. Blocks that are tiles save copies.
    """
    coding, description = _encoder.split(arguments, to_file, path)
    grid, array = _plan(array, coding, description.pop("origin", (0, 0)))
    if "subsampling" in description:
        raise ValueError("components of an array cannot be sub-sampled")
    whole = coding | {"tile_width": grid.width, "tile_height": grid.height}
    head = bytearray(_head_of(array.shape, array.dtype, whole, description | {"origin": (grid.x0, grid.y0)}))
    start = head.index(b"\xff\x4f\xff\x51")
    tasks = _tasks(array, grid, _quantisation(bytes(head) + b"\xff\x90", start + 2), coding, description)
    lengths: list[int] = []
    with _call.reporting(listener := _call.Listener(), progress, "encode"), _encoder.completed(path) as file:
        file.write(head)
        for first in range(0, len(tasks), batch):
            for data, parts in dask.compute(*tasks[first:first + batch]):
                file.write(data)
                lengths += parts
            if listener.progress and listener.progress(first / len(tasks)) is False:
                raise errors.CancelledError(ffi.string(lib.l2k_strerror(lib.L2K_ERROR_CANCELLED)).decode())
        file.write(b"\xff\xd9")  # EOC
        _complete(head, start, lengths, file.tell() - start)
        file.seek(0)
        file.write(head)
