"""Options by name. Each name is that of the library's enum in small letters without its prefix, so that the header decides
which there are; a value is a number, or, where it comes from an enum of its own, a name of that ("9/7", "RPCL", "ht").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID
from typing import Any, Literal, TypedDict

from . import _call
from ._native import ffi, lib

Backend = Literal["auto", "cpu", "cuda"] | int
Cpu = Literal["auto", "c", "avx2", "avx512", "neon"] | int
Wavelet = Literal["5/3", "9/7", "haar", "1-3", "dd-9-7", "dd-13-7", "daubechies-int", "fidelity", "w4"] | int
Style = Literal["bypass", "reset", "termall", "vsc", "pterm", "segsym", "ht"]
Colour = Literal["unknown", "gray", "srgb", "sycc", "cmyk", "icc", "esycc", "cielab"]
Channel = Literal["colour", "opacity", "premultiplied_opacity", "unspecified"]
Targets = float | Sequence[float] | None


class Change(TypedDict, total=False):
    """A progression order change: ranges without their ends; by default all of them, in all tiles."""

    progression: Literal["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"] | int
    resolutions: tuple[int, int]
    components: tuple[int, int]
    layers: int
    tile: int


class EncoderOptions(TypedDict, total=False):
    """Options of the library's encoder but for `timings`, and what its functions set."""

    format: Literal["jp2", "codestream"] | int
    wavelet: Wavelet
    levels: int
    tile_width: int
    tile_height: int
    tile_x0: int
    tile_y0: int
    block_width: int
    block_height: int
    progression: Literal["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"] | int
    style: Style | Iterable[Style] | int
    component_transform: bool
    sop: bool
    eph: bool
    plt: bool
    tlm: bool
    tile_parts: Literal["one", "resolution", "layer", "component"] | int
    threads: int
    backend: Backend
    limit_samples: int
    gpu_min_samples: int
    limit_memory: int
    cpu: Cpu
    ht_passes: int
    memory: Literal["host", "device"] | int
    in_flight: int
    device: int
    devices: Iterable[int] | int  # ordinals, or a number with their bits
    guard_bits: int
    roi_component: int
    roi_shift: int
    by_tile: bool
    profile: Literal["cinema_2k", "cinema_4k", "imf_2k", "imf_4k", "imf_8k", "imf_2k_r", "imf_4k_r", "imf_8k_r"] | int
    max_bytes: int
    component_bytes: int
    precincts: Sequence[tuple[int, int]]  # (width, height) from the highest resolution down
    ratio: Targets  # raw size over size of the output, one per layer, from the coarsest on
    psnr: Targets  # dB, likewise
    step: float  # base step of the 9/7's quantiser
    poc: Sequence[Change]  # progression order changes
    comment: str  # "" for none
    frames_per_second: float  # for `profile`, which changes whatever it fixes
    kernel: str  # a lifting kernel in place of a wavelet, as the header describes it
    splits: str  # "b", "h" or "v" for each level from the full size on: both ways, horizontally, vertically


class ImageOptions(TypedDict, total=False):
    """What an array's samples are."""

    precision: int | Sequence[int]  # bits that samples use, of all components or of each; those of the dtype
    colour: Colour  # gray for 1 or 2 components, srgb for 3 or 4
    channels: Sequence[Channel]  # of each component; the last of 2 or 4 is opacity
    icc: bytes
    xmp: bytes | str  # an XMP packet
    exif: bytes  # a TIFF stream
    iptc: bytes  # IIM records
    xml: bytes | str | Sequence[bytes | str]  # XML documents
    gml: bytes | str  # a GML document, as GMLJP2
    uuid: Mapping[UUID | str, bytes]  # UUID boxes: ID and content
    density: tuple[float, float]  # pixels per metre, across and down
    origin: tuple[int, int]  # x and y of the image area on the reference grid
    subsampling: Sequence[tuple[int, int]]  # of each component, across and down


class EncodeOptions(EncoderOptions, ImageOptions, total=False):
    """Everything that encode() takes."""


