"""lift2k.transcode(): samples stay, options do what they say."""

import lift2k
import numpy as np
import pytest
from conftest import coding_of, picture, shape_of


def test_to_ht_and_back(random, rounds):
    for _ in range(rounds):
        a = picture(random, shape_of(random))
        data = lift2k.encode(a, **coding_of(random))
        a = lift2k.decode(data)
        assert lift2k.transcode(data) == data or lift2k.open(data).header.num_tile_parts > 1
        ht = lift2k.transcode(data, ht=True, threads=2)
        assert lift2k.open(ht).header.ht and np.array_equal(lift2k.decode(ht), a)
        back = lift2k.transcode(ht, ht=False)
        assert not lift2k.open(back).header.ht and np.array_equal(lift2k.decode(back), a)


def test_options(random, tmp_path):
    a = picture(random, (90, 120, 3))
    path = tmp_path / "a.jp2"
    path.write_bytes(lift2k.encode(a, ratio=[40, 10, 1], levels=3, xml="<a/>", density=(3000, 3000)))
    header = lift2k.open(path).header
    other = lift2k.transcode(path, progression="RPCL", plt=True, tlm=True, sop=True, eph=True, tile_parts="resolution")
    with lift2k.open(other) as image:
        h = image.header
        assert h.progression == "RPCL" and h.plt and h.tlm and h.sop and h.eph and h.num_tile_parts == 4
        assert [box.type for box in image.boxes] == [box.type for box in lift2k.open(path).boxes]
    assert np.array_equal(lift2k.decode(other), a) and header.num_layers == h.num_layers == 3
    less = lift2k.transcode(path, layers=1, reduce=1, format="codestream")
    assert np.array_equal(lift2k.decode(less), lift2k.decode(path, layers=1, reduce=1)) and less[:2] == b"\xff\x4f"
    small = lift2k.transcode(less, precincts=[(64, 64)])
    assert np.array_equal(lift2k.decode(small), lift2k.decode(less)) and not lift2k.open(small).header.default_precincts
    with pytest.raises(lift2k.errors.ArgumentError, match="precincts"):
        lift2k.transcode(path, precincts=[(32, 32)])
    with pytest.raises(TypeError, match="no option 'levels'"):
        lift2k.transcode(path, levels=2)


def test_damaged(random):
    data = lift2k.encode(picture(random, (200, 200)), format="codestream")
    with pytest.raises(lift2k.errors.IncompleteError), pytest.warns(lift2k.Lift2kWarning):
        lift2k.transcode(data[:-500], ht=True)
    with pytest.raises(lift2k.errors.TruncatedError):
        lift2k.transcode(data[:-500], ht=True, strict=True)
    with pytest.warns(lift2k.Lift2kWarning):
        less = lift2k.transcode(data[:-500], ht=True, incomplete=True)
    with pytest.warns(lift2k.Lift2kWarning):
        assert np.array_equal(lift2k.decode(less), lift2k.decode(data[:-500], incomplete=True))
    with pytest.raises(lift2k.errors.FormatError):
        lift2k.transcode(b"not a picture")
