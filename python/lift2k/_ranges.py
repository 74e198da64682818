"""Files read in parts: behind HTTP range requests, in an object store, inside another file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Protocol

from . import _call
from ._native import ffi


class File(Protocol):
    """The methods that a file object must have; those of open(), io.BytesIO and fsspec do."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> Any: ...


class Ranges:
    """A file of `size` bytes, which `read_at(offset, bytes)` reads. Decoders of several threads call it at once.
    `bytes_read` and `calls` count the requests so far."""

    def __init__(self, read_at: Callable[[int, int], Any], size: int) -> None:
        self.read_at, self.size = read_at, size
        self.bytes_read = self.calls = 0
        self.failure: BaseException | None = None
        self._counting = threading.Lock()

    def _fill(self, offset: int, room: Any) -> None:
        with self._counting:
            self.calls += 1
            self.bytes_read += len(room)
        data = memoryview(self.read_at(offset, len(room))).cast("B")
        if len(data) != len(room):
            raise EOFError(f"{len(data)} bytes came for {len(room)} at {offset}")
        room[:] = data

    def take_failure(self) -> BaseException | None:
        """The exception of read_at, once."""
        failure, self.failure = self.failure, None
        return failure

    def __reduce__(self) -> Any:
        return Ranges, (self.read_at, self.size)


class _Positioned:
    """read_at of a file object, whose position all threads share."""

    def __init__(self, file: File) -> None:
        self.file, self.lock = file, threading.Lock()

    def __call__(self, offset: int, size: int) -> bytes:
        with self.lock:
            self.file.seek(offset)
            data = self.file.read(size)
            while len(data) < size and (more := self.file.read(size - len(data))):
                data += more
        return data

    def __reduce__(self) -> Any:
        return _Positioned, (self.file,)


def is_memory(source: Any) -> bool:
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


def of_file(file: File) -> Ranges:
    size = file.seek(0, os.SEEK_END)
    if not isinstance(size, int):
        raise TypeError(f"{type(file).__name__}.seek() does not tell the position: give a lift2k.Ranges")
    return Ranges(_Positioned(file), size)


@ffi.def_extern(error=-1, onerror=_call.remember)
def l2k_py_read_at(user: Any, offset: int, buffer: Any, size: int) -> int:
    ffi.from_handle(user)._fill(offset, ffi.buffer(buffer, size))
    return 0
