"""Arrays as the library's planes, without copies: NumPy's, and any that speak DLPack, on the host or a CUDA device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from . import options
from ._native import ffi, lib

Array = np.ndarray[Any, np.dtype[Any]]
Samples = Array | Any  # an array, a list of arrays, or an array of another library, as the caller chose

# Samples of uint32 have at most 31 bits.
TYPES = {"b1": lib.L2K_SAMPLE_U8, "u1": lib.L2K_SAMPLE_U8, "i1": lib.L2K_SAMPLE_S8, "u2": lib.L2K_SAMPLE_U16,
         "i2": lib.L2K_SAMPLE_S16, "u4": lib.L2K_SAMPLE_S32, "i4": lib.L2K_SAMPLE_S32, "f4": lib.L2K_SAMPLE_F32}

# Device types and type codes of DLPack.
CPU, CUDA, CUDA_HOST = 1, 2, 3
CODES = {0: "i", 1: "u", 2: "f", 6: "b"}


def _stream_number(stream: Any) -> int:
    """A CUDA stream as a number: a number, CuPy's or PyTorch's stream; None is the default stream."""
    if stream is None:
        return 0
    return int(getattr(stream, "ptr", getattr(stream, "cuda_stream", stream)))


def stream_pointer(stream: Any) -> Any:
    return ffi.cast("void *", _stream_number(stream))


def _from_dlpack(array: Any, stream: Any) -> tuple[Array, int]:
    device, number = (int(n) for n in array.__dlpack_device__())
    number = number if device == CUDA else -1
    if device == CUDA:
        capsule = array.__dlpack__(stream=_stream_number(stream) or 1)  # 1: the default stream
    elif device in (CPU, CUDA_HOST):
        capsule = array.__dlpack__()
    else:
        raise TypeError(f"arrays in memory of DLPack's device type {device} are not known here")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The capsule is not consumed: it keeps the memory alive, and releases it at its end.
    tensor = ffi.cast("l2k_py_tensor *", get(capsule, b"dltensor"))
    if tensor.code not in CODES or tensor.lanes != 1 or tensor.bits % 8:
        raise TypeError(f"samples of DLPack's type {tensor.code} with {tensor.bits} bits are not known here")
    dtype = np.dtype(f"{CODES[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[0:tensor.ndim])
    strides = None if tensor.strides == ffi.NULL else tuple(n * dtype.itemsize for n in tensor.strides[0:tensor.ndim])
    pointer = int(ffi.cast("uintptr_t", tensor.data)) + tensor.byte_offset
    return np.asarray(Memory(pointer, shape, strides, dtype, (array, capsule))), number


def _array_of(array: Any, stream: Any, write: bool) -> tuple[Array, int]:
    """With the number of the CUDA device in whose memory it is, where only the library may read it; -1 on the host."""
    if hasattr(array, "__dlpack_device__") and not isinstance(array, np.ndarray):
        return _from_dlpack(array, stream)
    if not isinstance(array, np.ndarray):
        if write:
            raise TypeError(f"samples cannot be written to a {type(array).__name__}")
        array = np.asarray(array)
    if write and not array.flags.writeable:
        raise ValueError("the output array is read-only")
    if not array.dtype.isnative or not array.flags.aligned:
        if write:
            raise TypeError("the output array must be aligned and of native byte order")
        array = array.astype(array.dtype.newbyteorder("="))
    return array, -1


class Memory:
    """Memory as an array, whose base is this object, which keeps the owner."""

    def __init__(self, pointer: int, shape: tuple[int, ...], strides: tuple[int, ...] | None,
                 dtype: np.dtype[Any], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (pointer, False), "shape": shape, "strides": strides,
                                    "typestr": dtype.str}


class Planes(NamedTuple):
    """Arrays (height, width), or one (height, width, components), all in the same memory."""

    arrays: list[Array]
    device: int

    @property
    def planes(self) -> list[Array]:
        """One for each component."""
        return components(self.arrays[0] if len(self.arrays) == 1 else self.arrays)

    def native(self) -> Any:
        """An array of l2k_plane."""
        planes = self.planes
        result = ffi.new("l2k_plane[]", len(planes))
        for plane, array in zip(result, planes):
            plane.data = ffi.cast("void *", array.__array_interface__["data"][0])
            plane.row_stride, plane.sample_stride = array.strides
            plane.type = TYPES[array.dtype.str[1:]]
        return result

    def to_encode(self, components: Any, top: int = 0) -> Any:
        """The same, after a check that samples do not exceed their precision, except on a device. `top`: the row of
        the picture that is the first one here."""
        c = 0
        for array in self.arrays if self.device < 0 else []:
            parts = list(components[c:c + (1 if array.ndim == 2 else array.shape[2])])
            if array.dtype.kind != "b" and any(part.precision < 8 * array.dtype.itemsize for part in parts):
                _check_range(array, [_range(part) for part in parts], c, top)
            c += len(parts)
        return self.native()


def _range(component: Any) -> tuple[int, int]:
    """The least and the greatest sample."""
    low = -(1 << component.precision - 1) if component.is_signed else 0
    return low, low + (1 << component.precision) - 1


def _check_range(array: Any, ranges: list[tuple[int, int]], first: int, top: int) -> None:
    lows, highs = zip(*ranges)
    if array.size == 0 or (array.min() >= max(lows) and array.max() <= min(highs)):
        return
    for c, (low, high) in enumerate(ranges):
        plane = array if array.ndim == 2 else array[..., c]
        wrong = (plane < low) | (plane > high)
        if wrong.any():
            y, x = (int(n) for n in np.unravel_index(np.argmax(wrong), plane.shape))
            raise ValueError(f"sample {plane[y, x]} at row {top + y}, column {x} of component {first + c} is beyond "
                             f"precision {(high - low).bit_length()}, {low} to {high}")


def planes_of(array: Any, stream: Any = None, write: bool = False, floats: bool = False) -> Planes:
    """(height, width), (height, width, components), or a list of the former. Any strides. `floats`: allows float32."""
    found = [_array_of(part, stream, write) for part in (array if isinstance(array, (list, tuple)) else [array])]
    arrays = [part for part, _ in found]
    for part in arrays:
        if part.dtype.str[1:] not in TYPES or (part.dtype.kind == "f" and not floats):
            raise TypeError(f"samples of {part.dtype} are not possible: integers of 8, 16 or 32 bits are")
        if part.ndim != 2 and (part.ndim != 3 or len(arrays) > 1):
            raise ValueError(f"an array of shape {part.shape} is neither (height, width) nor (height, width, components)")
    if len({device for _, device in found}) != 1 or arrays[0].shape[2:] == (0,):
        raise ValueError("components are missing, or not all in the same memory")
    return Planes(arrays, found[0][1])


def planes_on_host(array: Any, shape: tuple[int, ...], write: bool) -> Planes:
    """The same, with the given shape."""
    planes = planes_of(array, write=write, floats=True)
    if [p.shape for p in planes.planes] != [shape[:2]] * (shape[2] if len(shape) == 3 else 1) or planes.device >= 0:
        raise ValueError(f"samples on the host of shape {shape} are needed")
    return planes


def _each(value: Any, count: int, what: str) -> list[Any]:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value] * count
    if len(values) != count:
        raise ValueError(f"{what}: {len(values)} values for {count} components")
    return values


def precision_of(dtype: np.dtype[Any]) -> int:
    if dtype.itemsize > 2:
        raise ValueError(f"precision= is needed for {dtype}: the bits that samples use, at most 24")
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize


def _extent(start: int, sizes: list[int], steps: list[int]) -> int:
    """The end of the image area: exact where a component is not sub-sampled, else the largest possible."""
    for size, step in zip(sizes, steps):
        if step == 1:
            return start + size
    return min((-(-start // step) + size) * step for size, step in zip(sizes, steps))


def _guess_colour(colours: int, subsampling: list[tuple[int, int]]) -> str:
    if len(subsampling) == 3 and subsampling[0] != subsampling[1] == subsampling[2]:
        return "sycc"
    if colours == 3 and subsampling[0] == subsampling[1] == subsampling[2]:
        return "srgb"
    return "gray" if len(subsampling) < 3 else "unknown"


def _box(content: int, data: Any, depth: int = 0, type: bytes = b"", uuid: bytes = b"") -> dict[str, Any]:
    """An l2k_box_data of an image; the following ones of greater depth are inside it."""
    memory = ffi.from_buffer("uint8_t[]", data.encode() if isinstance(data, str) else bytes(memoryview(data)))
    return {"content": content, "data": memory, "bytes": len(memory), "depth": depth, "type": type, "uuid": uuid}


def _gml_boxes(document: Any) -> list[dict[str, Any]]:
    """GMLJP2 (OGC 08-085)."""
    asoc, label = lib.L2K_CONTENT_OTHER, lib.L2K_CONTENT_LABEL
    return [_box(asoc, b"", 0, b"asoc"), _box(label, "gml.data", 1), _box(asoc, b"", 1, b"asoc"),
            _box(label, "gml.root-instance", 2), _box(lib.L2K_CONTENT_XML, document, 2)]


class Description:
    """An l2k_image, and the memory that it points to."""

    def __init__(self, planes: Sequence[Array], *, precision: Any = None, colour: str | None = None, channels: Any = None,
                 icc: bytes | None = None, density: tuple[float, float] = (0, 0), origin: tuple[int, int] = (0, 0),
                 subsampling: Any = (1, 1), **metadata: Any) -> None:
        options.check(metadata, options.ImageOptions, Description)
        count = len(planes)
        steps = [subsampling] * count if isinstance(subsampling[0], int) else _each(subsampling, count, "subsampling")
        bits = _each(precision, count, "precision")
        self.components = ffi.new("l2k_component[]", count)
        for c, (part, p) in enumerate(zip(self.components, planes)):
            part.dx, part.dy = steps[c]
            part.precision = precision_of(p.dtype) if bits[c] is None else bits[c]
            part.is_signed = p.dtype.kind == "i"
        inks = colour == "cmyk" or (not colour and icc is not None and bytes(icc[16:20]) == b"CMYK")
        colours = self._set_channels(count, channels, (5,) if inks else (2, 4))
        image = self.image = ffi.new("l2k_image *")
        image.x0, image.y0 = origin
        image.x1 = _extent(origin[0], [p.shape[1] for p in planes], [s[0] for s in steps])
        image.y1 = _extent(origin[1], [p.shape[0] for p in planes], [s[1] for s in steps])
        image.num_components, image.components = count, self.components
        image.colour = options.value_of("l2k_colour", colour or ("icc" if icc else _guess_colour(colours, steps)))
        image.density_x, image.density_y = density
        if icc:
            self.icc = ffi.from_buffer("uint8_t[]", icc)
            image.icc, image.icc_bytes = self.icc, len(icc)
        self._set_boxes(**metadata)
        self._check_sizes(planes)

    def _set_boxes(self, *, xmp: Any = None, exif: Any = None, iptc: Any = None, xml: Any = (), gml: Any = None,
                   uuid: Any = None) -> None:
        documents = [xml] if isinstance(xml, (bytes, str)) else list(xml or ())
        listed = [(lib.L2K_CONTENT_XMP, xmp), (lib.L2K_CONTENT_EXIF, exif), (lib.L2K_CONTENT_IPTC, iptc)]
        boxes = [_box(kind, data) for kind, data in listed if data is not None]
        boxes += [_box(lib.L2K_CONTENT_XML, document) for document in documents]
        boxes += [_box(lib.L2K_CONTENT_UUID, data, uuid=UUID(str(name)).bytes) for name, data in (uuid or {}).items()]
        boxes += _gml_boxes(gml) if gml is not None else []
        if boxes:
            self.box_memory = [box["data"] for box in boxes]
            self.image.boxes = self.boxes = ffi.new("l2k_box_data[]", boxes)
            self.image.num_boxes = len(boxes)

    def _set_channels(self, count: int, channels: Any, with_opacity: tuple[int, ...]) -> int:
        if channels is None:
            channels = ["colour"] * count
            if count in with_opacity:
                channels[-1] = "opacity"
        colours = 0
        for part, channel in zip(self.components, _each(channels, count, "channels")):
            part.channel = options.value_of("l2k_channel", channel)
            if part.channel == lib.L2K_CHANNEL_COLOUR:
                colours += 1
                part.association = colours
            else:
                part.association = 65535 if part.channel == lib.L2K_CHANNEL_UNSPECIFIED else 0
        return colours

    def _check_sizes(self, planes: Sequence[Array]) -> None:
        size = ffi.new("uint32_t[2]")
        for c, p in enumerate(planes):
            lib.l2k_component_size(self.image, c, size, size + 1)
            if p.shape != (size[1], size[0]):
                raise ValueError(f"component {c} has {p.shape[1]} x {p.shape[0]} samples, not {size[0]} x {size[1]}")


def blank(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Only a shape and a dtype, without samples."""
    return np.broadcast_to(np.empty((), dtype), shape)


