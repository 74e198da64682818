"""Encoding: to bytes, many at once, to a file by rows."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, Self, Unpack

import numpy as np

from . import _arrays, _call, errors, options
from ._native import ffi, lib

DESCRIPTION = frozenset(options.ImageOptions.__annotations__)
BOXES = ("xmp", "exif", "iptc", "xml", "gml", "uuid")
EXTENSIONS = {".jp2": ("jp2", False), ".jph": ("jp2", True), ".j2k": ("codestream", None), ".j2c": ("codestream", None),
              ".jpc": ("codestream", None), ".jhc": ("codestream", True)}  # format; HT code-blocks: always, never, or either


def split(arguments: Any, function: Any, file: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separates options of the encoder, with the format that a file's name implies, from those that describe the image."""
    options.check(arguments, options.EncodeOptions, function)
    coding = {name: value for name, value in arguments.items() if name not in DESCRIPTION}
    description = {name: value for name, value in arguments.items() if name in DESCRIPTION}
    if isinstance(file, (str, os.PathLike)):
        coding |= _named_format(os.fsdecode(file), coding)
    boxes = [name for name in BOXES if description.get(name)]
    if boxes and options.number("format", coding.get("format", 0)) == lib.L2K_FORMAT_CODESTREAM:
        raise ValueError(f"a bare codestream has no boxes: {boxes[0]} needs a JP2 or JPH file")
    return coding, description


def _named_format(path: str, coding: dict[str, Any]) -> dict[str, Any]:
    extension = os.path.splitext(path)[1].lower()
    if extension not in EXTENSIONS:
        if "format" in coding:
            return {}
        raise ValueError(f"{path}: unknown output format; known are {' '.join(EXTENSIONS)}, other names need format=")
    format, ht = EXTENSIONS[extension]
    style = options.number("style", coding.get("style", 0))
    if options.number("format", coding.get("format", format)) != options.number("format", format):
        raise ValueError(f"{path}: {extension} and format={coding['format']!r} contradict each other")
    if ht is not None and ht != bool(style & lib.L2K_STYLE_HT):
        raise ValueError(f"{path}: {extension} is for HT code-blocks, style='ht'" if ht else
                         f"{path}: a JP2 file has no HT code-blocks, for which .jph, .jhc, .j2k, .j2c and .jpc are")
    return {"format": format} | ({"style": style} if style else {})


class Coder(_call.Native):
    """An encoder or decoder."""

    def __init__(self, progress: _call.Progress, coding: Mapping[str, Any]) -> None:
        super().__init__(bool(progress))
        self.progress, self.coding = progress, coding

    def set(self, option: str, value: int) -> None:
        self.call(getattr(lib, f"l2k_{self.kind}_set"), options.NUMBERS[self.kind][option], value)

    def use_memory(self, device: int, stream: Any) -> None:
        """Where planes are, unless options say so."""
        if "memory" not in self.coding:
            self.set("memory", device >= 0)
        if not {"device", "devices"} & self.coding.keys():
            self.set("device", device)
        getattr(lib, f"l2k_{self.kind}_set_stream")(self.pointer, _arrays.stream_pointer(stream))

    def run_batch(self, items: Any, keep: bool) -> None:
        """Works on a batch; keep: failures of items are left in them."""
        kind = self.kind.removesuffix("r")
        with _call.reporting(self.listener, self.progress, kind):
            try:
                self.call(getattr(lib, f"l2k_{self.kind}_{kind}_batch"), items, len(items))
            except errors.Error:
                if not keep or all(item.status == lib.L2K_OK for item in items):
                    raise

    def with_exceptions(self, items: Any, results: list[Any]) -> list[Any]:
        """The results, with exceptions in place of failed ones. The library's lines begin with "image 3: "."""
        for i, item in enumerate(items):
            if item.status != lib.L2K_OK:
                mine = [m for m in self.listener.messages if m[1].startswith(f"image {i}: ")]
                results[i] = _call.exception_of(item.status, mine)
        return results

    @contextlib.contextmanager
    def timed(self, timings: dict[str, float] | None) -> Iterator[Self]:
        """Adds the times of its work to the dictionary."""
        yield self
        if timings is not None:
            timings.update(self.times)

    @property
    def times(self) -> dict[str, float]:
        """Seconds of each stage of the last image or batch, if the option `timings` is set."""
        seconds = ffi.new("double[]", lib.L2K_NUM_STAGES)
        getattr(lib, f"l2k_{self.kind}_timings")(self.pointer, seconds)
        names = ffi.typeof("l2k_stage").elements
        return {names[i].removeprefix("L2K_STAGE_").lower(): seconds[i] for i in range(lib.L2K_NUM_STAGES)}


