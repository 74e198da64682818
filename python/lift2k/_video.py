"""Frames of Dirac and VC-2."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple, Unpack

import numpy as np

from . import _arrays, _call, _decoder, _ranges, errors, options
from ._native import ffi, lib


class VideoFrame(NamedTuple):
    """Planes of uint8 or uint16, the stream's number of the frame, and in `sequence` the members of l2k_video_sequence."""

    planes: list[_arrays.Array]
    number: int
    incomplete: bool
    sequence: SimpleNamespace


class _Decoder(_call.Native):
    kind = "video_decoder"

    def frames(self, portions: Iterator[Any]) -> Iterator[VideoFrame]:
        found = ffi.new("const l2k_video_frame **")
        for data in map(ffi.from_buffer, itertools.chain(portions, [b""])):
            self.call(lib.l2k_video_decoder_push, data, len(data))
            self.call(self._pull, found)
            while found[0]:
                yield self._frame(found[0])
                self.call(self._pull, found)

    def _pull(self, pointer: Any, found: Any) -> int:
        status, said = lib.l2k_video_decoder_pull(pointer, found), self.listener.messages
        self.incomplete = status == lib.L2K_INCOMPLETE
        if status == lib.L2K_OK or self.incomplete:  # errors are then those of frames, perhaps of later ones
            said[:] = [(max(severity, lib.L2K_SEVERITY_WARNING), text) for severity, text in said]
        return int(lib.L2K_OK if self.incomplete else status)

    def _frame(self, frame: Any) -> VideoFrame:
        planes, count = [], frame.image.num_components
        for plane, part in zip(frame.planes[0:count], frame.image.components[0:count]):
            planes.append(np.array(_arrays.Memory(int(ffi.cast("uintptr_t", plane.data)), (part.height, part.width), (
                plane.row_stride, plane.sample_stride), np.dtype("u1" if plane.type == lib.L2K_SAMPLE_U8 else "u2"), None)))
        facts = {name: getattr(frame.sequence, name) for name, _ in ffi.typeof(frame.sequence).fields}
        facts = {name: tuple(fact) if isinstance(fact, ffi.CData) else fact for name, fact in facts.items()}
        return VideoFrame(planes, frame.number, self.incomplete, SimpleNamespace(**facts))


def frames(source: _decoder.Memory | _ranges.File | Iterable[bytes],
           **coding: Unpack[options.VideoOptions]) -> Iterator[VideoFrame]:
    """The frames of a Dirac or VC-2 stream, in display order: bytes, the name of a file, a file object or portions of bytes.
    What makes a frame incomplete is a warning; an error ends the iterator."""
    options.check(coding, options.VideoOptions, frames)
    if not hasattr(lib, "l2k_video_decoder_new"):
        raise errors.UnsupportedError("this build has no decoder of Dirac and VC-2")
    options.set_all(decoder := _Decoder(False), coding)
    file: Any = io.BytesIO(data) if isinstance(data := _decoder.contents(source), (bytes, bytearray, memoryview)) else data
    read = getattr(file, "read1", getattr(file, "read", None))  # read1 does not wait for all bytes
    return decoder.frames(iter(lambda: read(1 << 20), b"") if read else filter(len, file))  # no bytes would end the stream
