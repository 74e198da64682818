"""The transform in three directions, for slices that resemble each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from . import _arrays, _call, _file, options
from ._native import ffi, lib


class Place(NamedTuple):
    """The place of a slice of coefficients: `number`, from 0 on, in the low-pass or high-pass of `level` across slices."""

    level: int
    high: bool
    number: int


@dataclass(frozen=True)
class VolumeSlice:
    """A slice of coefficients: `subbands[c]["HL1"]` are those of component c, levels counted within the slice."""

    place: Place
    subbands: list[dict[str, Any]]


Stored = Mapping[Place, list[dict[str, Any]]] | Callable[[Place], list[dict[str, Any]]]


class Volume(_call.Native):
    """Level shift, component transform and wavelet of a volume, a slice at a time, in host memory.

    shape: (slices, height, width) or (slices, height, width, components); dtype: that of the samples. z0: the coordinate of
    the first slice, origin: x and y of its first sample. Some ten to thirty slices are in memory, whatever their number.
    """

    kind = "volume"

    def __init__(self, shape: tuple[int, ...], dtype: Any = np.uint8, *, precision: Any = None,
                 origin: tuple[int, int] = (0, 0), z0: int = 0, **coding: Unpack[options.VolumeOptions]) -> None:
        super().__init__(False)
        if len(shape) not in (3, 4):
            raise ValueError(f"{tuple(shape)} is neither (slices, height, width) nor (slices, height, width, components)")
        options.check(coding, options.VolumeOptions, Volume)
        options.set_all(self, coding)
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self._tile = _arrays.tile_of(self.shape[1:], self.dtype, precision, origin)
        self._ends = z0, z0 + self.shape[0]
        self._prepare()

    def _prepare(self) -> None:
        self.call(lib.l2k_volume_prepare, self._tile.image, *self._ends)

    def depth(self, level: int, high: bool) -> int:
        """How many slices of coefficients a level across slices has; for level 0 the slices of the volume."""
        return int(lib.l2k_volume_depth(self.pointer, level, high))

    def forward(self, slices: Iterable[Any]) -> Iterator[VolumeSlice]:
        """Yields slices of coefficients when they are ready, while it takes all slices of samples of the volume from an array
        of three or four dimensions or any other iterable of slices. One run at a time."""
        self._prepare()
        count = 0
        for count, array in enumerate(slices, 1):
            planes = _arrays.planes_on_host(array, self.shape[1:], write=False)
            self.call(lib.l2k_volume_put_slice, planes.native())
            yield from self._leaving()
        if count < self.shape[0]:
            raise ValueError(f"{count} slices are not the {self.shape[0]} of the volume")

    def _leaving(self) -> Iterator[VolumeSlice]:
        found = ffi.new("l2k_volume_slice *")
        self.call(lib.l2k_volume_get_coefficients, found)
        while found.views != ffi.NULL:
            yield VolumeSlice(Place(found.level, found.high, found.index), self._bands(found, copy=True))
            self.call(lib.l2k_volume_get_coefficients, found)

    def inverse(self, coefficients: Stored) -> Iterator[Any]:
        """Yields slices of samples when they are ready. coefficients: a mapping from places to subbands, or a function that is
        called with one place after another, in the order in which samples can leave soonest. One run at a time."""
        self._prepare()
        wanted = ffi.new("l2k_volume_slice *")
        self.call(lib.l2k_volume_next_coefficients, wanted)
        while wanted.views != ffi.NULL:
            place = Place(wanted.level, wanted.high, wanted.index)
            given = coefficients(place) if callable(coefficients) else coefficients[place]
            for views, bands in zip(self._bands(wanted, copy=False), given, strict=True):
                for name, view in views.items():
                    if view.size:
                        view[...] = bands[name]
            self.call(lib.l2k_volume_put_coefficients)
            yield from self._restored()
            self.call(lib.l2k_volume_next_coefficients, wanted)

    def _restored(self) -> Iterator[Any]:
        got = ffi.new("bool *")
        while True:
            array = np.empty(self.shape[1:], self.dtype)
            self.call(lib.l2k_volume_get_slice, _arrays.planes_on_host(array, self.shape[1:], write=True).native(), got)
            if not got[0]:
                return
            yield array

    def _bands(self, found: Any, copy: bool) -> list[dict[str, Any]]:
        views = found.views[0:found.num_components]
        return [_file.subbands(view, (view.num_bands - 1) // 3, copy=copy, owner=self.pointer) for view in views]