class Encoder(Coder):
    """An encoder with its options, which keeps memory and threads for the next image. For one thread at a time: a call
    during another one raises StateError."""

    kind = "encoder"

    def __init__(self, *, progress: _call.Progress = None, timings: bool = False,
                 **coding: Unpack[options.EncoderOptions]) -> None:
        super().__init__(progress, coding)
        options.check(coding, options.EncoderOptions, Encoder)
        plain: dict[str, Any] = {**coding, "timings": timings}
        profile, rate = plain.pop("profile", None), plain.pop("frames_per_second", 0)
        targets = {kind: value for kind in ("ratio", "psnr") if (value := plain.pop(kind, None)) is not None}
        options.set_all(self, plain)
        if len(targets) > 1:
            raise ValueError("ratio and psnr exclude each other")
        for kind, value in targets.items():
            values = list(value) if isinstance(value, Iterable) else [value]
            self.call(lib.l2k_encoder_set_layers, options.value_of("l2k_target", kind), values, len(values))
        if profile is not None:
            self.call(lib.l2k_encoder_set_profile, options.number("profile", profile), rate)

    @_call.alone
    def encode(self, array: Any, *, stream: Any = None, **description: Unpack[options.ImageOptions]) -> bytes:
        """The file as bytes. `stream`: the stream that fills a CUDA array."""
        planes = _arrays.planes_of(array, stream)
        image = _arrays.Description(planes.planes, **description)
        native = planes.to_encode(image.components)
        self.use_memory(planes.device, stream)
        data, count = ffi.new("uint8_t **"), ffi.new("size_t *")
        with _call.reporting(self.listener, self.progress, "encode"):
            self.call(lib.l2k_encoder_encode_memory, image.image, native, data, count)
        return bytes(ffi.buffer(data[0], count[0]))

    @_call.alone
    def encode_many(self, arrays: Iterable[Any], *, stream: Any = None, return_exceptions: bool = False,
                    **description: Unpack[options.ImageOptions]) -> list[Any]:
        """The files of several images, several of them at once, among which `threads` are divided.

        With return_exceptions, the list has the exceptions of images that fail; else the first one is raised.
        """
        planes = [_arrays.planes_of(array, stream) for array in arrays]
        if not planes:
            return []
        if len({p.device for p in planes}) > 1:
            raise ValueError("all images must be in the same memory")
        images = [_arrays.Description(p.planes, **description) for p in planes]
        native = [p.to_encode(image.components) for p, image in zip(planes, images)]
        self.use_memory(planes[0].device, stream)
        files = [io.BytesIO() for _ in planes]
        targets = [_File(file, self.listener) for file in files]
        items = ffi.new("l2k_encode_item[]", len(planes))
        for item, image, samples, target in zip(items, images, native, targets):
            item.image, item.planes, item.stream = image.image, samples, target.stream
        self.run_batch(items, return_exceptions)
        return self.with_exceptions(items, [file.getvalue() for file in files])


