"""Options by name. Each name is that of the library's enum in small letters without its prefix, so that the header defines
them; a value is a number, or a name from the option's own enum ("9/7", "RPCL", "ht").
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID
from typing import Any, Literal, TypedDict

import numpy as np

from . import _call, errors
from ._native import ffi, lib

Backend = Literal["auto", "cpu", "cuda", "opencl"] | int
Cpu = Literal["auto", "c", "avx2", "avx512", "neon"] | int
Wavelet = Literal["5/3", "9/7", "haar", "1-3", "dd-9-7", "dd-13-7", "daubechies-int", "fidelity", "w4"] | int
Style = Literal["bypass", "reset", "termall", "vsc", "pterm", "segsym", "ht"]
Colour = Literal["unknown", "gray", "srgb", "sycc", "cmyk", "icc", "esycc", "cielab"]
Channel = Literal["colour", "opacity", "premultiplied_opacity", "unspecified"]
Targets = float | Sequence[float] | None


class Change(TypedDict, total=False):
    """A progression order change: ranges without their ends; by default everything, in all tiles."""

    progression: Literal["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"] | int
    resolutions: tuple[int, int]
    components: tuple[int, int]
    layers: int
    tile: int


class _CommonOptions(TypedDict, total=False):
    threads: int
    backend: Backend
    limit_samples: int
    cpu: Cpu
    device: int


class _CodecOptions(_CommonOptions, total=False):
    gpu_min_samples: int
    limit_memory: int
    memory: Literal["host", "device"] | int
    in_flight: int
    devices: Iterable[int] | int


class _FileOptions(TypedDict, total=False):
    format: Literal["jp2", "codestream"] | int
    progression: Literal["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"] | int
    sop: bool
    eph: bool
    plt: bool
    tlm: bool
    tile_parts: Literal["one", "resolution", "layer", "component"] | int
    profile: Literal["none", "cinema2k", "cinema4k", "broadcast", "broadcastmulti", "broadcastmulti-r", "imf2k", "imf4k", "imf8k",
                     "imf2k-r", "imf4k-r", "imf8k-r"] | int
    frames_per_second: float
    precincts: Sequence[tuple[int, int]]
    poc: Sequence[Change]
    comment: str


class EncoderOptions(_CodecOptions, _FileOptions, total=False):
    """Options of the library's encoder except `timings`, and those that functions set.

    precincts: (width, height) from the highest resolution down; further ones halve the last
    ratio: raw size over size of the output, one number or one for each layer, from the coarsest on
    psnr: dB, likewise
    step: base step of the 9/7's quantiser, as a fraction of the samples' range
    poc: progression order changes, a Change for each
    comment: text of the COM marker segment; "" for none
    frames_per_second: of `profile`, whose limits of bytes follow; what is set against the profile is an error
    kernel: a lifting kernel in place of a wavelet, as the header describes it
    splits: "b", "h" or "v" for each level from the full size on: both ways, horizontally, vertically
    palette: the array has indices; of each its colour, 3 values of 8 bits, or 4 with opacity
    """

    wavelet: Wavelet
    levels: int
    tile_width: int
    tile_height: int
    tile_x0: int
    tile_y0: int
    block_width: int
    block_height: int
    style: Style | Iterable[Style] | int
    component_transform: bool
    ht_passes: int
    guard_bits: int
    roi_component: int
    roi_shift: int
    by_tile: bool
    max_bytes: int
    component_bytes: int
    quality: int
    visual: int
    ratio: Targets
    psnr: Targets
    step: float
    kernel: str
    splits: str
    palette: Sequence[Sequence[int]]


class ImageOptions(TypedDict, total=False):
    """The meaning of an array's samples, and further content of a file.

    precision: bits that samples use, of all components or of each; those of the dtype
    colour: their colour space; gray for 1 or 2 components, srgb for 3 or 4
    channels: what each component is; the last of 2 or 4, of inks that of 5, is opacity
    icc: an ICC profile
    xmp: an XMP packet
    exif: a TIFF stream
    iptc: IIM records
    xml: an XML document, or several
    gml: a GML document, as GMLJP2
    uuid: UUID boxes: ID and content
    density: pixels per metre, across and down
    origin: x and y of the image area on the reference grid
    subsampling: of each component, across and down
    """

    precision: int | Sequence[int]
    colour: Colour
    channels: Sequence[Channel]
    icc: bytes
    xmp: bytes | str
    exif: bytes
    iptc: bytes
    xml: bytes | str | Sequence[bytes | str]
    gml: bytes | str
    uuid: Mapping[UUID | str, bytes]
    density: tuple[float, float]
    origin: tuple[int, int]
    subsampling: Sequence[tuple[int, int]]


class EncodeOptions(EncoderOptions, ImageOptions, total=False):
    """Everything that encode() takes."""


class TranscodeOptions(_FileOptions, total=False):
    """Options of the library's encoder and decoder that transcode() takes; without, each is as in the file.

    poc: progression order changes, a Change for each
    comment: in place of all comments
    """

    reduce: int
    layers: int
    strict: bool
    threads: int
    cpu: Cpu
    limit_samples: int
    limit_memory: int


class DecoderOptions(_CodecOptions, total=False):
    """Options of the library's decoder except `timings`."""

    reduce: int
    layers: int
    component: int
    limit_bytes: int
    strict: bool
    limit_components: int
    limit_tiles: int
    cache_bytes: int
    like_openjpeg: bool
    block_coder: Literal["auto", "cpu"] | int


