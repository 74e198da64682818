"""A native object and a call of it: hooks, messages, progress, exceptions."""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from . import errors
from ._native import ffi, lib

Progress = Callable[[float], Any] | bool | None

log = logging.getLogger("lift2k")
forked = False


def _after_fork() -> None:
    global forked
    forked = True


# OpenMP's threads do not survive a fork, and a parallel region in the child would hang. With one thread, none is needed.
os.register_at_fork(after_in_child=_after_fork)


class Listener:
    """Collects the library's messages during a call, possibly from several of its threads."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, str]] = []
        self.progress: Callable[[float], Any] | None = None
        self.failure: BaseException | None = None


def remember(kind: Any, failure: BaseException, traceback: Any) -> None:
    if traceback is not None:  # else cffi could not convert the function's result
        target = ffi.from_handle(traceback.tb_frame.f_locals["user"])
        getattr(target, "listener", target).failure = failure


@ffi.def_extern(onerror=remember)
def l2k_py_message(user: Any, severity: int, text: Any) -> None:
    ffi.from_handle(user).messages.append((severity, ffi.string(text).decode(errors="replace")))


@ffi.def_extern(error=False, onerror=remember)
def l2k_py_progress(user: Any, done: float) -> bool:
    # Also the place where Python notices Ctrl-C during a long call.
    progress = ffi.from_handle(user).progress
    return progress is None or progress(done) is not False


S = TypeVar("S", bound="Native")
P = ParamSpec("P")
R = TypeVar("R")


def alone(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method that refuses to run while another one of its object runs, on another thread or around it."""
    @functools.wraps(method)
    def guarded(self: S, /, *arguments: P.args, **named: P.kwargs) -> R:
        with self.at_work():
            return method(self, *arguments, **named)

    return guarded


class Native:
    """An encoder, decoder or transform of the library."""

    kind = ""  # the middle of its functions' names

    def __init__(self, watched: bool) -> None:
        """watched: a progress function will be given. The main thread always has one, for Ctrl-C; others avoid the lock."""
        self.listener = Listener()
        self._handle = ffi.new_handle(self.listener)
        hooks = {"message": lib.l2k_py_message, "user": self._handle}
        if watched or threading.current_thread() is threading.main_thread():
            hooks["progress"] = lib.l2k_py_progress
        new = getattr(lib, f"l2k_{self.kind}_new")(ffi.new("l2k_hooks *", hooks))
        if new == ffi.NULL:
            raise errors.OutOfMemoryError("out of memory")
        self.process, self.idle = os.getpid(), threading.Lock()
        self.pointer = ffi.gc(new, functools.partial(_free, getattr(lib, f"l2k_{self.kind}_free"), self._handle, self.process))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        if not self.idle.acquire(blocking=False):
            raise errors.StateError(f"this {self.kind} is at work in another call: each thread needs its own")
        try:
            yield
        finally:
            self.idle.release()

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the library with the object first; its status becomes warnings or an exception."""
        if self.process != os.getpid():
            raise errors.StateError("this object was made before a fork, which its threads have not survived")
        self.listener.messages.clear()
        self.listener.failure = None
        check(function(self.pointer, *arguments), self.listener)


def _free(free: Any, handle: Any, process: int, pointer: Any) -> None:
    """handle: must outlive the object; the last reference to either frees it."""
    if process == os.getpid():  # else it would wait for vanished threads
        free(pointer)


def exception_of(status: int, messages: list[tuple[int, str]]) -> errors.Error:
    lines = [text for severity, text in messages if severity == lib.L2K_SEVERITY_ERROR]
    if not lines:  # an incomplete file has only a warning
        lines = [text for severity, text in messages if severity == lib.L2K_SEVERITY_WARNING]
    name = ffi.typeof("l2k_status").elements[status]
    failure = errors.STATUSES[name](lines[0] if lines else ffi.string(lib.l2k_strerror(status)).decode())
    failure.messages = lines
    return failure


def check(status: int, listener: Listener) -> None:
    for severity, text in listener.messages:
        if severity == lib.L2K_SEVERITY_NOTE:
            log.info(text)
        elif severity == lib.L2K_SEVERITY_WARNING and status != lib.L2K_INCOMPLETE:
            warnings.warn(text, errors.Lift2kWarning, stacklevel=outside())
    if listener.failure is not None:
        failure, listener.failure = listener.failure, None
        raise failure
    if status != lib.L2K_OK:
        raise exception_of(status, listener.messages)


def outside() -> int:
    """The stack level of warnings: that of the caller of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("lift2k."):
        frame, level = frame.f_back, level + 1
    return level


@contextmanager
def reporting(listener: Listener, progress: Progress, what: str) -> Iterator[None]:
    """progress: a function of the fraction done, which returns False to stop; True: a bar (tqdm), or a line without it."""
    end: Callable[[], Any] = lambda: None
    if progress is True:
        listener.progress, end = _bar(what)
    elif callable(progress):
        listener.progress = progress
    try:
        yield
        if listener.progress is not None:
            listener.progress(1.0)
    finally:
        listener.progress = None
        end()


def _bar(what: str) -> tuple[Callable[[float], None], Callable[[], Any]]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        def line(done: float) -> None:
            print(f"\r{what} {100 * done:.0f} %", end="", file=sys.stderr, flush=True)

        return line, lambda: print(file=sys.stderr)
    bar = tqdm(total=100, desc=what, unit="%", leave=False)

    def update(done: float) -> None:
        bar.update(int(100 * done) - bar.n)

    return update, bar.close
