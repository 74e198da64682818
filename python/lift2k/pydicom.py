"""JPEG 2000 and HTJ2K for pydicom 3: plugins `lift2k` of pydicom.pixels, which register() or the first import of this module
adds; compress_htj2k(), since pydicom itself has no encoders for HTJ2K; and transcode(). Transfer syntaxes: DICOM PS3.5, 10.6 and 10.18.
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from pydicom import uid
from pydicom.encaps import encapsulate, encapsulate_extended, generate_frames
from pydicom.pixels import get_decoder, get_encoder, pixel_array
from pydicom.pixels.common import PhotometricInterpretation as PI

from . import _decoder, _encoder, _transcode
from ._native import lib

DECODED = (uid.JPEG2000Lossless, uid.JPEG2000, uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL, uid.HTJ2K)
ENCODED = (uid.JPEG2000Lossless, uid.JPEG2000)
DECODER_DEPENDENCIES = {syntax: ("lift2k",) for syntax in DECODED}
ENCODER_DEPENDENCIES = {syntax: ("lift2k",) for syntax in ENCODED}


def is_available(syntax: str) -> bool:
    """pydicom calls this of each plugin."""
    return syntax in DECODED


def register() -> None:
    """Adds the plugins, once. pydicom asks its own first; decoding_plugin="lift2k" and encoding_plugin="lift2k" choose."""
    for get, syntaxes, name in ((get_decoder, DECODED, "_decode_frame"), (get_encoder, ENCODED, "_encode_frame")):
        for syntax in syntaxes:
            coder = get(syntax)
            if "lift2k" not in coder.available_plugins:
                coder.add_plugin("lift2k", (__name__, name))


def _decode_frame(src: bytes, runner: Any) -> bytearray:
    """A frame's samples, little-endian, colour by pixel, in the smallest type."""
    decoder = _decoder.Decoder()
    decoder.open(src)
    frame = bytearray()

    def room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        nonlocal frame
        frame = bytearray(math.prod(shape) * dtype.itemsize)
        return np.frombuffer(frame, dtype).reshape(shape)

    array = decoder.decode(out=room)
    if array.shape[:2] != (runner.rows, runner.columns) or array.size != runner.rows * runner.columns * runner.samples_per_pixel:
        raise ValueError(f"the codestream has shape {array.shape}, not what rows, columns and samples per pixel say")
    if sys.byteorder == "big":
        array.byteswap(inplace=True)
    runner.set_option("bits_allocated", 8 * array.dtype.itemsize)
    if runner.samples_per_pixel > 1:
        runner.set_option("planar_configuration", 0)
    if runner.photometric_interpretation in (PI.YBR_ICT, PI.YBR_RCT):
        runner.set_option("photometric_interpretation", PI.RGB)
    return frame


def _encode_frame(src: bytes, runner: Any) -> bytes:
    """pydicom's options j2k_cr and j2k_psnr are ratio and psnr: one number for each layer."""
    ratio, psnr = runner.get_option("j2k_cr", None), runner.get_option("j2k_psnr", None)
    lossy = bool(ratio or psnr)
    if lossy == (runner.transfer_syntax == uid.JPEG2000Lossless):
        raise ValueError("JPEG 2000 Lossless takes neither j2k_cr nor j2k_psnr, JPEG 2000 takes one of them")
    size = 1 if runner.bits_stored <= 8 else 2 if runner.bits_stored <= 16 else 4
    array = np.frombuffer(src, f"<{'i' if runner.pixel_representation else 'u'}{size}")
    shape = (runner.rows, runner.columns)
    if runner.samples_per_pixel > 1 and runner.planar_configuration == 1 and not runner.is_array:
        array = np.moveaxis(array.reshape(runner.samples_per_pixel, *shape), 0, 2)
    else:
        array = array.reshape(shape + ((runner.samples_per_pixel,) if runner.samples_per_pixel > 1 else ()))
    targets = {name: value for name, value in (("ratio", ratio), ("psnr", psnr)) if value}
    return _encoder.encode(array, precision=runner.bits_stored, format="codestream", wavelet="9/7" if lossy else "5/3",
                           component_transform=runner.photometric_interpretation in (PI.YBR_ICT, PI.YBR_RCT), **targets)


def _levels(rows: int, columns: int) -> int:
    """Enough for the lowest resolution to be at most 64 wide or high."""
    return max(5, math.ceil(math.log2(max(1, min(rows, columns) / 64))))


def _frames(ds: Any) -> list[np.ndarray[Any, Any]]:
    array = pixel_array(ds, raw=True)
    single = array.ndim == (2 if ds.SamplesPerPixel == 1 else 3)
    return [array] if single else list(array)


