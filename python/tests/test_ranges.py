"""Files that are read in parts: file objects and functions."""

import io
import pickle
import threading

import lift2k
import numpy as np
import pytest
from conftest import picture

PRECINCTS = [(128, 128)] * 4


@pytest.fixture(scope="module")
def image():
    return picture(np.random.default_rng(5), (900, 1100, 3))


@pytest.fixture(scope="module")
def data(image):
    return lift2k.encode(image, progression="RPCL", precincts=PRECINCTS, plt=True, levels=4)


def test_file_objects(tmp_path, image, data):
    (tmp_path / "a.jp2").write_bytes(data)
    for file in (io.BytesIO(data), open(tmp_path / "a.jp2", "rb"), open(tmp_path / "a.jp2", "rb", buffering=0)):
        with file, lift2k.open(file) as img:
            assert np.array_equal(img[100:200, 300:420], image[100:200, 300:420])
            bytes_read, calls = img.read_count
            assert 0 < bytes_read < len(data) / 4 and 0 < calls < 100
            assert np.array_equal(img[...], image)
            assert np.array_equal(img.level(2)[5:80, 7:90], lift2k.decode(data, reduce=2)[5:80, 7:90])
    assert np.array_equal(lift2k.decode(io.BytesIO(data), region=(10, 20, 30, 50)), image[20:50, 10:30])


def test_counts_are_the_librarys(data):
    ranges = lift2k.Ranges(lambda offset, size: data[offset:offset + size], len(data))
    decoder = lift2k.Decoder()
    decoder.open(ranges)
    for region in ((0, 0, 100, 100), (500, 500, 700, 600), (0, 0, 100, 100)):
        decoder.decode(region=region)
        assert decoder.read_count == (ranges.bytes_read, ranges.calls)
    decoder.open(data)
    assert decoder.read_count == (0, 0)
    with lift2k.open(data) as img:
        assert img.read_count == (0, 0)


def test_the_same_window_again_reads_nothing(image, data):
    with lift2k.open(io.BytesIO(data)) as img:
        img[300:400, 300:400]
        before = img.read_count
        assert np.array_equal(img[300:400, 300:400], image[300:400, 300:400])
        assert img.read_count == before


def test_only_what_is_asked_for_exists(image, data):
    def read_at(offset, size):
        assert offset >= 0 and size > 0 and offset + size <= len(data)
        return memoryview(bytearray(data))[offset:offset + size]

    with lift2k.open(lift2k.Ranges(read_at, len(data))) as img:
        assert np.array_equal(img[...], image)


def test_failures(data):
    def fails(offset, size):
        raise ConnectionError("the line is dead")

    with pytest.raises(ConnectionError, match="dead"):
        lift2k.open(lift2k.Ranges(fails, len(data)))
    with pytest.raises(EOFError, match="bytes came"):
        lift2k.open(lift2k.Ranges(lambda offset, size: data[offset:offset + size - 1], len(data)))
    with pytest.raises(TypeError):
        lift2k.open(lift2k.Ranges(lambda offset, size: None, len(data)))
    with pytest.raises(TypeError, match="neither"):
        lift2k.open(3)
    with pytest.raises(lift2k.errors.DataError):
        lift2k.open(io.BytesIO(b"no picture"))


def test_failure_of_a_window_leaves_the_file_open(image, data):
    broken = []

    def read_at(offset, size):
        if broken:
            raise OSError("gone")
        return data[offset:offset + size]

    with lift2k.open(lift2k.Ranges(read_at, len(data))) as img:
        img[:50, :50]
        broken.append(True)
        with pytest.raises(OSError, match="gone"):
            img[600:800, 600:800]
        broken.clear()
        assert np.array_equal(img[600:800, 600:800], image[600:800, 600:800])


def test_threads_share_a_file_object(image, data):
    wrong = []

    def look(seed):
        random = np.random.default_rng(seed)
        for _ in range(20):
            y, x = int(random.integers(0, 800)), int(random.integers(0, 1000))
            if not np.array_equal(img[y:y + 100, x:x + 100], image[y:y + 100, x:x + 100]):
                wrong.append((y, x))

    with lift2k.open(io.BytesIO(data), threads=1) as img:
        threads = [threading.Thread(target=look, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_open_again(image, data):
    ranges = lift2k.Ranges(lambda offset, size: data[offset:offset + size], len(data))
    first, second = lift2k.Decoder(threads=1), lift2k.Decoder(threads=1)
    with pytest.raises(lift2k.errors.StateError):
        second.open_again(first)
    first.open(ranges)
    first.decode(region=(0, 0, 200, 200))
    second.open_again(first)
    del first
    assert np.array_equal(second.decode(region=(300, 200, 500, 500)), image[200:500, 300:500])
    third = lift2k.Decoder(threads=1)
    third.open(data)
    second.open_again(third)
    del third
    assert np.array_equal(second.decode(region=(300, 200, 500, 500)), image[200:500, 300:500])


def test_fsspec_and_pickles(image, data):
    fsspec = pytest.importorskip("fsspec")  # it comes with Dask
    with fsspec.filesystem("memory").open("/a.jp2", "wb") as file:
        file.write(data)
    with fsspec.filesystem("memory").open("/a.jp2", "rb") as file, lift2k.open(file) as img:
        assert np.array_equal(img[100:200, 300:420], image[100:200, 300:420])
    copy = pickle.loads(pickle.dumps(lift2k.open(io.BytesIO(data))))
    assert np.array_equal(copy[100:200, 300:420], image[100:200, 300:420])
