"""Transcoding: a file written again without the transform."""

from __future__ import annotations

import io
import warnings
from typing import Any, Unpack

from . import _call, _decoder, _encoder, errors, options
from ._native import lib

OF_DECODER = ("reduce", "layers", "strict", "limit_samples")
OF_BOTH = ("threads", "cpu", "limit_memory")


def transcode(source: _decoder.Source, *, ht: bool | None = None, incomplete: bool = False, progress: _call.Progress = None,
              **coding: Unpack[options.TranscodeOptions]) -> bytes:
    """Writes a file, in memory or by name, again without the transform: coefficients, and so samples, stay what they are.

    ht: True makes HT code-blocks of MQ ones (HTJ2K), False the reverse; by default, and where they are of that kind, they
    are copied. `options.TranscodeOptions` lists what else can change; boxes stay.
    incomplete: returns, with a warning, what a truncated or damaged file still gives, instead of raising IncompleteError.
    """
    options.check(coding, options.TranscodeOptions, transcode)
    given: dict[str, Any] = dict(coding)
    decoder = _decoder.Decoder(**{name: given[name] for name in OF_DECODER + OF_BOTH if name in given})
    style = {} if ht is None else {"style": "ht" if ht else 0}
    encoder = _encoder.Encoder(progress=progress, **{n: value for n, value in given.items() if n not in OF_DECODER} | style)
    file = io.BytesIO()
    target = _encoder._File(file, encoder.listener)
    decoder.open(source)
    with encoder.at_work(), _call.reporting(encoder.listener, progress, "transcode"):
        for native in (encoder, decoder):
            native.listener.messages.clear()
        status = lib.l2k_encoder_transcode(encoder.pointer, decoder.pointer, target.stream)
        encoder.listener.messages += decoder.listener.messages
        failure = decoder._ranges.take_failure() if status == lib.L2K_ERROR_IO and decoder._ranges else None
        if failure is not None:
            raise failure
        try:
            _call.check(status, encoder.listener)
        except errors.IncompleteError as damage:
            if not incomplete:
                raise
            warnings.warn(str(damage), errors.Lift2kWarning, stacklevel=_call.outside())
    return file.getvalue()
