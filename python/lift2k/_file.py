"""An open file: header, boxes, tiles, and its samples as a lazy array."""

from __future__ import annotations

import functools
import operator
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from types import EllipsisType
from typing import Any, SupportsIndex, Unpack, overload
from uuid import UUID

import numpy as np

from . import _arrays, _decoder, _ranges, errors, options
from ._native import ffi, lib

Part = slice | EllipsisType


@dataclass(frozen=True)
class Component:
    """A component of the decoded picture: a colour or another channel, after a palette has been applied."""

    width: int
    height: int
    dx: int
    dy: int
    precision: int
    is_signed: bool
    channel: str
    association: int


@dataclass(frozen=True)
class Box:
    """A box at the top level (depth 0), inside jp2h, an association or a UUID info box there (1), and so on."""

    type: str
    depth: int
    offset: int
    bytes: int
    content: str = "other"  # "xmp", "exif", "iptc", "geotiff", "uuid", "xml", "label" or "other"
    uuid: UUID | None = None  # of a UUID box


@dataclass(frozen=True)
class Tile:
    """A tile: number, its part of the image area on the reference grid, and slices of its samples."""

    index: int
    x0: int
    y0: int
    x1: int
    y1: int
    slices: tuple[slice, slice] | Any  # None if components are not all sampled alike


@dataclass(frozen=True)
class Header:
    """The content of main header and boxes; names are those of the library's l2k_info and l2k_image. `components` are in the
    order of decoded arrays."""

    x0: int
    y0: int
    x1: int
    y1: int
    components: tuple[Component, ...]
    colour: str
    icc: bytes | None
    density_x: float
    density_y: float
    format: str
    profile: int
    tile_x0: int
    tile_y0: int
    tile_width: int
    tile_height: int
    tiles_across: int
    tiles_down: int
    num_tile_parts: int
    wavelet: str
    levels: int
    block_width: int
    block_height: int
    style: int
    guard_bits: int
    default_precincts: bool
    precincts: tuple[tuple[int, int], ...]
    progression: str
    num_layers: int
    component_transform: bool
    sop: bool
    eph: bool
    palette_entries: int
    codestream_bytes: int
    comment: str | None
    capabilities: int
    ht: bool
    ht_blocks: int
    ht_multiple_sets: bool
    ht_regions: bool
    ht_mixed_tiles: bool
    ht_irreversible: bool
    ht_magnitude_bits: int
    tlm: bool
    plt: bool
    profile_number: int
    corresponding_profile: int


def _component(image: Any, c: int) -> Component:
    part, size = image.components[c], ffi.new("uint32_t[2]")
    lib.l2k_component_size(image, c, size, size + 1)
    return Component(size[0], size[1], part.dx, part.dy, part.precision, part.is_signed,
                     options.name_of("l2k_channel", part.channel), part.association)


def header_of(decoder: _decoder.Decoder) -> Header:
    """The header of the open file."""
    info, decoded = decoder.info(), decoder.image()
    image = info.image
    plain = {field.name: getattr(info, field.name) for field in fields(Header) if hasattr(info, field.name)}
    plain |= {name: getattr(image, name) for name in ("x0", "y0", "x1", "y1", "density_x", "density_y")}
    for name in ("format", "wavelet", "progression"):
        plain[name] = options.name_of(f"l2k_{name}", getattr(info, name))
    plain["components"] = tuple(_component(decoded, c) for c in range(decoded.num_components))
    plain["colour"] = options.name_of("l2k_colour", image.colour)
    plain["icc"] = bytes(ffi.buffer(image.icc, image.icc_bytes)) if image.icc != ffi.NULL else None
    plain["precincts"] = tuple((p.width, p.height) for p in info.precincts[0:info.levels + 1])
    plain["comment"] = ffi.string(info.comment).decode("latin-1") if info.comment != ffi.NULL else None
    return Header(**plain)


