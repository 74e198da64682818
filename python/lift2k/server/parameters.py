"""The parameters of an IIIF Image API URI: {region}/{size}/{rotation}/{quality}.{format}, versions 2.1 and 3.0.

https://iiif.io/api/image/3.0/#4-image-requests and https://iiif.io/api/image/2.1/#image-request-parameters. Nothing here
knows of files, or of HTTP except for the status of a refusal.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

WHOLE = r"(?a:\d{1,9})"
DECIMAL = r"(?a:\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})"

MEDIA_TYPES = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
LARGEST_SIDE = {"jpg": 65500, "png": 2**31 - 1, "webp": 16383}
QUALITIES = ("default", "color", "gray", "bitonal")
KNOWN_FORMATS = ("tif", "gif", "jp2", "pdf")  # of the API, but not written by this server


class Refused(Exception):
    """A request that gets no image, and the status of the answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


@dataclass(frozen=True)
class Limits:
    """Limits of images sent, 0: none; and of the samples decoded for one."""

    max_width: int = 0
    max_height: int = 0
    max_area: int = 2**25
    max_samples: int = 2**27

    def allow(self, width: int, height: int) -> bool:
        return (width <= (self.max_width or width) and height <= (self.max_height or self.max_width or height)
                and width * height <= (self.max_area or width * height))

    def fit(self, width: int, height: int, enlarge: bool) -> tuple[int, int]:
        """The largest allowed size of the same proportions; no larger than given unless `enlarge`."""
        sides = (self.max_width, width), (self.max_height or self.max_width, height)
        scales = [Fraction(most, length) for most, length in sides if most]
        if self.max_area:  # a power of two keeps the root exact enough
            scales.append(Fraction((self.max_area / (width * height)) ** 0.5))
        if not scales or (min(scales) >= 1 and not enlarge):
            return width, height
        fitting = _scaled(width, min(scales)), _scaled(height, min(scales))
        while not self.allow(*fitting):  # by rounding
            fitting = max(1, fitting[0] - (fitting[0] >= fitting[1])), max(1, fitting[1] - (fitting[1] >= fitting[0]))
        return fitting


@dataclass(frozen=True)
class Request:
    """An image: a region in pixels of the picture, the size that it gets, then mirrored, turned clockwise by degrees."""

    x: int
    y: int
    width: int
    height: int
    out_width: int
    out_height: int
    mirror: bool
    degrees: Fraction
    quality: str
    format: str
    canonical: str  # the end of the canonical URI


def _scaled(length: int, scale: Fraction) -> int:
    return max(1, int(length * scale + Fraction(1, 2)))


