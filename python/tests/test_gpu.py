"""Arrays on a CUDA device, of CuPy and PyTorch, on streams of their own. Skipped where there is no GPU, no build with CUDA or
neither package."""

import numpy as np
import pytest
from conftest import picture

import lift2k

if not lift2k.backend_usable("cuda")[0]:
    pytest.skip(f"no GPU to work on: {lift2k.backend_usable('cuda')[1]}", allow_module_level=True)


def cupy_arrays():
    cupy = pytest.importorskip("cupy")
    return cupy.asarray, cupy.asnumpy, cupy.empty, lambda: cupy.cuda.Stream(non_blocking=True), lambda stream: stream


def torch_arrays():
    torch = pytest.importorskip("torch")

    def empty(shape, dtype):
        return torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name), device="cuda")

    return (lambda a: torch.from_numpy(np.array(a)).cuda(), lambda t: t.cpu().numpy(), empty, torch.cuda.Stream,
            torch.cuda.stream)


@pytest.mark.parametrize("arrays", [cupy_arrays, torch_arrays])
@pytest.mark.parametrize("style", [0, "ht"])
def test_device_arrays(random, arrays, style):
    to_device, to_host, empty, new_stream, using = arrays()
    for shape in ((300, 200), (257, 333, 3)):
        a = picture(random, shape)
        expected = lift2k.encode(a, style=style)
        assert lift2k.encode(to_device(a), style=style) == expected
        stream = new_stream()
        with using(stream):
            turned = to_device(a[::-1])
            assert lift2k.encode(turned, style=style, stream=stream) == lift2k.encode(a[::-1], style=style)
            out = lift2k.decode(expected, out=empty, stream=stream)
            assert np.array_equal(to_host(out), a)
        planes = empty((shape[2:] or (1,)) + shape[:2], np.uint8)
        views = [planes[c] for c in range(len(planes))]
        lift2k.decode(expected, out=views)
        assert np.array_equal(np.squeeze(np.moveaxis(to_host(planes), 0, 2)), a)
        many = lift2k.encode_many([to_device(a)] * 5, style=style)
        assert many == [expected] * 5
        for b in lift2k.decode_many(many, out=empty):
            assert np.array_equal(to_host(b), a)


def test_jax_arrays(random):
    """JAX arrays are read-only, so they can only be inputs."""
    jax = pytest.importorskip("jax")
    a = picture(random, (123, 211, 3))
    assert lift2k.encode(jax.device_put(a, jax.devices("gpu")[0])) == lift2k.encode(a)
