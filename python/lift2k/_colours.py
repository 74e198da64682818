"""Decoded samples as 8-bit gray or sRGB: what `lift2k decode --rgb8` shows, and with the same formulas the image server."""

from __future__ import annotations

import functools
import io
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _arrays, _call, errors, options
from ._arrays import Array
from ._native import ffi

ROWS = 64  # converted at once, in double precision
GROWN_SAMPLES, MOST_GROWTH = 2**24, 16  # limits of repeated samples: their number, or a multiple of the file's
SRGB_OF_YCC = np.array([[1, 0, 1.402], [1, -0.344136286, -0.714136286], [1, 1.772, 0]])  # ITU-R BT.601
PROFILES = {b"GRAY": ("L", 1), b"RGB ": ("RGB", 3), b"CMYK": ("CMYK", 4)}  # Pillow's modes


# ---- Depth ---------------------------------------------------------------------------------------------------------


def to_eight(wide: Array) -> Array:
    """From 16 bits."""
    return ((wide.astype(np.int32) + 128) // 257).astype(np.uint8)


def _scaled(values: Array, precision: int, bits: int) -> Array:
    """Scales as the command does, by way of 16 bits."""
    top = (1 << precision) - 1
    wide = (values.astype(np.int64) * 65535 + top // 2) // top
    return wide.astype(np.uint16) if bits == 16 else to_eight(wide)


@functools.lru_cache(maxsize=64)
def _table(precision: int, offset: int, bits: int) -> Array:
    """The two's complement of signed samples is the index."""
    return _scaled(np.arange(1 << precision) ^ offset, precision, bits)


def with_depth(bits: int, samples: Array, precision: int, signed: bool) -> Array:
    """The whole range of a component as 0 to 2^bits - 1, of 8 or 16 bits."""
    if precision == bits and not signed:
        return samples.astype(f"u{bits // 8}", copy=False)
    offset = 1 << (precision - 1) if signed else 0
    if precision <= 16:
        return np.take(_table(precision, offset, bits), samples.astype(np.int32) & ((1 << precision) - 1))
    return _scaled(samples.astype(np.int64) + offset, precision, bits)


# ---- Colour --------------------------------------------------------------------------------------------------------


# From 16-bit samples of the colours, (height, width, colours), to 8-bit (height, width, 3).
Convert = Callable[[Array], Array]


def _eight(rgb: Array) -> Array:
    rgb *= 255
    rgb += 0.5
    return np.clip(rgb, 0, 255, out=rgb).astype(np.uint8)


def cmyk_to_srgb(samples: Array) -> Array:
    """Inks on white paper."""
    paper = 1 - samples / 65535
    return _eight(paper[..., :3] * paper[..., 3:])


def ycc_to_srgb(samples: Array, precisions: Sequence[int] = (8, 8, 8)) -> Array:
    """The precision of the two differences determines their middle. e-sYCC is clipped to sRGB."""
    middle = [0.0, *((1 << p - 1) / ((1 << p) - 1) for p in precisions[1:])]
    values = samples / 65535
    values -= middle
    return _eight(values @ SRGB_OF_YCC.T)


def by_profile(icc: bytes, available: int) -> tuple[int, Convert]:
    """The number of colours of an ICC profile of gray, RGB or CMYK, and their conversion, in 8 bits. ValueError for other
    profiles, and those that need more colours."""
    try:
        from PIL import Image, ImageCms
    except ImportError:
        raise ImportError("the colours have an ICC profile, which needs Pillow to be applied: pip install pillow") from None
    mode, count = PROFILES.get(icc[16:20], ("", 0))
    if not 0 < count <= available:
        raise ValueError(f"the ICC profile does not match {available} colours")
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        transform = ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), mode, "RGB",
                                            ImageCms.Intent(ImageCms.getDefaultIntent(profile)), ImageCms.Flags.NOOPTIMIZE)
    except (OSError, ImageCms.PyCMSError) as failure:
        raise ValueError(f"the ICC profile cannot be applied: {failure}") from None

    def convert(samples: Array) -> Array:
        pixels = np.ascontiguousarray(to_eight(samples).squeeze(-1) if count == 1 else to_eight(samples))
        image = Image.frombuffer(mode, (pixels.shape[1], pixels.shape[0]), pixels, "raw", mode, 0, 1)
        return np.asarray(ImageCms.applyTransform(image, transform))

    return count, convert