class Image:
    """An open file as an array: shape, dtype, and slices, img[y0:y1, x0:x1], which decode only what they name. `level(n)` is
    the same picture at 1 / 2^n of its width and height, except for levels that split in one direction only (DFS). May be
    used from several threads, and pickled if its source can be."""

    def __init__(self, source: _decoder.Source, *, incomplete: bool = False,
                 **coding: Unpack[options.DecoderOptions]) -> None:
        self._source, self._incomplete = source, incomplete
        self._coding: dict[str, Any] = dict(coding)
        self._data = _decoder.opened(source)
        self._threads = threading.local()
        decoder = self._mine()
        self.header = header_of(decoder)
        self.boxes = tuple(_boxes(decoder))
        self._set_shape(decoder)

    def _set_shape(self, decoder: _decoder.Decoder) -> None:
        decoder.call(lib.l2k_decoder_set_region, *_arrays.region_of(None))
        self._parts = decoder.wanted()
        self._scale: tuple[int, int, int, int] | None = None  # steps, and the first column and row in these
        self.dtype = _arrays.dtype_of(self._parts)
        steps = {(c.dx, c.dy) for c in self.header.components}
        self.shape: tuple[int, ...] = ()  # of a file whose components differ in size
        if len({(p.height, p.width) for p in self._parts}) == 1:
            self.shape = (self._parts[0].height, self._parts[0].width) + ((len(self._parts),) if len(self._parts) > 1 else ())
            halvings = decoder.halvings(self.reduce)
            if len(steps) == len(halvings) == 1:
                (dx, dy), (across, down) = steps.pop(), halvings.pop()
                sx, sy = dx << across, dy << down
                self._scale = sx, sy, -(-self.header.x0 // sx), -(-self.header.y0 // sy)

    @property
    def reduce(self) -> int:
        return int(self._coding.get("reduce", 0))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def levels(self) -> int:
        """How many resolutions can be discarded."""
        return self.header.levels

    def _mine(self) -> _decoder.Decoder:
        """The thread's own, on the same bytes."""
        if self._data is None:
            raise errors.StateError("the file is closed")
        if not hasattr(self._threads, "decoder") or self._threads.decoder.process != os.getpid():
            decoder = _decoder.Decoder(incomplete=self._incomplete, **self._coding)
            decoder.open(self._data)
            self._threads.decoder = decoder
        return self._threads.decoder  # type: ignore[no-any-return]

    def level(self, reduce: int) -> Image:
        """The picture of fewer resolutions; 0 is all of it."""
        if not 0 <= reduce <= self.levels:
            raise ValueError(f"level {reduce} of a file with levels 0 to {self.levels}")
        other = Image.__new__(Image)
        vars(other).update(vars(self), _coding=self._coding | {"reduce": reduce}, _threads=threading.local())
        other._set_shape(other._mine())
        return other

    @property
    def tiles(self) -> list[Tile]:
        """The tiles, row by row."""
        h, result = self.header, []
        for index in range(h.tiles_across * h.tiles_down):
            p, q = index % h.tiles_across, index // h.tiles_across
            x0, y0 = max(h.tile_x0 + p * h.tile_width, h.x0), max(h.tile_y0 + q * h.tile_height, h.y0)
            x1, y1 = min(h.tile_x0 + (p + 1) * h.tile_width, h.x1), min(h.tile_y0 + (q + 1) * h.tile_height, h.y1)
            result.append(Tile(index, x0, y0, x1, y1, self._slices(x0, y0, x1, y1)))
        return result

    def _slices(self, x0: int, y0: int, x1: int, y1: int) -> tuple[slice, slice] | None:
        if self._scale is None:
            return None
        sx, sy, left, top = self._scale
        return slice(-(-y0 // sy) - top, -(-y1 // sy) - top), slice(-(-x0 // sx) - left, -(-x1 // sx) - left)

    def read(self, *, region: _arrays.Region | None = None, components: _decoder.Components = None, out: Any = None,
             stream: Any = None, rgb8: bool = False) -> _arrays.Samples:
        """Decodes as decode() does."""
        return self._mine().decode(region=region, components=components, out=out, stream=stream, rgb8=rgb8)

    @overload
    def __getitem__(self, key: Part | tuple[Part, ...]) -> _arrays.Array: ...
    @overload
    def __getitem__(self, key: Part | SupportsIndex | tuple[Part | SupportsIndex, ...]) -> _arrays.Samples: ...

    def __getitem__(self, key: Any) -> Any:
        if self._scale is None:
            raise TypeError("components are not all sampled alike: use read(region=...)")
        keys = _complete(key, self.shape)
        ranges = [range(n)[k] if isinstance(k, slice) else range(k, k + 1) for k, n in zip(keys, self.shape)]
        shape = tuple(len(r) for r, k in zip(ranges, keys) if isinstance(k, slice))
        if 0 in shape:
            return np.empty(shape, self.dtype)
        return self._samples(ranges)[tuple(np.s_[::r.step] if isinstance(k, slice) else 0 for r, k in zip(ranges, keys))]

    def _samples(self, ranges: Sequence[range]) -> Any:
        """All samples between the first and the last of each range."""
        assert self._scale is not None
        (sx, sy, left, top), h = self._scale, self.header
        rows, columns = _span(ranges[0]), _span(ranges[1])
        region = (max((left + columns.start) * sx, h.x0), max((top + rows.start) * sy, h.y0),
                  min((left + columns.stop) * sx, h.x1), min((top + rows.stop) * sy, h.y1))
        components = None if len(ranges) < 3 else list(_span(ranges[2]))
        if components is None or len(components) == self.shape[2]:
            return self.read(region=region)
        result = self.read(region=region, components=components)
        return result[:, :, None] if len(components) == 1 else result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> _arrays.Array:
        result = self[...]
        return result if dtype is None else result.astype(dtype, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def tile(self, index: int) -> _arrays.Samples:
        """The samples of a tile."""
        tile = self.tiles[index]
        return self.read(region=(tile.x0, tile.y0, tile.x1, tile.y1))

    def read_box(self, box: Box) -> bytes:
        """The content of a box of `boxes`, without its header or a UUID box's ID."""
        data = _box_data(self._mine(), self.boxes.index(box))
        return bytes(ffi.buffer(data.data, data.bytes)) if data.bytes else b""

    def _first(self, content: str) -> bytes | None:
        return next((self.read_box(box) for box in self.boxes if box.content == content and box.depth == 0), None)

    @property
    def xmp(self) -> bytes | None:
        """The XMP packet, if any, in the form for encode(), as for the following properties."""
        return self._first("xmp")

    @property
    def exif(self) -> bytes | None:
        """Exif: a TIFF stream."""
        return self._first("exif")

    @property
    def iptc(self) -> bytes | None:
        """IPTC's IIM records."""
        return self._first("iptc")

    @property
    def xml(self) -> list[bytes]:
        """All XML documents, including those of associations (GMLJP2)."""
        return [self.read_box(box) for box in self.boxes if box.content == "xml"]

    @property
    def gml(self) -> bytes | None:
        """GMLJP2's root instance: the document in the association with that label."""
        for label, box in zip(self.boxes, self.boxes[1:]):
            if (label.content, box.content) == ("label", "xml") and self.read_box(label).rstrip(b"\0") == b"gml.root-instance":
                return self.read_box(box).rstrip(b"\0")
        return None

    def coefficients(self, tile: int = 0) -> list[dict[str, Any]]:
        """For each component of a tile, its subbands by name ("LL5", "HL5", ... "HH1") as arrays of int32: 5/3 the
        coefficients, 9/7 the quantiser's indices with their signs. Copies: the library keeps them only for a moment."""
        decoder = self._mine()
        found: list[dict[str, Any]] = []
        handle = ffi.new_handle(found)
        try:
            decoder.call(lib.l2k_decoder_coefficients, tile, lib.l2k_py_coefficients, handle)
        except errors.IncompleteError as failure:
            if not self._incomplete:
                failure.array = found
                raise
        return found

    @property
    def read_count(self) -> tuple[int, int]:
        """How many bytes of a file object or lift2k.Ranges have been read, in how many calls, by this and all its levels, on
        all threads. 0 for other sources."""
        return (self._data.bytes_read, self._data.calls) if isinstance(self._data, _ranges.Ranges) else (0, 0)

    def close(self) -> None:
        """Releases the file's memory, also that of views made by level() once they are gone."""
        self._threads, self._data = threading.local(), None

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return functools.partial(Image, self._source, incomplete=self._incomplete, **self._coding), ()

    def __repr__(self) -> str:
        return f"<lift2k.Image {self.shape} {self.dtype}, {self.header.tiles_across} x {self.header.tiles_down} tiles>"


def _boxes(decoder: _decoder.Decoder) -> Any:
    box, index = ffi.new("l2k_box *"), 0
    while lib.l2k_decoder_box(decoder.pointer, index, box) == lib.L2K_OK:
        kind, name = ffi.string(box.type).decode("latin-1"), None
        content = {"xml ": "xml", "lbl ": "label"}.get(kind, "other")
        if kind == "uuid":  # the type of the others tells it without reading
            data = _box_data(decoder, index)
            content = options.name_of("l2k_content", data.content)
            name = UUID(bytes=bytes(data.uuid)) if content != "other" else None
        yield Box(kind, box.depth, box.offset, box.bytes, content, name)
        index += 1


def _box_data(decoder: _decoder.Decoder, index: int) -> Any:
    data = ffi.new("l2k_box_data *")
    decoder.call(lib.l2k_decoder_box_data, index, data)
    return data


def _complete(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """One slice or index, counted from the start, for each dimension."""
    keys = list(key) if isinstance(key, tuple) else [key]
    places = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(keys) - len(places) > len(shape) or len(places) > 1:
        raise IndexError(f"too many indices for {len(shape)} dimensions")
    at = places[0] if places else len(keys)
    keys[at:at + len(places)] = [slice(None)] * (len(shape) - len(keys) + len(places))
    return [k if isinstance(k, slice) else _index(k, axis, n) for axis, (k, n) in enumerate(zip(keys, shape))]


def _index(key: Any, axis: int, size: int) -> int:
    try:
        if isinstance(key, bool):  # a mask in NumPy
            raise TypeError
        index = operator.index(key)
    except TypeError:
        raise TypeError(f"a file is indexed by integers, slices and ..., not by {key!r}: numpy.asarray() makes an array of "
                        "it") from None
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")
    return index % size


def _span(steps: range) -> range:
    return range(min(steps[0], steps[-1]), max(steps[0], steps[-1]) + 1)


@ffi.def_extern(error=lib.L2K_ERROR_MEMORY)
def l2k_py_coefficients(user: Any, part: Any) -> int:
    ffi.from_handle(user).append(subbands(part.view, part.levels, copy=True))
    return int(lib.L2K_OK)


def subbands(view: Any, levels: int, *, copy: bool, owner: Any = None) -> dict[str, Any]:
    """The subbands of a tile-component by name, as views that keep `owner`, or as copies."""
    dtype = np.dtype(("int16", "int32", "float32")[view.type])
    names = [f"LL{levels}"] + [f"{kind}{level}" for level in range(levels, 0, -1) for kind in ("HL", "LH", "HH")]
    result = {}
    for name, band in zip(names, view.bands[0:view.num_bands]):
        offset = (band.y * view.stride + band.x) * dtype.itemsize
        array = np.asarray(_arrays.Memory(int(ffi.cast("uintptr_t", view.base)) + offset, (band.height, band.width),
                                           (view.stride * dtype.itemsize, dtype.itemsize), dtype, owner))
        result[name] = array.copy() if copy else array
    return result


def open(source: _decoder.Source, *, incomplete: bool = False, **coding: Unpack[options.DecoderOptions]) -> Image:
    """Opens a file and reads its headers. A named file is mapped; of it, a file object or lift2k.Ranges, only the needed
    parts are read."""
    return Image(source, incomplete=incomplete, **coding)
