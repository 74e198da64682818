"""lift2k: JPEG 2000 and HTJ2K. Arrays to codestreams and back, exactly and fast.

    data = lift2k.encode(array)                     # lossless JP2; wavelet="9/7", ratio=20: smaller; style="ht": HTJ2K
    array = lift2k.decode(data, reduce=1)           # bytes or the name of a file
    with lift2k.open("map.jp2") as img:             # reads what it needs
        part = img.level(2)[100:200, 300:400]

docs/guides/python.md in the repository shows the rest.
"""

import os as _os

# OpenMP reads this once, when it is loaded. Its waiting threads would else spin, on a busy machine in place of the threads
# that they wait for.
_policy = _os.environ.get("OMP_WAIT_POLICY")
_os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    from . import _native
finally:
    if _policy is None:
        del _os.environ["OMP_WAIT_POLICY"]

from . import errors, options
from ._decoder import Decoder, decode, decode_many, rows
from ._encoder import Encoder, encode, encode_many, write
from ._file import Box, Component, Header, Image, Tile, open
from ._ranges import Ranges
from ._transcode import transcode
from ._transform import Subband, Transform
from ._video import VideoFrame, frames
from ._volume import Place, Volume, VolumeSlice
from .errors import Error, Lift2kWarning

__version__ = _native.ffi.string(_native.lib.l2k_version()).decode()


def backend_usable(backend: str) -> tuple[bool, str]:
    """Whether this machine can use a backend, and its name or the reason why not."""
    text = _native.ffi.new("char[256]")
    usable = _native.lib.l2k_backend_usable(options.value_of("l2k_backend", backend), text, 256)
    return usable, _native.ffi.string(text).decode()


__all__ = ["Box", "Component", "Decoder", "Encoder", "Error", "Header", "Image", "Lift2kWarning", "Place", "Ranges", "Subband",
           "Tile", "Transform", "VideoFrame", "Volume", "VolumeSlice", "backend_usable", "decode", "decode_many", "encode",
           "encode_many", "errors", "frames", "open", "options", "rows", "transcode", "write"]
