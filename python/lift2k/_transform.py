"""The transform stage alone: samples to coefficients per subband, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from . import _arrays, _call, _file, options
from ._native import ffi, lib


@dataclass(frozen=True)
class Subband:
    """A subband's facts for a block coder: l2k_subband_info."""

    resolution: int
    orientation: str
    level: int
    x0: int
    y0: int
    x1: int
    y1: int
    exponent: int
    mantissa: int
    step_size: float
    magnitude_bits: int


class Transform(_call.Native):
    """Level shift, component transform, wavelet and quantiser of one tile, in host memory; all memory is allocated here.

    `subbands[c]["HL1"]` is a view of the coefficients of component c, which forward() fills and inverse() reads.
    shape and dtype are those of the samples. region: (x0, y0, x1, y1), the part that inverse() gives; its subbands have only
    what that depends on. steps: (exponent, mantissa) of the 9/7's subbands, for all components, or a mapping from
    components to such lists.
    """

    kind = "transform"

    def __init__(self, shape: tuple[int, ...], dtype: Any = np.uint8, *, precision: Any = None,
                 origin: tuple[int, int] = (0, 0), region: _arrays.Region | None = None, steps: Any = None,
                 **coding: Unpack[options.TransformOptions]) -> None:
        super().__init__(False)
        options.check(coding, options.TransformOptions, Transform)
        options.set_all(self, coding)
        for component, values in (steps if isinstance(steps, Mapping) else {2**32 - 1: steps or []}).items():
            native = ffi.new("l2k_step[]", [tuple(value) for value in values])
            self.call(lib.l2k_transform_set_steps, component, native, len(values))
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        count = self.shape[2] if len(self.shape) == 3 else 1
        self._tile = _arrays.tile_of(self.shape, self.dtype, precision, origin)
        image = self._tile.image
        self._area = (image.x0, image.y0, image.x1, image.y1)
        if region is not None:
            self.call(lib.l2k_transform_set_region, *_arrays.region_of(region))
            self._area = (*map(max, self._area[:2], region[:2]), *map(min, self._area[2:], region[2:]))
        self.call(lib.l2k_transform_prepare, image)
        self.levels = int(coding.get("levels", 5))
        self.reduce = int(coding.get("reduce", 0))
        letters = coding.get("splits", "").ljust(self.levels, "b")[:self.reduce]
        self._halvings = [sum(letter in ways for letter in letters) for ways in ("bh", "bv")]  # of width and height
        self.subbands = [self._views(c) for c in range(count)]

    def _views(self, component: int) -> dict[str, Any]:
        view = lib.l2k_transform_coefficients(self.pointer, component)
        # The views keep the library's object, not this one, which avoids a reference cycle.
        return _file.subbands(view, self.levels, copy=False, owner=self.pointer)

    def info(self, component: int, band: str) -> Subband:
        """Describes a subband by its name."""
        number = list(self.subbands[component]).index(band)
        found = ffi.new("l2k_subband_info *")
        self.call(lib.l2k_transform_subband, component, number, found)
        return Subband(found.resolution, ("LL", "HL", "LH", "HH")[found.orientation], found.level, found.x0, found.y0, found.x1,
                       found.y1, found.step.exponent, found.step.mantissa, found.step_size, found.magnitude_bits)

    def forward(self, array: Any) -> list[dict[str, Any]]:
        """Fills and returns the subbands."""
        planes = _arrays.planes_on_host(array, self.shape, write=False)
        self.call(lib.l2k_transform_forward, planes.native())
        return self.subbands

    def inverse(self, out: Any = None) -> Any:
        """The samples of the subbands."""
        shape = self._reduced() + self.shape[2:]
        result = np.empty(shape, self.dtype) if out is None else out
        planes = _arrays.planes_on_host(result, shape, write=True)
        self.call(lib.l2k_transform_inverse, planes.native())
        return result

    def _reduced(self) -> tuple[int, int]:
        x0, y0, x1, y1 = (-(-value // (1 << times)) for value, times in zip(self._area, 2 * self._halvings))
        return y1 - y0, x1 - x0

    @property
    def backend(self) -> str:
        """The backend in use."""
        return options.name_of("l2k_backend", lib.l2k_transform_backend(self.pointer))
