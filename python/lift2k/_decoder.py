"""Decoding: of bytes and files, of many at once."""

from __future__ import annotations

import mmap
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

from . import _arrays, _call, _colours, _encoder, _ranges, errors, options
from ._native import ffi, lib

Memory = bytes | bytearray | memoryview | mmap.mmap | str | os.PathLike[str]
Source = Memory | _ranges.Ranges | _ranges.File
Components = int | Sequence[int] | None


def contents(source: Any) -> Any:
    """The bytes of a file, in memory or mapped by its name."""
    if not isinstance(source, (str, os.PathLike)):
        return source
    with open(source, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:  # or it is a pipe
            return file.read()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def opened(source: Any) -> Any:
    """The same, or an object that reads parts of a file."""
    if isinstance(source, (str, os.PathLike, _ranges.Ranges)) or _ranges.is_memory(source):
        return contents(source)
    if not (hasattr(source, "read") and hasattr(source, "seek")):
        raise TypeError(f"a {type(source).__name__} is neither bytes nor the name of a file, and has no read() and seek()")
    return _ranges.of_file(source)


class Decoder(_encoder.Coder):
    """A decoder with its options, which keeps memory and threads for the next file. For one thread at a time: a call during
    another one raises StateError."""

    kind = "decoder"

    def __init__(self, *, progress: _call.Progress = None, incomplete: bool = False, timings: bool = False,
                 **coding: Unpack[options.DecoderOptions]) -> None:
        super().__init__(progress, coding)
        options.check(coding, options.DecoderOptions, Decoder)
        self.incomplete = incomplete
        self.reduce = int(coding.get("reduce", 0))
        self._bytes: Any = None
        self._ranges: _ranges.Ranges | None = None
        options.set_all(self, {**coding, "timings": timings})

    @_call.alone
    def open(self, source: Source) -> None:
        """Reads the headers of a file."""
        self._open(source)

    def _open(self, source: Source) -> None:
        data = opened(source)
        # Until the end of the call the decoder may read the bytes of the previous file.
        with _call.reporting(self.listener, None, ""):
            if isinstance(data, _ranges.Ranges):
                self._open_ranges(data)
            else:
                data = ffi.from_buffer(data)
                self.call(lib.l2k_decoder_open_memory, data, len(data))
                self._bytes, self._ranges = data, None

    def _open_ranges(self, ranges: _ranges.Ranges) -> None:
        handle = ffi.new_handle(ranges)
        file = ffi.new("l2k_file *", {"bytes": ranges.size, "read_at": lib.l2k_py_read_at, "user": handle})
        before, self._ranges = self._ranges, ranges
        try:
            self.call(lib.l2k_decoder_open_file, file)
        except BaseException:
            self._ranges = before
            raise
        self._bytes = handle

    def open_again(self, other: Decoder) -> None:
        """Opens the file of another decoder, which must be idle, with the places of packets that it has found."""
        with _call.reporting(self.listener, None, ""):
            self.call(lib.l2k_decoder_open_again, other.pointer)
        self._bytes, self._ranges = other._bytes, other._ranges

    def call(self, function: Any, *arguments: Any) -> None:
        try:
            super().call(function, *arguments)
        except errors.StreamError:
            failure = self._ranges.take_failure() if self._ranges else None
            if failure is None:
                raise
            raise failure from None

    @property
    def read_count(self) -> tuple[int, int]:
        """How many bytes of a file that is read in parts this decoder has read, in how many calls; 0 for other files."""
        counts = ffi.new("uint64_t[2]")
        lib.l2k_decoder_read_count(self.pointer, counts, counts + 1)
        return counts[0], counts[1]

    def info(self) -> Any:
        """l2k_info of the open file."""
        info = ffi.new("l2k_info *")
        self.call(lib.l2k_decoder_info, info)
        return info

    def image(self) -> Any:
        """l2k_image of what will be decoded."""
        image = ffi.new("l2k_image *")
        self.call(lib.l2k_decoder_image, image)
        return image

    def wanted(self) -> list[_arrays.Wanted]:
        image = self.image()
        parts = image.components[0:image.num_components]
        return [_arrays.Wanted(p.height, p.width, p.precision, p.is_signed) for p in parts]

    def halvings(self, levels: int) -> set[tuple[int, int]]:
        """How often width and height of the components are halved without this number of levels, some of which may split in
        one direction only (DFS)."""
        text, length, info, found = ffi.new("char[]", 33), ffi.new("size_t *"), self.info(), set()  # for 32 levels
        for component in range(info.image.num_components):
            self.call(lib.l2k_decoder_splits, component, text, len(text), length)
            left_out = ffi.string(text)[:levels]
            found.add((levels - left_out.count(b"v"), levels - left_out.count(b"h")))
        return found

    def _decode(self, out: Any, stream: Any) -> Any:
        parts = self.wanted()
        result = _arrays.output(parts, out)
        planes = _arrays.planes_of(result, stream, write=True)
        self.use_memory(planes.device, stream)
        try:
            with _call.reporting(self.listener, self.progress, "decode"):
                self.call(lib.l2k_decoder_decode, planes.native())
        except errors.IncompleteError as failure:
            self._incomplete(failure, result)
        return result

    def _decode_rgb8(self) -> Any:
        convert = _colours.Conversion(self.image(), self.reduce)
        try:
            return convert(self._decode(None, None))
        except errors.IncompleteError as failure:
            failure.array = convert(failure.array)
            raise

    def _incomplete(self, failure: errors.IncompleteError, result: Any) -> None:
        if not self.incomplete:
            failure.array = result
            raise failure
        warnings.warn(str(failure), errors.Lift2kWarning, stacklevel=_call.outside())

    def _chosen(self, components: list[int], out: Any, stream: Any) -> Any:
        """Some components: one after another if each can be decoded by itself, else from all of them."""
        info = self.info()
        parts = self.wanted()
        chosen = _of(parts, components)
        # Only the first three can have a component transform, whatever the headers of tiles say.
        alone = len(parts) < 3 or min(components) >= 3
        if not (alone and _in_order(info, len(parts))):
            planes = _arrays.components(self._decode(None, stream))
            return _joined(planes, components, _arrays.output(chosen, out))
        result = _arrays.output(chosen, out)
        for c, target in zip(components, _arrays.components(result)):
            self.set("component", c)
            try:
                self._decode(target, stream)
            finally:
                self.set("component", -1)
        return result

    @_call.alone
    def decode(self, source: Source | None = None, *, region: _arrays.Region | None = None, components: Components = None,
               out: Any = None, stream: Any = None, rgb8: bool = False) -> _arrays.Samples:
        """Decodes a file, which stays open; without `source`, the open one."""
        chosen = self._begin(source, region, components)
        if rgb8:
            if components is not None or out is not None or "component" in self.coding:
                raise ValueError("rgb8 gives all components, in an array of its own")
            return self._decode_rgb8()
        return self._decode(out, stream) if chosen is None else self._chosen(chosen, out, stream)

    def _begin(self, source: Source | None, region: _arrays.Region | None, components: Components) -> list[int] | None:
        if source is not None:
            self._open(source)
        self.call(lib.l2k_decoder_set_region, *_arrays.region_of(region))
        if components is not None and "component" in self.coding:
            raise ValueError("component and components exclude each other")
        return [components] if isinstance(components, int) else None if components is None else list(components)

    def rows(self, source: Source | None = None, *, region: _arrays.Region | None = None,
             components: Components = None) -> Iterator[_arrays.Samples]:
        """Decodes a file, or the open one, by rows: see lift2k.rows(). Until the iterator ends or is closed, the decoder is
        at work."""
        with self.at_work():
            chosen = self._begin(source, region, components)
            try:
                yield from self._rows(chosen)
            finally:
                if self.process == os.getpid():  # the image may have been left early
                    lib.l2k_decoder_end(self.pointer)

    def _rows(self, components: list[int] | None) -> Iterator[_arrays.Samples]:
        parts, image = self.wanted(), self.image()
        chosen = list(range(len(parts))) if components is None else components
        apart, chosen_apart = _arrays.differ(parts), _arrays.differ(_of(parts, chosen))
        steps = [image.components[c].dy for c in range(len(parts))]
        downs = {down for _, down in self.halvings(self.reduce)}
        if len(downs) > 1 or (len(set(steps)) > 1 and not apart):  # sizes that only the whole image shares
            raise ValueError("rows of these components do not correspond: only decode() gives them")
        self.use_memory(-1, None)
        self.call(lib.l2k_decoder_begin)
        y, down, said = ffi.new("uint32_t[2]"), downs.pop(), list(self.listener.messages)
        while True:
            self.call(lib.l2k_decoder_next_rows, y, y + 1)
            if y[0] == y[1]:
                break
            heights = [(-y[0] >> down) // step - (-y[1] >> down) // step for step in steps]  # of ceilings
            strip = [part._replace(height=height) for part, height in zip(parts, heights)]
            result = _arrays.output(strip, apart=apart)
            self.call(lib.l2k_decoder_get_rows, _arrays.planes_of(result, write=True).native())
            said += self.listener.messages
            if components is not None:
                result = _joined(_arrays.components(result), chosen, _arrays.output(_of(strip, chosen), apart=chosen_apart))
            if any(strip[c].height for c in chosen):
                yield result
        try:
            self.call(lib.l2k_decoder_end)
        except errors.IncompleteError:
            if not self.incomplete:
                raise _call.exception_of(lib.L2K_INCOMPLETE, said) from None

    @_call.alone
    def decode_many(self, sources: Iterable[Memory], *, region: _arrays.Region | None = None, out: Any = None, stream: Any = None,
                    return_exceptions: bool = False) -> list[Any]:
        """Decodes several files, several at once. `out`: a list of arrays, or a function as for decode()."""
        data = [ffi.from_buffer(contents(source)) for source in sources]
        self.call(lib.l2k_decoder_set_region, *_arrays.region_of(region))
        results: list[Any] = []
        for i, one in enumerate(data):
            try:
                results.append(self._room(one, out if out is None or callable(out) else out[i]))
            except errors.Error as failure:
                if not return_exceptions:
                    raise
                results.append(failure)
        places = [i for i, result in enumerate(results) if not isinstance(result, errors.Error)]
        if places:
            self._run_many([data[i] for i in places], places, results, stream, return_exceptions)
        return results

    def _room(self, data: Any, out: Any) -> Any:
        self._bytes = None
        self.call(lib.l2k_decoder_open_memory, data, len(data))
        self._bytes = data
        return _arrays.output(self.wanted(), out)

    def _run_many(self, data: list[Any], places: list[int], results: list[Any], stream: Any, keep: bool) -> None:
        planes = [_arrays.planes_of(results[i], stream, write=True) for i in places]
        if len({p.device for p in planes}) > 1:
            raise ValueError("all outputs must be in the same memory")
        self.use_memory(planes[0].device, stream)
        native = [p.native() for p in planes]
        items = ffi.new("l2k_decode_item[]", len(data))
        for i, item in enumerate(items):
            item.data, item.bytes, item.planes = data[i], len(data[i]), native[i]
        arrays = [results[i] for i in places]
        try:
            self.run_batch(items, keep)
        except errors.IncompleteError as failure:
            self._incomplete(failure, arrays)
        for i, result in zip(places, self.with_exceptions(items, list(arrays))):
            if isinstance(result, errors.IncompleteError):
                result.array = results[i]
                if self.incomplete:
                    result = result.array
            results[i] = result


def _in_order(info: Any, count: int) -> bool:
    """Whether the image's channels are the codestream's components."""
    if info.palette_entries or info.image.num_components != count:
        return False
    return all(info.image.components[c].association in (0, c + 1, 65535) for c in range(count))


def _of(parts: list[_arrays.Wanted], components: Sequence[int]) -> list[_arrays.Wanted]:
    if any(not 0 <= c < len(parts) for c in components):
        raise IndexError(f"components {components} of {len(parts)}")
    return [parts[c] for c in components]


def _joined(planes: list[Any], components: Sequence[int], result: Any) -> Any:
    """Copies some planes into an array, or a list of these."""
    for c, target in zip(components, _arrays.components(result)):
        target[...] = planes[c]
    return result


def decode(source: Source, *, region: _arrays.Region | None = None, components: Components = None, out: Any = None,
           rgb8: bool = False, incomplete: bool = False, stream: Any = None, progress: _call.Progress = None,
           timings: dict[str, float] | None = None, **coding: Unpack[options.DecoderOptions]) -> _arrays.Samples:
    """Decodes a file, in memory or by name, to an array (height, width) or (height, width, components) of the smallest
    integers that hold the samples; where components differ in size, to a list of two-dimensional ones.

    region: (x0, y0, x1, y1) on the reference grid, clipped to the image area. reduce=1 halves width and height, and so on.
    components: a number or several: those channels of the image. (The option `component` is one of the codestream, before
    the inverse component transform.)
    source: a file object, or lift2k.Ranges, is read where it is needed; it must stay open.
    out: an array of the right shape, of any strides, or a list of planes; or a function of shape and dtype that makes it,
    such as cupy.empty. An array on a CUDA device is written there, after the work in `stream`.
    rgb8: 8 bits, (height, width) of gray or (height, width, 3) of sRGB, with opacity last if the file has any, from any
    colours: sYCC, CMYK, CIELab; ICC profiles and CIELab need a build with Little CMS. Samples of smaller components are repeated.
    incomplete: returns, with a warning, what a truncated or damaged file still gives, instead of raising IncompleteError.
    """
    options.check(coding, options.DecoderOptions, decode)
    with Decoder(progress=progress, incomplete=incomplete, timings=timings is not None, **coding).timed(timings) as decoder:
        return decoder.decode(source, region=region, components=components, out=out, stream=stream, rgb8=rgb8)


def rows(source: Source, *, region: _arrays.Region | None = None, components: Components = None, incomplete: bool = False,
         **coding: Unpack[options.DecoderOptions]) -> Iterator[_arrays.Samples]:
    """Decodes a file by rows, so that it is never in memory as a whole: an iterator of arrays, or lists of them, which joined
    along axis 0 are what decode() gives. A picture without tiles comes in strips of a few hundred rows, others by rows of
    tiles. IncompleteError follows the last rows. A loop that ends early releases the file."""
    options.check(coding, options.DecoderOptions, rows)
    return Decoder(incomplete=incomplete, **coding).rows(source, region=region, components=components)


def decode_many(sources: Iterable[Memory], *, region: _arrays.Region | None = None, out: Any = None, incomplete: bool = False,
                stream: Any = None, progress: _call.Progress = None, timings: dict[str, float] | None = None,
                return_exceptions: bool = False, **coding: Unpack[options.DecoderOptions]) -> list[Any]:
    """Decodes several files, several at once, each as decode() does. With return_exceptions, the list has the exceptions of
    files that fail; else the first one is raised."""
    options.check(coding, options.DecoderOptions, decode_many)
    with Decoder(progress=progress, incomplete=incomplete, timings=timings is not None, **coding).timed(timings) as decoder:
        return decoder.decode_many(sources, region=region, out=out, stream=stream, return_exceptions=return_exceptions)