class TransformOptions(_CommonOptions, total=False):
    """Options of the library's transform.

    kernel: as for the encoder
    splits: likewise
    """

    direction: Literal["forward", "inverse"] | int
    wavelet: Wavelet
    levels: int
    reduce: int
    component_transform: bool
    coefficients: Literal["int16", "int32", "float32"] | int
    memory: Literal["host", "device"] | int
    gpu_min_samples: int
    kernel: str
    splits: str


class VolumeOptions(_CommonOptions, total=False):
    """Options of the library's volume except `memory`."""

    direction: Literal["forward", "inverse"] | int
    wavelet: Wavelet
    levels: int
    z_wavelet: Wavelet
    z_levels: int
    order: Literal["z_first", "isotropic"] | int
    component_transform: bool
    coefficients: Literal["int16", "int32", "float32"] | int


VideoOptions = TypedDict("VideoOptions", {"backend": Literal["auto", "cpu", "cuda"] | int, "limit_samples": int,
                                          "limit_memory": int, "cpu": Cpu, "device": int}, total=False)
VideoOptions.__doc__ = "Options of the library's decoder of video except `memory`."


# Options whose values have names, and the enums of these.
ENUMS = {name: f"l2k_{name}" for name in
         ("format", "wavelet", "progression", "style", "tile_parts", "backend", "cpu", "memory", "direction", "profile")}
ENUMS["coefficients"] = "l2k_coefficient_type"
ENUMS["block_coder"] = "l2k_backend"
ENUMS["z_wavelet"] = "l2k_wavelet"
ENUMS["order"] = "l2k_volume_order"


def names(enum: str) -> dict[str, int]:
    """The values of an enum by the names that users give: {"auto": 0, ...}."""
    prefix = "L2K_" if enum in ("l2k_progression", "l2k_direction") else re.sub("_(type|order)$", "", enum).upper() + "_"

    def shown(name: str) -> str:
        if enum == "l2k_progression":
            return name
        name = name.lower()
        if enum == "l2k_wavelet":
            return {"5_3": "5/3", "9_7": "9/7"}.get(name, name.replace("_", "-"))
        if enum == "l2k_profile":  # as in the command
            return name.replace("_", "", 1).replace("_", "-")
        return name

    return {shown(name.removeprefix(prefix)): value for value, name in sorted(ffi.typeof(enum).elements.items())}


def name_of(enum: str, value: int) -> str:
    return next((name for name, number in names(enum).items() if number == value), str(value))


def value_of(enum: str, name: str) -> int:
    known = names(enum)
    try:
        return {known_name.lower(): value for known_name, value in known.items()}[name.lower()]
    except KeyError:
        raise ValueError(f"{name!r} is not one of: {', '.join(known)}") from None


def numbers(kind: str) -> dict[str, int]:
    """The options of an object by name."""
    prefix = f"L2K_{kind.upper()}_"
    all_names = ffi.typeof(f"l2k_{kind}_option").relements
    return {name.removeprefix(prefix).lower(): value for name, value in all_names.items() if "_NUM_" not in name}


NUMBERS = {kind: numbers(kind) for kind in ("encoder", "decoder", "transform", "volume")} | {"video_decoder": numbers("video")}


