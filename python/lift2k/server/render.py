"""A request's image from a picture's window: scaled, mirrored, turned, reduced to a quality and written in a format.

The window is decoded at the smallest resolution with at least the requested pixels, and Pillow scales the rest. If none is
left, as in tiles whose scale is a power of two, samples pass unchanged.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
from PIL import Image, ImageCms, ImageOps

from .. import _arrays, _file, errors
from .parameters import Limits, Refused, Request
from .pictures import Picture, Window

SUPPORT = 3  # of the Lanczos filter
TRANSPOSED = {90: Image.Transpose.ROTATE_270, 180: Image.Transpose.ROTATE_180, 270: Image.Transpose.ROTATE_90}
Array = np.ndarray[Any, Any]


def _ceil(n: int, d: int) -> int:
    return -(-n // d)


def _count(start: int, length: int, step: int) -> int:
    """The number of samples of a component, `step` apart, in a part of the reference grid."""
    return _ceil(start + length, step) - _ceil(start, step)


def reduction_for(picture: Picture, request: Request) -> int:
    """The most resolutions to discard that still leave enough samples."""
    for reduce in range(picture.levels, 0, -1):
        step = 1 << reduce
        if (_count(picture.x0 + request.x, request.width, step) >= request.out_width
                and _count(picture.y0 + request.y, request.height, step) >= request.out_height):
            return reduce
    return 0


def largest_scale(picture: Picture, tile: tuple[int, int], limits: Limits) -> int:
    """The greatest power of two by which a tile of this size can be scaled down, until one holds everything."""
    scale = 1
    while (picture.width > scale * tile[0] or picture.height > scale * tile[1]) and picture.samples(
            0, 0, 2 * scale * tile[0], 2 * scale * tile[1],
            min(picture.levels, scale.bit_length())) <= limits.max_samples:
        scale *= 2
    return scale


def _window(picture: Picture, request: Request, reduce: int, limits: Limits) -> Window:
    """The window with the neighbours that the filter sees, so that tiles have no seams; without a filter, none."""
    margins, step = [], max(max(c.dx // picture.dx, c.dy // picture.dy) for c in picture.channels)
    for start, length, out in ((picture.x0 + request.x, request.width, request.out_width),
                               (picture.y0 + request.y, request.height, request.out_height)):
        samples = _count(start, length, 1 << reduce)
        margins.append((SUPPORT * -(-samples // out) + 2) * step << reduce if samples != out or step > 1 else 0)
    x0, y0 = max(request.x - margins[0], 0), max(request.y - margins[1], 0)
    x1 = min(request.x + request.width + margins[0], picture.width)
    y1 = min(request.y + request.height + margins[1], picture.height)
    if picture.samples(x0, y0, x1, y1, reduce) > limits.max_samples:
        raise Refused(501, "this picture has no resolution from which so large a region can be scaled")
    return picture.window(x0, y0, x1, y1, reduce)


def _fitted(picture: Picture, request: Request, window: Window, channel: _file.Component, reduce: int,
            image: Image.Image) -> Image.Image:
    """A channel's samples of a request from those of its window, in the request's size. `whole` goes from the first to the
    last one, `exact` has fractions: sample i of a resolution is at the middle of pixel i * 2^reduce, not of the pixels that it
    stands for."""
    size = (request.out_width, request.out_height)
    sx, sy = channel.dx << reduce, channel.dy << reduce
    left, top = _ceil(window.region[0], sx), _ceil(window.region[1], sy)
    x, y = (picture.x0 + request.x) * picture.dx, (picture.y0 + request.y) * picture.dy
    x1, y1 = x + request.width * picture.dx, y + request.height * picture.dy
    whole = (max(_ceil(x, sx) - left, 0), max(_ceil(y, sy) - top, 0), _ceil(x1, sx) - left, _ceil(y1, sy) - top)
    if (whole[2] - whole[0], whole[3] - whole[1]) == size and whole[2] <= image.width and whole[3] <= image.height:
        return image if image.size == size else image.crop(whole)
    exact = [(n - 0.5 * d) / s + 0.5 - first for n, d, s, first in (
        (x, picture.dx, sx, left), (y, picture.dy, sy, top), (x1, picture.dx, sx, left), (y1, picture.dy, sy, top))]
    # At the picture's edges up to half a sample is missing, so edge samples are repeated.
    more = [[int(exact[1] < 0), int(exact[3] > image.height)], [int(exact[0] < 0), int(exact[2] > image.width)]]
    if any(map(any, more)):
        array = np.asarray(image)
        image = _image(np.pad(array, [*more, [0, 0]][:array.ndim], "edge"), image.mode)
    box = (exact[0] + more[1][0], exact[1] + more[0][0], exact[2] + more[1][0], exact[3] + more[0][0])
    enlarge = size[0] > whole[2] - whole[0] and size[1] > whole[3] - whole[1]
    return image.resize(size, Image.Resampling.BICUBIC if enlarge else Image.Resampling.LANCZOS, box=box)


def _scaled(picture: Picture, request: Request, limits: Limits) -> tuple[Image.Image, Image.Image | None]:
    """The channels of colour, and the one of opacity."""
    while True:
        reduce = reduction_for(picture, request)
        try:
            window = _window(picture, request, reduce, limits)
            break
        except errors.ArgumentError:  # a tile has fewer resolutions than the main header says
            if reduce == 0:
                raise
            picture.levels = reduce - 1
    colours = [i for i, c in enumerate(picture.channels) if c.channel == "colour"]
    colours = colours[:len(Image.new(picture.model, (1, 1)).getbands())]
    opacity = [i for i, c in enumerate(picture.channels) if "opacity" in c.channel][:1]
    samples, planes = window.samples, _arrays.components(window.samples)

    def alike(channels: list[int], mode: str = "L") -> Image.Image:
        """One image of equally sampled channels."""
        ready = not isinstance(samples, list) and channels == list(range(len(planes)))
        array = samples if ready else np.stack([planes[i] for i in channels], axis=-1)
        array = np.ascontiguousarray(array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array)
        return _fitted(picture, request, window, picture.channels[channels[0]], reduce, _image(array, mode))

    def sampled_alike(channels: list[int]) -> bool:
        return len({(picture.channels[i].dx, picture.channels[i].dy) for i in channels}) == 1

    if opacity and picture.model in ("L", "RGB") and sampled_alike(colours + opacity):
        # Pillow weighs colours by their opacity when it scales.
        image = alike(colours + opacity, picture.model + ("A" if picture.channels[opacity[0]].channel == "opacity" else "a"))
        return Image.merge(picture.model, image.split()[:-1]), image.getchannel(image.getbands()[-1])
    if sampled_alike(colours):
        image = alike(colours, picture.model)
    else:
        image = Image.merge(picture.model, [alike([i]) for i in colours])
    return image, alike(opacity) if opacity else None


def _image(array: Array, mode: str) -> Image.Image:
    """Pillow's image of samples of 8 bits."""
    return Image.frombuffer(mode, (array.shape[1], array.shape[0]), array, "raw", mode, 0, 1)