def tile_of(shape: tuple[int, ...], dtype: np.dtype[Any], precision: Any, origin: tuple[int, int]) -> Description:
    """The description of a transform's samples of shape (height, width) or (height, width, components)."""
    if dtype.kind == "f" and precision is None:
        raise ValueError("precision= is needed for float32")
    count = shape[2] if len(shape) == 3 else 1
    tile = Description([blank(shape[:2], dtype)] * count, precision=precision, origin=origin)
    if dtype.kind == "f":
        for part in tile.components:
            part.is_signed = True
    return tile


Region = tuple[int, int, int, int]


def region_of(region: Region | None) -> Region:
    """x0, y0, x1, y1 on the reference grid; all of it for None."""
    if region is None:
        return 0, 0, 2**32 - 1, 2**32 - 1
    x0, y0, x1, y1 = region
    if not all(0 <= n < 2**32 for n in region):
        raise ValueError(f"region {tuple(region)} is not within 0 to 2^32 - 1, the reference grid")
    return x0, y0, x1, y1


class Wanted(NamedTuple):
    """A component that the decoder gives."""

    height: int
    width: int
    precision: int
    signed: bool


def dtype_of(parts: Sequence[Wanted]) -> np.dtype[Any]:
    """The smallest type that holds all components; unsigned ones of 17 bits and more are uint32."""
    signed = any(part.signed for part in parts)
    bits = max(part.precision + (signed and not part.signed) for part in parts)
    size = 1 if bits <= 8 else 2 if bits <= 16 else 4
    return np.dtype(f"{'i' if signed else 'u'}{size}")


