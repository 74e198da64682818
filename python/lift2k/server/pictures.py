"""The pictures of a folder: names that lead to files, and files that stay open.

A file has one decoder for each request at work on it. They share the file and, when a decoder is made, the known places of
packets (Decoder.open_again); each keeps decoded code-blocks for the next windows.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import ImageMode

from .. import _arrays, _decoder, _file, _ranges, errors
from .parameters import Refused, shown

log = logging.getLogger("lift2k.server")
RECENT = 4  # files that may keep several decoders
SUFFIXES = (".jp2", ".jph", ".jpx", ".jpf", ".j2k", ".j2c", ".jpc", ".jhc")
KEPT_SAMPLES = 2**23  # after more at once, a decoder holds memory that the next window does not need
COLOURS = ("unknown", "gray", "srgb", "sycc", "cmyk", "icc")
ROWS = 64  # converted to 8 bits at once, in wider types
Array = np.ndarray[Any, Any]


def to_eight(samples: Array, precision: int, signed: bool) -> Array:
    """The whole range of a component as 0 to 255, as the command scales, by way of 16 bits."""
    top = (1 << precision) - 1
    values = samples.astype(np.uint32 if precision <= 16 else np.uint64) + (1 << (precision - 1) if signed else 0)
    return (((values * 65535 + top // 2) // top + 128) // 257).astype(np.uint8)


@dataclass(frozen=True)
class Resources:
    """Limits of decoding."""

    workers: int = len(os.sched_getaffinity(0))
    files: int = 32  # open at once
    cache_bytes: int = 16 << 20  # decoded code-blocks, of each decoder
    memory_bytes: int = 1 << 30  # of each decoder at work
    seconds: float = 30


@dataclass(frozen=True)
class Window:
    """Samples of 8 bits, (height, width) or (height, width, channels) or a plane for each channel, and their part of the
    reference grid."""

    samples: Any
    region: tuple[int, int, int, int]


class Picture:
    """An open file. Several threads may call `window` at once. `complete`: no part has been found missing so far."""

    complete = True

    def __init__(self, path: Path, facts: os.stat_result, resources: Resources) -> None:
        self.resources = resources
        self._name = path.name
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, file)  # after the last request
        opened = os.fstat(file)
        self.identity = identity_of(opened)
        self.modified = opened.st_mtime
        first = self._new_decoder()
        first.open(_ranges.Ranges(functools.partial(_read_at, file), opened.st_size))
        self._describe(first)
        self._idle = [first]
        self._lock = threading.Lock()

    def trim(self) -> None:
        """Drops all idle decoders but one."""
        with self._lock:
            del self._idle[:-1]

    def _new_decoder(self) -> _decoder.Decoder:
        r = self.resources
        return _decoder.Decoder(progress=lambda done: True, threads=1, backend="cpu", cache_bytes=r.cache_bytes,
                                limit_memory=r.memory_bytes)

    def _describe(self, decoder: _decoder.Decoder) -> None:
        header = _file.header_of(decoder)
        parts = self.channels = header.components
        self.dx, self.dy = min(p.dx for p in parts), min(p.dy for p in parts)
        self.colour, self.icc = header.colour, header.icc
        self.model = self._model()
        if any(p.dx % self.dx or p.dy % self.dy for p in parts) or header.colour not in COLOURS or not self.model:
            raise Refused(501, f"pictures of this kind ({header.colour}) are not shown here")
        self.x0, self.y0 = -(-header.x0 // self.dx), -(-header.y0 // self.dy)
        self.width, self.height = -(-header.x1 // self.dx) - self.x0, -(-header.y1 // self.dy) - self.y0
        self._start, self._end = (header.x0, header.y0), (header.x1, header.y1)
        self.levels = next(n for n in range(header.levels, -1, -1) if decoder.halvings(n) == {(n, n)})
        self.tile = (header.tile_width // self.dx, header.tile_height // self.dy)

    def _model(self) -> str:
        """Pillow's mode of the channels of colour."""
        count = sum(c.channel == "colour" for c in self.channels)
        named = {"cmyk": "CMYK", "gray": "L", "sycc": "YCbCr"}.get(self.colour, "RGB")
        if self.icc:
            named = {b"CMYK": "CMYK", b"GRAY": "L", b"RGB ": "RGB"}.get(self.icc[16:20], "")
        return named if named and count >= len(ImageMode.getmode(named).bands) else "L" if count else ""

    def samples(self, x0: int, y0: int, x1: int, y1: int, reduce: int) -> int:
        """The number of samples of a window."""
        pixels = ((x1 - x0) >> reduce) * ((y1 - y0) >> reduce)
        return sum(pixels // (c.dx // self.dx * (c.dy // self.dy)) for c in self.channels)

    def window(self, x0: int, y0: int, x1: int, y1: int, reduce: int) -> Window:
        """The pixels of a window, clipped to the picture, at 1 / 2^reduce of their width and height; of a truncated or damaged
        file, those that could be decoded."""
        region = (max((self.x0 + x0) * self.dx, self._start[0]), max((self.y0 + y0) * self.dy, self._start[1]),
                  min((self.x0 + x1) * self.dx, self._end[0]), min((self.y0 + y1) * self.dy, self._end[1]))
        few = self.samples(x0, y0, x1, y1, reduce) <= KEPT_SAMPLES
        return Window(self._in_eight(self._decoded(region, reduce, few)), region)

    def _decoded(self, region: tuple[int, int, int, int], reduce: int, few: bool) -> Any:
        with self._decoder(keep=few) as decoder:
            decoder.set("reduce", reduce)
            # A cache takes tiles as a whole: without one, coefficients of some rows are in memory.
            decoder.set("cache_bytes", self.resources.cache_bytes if few else 0)
            try:
                return decoder.decode(region=region)
            except errors.IncompleteError as failure:
                self._report(failure)
                return failure.array

    def _in_eight(self, samples: Any) -> Any:
        """Converts some rows at a time: they pass through wider types."""
        if all(c.precision == 8 and not c.is_signed for c in self.channels):
            return samples
        apart = isinstance(samples, list)
        result = [np.empty(p.shape, np.uint8) for p in samples] if apart else np.empty(samples.shape, np.uint8)
        for c, plane, target in zip(self.channels, _arrays.components(samples), _arrays.components(result)):
            for top in range(0, len(plane), ROWS):
                rows = slice(top, top + ROWS)
                target[rows] = to_eight(plane[rows], c.precision, c.is_signed)
        return result

    def _report(self, failure: errors.IncompleteError) -> None:
        """Logs once per file."""
        if self.complete:
            log.warning("%s: %s; what is there is shown", self._name, failure)
        self.complete = False

    @contextmanager
    def _decoder(self, keep: bool) -> Iterator[_decoder.Decoder]:
        """A decoder for exclusive use. The last idle one is lent only after another one has copied its knowledge."""
        with self._lock:
            if len(self._idle) == 1:
                other = self._new_decoder()
                other.open_again(self._idle[0])
                self._idle.insert(0, other)
            decoder = self._idle.pop()
        deadline = time.monotonic() + self.resources.seconds
        decoder.progress = lambda done: time.monotonic() < deadline
        try:
            yield decoder
        except errors.CancelledError:
            raise Refused(503, "decoding took too long") from None
        finally:
            with self._lock:
                if keep and len(self._idle) < self.resources.workers:
                    self._idle.append(decoder)


def _read_at(file: int, offset: int, size: int) -> bytes:
    """Reads instead of mapping: a file that shrinks while open must not end the server."""
    data = os.pread(file, size, offset)
    while 0 < len(data) < size and (more := os.pread(file, size - len(data), offset + len(data))):
        data += more
    return data


def identity_of(facts: os.stat_result) -> tuple[int, ...]:
    """A value that changes with the file."""
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


class Folder:
    """The pictures of a folder and its subfolders. A name is the path from there, with slashes. Names that begin with a dot
    are hidden, and so are links that lead out of the folder."""

    def __init__(self, root: str | os.PathLike[str], resources: Resources = Resources(),
                 open_picture: Callable[[Path, os.stat_result, Resources], Any] = Picture) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise NotADirectoryError(f"{root} is not a folder")
        self.resources, self._open_picture = resources, open_picture
        self._open: OrderedDict[Path, Any] = OrderedDict()
        self._lock = threading.Lock()

    def _path(self, name: str) -> Path | None:
        parts = name.split("/") if name else []
        if any(not part or part.startswith(".") or "\\" in part or not part.isprintable() for part in parts):
            return None
        try:
            path = Path(os.path.realpath(self.root.joinpath(*parts), strict=True))
        except (OSError, ValueError):
            return None
        inside = path == self.root or self.root in path.parents
        hidden = inside and any(part.startswith(".") for part in path.relative_to(self.root).parts)
        return path if inside and not hidden else None

    def _file(self, name: str) -> tuple[Path, os.stat_result] | None:
        path = self._path(name)
        if path is None or not path.name.lower().endswith(SUFFIXES) or not name.lower().endswith(SUFFIXES):
            return None
        try:
            facts = path.stat()
        except OSError:
            return None
        return (path, facts) if path.is_file() else None

    def picture(self, name: str) -> Any:
        """The picture of a name, opened again if its file has changed."""
        found = self._file(name)
        if found is None:
            raise Refused(404, f"there is no picture {shown(name)}")
        path, facts = found
        with self._lock:
            picture = self._open.get(path)
        if picture is None or picture.identity != identity_of(facts):
            picture = self._open_picture(path, facts, self.resources)
        with self._lock:
            self._open[path] = picture
            self._open.move_to_end(path)
            while len(self._open) > self.resources.files:
                self._open.popitem(last=False)
            others = list(self._open.values())[:-RECENT]
        for other in others:
            other.trim()
        return picture

    def close(self) -> None:
        """Forgets all open files."""
        with self._lock:
            self._open.clear()

    def contents(self, name: str, most: int = 10000) -> dict[str, list[str]]:
        """Folders and pictures in a folder by name, up to a limit."""
        path = self._path(name)
        if path is None or not path.is_dir():
            raise Refused(404, f"there is no folder {shown(name)}")
        before = f"{name}/" if name else ""
        folders, pictures = [], []
        for entry in sorted(os.listdir(path))[:most]:
            if self._file(before + entry):
                pictures.append(before + entry)
            elif (below := self._path(before + entry)) and below.is_dir():
                folders.append(before + entry)
        return {"folders": folders, "pictures": pictures}