def _displayed(picture: Picture, image: Image.Image) -> Image.Image:
    """In RGB or gray."""
    if image.mode in ("L", "RGB"):
        return image
    if image.mode == "CMYK" and picture.icc:
        with contextlib.suppress(OSError, ImageCms.PyCMSError):  # a profile that cannot be applied
            profile = ImageCms.ImageCmsProfile(io.BytesIO(picture.icc))
            intent = ImageCms.Intent(ImageCms.getDefaultIntent(profile))
            shown = ImageCms.profileToProfile(image, profile, ImageCms.createProfile("sRGB"), intent, "RGB")
            if shown is not None:
                return shown
    return image.convert("RGB")


def _with_opacity(picture: Picture, image: Image.Image, opacity: Image.Image, flat: bool) -> Image.Image:
    """With a channel of opacity; `flat`: on white instead."""
    premultiplied = any(c.channel.startswith("premultiplied") for c in picture.channels)
    mode = image.mode + ("a" if premultiplied else "A")
    image = Image.merge(mode, [*image.split(), opacity])
    if premultiplied:
        image = image.convert(image.mode[:-1] + "A")
    if not flat:
        return image
    paper = Image.new(image.mode[:-1], image.size, "white")
    paper.paste(image.convert(paper.mode), mask=image.getchannel("A"))
    return paper


def _turned(image: Image.Image, request: Request) -> Image.Image:
    if request.mirror:
        image = ImageOps.mirror(image)
    if request.degrees == 0:
        return image
    if request.degrees in TRANSPOSED:
        return image.transpose(TRANSPOSED[int(request.degrees)])
    if request.format != "jpg" and not image.mode.endswith("A"):
        image = image.convert(image.mode + "A")  # new corners are transparent, in JPEG black
    return image.rotate(-float(request.degrees), Image.Resampling.BICUBIC, expand=True)


def _written(image: Image.Image, request: Request, icc: bytes | None, jpeg_quality: int) -> bytes:
    file, exact = io.BytesIO(), request.quality == "bitonal"
    name, options = {"jpg": ("JPEG", {"quality": 100 if exact else jpeg_quality}), "png": ("PNG", {"compress_level": 3}),
                     "webp": ("WEBP", {"quality": jpeg_quality, "lossless": exact, "method": 2})}[request.format]
    image.save(file, name, icc_profile=icc, **options)
    return file.getvalue()


def render(picture: Picture, request: Request, limits: Limits, jpeg_quality: int = 85) -> bytes:
    """The image's file. Refused, or the library's errors."""
    image, opacity = _scaled(picture, request, limits)
    icc = picture.icc if image.mode in ("L", "RGB") else None
    image = _displayed(picture, image)
    if opacity is not None:
        image = _with_opacity(picture, image, opacity, flat=request.format == "jpg" or request.quality == "bitonal")
    image = _turned(image, request)
    if request.quality == "gray":
        image = image.convert("LA" if image.mode.endswith("A") else "L")
    elif request.quality == "bitonal":
        image = image.convert("L").point([0] * 128 + [255] * 128)
    return _written(image, request, icc if image.mode[0] == picture.model[0] else None, jpeg_quality)