def shown(text: str) -> str:
    """A client's text for a message line, shortened to what identifies it."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _bad(what: str, text: str) -> Refused:
    return Refused(400, f"{what} {shown(text)} is not possible here")


def region_of(text: str, width: int, height: int) -> tuple[int, int, int, int]:
    """x, y, width, height within a picture of this size."""
    if text == "full":
        return 0, 0, width, height
    if text == "square":
        side = min(width, height)
        return (width - side) // 2, (height - side) // 2, side, side
    if match := re.fullmatch(rf"({WHOLE}),({WHOLE}),({WHOLE}),({WHOLE})", text):
        x, y, w, h = (int(n) for n in match.groups())
        x1, y1 = x + w, y + h
    elif match := re.fullmatch(rf"pct:({DECIMAL}),({DECIMAL}),({DECIMAL}),({DECIMAL})", text):
        left, top, across, down = (Fraction(n) / 100 for n in match.groups())
        x, y = round(left * width), round(top * height)
        x1, y1 = max(round((left + across) * width), x + 1), max(round((top + down) * height), y + 1)
        w, h = int(across > 0), int(down > 0)
    else:
        raise _bad("the region", text)
    if w == 0 or h == 0 or x >= width or y >= height:
        raise Refused(400, f"the region {shown(text)} is empty or outside the picture, which has {width} x {height} pixels")
    return x, y, min(x1, width) - x, min(y1, height) - y


def size_of(text: str, width: int, height: int, limits: Limits, version: int) -> tuple[int, int]:
    """The size that a region of the given one is scaled to."""
    enlarge, form = (text.startswith("^"), text.removeprefix("^")) if version == 3 else (True, text)
    if form == "max" or (form == "full" and version == 2):
        return limits.fit(width, height, enlarge and version == 3) if form == "max" else (width, height)
    if match := re.fullmatch(rf"pct:({DECIMAL})", form):
        scale = Fraction(match[1]) / 100
        if scale == 0:
            raise _bad("the size", text)
        size = _scaled(width, scale), _scaled(height, scale)
        larger = scale > 1
    elif match := re.fullmatch(rf"(!?)({WHOLE})?,({WHOLE})?", form):
        size = _by_sides(text, match, width, height)
        larger = size[0] > width or size[1] > height
        # Version 3.0 is ambiguous if !w,h is larger than the region. Its validator expects this reading.
        larger = larger or (bool(match[1]) and int(match[2]) > width and int(match[3]) > height)
    else:
        raise _bad("the size", text)
    if larger and not enlarge:
        raise Refused(400, f"the size {shown(text)} is larger than the region, which has {width} x {height} pixels: put ^ before it")
    return size


def _by_sides(text: str, match: re.Match[str], width: int, height: int) -> tuple[int, int]:
    w, h = (int(n) if n else None for n in match.groups()[1:])
    if w == 0 or h == 0 or (w is None and h is None) or (match[1] and (w is None or h is None)):
        raise _bad("the size", text)
    if w is None:
        assert h is not None
        return _scaled(width, Fraction(h, height)), h
    if h is None:
        return w, _scaled(height, Fraction(w, width))
    if not match[1]:
        return w, h
    scale = min(Fraction(w, width), Fraction(h, height))
    return min(w, _scaled(width, scale)), min(h, _scaled(height, scale))


def rotation_of(text: str) -> tuple[bool, Fraction]:
    match = re.fullmatch(rf"(!?)({DECIMAL})", text)
    if not match or Fraction(match[2]) > 360:
        raise _bad("the rotation", text)
    return bool(match[1]), Fraction(match[2]) % 360


def turned_size(width: int, height: int, degrees: Fraction) -> tuple[int, int]:
    """An upper bound of a rotated image's size, with its new corners."""
    if degrees % 90 == 0:
        return (width, height) if degrees % 180 == 0 else (height, width)
    across, along = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    return math.ceil(width * across + height * along) + 1, math.ceil(width * along + height * across) + 1


def _decimal(number: Fraction) -> str:
    text = f"{float(number):.9f}".rstrip("0").rstrip(".")
    return text or "0"


def _canonical_size(request: tuple[int, int, int, int], size: tuple[int, int], limits: Limits, version: int) -> str:
    width, height = request[2:]
    if version == 2:
        if size == (width, height):
            return "full"
        same = size[1] == _scaled(height, Fraction(size[0], width))
        return f"{size[0]}," if same else f"{size[0]},{size[1]}"
    if size == limits.fit(width, height, False):
        return "max"
    enlarged = "^" if size[0] > width or size[1] > height else ""
    return f"{enlarged}{size[0]},{size[1]}"


def parse(segments: list[str], width: int, height: int, colour: bool, limits: Limits, version: int) -> Request:
    """The four parts of a URI after the identifier, for a picture of this size. Refused if the API (400) or this server
    (501) lacks what they ask for, or if it is too much (400)."""
    if len(segments) != 4:
        raise Refused(404, "an image has a region, a size, a rotation, and a quality with a format")
    region = region_of(segments[0], width, height)
    size = size_of(segments[1], region[2], region[3], limits, version)
    mirror, degrees = rotation_of(segments[2])
    quality, _, name = segments[3].rpartition(".")
    if quality not in QUALITIES:
        raise _bad("the quality", quality)
    if name not in MEDIA_TYPES:
        raise Refused(501, f"{name} is not written here") if name in KNOWN_FORMATS else _bad("the format", name)
    # A rotated line becomes a square. Right angles enlarge nothing.
    sent = turned_size(*size, degrees)
    allowed = limits.allow(*size) and (degrees % 90 == 0 or limits.allow(*sent))
    if not allowed or max(sent) > LARGEST_SIDE[name]:
        raise Refused(400, f"an image of {sent[0]} x {sent[1]} pixels is larger than this server sends")
    if quality == ("color" if colour else "gray") or (quality == "color" and not colour):
        quality = "default"
    whole = region == (0, 0, width, height)
    canonical = "/".join([
        "full" if whole else ",".join(str(n) for n in region), _canonical_size(region, size, limits, version),
        ("!" if mirror else "") + _decimal(degrees), f"{quality}.{name}"])
    return Request(*region, *size, mirror, degrees, quality, name, canonical)