def by_rows(height: int, part: Callable[[slice], Array]) -> Array:
    """A picture whose rows `part` gives some at a time."""
    first = part(slice(0, ROWS))
    result = np.empty((height, *first.shape[1:]), np.uint8)
    result[:ROWS] = first
    for top in range(ROWS, height, ROWS):
        result[top:top + ROWS] = part(slice(top, top + ROWS))
    return result


# ---- CIELab (ISO/IEC 15444-2, M.11.7.4.1) --------------------------------------------------------------------------

D50 = 0x00443530
WHITES = {D50: (0.96422, 1, 0.82521), 0x00443635: (0.95047, 1, 1.08883), 0x00443735: (0.94972, 1, 1.22638),
          0x00005341: (1.09850, 1, 0.35585), 0x00005343: (0.98074, 1, 1.18232), 0x00004632: (0.99186, 1, 0.67393),
          0x00004637: (0.95041, 1, 1.08747), 0x00463131: (1.00962, 1, 0.64350)}
CONES = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])  # Bradford
SRGB_OF_XYZ = np.array([[3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560],
                        [0.0556434, -0.2040259, 1.0572252]])  # IEC 61966-2-1


def _white(illuminant: int) -> tuple[float, ...]:
    kelvin = illuminant & 0xFFFF
    if illuminant >> 16 == 0x4354 and 4000 <= kelvin <= 25000:  # CIE daylight of a colour temperature
        t = 1000 / kelvin
        x = (((-4.6070 * t + 2.9678) * t + 0.09911) * t + 0.244063 if kelvin <= 7000
             else ((-2.0064 * t + 1.9018) * t + 0.24748) * t + 0.237040)
        y = -3 * x * x + 2.87 * x - 0.275
        return x / y, 1, (1 - x - y) / y
    if illuminant not in WHITES:
        warnings.warn(f"illuminant {illuminant:08X} of CIELab is unknown; D50 is assumed", errors.Lift2kWarning,
                      stacklevel=_call.outside())
    return WHITES.get(illuminant, WHITES[D50])