def encode(array: Any, *, stream: Any = None, progress: _call.Progress = None, timings: dict[str, float] | None = None,
           **arguments: Unpack[options.EncodeOptions]) -> bytes:
    """Encodes an image: an array (height, width) or (height, width, components) of integers, or, where components differ
    in size, a list of two-dimensional ones. Nothing is copied, whatever the strides; arrays on a CUDA device are taken by
    DLPack, from the CUDA stream `stream`.

    Without options: a JP2 file, lossless. `options.EncodeOptions` lists all of them.

    progress: a function of the fraction done, which may return False to stop; True shows a bar.
    timings: a dictionary that receives the seconds of each stage.
    """
    coding, description = split(arguments, encode)
    with Encoder(progress=progress, timings=timings is not None, **coding).timed(timings) as encoder:
        return encoder.encode(array, stream=stream, **description)


def encode_many(arrays: Iterable[Any], *, stream: Any = None, progress: _call.Progress = None,
                timings: dict[str, float] | None = None, return_exceptions: bool = False,
                **arguments: Unpack[options.EncodeOptions]) -> list[Any]:
    """Encodes several images, of any sizes, several at once, each as encode() does."""
    coding, description = split(arguments, encode_many)
    with Encoder(progress=progress, timings=timings is not None, **coding).timed(timings) as encoder:
        return encoder.encode_many(arrays, stream=stream, return_exceptions=return_exceptions, **description)


# ---- To a file -----------------------------------------------------------------------------------------------------


class _Target(NamedTuple):
    file: IO[bytes]
    listener: _call.Listener
    start: int | None  # None: the file cannot seek


class _File:
    """The other end of a native stream."""

    def __init__(self, file: IO[bytes], listener: _call.Listener) -> None:
        target = _Target(file, listener, file.tell() if file.seekable() else None)
        self.file, self.handle = file, ffi.new_handle(target)  # a handle keeps what it is for, which must not hold it
        self.stream = ffi.new("l2k_stream *", {"write": lib.l2k_py_write, "user": self.handle})
        if target.start is not None:
            self.stream.rewrite = lib.l2k_py_rewrite


@ffi.def_extern(error=-1, onerror=_call.remember)
def l2k_py_write(user: Any, data: Any, count: int) -> int:
    _write_all(ffi.from_handle(user).file, memoryview(ffi.buffer(data, count)))
    return 0


@ffi.def_extern(error=-1, onerror=_call.remember)
def l2k_py_rewrite(user: Any, offset: int, data: Any, count: int) -> int:
    target = ffi.from_handle(user)
    end = target.file.tell()
    target.file.seek(target.start + offset)
    _write_all(target.file, memoryview(ffi.buffer(data, count)))
    target.file.seek(end)
    return 0


def _write_all(file: Any, left: memoryview) -> None:
    """Unbuffered files may write only a part at a time."""
    while left:
        written = file.write(left)
        left = left[len(left) if written is None else written:]


