"""Exceptions: one for each status of the library, with its line as their text."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Anything that the library refuses or fails at. `messages`: all its lines; the text is the first one."""

    messages: list[str] = []


class ArgumentError(Error, ValueError):
    """A value outside its range, or options that contradict each other."""


class StateError(Error, RuntimeError):
    """A call out of order."""


class OutOfMemoryError(Error, MemoryError):
    """Memory of host or GPU is exhausted."""


class LimitError(Error):
    """The work would exceed a limit; found before memory is allocated for it."""


class StreamError(Error, OSError):
    """Reading or writing failed."""


class BackendError(Error, RuntimeError):
    """Backend or instruction set are not available here, or the GPU failed."""


class CancelledError(Error):
    """The progress function asked to stop."""


class DataError(Error, ValueError):
    """Something is wrong with the file."""


class FormatError(DataError):
    """It is not JPEG 2000 at all."""


class CorruptError(DataError):
    """It breaks the standard's syntax."""


class TruncatedError(DataError):
    """It ends too early."""


class UnsupportedError(DataError):
    """It is legal, but uses something that is not implemented."""


class IncompleteError(DataError):
    """It is truncated or damaged, and `array` has what could be decoded; incomplete=True returns that with a warning."""

    array: Any = None


class Lift2kWarning(UserWarning):
    """A warning of the library, with its line as text."""


STATUSES: dict[str, type[Error]] = {
    "L2K_ERROR_ARGUMENT": ArgumentError,
    "L2K_ERROR_STATE": StateError,
    "L2K_ERROR_MEMORY": OutOfMemoryError,
    "L2K_ERROR_LIMIT": LimitError,
    "L2K_ERROR_IO": StreamError,
    "L2K_ERROR_FORMAT": FormatError,
    "L2K_ERROR_CORRUPT": CorruptError,
    "L2K_ERROR_TRUNCATED": TruncatedError,
    "L2K_ERROR_UNSUPPORTED": UnsupportedError,
    "L2K_ERROR_BACKEND": BackendError,
    "L2K_INCOMPLETE": IncompleteError,
    "L2K_ERROR_CANCELLED": CancelledError,
}