def compress_htj2k(ds: Any, transfer_syntax: str = uid.HTJ2KLosslessRPCL, *, extended: bool = False, **options: Any) -> None:
    """Compresses a dataset's pixel data in place with HTJ2K, all frames in a batch, as Dataset.compress() does with others.

    transfer_syntax: HTJ2KLosslessRPCL (RPCL, a lowest resolution of at most 64 pixels in one direction, TLM), HTJ2KLossless,
    or HTJ2K, which is lossless as well unless options such as wavelet="9/7", ratio=10 say otherwise. RGB becomes YBR_RCT or
    YBR_ICT. Options are those of lift2k.encode(). extended: with the Extended Offset Table.
    """
    if transfer_syntax not in (uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL, uid.HTJ2K):
        raise ValueError(f"{transfer_syntax} is no transfer syntax of HTJ2K")
    lossy = options.get("wavelet") in ("9/7", 1) or any(options.get(name) for name in ("ratio", "psnr"))
    if lossy and transfer_syntax != uid.HTJ2K:
        raise ValueError("only the transfer syntax HTJ2K may lose something")
    required: dict[str, Any] = {"style": "ht", "format": "codestream", "precision": ds.BitsStored}
    if transfer_syntax == uid.HTJ2KLosslessRPCL:
        required |= {"progression": "RPCL", "tlm": True, "levels": _levels(ds.Rows, ds.Columns)}
    against = sorted(name for name in required if name in options and options[name] != required[name])
    if against:
        raise ValueError(f"the transfer syntax determines {', '.join(against)}")
    colour = ds.SamplesPerPixel == 3 and ds.PhotometricInterpretation in (PI.RGB, PI.YBR_RCT, PI.YBR_ICT)
    colour = colour and bool(options.get("component_transform", True))
    frames = _frames(ds)
    files = _encoder.encode_many(frames, **options | required | {"component_transform": colour})
    _set_frames(ds, files, extended)
    _describe(ds, transfer_syntax, lossy, colour, sum(f.nbytes for f in frames) / sum(map(len, files)))


def _set_frames(ds: Any, files: list[bytes], extended: bool) -> None:
    if extended:
        ds.PixelData, ds.ExtendedOffsetTable, ds.ExtendedOffsetTableLengths = encapsulate_extended(files)
    else:
        ds.PixelData = encapsulate(files)
        for name in ("ExtendedOffsetTable", "ExtendedOffsetTableLengths"):
            if name in ds:
                del ds[name]
    ds["PixelData"].VR = "OB"
    ds["PixelData"].is_undefined_length = True
    ds._pixel_array = None


def transcode(ds: Any, transfer_syntax: str = uid.HTJ2KLosslessRPCL, *, extended: bool | None = None, **options: Any) -> None:
    """Changes a dataset's transfer syntax in place between those of JPEG 2000 and HTJ2K, all frames, without the transform:
    pixel data decode to the same samples, and nothing else changes.

    transfer_syntax: one of pydicom.uid's JPEG2000Lossless, JPEG2000, HTJ2KLossless, HTJ2KLosslessRPCL, HTJ2K; the lossless
    ones for pixel data that are so. Options are those of lift2k.transcode(). extended: with the Extended Offset Table; by
    default as before.
    """
    before = ds.file_meta.TransferSyntaxUID
    if before not in DECODED or transfer_syntax not in DECODED:
        raise ValueError(f"{before} to {transfer_syntax}: only between the transfer syntaxes of JPEG 2000 and HTJ2K")
    table = ds.get("ExtendedOffsetTable")
    offsets = (table, ds.ExtendedOffsetTableLengths) if table else None
    frames = list(generate_frames(ds.PixelData, number_of_frames=int(ds.get("NumberOfFrames") or 1), extended_offsets=offsets))
    if transfer_syntax not in (uid.JPEG2000, uid.HTJ2K):
        _check_lossless(ds, frames, transfer_syntax == uid.HTJ2KLosslessRPCL)
    required: dict[str, Any] = {"ht": transfer_syntax not in ENCODED, "format": "codestream"}
    if transfer_syntax == uid.HTJ2KLosslessRPCL:
        required |= {"progression": "RPCL", "tlm": True}
    if len(frames) > 1:
        required["threads"] = 1  # each; frames side by side
    with ThreadPoolExecutor() as pool:
        files = list(pool.map(lambda frame: _transcode.transcode(frame, **options | required), frames))
    _set_frames(ds, files, bool(table) if extended is None else extended)
    ds.file_meta.TransferSyntaxUID = uid.UID(transfer_syntax)


def _check_lossless(ds: Any, frames: list[bytes], rpcl: bool) -> None:
    decoder = _decoder.Decoder()
    for frame in frames:
        decoder.open(frame)
        info = decoder.info()
        if not lib.l2k_wavelet_reversible(info.wavelet) or ds.get("LossyImageCompression") == "01":
            raise ValueError("the pixel data have been compressed with loss, which this transfer syntax is not for")
        if rpcl and min(ds.Rows, ds.Columns) > 64 << info.levels:
            raise ValueError(f"HTJ2K Lossless RPCL needs a lowest resolution of at most 64, but there are {info.levels} levels")


def _describe(ds: Any, transfer_syntax: str, lossy: bool, colour: bool, ratio: float) -> None:
    ds.file_meta.TransferSyntaxUID = uid.UID(transfer_syntax)
    if ds.SamplesPerPixel == 3:
        ds.PlanarConfiguration = 0
        if colour:
            ds.PhotometricInterpretation = "YBR_ICT" if lossy else "YBR_RCT"
        elif ds.PhotometricInterpretation in (PI.YBR_RCT, PI.YBR_ICT):
            ds.PhotometricInterpretation = "RGB"
    if lossy:
        ds.LossyImageCompression = "01"
        ds.LossyImageCompressionRatio = [*_values(ds, "LossyImageCompressionRatio"), f"{ratio:.4g}"]
        ds.LossyImageCompressionMethod = [*_values(ds, "LossyImageCompressionMethod"), "ISO_15444_15"]


def _values(ds: Any, name: str) -> list[Any]:
    value = ds.get(name)
    return [] if value in (None, "") else [value] if isinstance(value, (str, float, int)) else list(value)


register()