def _from_lab(lab: Any, precisions: Sequence[int], signed: Sequence[bool]) -> Convert:
    given = lab.illuminant != 0
    tops = [(1 << p) - 1 for p in precisions]
    defaults = [0, (tops[1] + 1) / 2, (tops[2] + 1) / 4 + (tops[2] + 1) / 8]
    scale = np.array([lab.range[i] if given else (100, 170, 200)[i] for i in range(3)], float)
    offset = np.array([((lab.offset[i] + ((tops[i] + 1) // 2 if signed[i] else 0)) if given else defaults[i]) / tops[i]
                       for i in range(3)])
    white = np.array(_white(lab.illuminant if given else D50))
    adapted = np.linalg.inv(CONES) @ np.diag((CONES @ WHITES[0x00443635]) / (CONES @ white)) @ CONES
    matrix = SRGB_OF_XYZ @ adapted @ np.diag(white)

    def convert(samples: Array) -> Array:
        light, a, b = np.moveaxis(scale * (samples / 65535 - offset), -1, 0)
        middle, foot = (light + 16) / 116, 6 / 29
        t = np.stack([middle + a / 500, middle, middle - b / 200], -1)
        linear = np.where(t > foot, t ** 3, 3 * foot * foot * (t - 4 / 29)) @ matrix.T
        return _eight(np.where(linear <= 0.0031308, 12.92 * linear,
                               1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055))

    return convert


# ---- A picture -----------------------------------------------------------------------------------------------------


class Conversion:
    """The conversion of an l2k_image's samples to gray or sRGB, with opacity last if it has any. Only __init__ needs the
    l2k_image."""

    def __init__(self, image: Any, reduce: int) -> None:
        self.parts = [(p.dx, p.dy, p.precision, p.is_signed, p.width, p.height)
                      for p in image.components[0:image.num_components]]
        kinds = [options.name_of("l2k_channel", p.channel) for p in image.components[0:image.num_components]]
        self.colours = [i for i, kind in enumerate(kinds) if "opacity" not in kind]
        self.opacity = [i for i, kind in enumerate(kinds) if "opacity" in kind][:1]
        self.colour = options.name_of("l2k_colour", image.colour)
        ycc = self._is_ycc()
        if self.colour == "unknown" and not self.opacity and len(self.colours) in (2, 4):
            self.opacity = [self.colours.pop()]
        self.count = 1 if len(self.colours) < 3 else 4 if self.colour == "cmyk" and len(self.colours) > 3 else 3
        self.convert = self._conversion(image, ycc)
        self._place(image.x0, image.y0, reduce)

    def _conversion(self, image: Any, ycc: bool) -> Convert | None:
        if self.colour == "icc":
            try:
                self.count, convert = by_profile(bytes(ffi.buffer(image.icc, image.icc_bytes)), len(self.colours))
                return convert
            except ValueError as failure:
                warnings.warn(f"{failure}, and is ignored", errors.Lift2kWarning, stacklevel=_call.outside())
        if self.count != 3:
            return cmyk_to_srgb if self.count == 4 else None
        precisions, signed = ([self.parts[i][n] for i in self.colours[:3]] for n in (2, 3))
        if ycc:
            return functools.partial(ycc_to_srgb, precisions=precisions)
        return _from_lab(image.lab, precisions, signed) if self.colour == "cielab" else None

    def _is_ycc(self) -> bool:
        """By declaration, or by inference: three colours with the last two sub-sampled have no other use."""
        if len(self.colours) != 3 or self.colour != "unknown":
            return len(self.colours) >= 3 and self.colour in ("sycc", "esycc")
        steps = [part[:2] for part in self.parts[:3]]
        return steps[1] == steps[2] and steps[1][0] * steps[1][1] > steps[0][0] * steps[0][1]

    def _place(self, x0: int, y0: int, reduce: int) -> None:
        """The finest component in each direction sets the grid, on which the others are repeated."""
        def start(at: int, step: int) -> int:
            return -(-(-(-at // step)) // (1 << reduce))

        def indices(direction: int, at: int) -> tuple[int, dict[int, Array]]:
            finest = min(self.parts, key=lambda part: part[direction])
            step, size = finest[direction], finest[4 + direction]
            grid = (start(at, step) + np.arange(size)) * step
            return size, {i: np.clip(grid // part[direction] - start(at, part[direction]), 0, part[4 + direction] - 1)
                          for i, part in enumerate(self.parts)}

        (self.width, self.columns), (self.height, self.rows) = indices(0, x0), indices(1, y0)
        samples, grown = sum(part[4] * part[5] for part in self.parts), self.width * self.height * len(self.parts)
        if grown > max(GROWN_SAMPLES, MOST_GROWTH * samples):
            raise errors.LimitError(f"{len(self.parts)} components at each of {self.width} x {self.height} pixels: {samples} "
                                    f"samples would become {grown}")

    def __call__(self, samples: Any) -> Array:
        planes = _arrays.components(samples)
        result = by_rows(self.height, lambda rows: self._rows(planes, rows))
        return result[..., 0] if result.shape[2] == 1 else result

    def _at(self, planes: list[Array], rows: slice, chosen: list[int], bits: int) -> Array:
        found = []
        for i in chosen:
            _, _, precision, signed, width, height = self.parts[i]
            plane = planes[i][rows] if height == self.height else planes[i][self.rows[i][rows]]
            plane = plane if width == self.width else plane[:, self.columns[i]]
            found.append(with_depth(bits, plane, precision, signed))
        return np.stack(found, -1)

    def _rows(self, planes: list[Array], rows: slice) -> Array:
        chosen = self.colours[:self.count]
        colours = self.convert(self._at(planes, rows, chosen, 16)) if self.convert else self._at(planes, rows, chosen, 8)
        return np.concatenate([colours, self._at(planes, rows, self.opacity, 8)], -1) if self.opacity else colours