@contextlib.contextmanager
def completed(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that gets its name when it is complete, and else vanishes. Pipes and devices are written directly."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    folder = os.path.dirname(path)
    name = os.path.join(folder, f".lift2k-{secrets.token_hex(8)}")
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as failure:  # which the user knows by the folder's name, unless that is not the reason
        absent = failure.errno == errno.ENOENT and os.path.isdir(folder)
        raise OSError(failure.errno, failure.strerror, path if absent else folder) from None
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
        os.replace(name, path)
    finally:
        if os.path.exists(name):
            os.unlink(name)


class _Rows:
    """Rows from an object that is sliced, or from an iterator of pieces of any height."""

    def __init__(self, data: Any) -> None:
        self.sliced = data if hasattr(data, "shape") else None
        self.pieces = iter(()) if self.sliced is not None else iter(data)
        self.left: list[Any] = []

    def first(self) -> Any:
        """Any part, for the dtype and the shape of a row."""
        if self.sliced is not None:
            return np.asarray(self.sliced[0:1])
        self.left = [np.asarray(next(self.pieces))]
        return self.left[0]

    def rows(self, start: int, stop: int) -> Any:
        if self.sliced is not None:
            return np.asarray(self.sliced[start:stop])
        count = sum(len(piece) for piece in self.left)
        while count < stop - start:
            try:
                self.left.append(np.asarray(next(self.pieces)))
            except StopIteration:
                raise ValueError(f"there are {start + count} rows, fewer than the shape says") from None
            count += len(self.left[-1])
        joined = self.left[0] if len(self.left) == 1 else np.concatenate(self.left)
        self.left = [joined[stop - start:]]
        return joined[:stop - start]

    def end(self) -> None:
        if any(len(piece) for piece in self.left) or next(self.pieces, None) is not None:
            raise ValueError("there are more rows than the shape says")


def _write_rows(encoder: Encoder, target: _File, data: Any, shape: Sequence[int] | None, description: dict[str, Any]) -> None:
    source = _Rows(data)
    if source.sliced is not None:
        shape = source.sliced.shape
    if shape is None:
        raise TypeError("shape= is needed where rows come one after another")
    if description.get("subsampling", (1, 1)) != (1, 1):
        raise ValueError("by rows, components cannot be sub-sampled")
    sample = source.first()
    if tuple(sample.shape[1:]) != tuple(shape[1:]):
        raise ValueError(f"rows of shape {sample.shape[1:]} do not make an image of shape {tuple(shape)}")
    whole = [_arrays.blank((shape[0], p.shape[1]), p.dtype) for p in _arrays.planes_of(sample).planes]
    image = _arrays.Description(whole, **description)
    encoder.set("by_tile", 0)
    encoder.call(lib.l2k_encoder_begin, image.image, target.stream)
    y, top = ffi.new("uint32_t[2]"), image.image.y0
    while True:
        encoder.call(lib.l2k_encoder_next_rows, y, y + 1)
        if y[0] == y[1]:
            break
        rows = source.rows(y[0] - top, y[1] - top)
        if rows.dtype != sample.dtype or tuple(rows.shape[1:]) != tuple(shape[1:]):
            raise ValueError(f"rows of {rows.dtype} and shape {rows.shape[1:]} among others of {sample.dtype}, {shape[1:]}")
        planes = _arrays.planes_of(rows)
        encoder.call(lib.l2k_encoder_put_rows, planes.to_encode(image.components, y[0] - top))
    source.end()
    encoder.call(lib.l2k_encoder_end)


def write(file: str | os.PathLike[str] | IO[bytes], data: Any, *, shape: Sequence[int] | None = None,
          by_rows: bool | None = None, progress: _call.Progress = None, timings: dict[str, float] | None = None,
          **arguments: Unpack[options.EncodeOptions]) -> None:
    """Encodes to a file, which appears when it is complete, or to an open binary one. The name's extension selects the
    format as in the command: .jp2, .jph with style="ht", or .j2k, .j2c, .jpc and .jhc for a bare codestream.

    data: an array as for encode(), or, for images larger than memory: anything with a shape that gives rows when it is
    sliced (numpy.memmap, HDF5, Zarr), or an iterator of arrays of any number of rows, with the image's `shape`. These are
    coded one row of tiles at a time, of 1024 x 1024 unless options say otherwise, and targets (ratio, psnr) hold for each
    row of tiles; by_rows=True does the same to an array.
    """
    coding, description = split(arguments, write, file)
    if by_rows is None:
        in_memory = isinstance(data, (np.ndarray, list, tuple)) or hasattr(data, "__dlpack_device__")
        by_rows = not in_memory or (isinstance(data, np.memmap) and "tile_height" in coding)
    if by_rows and "profile" not in coding:
        coding = {"tile_width": 1024, "tile_height": 1024} | coding
    encoder = Encoder(progress=progress, timings=timings is not None, **coding)
    place = completed(file) if isinstance(file, (str, os.PathLike)) else contextlib.nullcontext(file)
    with encoder.timed(timings), place as opened:
        target = _File(opened, encoder.listener)
        with _call.reporting(encoder.listener, progress, "encode"):
            if by_rows:
                _write_rows(encoder, target, data, shape, description)
            else:
                planes = _arrays.planes_of(data)
                image = _arrays.Description(planes.planes, **description)
                encoder.use_memory(planes.device, None)
                encoder.call(lib.l2k_encoder_encode, image.image, planes.to_encode(image.components), target.stream)
