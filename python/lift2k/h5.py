"""Chunks of HDF5's filter 32033, HTJ2K, with h5py: its options, and chunks past the filter, in batches or on a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from . import errors, options
from ._decoder import decode_many

FILTER = 32033


def compression(*, ratio: float = 0, psnr: float = 0) -> dict[str, Any]:
    """Arguments of create_dataset(): lossless, or what lift2k's plugin takes as the client data 5 and 6."""
    if ratio and psnr:
        raise ValueError("ratio and psnr exclude each other")
    kind = (1, round(1000 * ratio)) if ratio else (2, round(1000 * psnr)) if psnr else ()
    return {"compression": FILTER, "compression_opts": (0, 0, 0, 0, 0, *kind) if kind else None}


def read_chunks(dataset: Any, offsets: Iterable[tuple[int, ...]] | None = None, *, out: Any = None, stream: Any = None,
                **coding: Unpack[options.DecoderOptions]) -> list[Any]:
    """Whole chunks of an h5py.Dataset, decoded together as by decode_many(); the plugin is not needed.

    offsets: of their first elements; None: all that are stored, in the order of get_chunk_info().
    out: such as cupy.empty: makes arrays, which may be on a GPU. Chunks stored without the filter stay in host memory.
    """
    kind = dataset.id.get_create_plist()
    if [kind.get_filter(i)[0] for i in range(kind.get_nfilters())] != [FILTER]:
        raise ValueError(f"{dataset.name}: its filters are not {FILTER} alone")
    if offsets is None:
        offsets = [dataset.id.get_chunk_info(i).chunk_offset for i in range(dataset.id.get_num_chunks())]
    stored = [dataset.id.read_direct_chunk(offset) for offset in offsets]
    decoded = iter(decode_many([data for mask, data in stored if not mask], out=out, stream=stream, **coding))
    chunks = [np.frombuffer(data, dataset.dtype) if mask else next(decoded) for mask, data in stored]
    if any(chunk.size != np.prod(dataset.chunks) for chunk in chunks):
        raise errors.DataError(f"{dataset.name}: a codestream is not a chunk of shape {dataset.chunks}")
    dtype = dataset.dtype.newbyteorder("=")
    return [(chunk if chunk.dtype == dtype else chunk.astype(dtype)).reshape(dataset.chunks) for chunk in chunks]
