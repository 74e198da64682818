"""--rounds N: random cases of each kind (60; hundreds for a long run). --seed S: of the first one."""

import lift2k
import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=60, help="random cases of each kind")
    parser.addoption("--seed", type=int, default=1, help="of the random numbers")


@pytest.fixture
def rounds(request):
    return request.config.getoption("--rounds")


@pytest.fixture
def random(request):
    return np.random.default_rng(request.config.getoption("--seed"))


def picture(random, shape, dtype=np.uint8, precision=None):
    """Something between noise and a photograph, which uses all of its precision."""
    dtype = np.dtype(dtype)
    bits = precision or 8 * dtype.itemsize
    y, x = np.mgrid[0:shape[0], 0:shape[1]]
    waves = np.sin(x / random.uniform(2, 30)) * np.cos(y / random.uniform(2, 30))
    waves = waves.reshape(waves.shape + (1,) * (len(shape) - 2)) * random.uniform(0.3, 1, shape[2:] or ())
    noisy = waves + random.normal(0, random.choice([0, 0.02, 0.5]), shape)
    low = -(1 << (bits - 1)) if dtype.kind == "i" else 0
    return np.clip((noisy + 1) / 2 * ((1 << bits) - 1) + low, low, low + (1 << bits) - 1).astype(dtype)


def shape_of(random, components=(0, 1, 2, 3, 4), largest=100):
    size = tuple(int(n) for n in random.integers(1, largest, 2))
    count = int(random.choice(components))
    return size if count == 0 else (*size, count)


def coding_of(random):
    """Random options of the encoder, lossless with the 5/3."""
    coding = {
        "levels": int(random.integers(0, 7)),
        "format": str(random.choice(["jp2", "codestream"])),
        "progression": str(random.choice(["LRCP", "RLCP", "RPCL", "PCRL", "CPRL"])),
        "component_transform": bool(random.integers(2)),
        "block_width": int(random.choice([16, 32, 64])),
        "block_height": int(random.choice([16, 32, 64])),
        "threads": int(random.integers(0, 3)),
    }
    if random.integers(2):
        coding |= {"tile_width": int(random.integers(8, 80)), "tile_height": int(random.integers(8, 80))}
    if random.integers(3) == 0:
        coding["precincts"] = [(int(1 << random.integers(5, 9)), int(1 << random.integers(5, 9)))]
    for marker in ("sop", "eph", "plt", "tlm"):
        coding[marker] = bool(random.integers(4) == 0)
    coding["tile_parts"] = str(random.choice(["one", "one", "resolution", "layer", "component"]))
    return coding


def mq_styles_of(random):
    return [s for s in ("bypass", "reset", "termall", "vsc", "pterm", "segsym") if random.integers(6) == 0]


def boxed(kind, content):
    return (8 + len(content)).to_bytes(4, "big") + kind + content


def with_header(data, change):
    """A JP2 file whose header box `change` has changed."""
    box = next(box for box in lift2k.open(data).boxes if box.type == "jp2h")
    end = box.offset + box.bytes
    return data[:box.offset] + boxed(b"jp2h", change(data[box.offset + 8:end])) + data[end:]


def with_palette(data, entries):
    """A file of one component as indices of these entries, a row for each."""
    entries = np.asarray(entries, np.uint8)
    count, channels = entries.shape
    palette = count.to_bytes(2, "big") + bytes([channels]) + bytes([7] * channels) + entries.tobytes()
    mapping = b"".join(bytes([0, 0, 1, c]) for c in range(channels))
    return with_header(data, lambda content: content + boxed(b"pclr", palette) + boxed(b"cmap", mapping))