class DecoderOptions(TypedDict, total=False):
    """Options of the library's decoder but for `timings`."""

    reduce: int
    layers: int
    component: int
    threads: int
    backend: Backend
    limit_samples: int
    limit_bytes: int
    gpu_min_samples: int
    strict: bool
    limit_memory: int
    limit_components: int
    limit_tiles: int
    cpu: Cpu
    memory: Literal["host", "device"] | int
    in_flight: int
    cache_bytes: int
    device: int
    devices: Iterable[int] | int
    like_openjpeg: bool
    block_coder: Literal["auto", "cpu"] | int


class TransformOptions(TypedDict, total=False):
    """Options of the library's transform."""

    direction: Literal["forward", "inverse"] | int
    wavelet: Wavelet
    levels: int
    reduce: int
    component_transform: bool
    coefficients: Literal["int16", "int32", "float32"] | int
    memory: Literal["host", "device"] | int
    backend: Backend
    threads: int
    limit_samples: int
    gpu_min_samples: int
    cpu: Cpu
    device: int
    kernel: str  # as for the encoder
    splits: str  # likewise


class VolumeOptions(TypedDict, total=False):
    """Options of the library's volume, but for `memory`."""

    direction: Literal["forward", "inverse"] | int
    wavelet: Wavelet
    levels: int  # within slices
    z_wavelet: Wavelet  # across slices; that of the slices
    z_levels: int
    order: Literal["z_first", "isotropic"] | int
    component_transform: bool
    coefficients: Literal["int16", "int32", "float32"] | int
    backend: Backend
    threads: int
    limit_samples: int
    cpu: Cpu
    device: int


# Options whose values have names, and the enums of these.
ENUMS = {name: f"l2k_{name}" for name in
         ("format", "wavelet", "progression", "style", "tile_parts", "backend", "cpu", "memory", "direction", "profile")}
ENUMS["coefficients"] = "l2k_coefficient_type"
ENUMS["block_coder"] = "l2k_backend"
ENUMS["z_wavelet"] = "l2k_wavelet"
ENUMS["order"] = "l2k_volume_order"


def names(enum: str) -> dict[str, int]:
    """The values of an enum by short names: {"auto": 0, ...}."""
    prefix = "L2K_" if enum in ("l2k_progression", "l2k_direction") else re.sub("_(type|order)$", "", enum).upper() + "_"
    return {name.removeprefix(prefix).lower(): value for name, value in ffi.typeof(enum).relements.items()}


def name_of(enum: str, value: int) -> str:
    for name, number in names(enum).items():
        if number == value:
            if enum == "l2k_wavelet":
                return {"5_3": "5/3", "9_7": "9/7"}.get(name, name.replace("_", "-"))
            return name.upper() if enum == "l2k_progression" else name
    return str(value)


def value_of(enum: str, name: str) -> int:
    known = names(enum)
    try:
        return {name_of(enum, value).lower(): value for value in known.values()}[name.lower()]
    except KeyError:
        there_are = ", ".join(name_of(enum, value) for value in known.values())
        raise ValueError(f"{name!r} is not one of: {there_are}") from None


def numbers(kind: str) -> dict[str, int]:
    """The options of an object by name."""
    prefix = f"L2K_{kind.upper()}_"
    all_names = ffi.typeof(f"l2k_{kind}_option").relements
    return {name.removeprefix(prefix).lower(): value for name, value in all_names.items() if "_NUM_" not in name}


NUMBERS = {kind: numbers(kind) for kind in ("encoder", "decoder", "transform", "volume")}


def number(option: str, value: Any) -> int:
    if isinstance(value, str):
        if option not in ENUMS:
            raise TypeError(f"{option} is a number, not {value!r}")
        return value_of(ENUMS[option], value)
    if option in ("style", "devices") and not isinstance(value, int):
        result = 0
        for part in value:
            result |= number(option, part) if option == "style" else 1 << part
        return result
    return int(value)


def set_all(native: _call.Native, options: Mapping[str, Any]) -> None:
    known, function = NUMBERS[native.kind], getattr(lib, f"l2k_{native.kind}_set")
    for option, value in options.items():
        if option not in known:
            raise TypeError(f"there is no option {option!r}; there are: {', '.join(sorted(known))}")
        native.call(function, known[option], number(option, value))
    if _call.forked:
        native.call(function, known["threads"], 1)
