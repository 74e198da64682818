"""The transform stage alone: samples to coefficients per subband, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from . import _arrays, _call, _file, options
from ._native import ffi, lib


@dataclass(frozen=True)
class Subband:
    """What a block coder needs to know of a subband: l2k_subband_info."""

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
    what that depends on. steps: (exponent, mantissa) of the 9/7's subbands, of all components, or a
    mapping from components to such lists.
    """

    kind = "transform"

    def __init__(self, shape: tuple[int, ...], dtype: Any = np.uint8, *, precision: Any = None,
                 origin: tuple[int, int] = (0, 0), region: tuple[int, int, int, int] | None = None, steps: Any = None,
                 **coding: Unpack[options.TransformOptions]) -> None:
        super().__init__(False)
        options.set_all(self, {name: value for name, value in coding.items() if name != "kernel"})
        if "kernel" in coding:
            self.call(lib.l2k_transform_set_kernel, coding["kernel"].encode())
        for component, values in (steps if isinstance(steps, Mapping) else {2**32 - 1: steps or []}).items():
            self._set_steps(component, values)
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        count = self.shape[2] if len(self.shape) == 3 else 1
        plane = _arrays.Plane(0, self.shape[0], self.shape[1], 0, 0, self.dtype)
        if self.dtype.kind == "f" and precision is None:
            raise ValueError("precision= is needed for float32")
        self._tile = _arrays.Description([plane] * count, precision=precision, origin=origin)
        if self.dtype.kind == "f":
            for part in self._tile.components:
                part.is_signed = True
        image = self._tile.image
        self._area = (image.x0, image.y0, image.x1, image.y1)
        if region is not None:
            self.call(lib.l2k_transform_set_region, *region)
            self._area = (*map(max, self._area[:2], region[:2]), *map(min, self._area[2:], region[2:]))
        self.call(lib.l2k_transform_prepare, image)
        self.levels = int(coding.get("levels", 5))
        self.reduce = int(coding.get("reduce", 0))
        self.subbands = [self._views(c) for c in range(count)]

    def _set_steps(self, component: int, values: Sequence[tuple[int, int]]) -> None:
        steps = ffi.new("l2k_step[]", [tuple(value) for value in values])
        self.call(lib.l2k_transform_set_steps, component, steps, len(values))

    def _views(self, component: int) -> dict[str, Any]:
        view = lib.l2k_transform_coefficients(self.pointer, component)
        # The views keep the library's object, not this one, so that there is no circle.
        return _file.subbands(view, self.levels, copy=False, owner=self.pointer)

    def info(self, component: int, band: str) -> Subband:
        """Describes a subband by its name."""
        number = list(self.subbands[component]).index(band)
        found = ffi.new("l2k_subband_info *")
        self.call(lib.l2k_transform_subband, component, number, found)
        return Subband(found.resolution, ("LL", "HL", "LH", "HH")[found.orientation], found.level, found.x0, found.y0, found.x1,
                       found.y1, found.step.exponent, found.step.mantissa, found.step_size, found.magnitude_bits)

    def _planes(self, array: Any, shape: tuple[int, ...], write: bool) -> Any:
        planes = _arrays.planes_of(array, write=write)
        sizes = [(p.height, p.width) for p in planes.planes]
        if sizes != [shape[:2]] * len(self.subbands) or planes.device >= 0:
            raise ValueError(f"samples on the host of shape {shape} are needed")
        return planes

    def forward(self, array: Any) -> list[dict[str, Any]]:
        """Fills the subbands, and returns them."""
        planes = self._planes(array, self.shape, False)
        self.call(lib.l2k_transform_forward, planes.native())
        return self.subbands

    def inverse(self, out: Any = None) -> Any:
        """The samples of the subbands."""
        shape = self._reduced() + self.shape[2:]
        result = np.empty(shape, self.dtype) if out is None else out
        planes = self._planes(result, shape, True)
        self.call(lib.l2k_transform_inverse, planes.native())
        return result

    def _reduced(self) -> tuple[int, int]:
        x0, y0, x1, y1 = (-(-value // (1 << self.reduce)) for value in self._area)
        return y1 - y0, x1 - x0

    @property
    def backend(self) -> str:
        """What it runs on."""
        return options.name_of("l2k_backend", lib.l2k_transform_backend(self.pointer))