Allocate = Callable[[tuple[int, ...], np.dtype[Any]], Any]


def differ(parts: Sequence[Wanted]) -> bool:
    """Whether components differ in size."""
    return len({(part.height, part.width) for part in parts}) > 1


def components(samples: Any) -> list[Any]:
    """The components of an array, or of a list of them, two-dimensional and writable."""
    if isinstance(samples, (list, tuple)):
        return list(samples)
    return [samples] if samples.ndim == 2 else [samples[:, :, c] for c in range(samples.shape[2])]


def output(parts: Sequence[Wanted], out: Any = None, apart: bool = False) -> Any:
    """`out`, checked, or a new array; a list of arrays where components differ in size, or if they are to be apart."""
    apart = apart or differ(parts)
    shapes = [(part.height, part.width) for part in parts]
    joined = shapes[0] + (len(parts),)
    shape = shapes[0] if len(parts) == 1 else joined
    if out is None or callable(out):
        allocate: Allocate = np.empty if out is None else out
        if apart:
            return [allocate(shape, dtype_of([part])) for shape, part in zip(shapes, parts)]
        return allocate(shape, dtype_of(parts))
    listed = isinstance(out, (list, tuple))
    if [tuple(a.shape) for a in out] == shapes if listed else not apart and tuple(out.shape) in (shape, joined):
        return out
    if apart:
        raise ValueError("components differ in size: the output must be a list of arrays, one for each, of these shapes: "
                         + ", ".join(map(str, shapes)))
    raise ValueError(f"the output must be {len(parts)} arrays of shape {shapes[0]}" if listed else
                     f"the output has shape {tuple(out.shape)}, not {shape}")