def check(given: Iterable[str], hints: Any, function: Callable[..., Any]) -> None:
    """Refuses what are neither options nor arguments of a function, whose names the message lists."""
    for name in given:
        if name not in hints.__annotations__:
            own = [key for key, parameter in inspect.signature(function).parameters.items()
                   if parameter.kind is parameter.KEYWORD_ONLY]
            known = sorted({*hints.__annotations__, *own})
            meant = "".join(f" Did you mean {close!r}?" for close in difflib.get_close_matches(name, known, 1))
            raise TypeError(f"there is no option {name!r}.{meant} There are: {', '.join(known)}")


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


def _poc(changes: Iterable[Change]) -> tuple[Any, ...]:
    natives = []
    for change in changes:
        unknown = set(change) - set(Change.__annotations__)
        if unknown:
            raise TypeError(f"a progression order change has no {', '.join(sorted(unknown))}")
        r0, r1 = change.get("resolutions", (0, 33))
        c0, c1 = change.get("components", (0, 16384))
        order = number("progression", change.get("progression", 0))
        natives.append((change.get("tile", 0xFFFFFFFF), order, r0, r1, c0, c1, change.get("layers", 65535)))
    return ffi.new("l2k_poc[]", natives), len(natives)


def _palette(colours: Any) -> tuple[Any, ...]:
    entries = np.ascontiguousarray(colours, np.uint8)
    return ffi.from_buffer("uint8_t[]", entries), *entries.shape


# Options that are no numbers: the arguments of their own functions, in the order of the calls.
SETTERS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "precincts": lambda sizes: (ffi.new("l2k_size[]", [tuple(size) for size in sizes]), len(sizes)),
    "kernel": lambda text: (text.encode(),),
    "splits": lambda text: (text.encode(),),
    "palette": _palette,
    "step": lambda step: (step,),
    "poc": _poc,
    "comment": lambda text: (text.encode("latin-1"),),
}


def set_all(native: _call.Native, options: Mapping[str, Any]) -> None:
    """Options of None that are no numbers stay unset."""
    known, function = NUMBERS[native.kind], getattr(lib, f"l2k_{native.kind}_set")
    for option, value in options.items():
        if option not in SETTERS:
            native.call(function, known[option], number(option, value))
    if _call.forked and "threads" in known:
        native.call(function, known["threads"], 1)
    for option, arguments in SETTERS.items():
        if options.get(option) is not None:
            native.call(getattr(lib, f"l2k_{native.kind}_set_{option}"), *arguments(options[option]))


HINTS: dict[str, Any] = {"encoder": EncoderOptions, "decoder": DecoderOptions, "transform": TransformOptions,
                         "volume": VolumeOptions, "video": VideoOptions}


def _in_python(text: str) -> str:
    """An explanation of the header with Python's names."""
    def named(m: re.Match[str]) -> str:
        known = m[0] in ENUMS.values()
        return f"[{', '.join(names(m[0]))}]" if known else m[0]

    text = re.sub(r"L2K_ERROR_\w+", lambda m: errors.STATUSES[m[0]].__name__, text)
    text = re.sub(r"L2K_(?:ENCODER|DECODER|TRANSFORM|VOLUME)_(\w+)", lambda m: m[1].lower(), text)
    return re.sub(r"; ([^;.]{1,12})$", r" (default: \1)", re.sub(r"\bl2k_\w+", named, text))


def _explain() -> None:
    """Adds a line per option to its class's docstring, mostly from the header."""
    said: dict[Any, list[str]] = {hints: inspect.cleandoc(hints.__doc__ or "").splitlines() + [""]
                                  for hints in (*HINTS.values(), ImageOptions, EncodeOptions)}
    for line in ffi.string(lib.l2k_py_explanations).decode().splitlines():
        name, _, text = line.partition(" ")
        kind, _, option = name.lower().partition("_")
        hints = HINTS.get(kind)  # None: Python has no such object
        if hints and option in hints.__annotations__:
            said[hints].append(f"{option}: {_in_python(text)}")
    said[EncodeOptions] += said[EncoderOptions][2:] + said[ImageOptions][2:]
    for hints, (first, *lines) in said.items():
        hints.__doc__ = "\n".join([first, "", *filter(None, lines)])


_explain()
