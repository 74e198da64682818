"""The package by itself: arrays, options, files, batches, the transform, and errors."""

import gc
import io
import mmap
import os
import pickle
import pydoc
import re
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import numpy as np
import pytest
from conftest import coding_of, mq_styles_of, picture, shape_of, with_palette

import lift2k
from lift2k import errors, options
from lift2k._native import lib

DATA = Path(__file__).parents[2] / "tests/data"


def same(a, b):
    assert a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)


# ---- Arrays --------------------------------------------------------------------------------------------------------


def test_round_trips(random, rounds):
    for _ in range(rounds):
        dtype = np.dtype(random.choice(["u1", "i1", "u2", "i2", "u4", "i4"]))
        precision = int(random.integers(17, 25)) if dtype.itemsize == 4 else int(random.integers(2, 8 * dtype.itemsize + 1))
        a = picture(random, shape_of(random, (0, 2, 3, 4, 5)), dtype, precision)
        coding = coding_of(random) | {"style": mq_styles_of(random)}
        if random.integers(3) == 0:
            coding["style"] = "ht"
        b = lift2k.decode(lift2k.encode(a, precision=precision, **coding))
        if dtype.itemsize == 2 and precision <= 8:
            a = a.astype(f"{dtype.kind}1")
        same(a, b)


def test_strides_are_followed(random):
    a = picture(random, (61, 83, 3), np.uint16)
    data = lift2k.encode(a)
    planar = np.ascontiguousarray(np.moveaxis(a, 2, 0))
    assert lift2k.encode(np.moveaxis(planar, 0, 2)) == data
    assert lift2k.encode(np.asfortranarray(a)) == data
    assert lift2k.encode(a[::-1, ::-1][::-1, ::-1]) == data
    assert lift2k.encode(a[::-2, 1::3, ::-1]) == lift2k.encode(a[::-2, 1::3, ::-1].copy())
    assert lift2k.encode(a.astype(">u2")) == data
    assert lift2k.encode([a[..., 0], a[..., 1], a[..., 2]]) == data
    one = lift2k.decode(lift2k.encode(a[..., :1]))
    same(one, np.ascontiguousarray(a[..., 0]))


def test_out(random):
    a = picture(random, (40, 50, 3))
    data = lift2k.encode(a)
    out = np.zeros((40, 50, 3), np.uint8)
    assert lift2k.decode(data, out=out) is out
    same(out, a)
    wide = np.zeros((50, 40, 3), np.int32).transpose(1, 0, 2)[::-1]
    lift2k.decode(data, out=wide)
    assert np.array_equal(wide, a)
    planes = [np.zeros((40, 50), np.uint16) for _ in range(3)]
    lift2k.decode(data, out=planes)
    assert all(np.array_equal(p, a[..., c]) for c, p in enumerate(planes))
    made = lift2k.decode(data, out=lambda shape, dtype: np.full(shape, 7, dtype, order="F"))
    assert made.flags.f_contiguous and np.array_equal(made, a)
    for wrong in (np.zeros((50, 40, 3), np.uint8), np.zeros((40, 50), np.uint8)):
        with pytest.raises(ValueError, match="shape"):
            lift2k.decode(data, out=wrong)
    with pytest.raises(errors.ArgumentError):
        lift2k.decode(data, out=np.zeros((40, 50, 3), np.int8))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        lift2k.decode(data, out=out)
    with pytest.raises(TypeError):
        lift2k.decode(data, out=np.zeros((40, 50, 3), ">u2"))


class Speaker:
    """An array that only speaks DLPack, as those of other libraries do."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)


def test_dlpack(random):
    for dtype in ("u1", "i1", "u2", "i2"):
        a = picture(random, (30, 41, 3), dtype)
        assert lift2k.encode(Speaker(a)) == lift2k.encode(a)
        assert lift2k.encode(Speaker(a[3:, ::-2])) == lift2k.encode(a[3:, ::-2])
        out = np.zeros((41, 30, 3), dtype).transpose(1, 0, 2)
        lift2k.decode(lift2k.encode(a), out=Speaker(out))
        assert np.array_equal(out, a)
    before = sys.getrefcount(a)
    lift2k.encode(Speaker(a))
    gc.collect()
    assert sys.getrefcount(a) == before
    with pytest.raises(TypeError, match="not known"):
        lift2k.encode(Speaker(np.zeros((4, 4), complex)))

    class Elsewhere(Speaker):
        def __dlpack_device__(self):
            return (10, 0)

    with pytest.raises(TypeError, match="device type 10"):
        lift2k.encode(Elsewhere(a))


@pytest.mark.skipif(lift2k.backend_usable("cuda")[0], reason="there is a GPU, which test_gpu.py uses")
def test_device_arrays_need_a_device(random):
    """They reach the library as device memory, for the caller's stream; without a GPU, that is an error."""
    a, streams = picture(random, (30, 40)), []

    class OnDevice(Speaker):
        def __dlpack_device__(self):
            return (2, 1)

        def __dlpack__(self, stream):
            streams.append(stream)
            return self.array.__dlpack__()

    class Stream:
        cuda_stream = 77

    data = lift2k.encode(a)
    for call in (lambda: lift2k.encode(OnDevice(a)), lambda: lift2k.encode(OnDevice(a), stream=5),
                 lambda: lift2k.encode_many([OnDevice(a)], stream=Stream()), lambda: lift2k.decode(data, out=OnDevice(a)),
                 lambda: lift2k.decode_many([data], out=[OnDevice(a)], stream=Stream())):
        with pytest.raises(errors.BackendError):
            call()
    assert streams == [1, 5, 77, 1, 77]
    with pytest.raises(ValueError, match="same memory"):
        lift2k.encode_many([a, OnDevice(a)])


def test_images(random):
    luma, chroma = picture(random, (41, 61)), picture(random, (21, 31))
    steps = [(1, 1), (2, 2), (2, 2)]
    data = lift2k.encode([luma, chroma, chroma[::-1]], subsampling=steps)
    parts = lift2k.decode(data)
    assert all(np.array_equal(p, q) for p, q in zip(parts, (luma, chroma, chroma[::-1]), strict=True))
    img = lift2k.open(data)
    assert img.shape == () and img.header.colour == "sycc" and [c.dx for c in img.header.components] == [1, 2, 2]
    with pytest.raises(TypeError, match="sampled"):
        img[0]
    with pytest.raises(ValueError, match="component 1"):
        lift2k.encode([luma, chroma[1:], chroma], subsampling=steps)
    alpha = lift2k.open(lift2k.encode(picture(random, (9, 9, 4)), density=(300, 200), origin=(5, 6)))
    assert [c.channel for c in alpha.header.components] == ["colour"] * 3 + ["opacity"]
    assert (alpha.header.x0, alpha.header.y0, alpha.header.density_x) == (5, 6, 300) and alpha.shape == (9, 9, 4)
    assert lift2k.open(lift2k.encode(luma, icc=b"profile" * 99, colour="icc")).header.icc[:7] == b"prof" b"ile"
    assert lift2k.open(lift2k.encode(luma > 99)).header.components[0].precision == 1
    assert lift2k.open(lift2k.encode(picture(random, (9, 9, 7)))).shape == (9, 9, 7)


def test_metadata(random, tmp_path):
    a = picture(random, (30, 40, 3))
    name = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    metadata = dict(xmp="<x:xmpmeta>\u00e4</x:xmpmeta>", exif=b"II*\0\10\0\0\0\0\0", iptc=b"\x1c\2\5\0\1a",
                    xml=["<a/>", b"<b/>"], uuid={name: b"own\0bytes", str(uuid.UUID(int=7)): b""})
    data = lift2k.encode(a, **metadata)
    img = lift2k.open(data)
    assert np.array_equal(img[...], a)
    assert (img.xmp, img.exif, img.iptc) == (metadata["xmp"].encode(), metadata["exif"], metadata["iptc"])
    assert img.xml == [b"<a/>", b"<b/>"]
    own = [box for box in img.boxes if box.content == "uuid"]
    assert [box.uuid for box in own] == [name, uuid.UUID(int=7)] and [img.read_box(box) for box in own] == [b"own\0bytes", b""]
    assert img.read_box(img.boxes[-1])[:2] == b"\xff\x4f" and img.boxes[-1].content == "other"
    assert pickle.loads(pickle.dumps(img.boxes)) == img.boxes
    plain = lift2k.open(lift2k.encode(a))
    assert (plain.xmp, plain.exif, plain.iptc, plain.xml) == (None, None, None, [])
    assert lift2k.open(lift2k.encode_many([a, a], xml="<c/>")[1]).xml == [b"<c/>"]
    file = tmp_path / "rows.jp2"
    lift2k.write(file, a, by_rows=True, xml=b"<d/>")
    assert lift2k.open(file).xml == [b"<d/>"]
    placed = lift2k.open(lift2k.encode(a, xml="<a/>", gml="<gml/>", uuid={name: b"own"}))
    assert (placed.gml, placed.xml, plain.gml) == (b"<gml/>", [b"<a/>", b"<gml/>"], None)
    assert [(b.type, b.depth) for b in placed.boxes if b.content != "other" or b.type in ("asoc", "rreq")] == [
        ("rreq", 0), ("xml ", 0), ("uuid", 0), ("asoc", 0), ("lbl ", 1), ("asoc", 1), ("lbl ", 2), ("xml ", 2)]
    for wrong in (dict(xmp=5), dict(xml=[5]), dict(uuid={name: "text", "short": b""}), dict(label="x")):
        with pytest.raises((TypeError, ValueError)):
            lift2k.encode(a, **wrong)


def test_samples_beyond_their_precision(random, tmp_path):
    a = picture(random, (70, 90, 3), np.uint16, 12)
    a[61, 40, 1] = 5000
    named = r"sample 5000 at row 61, column 40 of component 1 .* 0 to 4095"
    for call in (lambda a: lift2k.encode(a, precision=12), lambda a: lift2k.encode(a, precision=[16, 12, 13]),
                 lambda a: lift2k.encode([a[..., 0], a[..., 1], a[..., 2]], precision=[12, 12, 16]),
                 lambda a: lift2k.encode(Speaker(a), precision=12), lambda a: lift2k.encode_many([a, a], precision=12),
                 lambda a: lift2k.write(io.BytesIO(), a, precision=12),
                 lambda a: lift2k.write(io.BytesIO(), a, precision=12, by_rows=True, tile_height=16)):
        with pytest.raises(ValueError, match=named):
            call(a)
    assert np.array_equal(lift2k.decode(lift2k.encode(a, precision=[12, 13, 12])), a)
    signed = np.full((9, 9), -32, np.int8)
    assert np.array_equal(lift2k.decode(lift2k.encode(signed, precision=6)), signed)
    for value, signed[4, 5] in ((32, 32), (-33, -33)):
        with pytest.raises(ValueError, match=rf"sample {value} at row 4, column 5 of component 0 .* -32 to 31"):
            lift2k.encode(signed, precision=6)
    with pytest.raises(ValueError, match="sample 4294967295"):
        lift2k.encode(np.full((9, 9), 2**32 - 1, np.uint32), precision=24)


def test_wrong_arguments(random):
    a = picture(random, (20, 20))
    cases = [
        (dict(precisoin=3), TypeError), (dict(wavelet="9-7"), ValueError), (dict(levels="five"), TypeError),
        (dict(levels=99), errors.ArgumentError), (dict(ratio=2, psnr=3), ValueError), (dict(precision=[8, 8]), ValueError),
        (dict(block_width=5), errors.ArgumentError), (dict(step=7.0), errors.ArgumentError), (dict(origin=(-1, 0)), OverflowError),
        (dict(precincts=[(3, 3)]), errors.ArgumentError), (dict(colour="blue"), ValueError), (dict(backend="cuda"), errors.BackendError),
    ]
    if lift2k.backend_usable("cuda")[0]:
        cases.pop()
    for arguments, kind in cases:
        with pytest.raises(kind):
            lift2k.encode(a, **arguments)
    for dtype in (np.float32, np.float64):
        for call in (lift2k.encode, lambda a: lift2k.encode(a, precision=8), lambda a: lift2k.encode_many([a]),
                     lambda a: lift2k.write(io.BytesIO(), a, by_rows=True), lambda a: lift2k.decode(lift2k.encode(np.zeros((20, 20), np.uint8)), out=a)):
            with pytest.raises(TypeError, match=f"samples of {np.dtype(dtype)} are not possible: integers of 8, 16 or 32"):
                call(a.astype(dtype))
    for array, kind in ((a.astype(int), TypeError), (a[0], ValueError), ("text", TypeError),
                        (a.astype(np.int32), ValueError), (a[:0], errors.ArgumentError), ([], ValueError), (None, TypeError)):
        with pytest.raises(kind):
            lift2k.encode(array)


# ---- Options -------------------------------------------------------------------------------------------------------


def test_every_option_has_a_hint():
    """The library's options, which come from its header, equal those in the type hints."""
    besides = {"precincts", "ratio", "psnr", "step", "poc", "comment", "frames_per_second", "kernel", "splits", "palette"}
    for kind, hints in (("encoder", options.EncoderOptions), ("decoder", options.DecoderOptions),
                        ("transform", options.TransformOptions), ("volume", options.VolumeOptions)):
        without = {"memory" if kind == "volume" else "timings"}
        assert set(hints.__annotations__) - besides == set(options.NUMBERS[kind]) - without
    assert options.number("devices", [0, 3]) == options.number("devices", 9) == 9
    assert options.number("style", ["bypass", "vsc"]) == options.number("style", 9) == 9
    assert set(options.ENUMS) <= {name for kind in options.NUMBERS.values() for name in kind}


def test_help_explains_every_option():
    for hints in (options.EncodeOptions, options.EncoderOptions, options.ImageOptions, options.DecoderOptions,
                  options.TransformOptions, options.VolumeOptions, options.VideoOptions):
        said = dict(re.findall(r"^(\w+): (\S.*)", hints.__doc__, flags=re.M))
        assert set(said) == set(hints.__annotations__) and not [text for text in said.values() if "L2K_" in text]
    said = pydoc.render_doc(options.EncodeOptions, renderer=pydoc.plaintext)
    for line in ("levels: decomposition levels 0 to 32 (default: 5)", "progression: [LRCP, RLCP, RPCL, PCRL, CPRL] (default: LRCP)",
                 "ratio: raw size over size of the output", "precision: bits that samples use"):
        assert f"|  {line}" in said


def test_unknown_options_are_named_with_all_others(random):
    a = picture(random, (20, 20))
    data = lift2k.encode(a)
    for call, unknown, close, others in (
            (lift2k.encode, "precisoin", "precision", options.EncodeOptions), (lift2k.encode, "ratoi", "ratio", options.EncodeOptions),
            (lift2k.encode_many, "return_exception", "return_exceptions", options.EncodeOptions),
            (lambda a, **k: lift2k.write(io.BytesIO(), a, **k), "by_row", "by_rows", options.EncodeOptions),
            (lambda a, **k: lift2k.Encoder(**k), "level", "levels", options.EncoderOptions),
            (lambda a, **k: lift2k.Encoder().encode(a, **k), "precisions", "precision", options.ImageOptions),
            (lambda a, **k: lift2k.decode(data, **k), "regoin", "region", options.DecoderOptions),
            (lambda a, **k: lift2k.decode_many([data], **k), "reduction", "region", options.DecoderOptions),
            (lambda a, **k: lift2k.rows(data, **k), "componets", "components", options.DecoderOptions),
            (lambda a, **k: lift2k.open(data, **k), "thread", "threads", options.DecoderOptions),
            (lambda a, **k: lift2k.Transform((9, 9), **k), "levles", "levels", options.TransformOptions),
            (lambda a, **k: lift2k.Volume((9, 9, 9), **k), "z_level", "z_levels", options.VolumeOptions)):
        with pytest.raises(TypeError, match=f"there is no option '{unknown}'. Did you mean '{close}'?") as caught:
            call(a, **{unknown: 1})
        assert set(others.__annotations__) | {close} <= set(str(caught.value).partition("There are: ")[2].split(", "))
    with pytest.raises(TypeError, match="there is no option 'zzz'. There are: backend, "):
        lift2k.encode(a, zzz=1)


def test_changes_and_comment(random):
    a = picture(random, (90, 120, 3))
    changes = [dict(progression="CPRL", resolutions=(0, 3)), dict(progression="RPCL", tile=1), dict(progression="LRCP")]
    data = lift2k.encode(a, tile_width=64, poc=changes, comment="caf\xe9", format="codestream", guard_bits=3, roi_component=1,
                         roi_shift=4, by_tile=True)
    for marker in (b"\xff\x5f\x00\x10", b"\xff\x5e\x00\x05\x01\x00\x04", b"\xff\x64\x00\x08\x00\x01caf\xe9"):
        assert marker in data
    assert np.array_equal(lift2k.decode(data), a) and lift2k.open(data).header.num_tile_parts == 3
    with pytest.raises(errors.ArgumentError, match="leave out"):
        lift2k.encode(a, poc=[dict(components=(0, 2))])
    with pytest.raises(TypeError, match="layer"):
        lift2k.encode(a, poc=[dict(layer=2)])


def test_bands(random):
    a = picture(random, (20, 30, 10), np.uint16)
    data = lift2k.encode(a)
    header = lift2k.open(data).header
    assert header.colour != "srgb" and not header.component_transform
    assert np.array_equal(lift2k.decode(data, component=0).reshape(20, 30), a[..., 0])
    joined = lift2k.open(lift2k.encode(a, component_transform=True, colour="srgb")).header
    assert joined.component_transform and joined.colour == "srgb"
    for count in 3, 4:
        header = lift2k.open(lift2k.encode(a[..., :count])).header
        assert header.component_transform and header.colour == "srgb"


def test_profiles(random):
    a = picture(random, (90, 120, 3), np.uint16) >> 4
    data = lift2k.encode(a, precision=12, profile="cinema4k", frames_per_second=24, format="codestream")
    h = lift2k.open(data).header
    assert (h.profile, h.wavelet, h.block_width, h.num_tile_parts) == (4, "9/7", 32, 6)
    assert lift2k.open(lift2k.encode(a, precision=12, profile=0x0711, frames_per_second=25)).header.profile == 0x0711
    assert len(lift2k.encode(a, precision=12, max_bytes=9000)) <= 9000
    with pytest.raises(errors.ArgumentError, match="12 bits"):
        lift2k.encode(a, profile="cinema2k")
    assert lift2k.open(lift2k.encode(a, precision=12, profile="cinema2k", style="ht")).header.profile == 0x4000  # 3 is in CPF
    for against, text in ((dict(tile_width=64), "cinema 2K.*64"), (dict(block_width=64), "cinema 2K.*code-block width"), (dict(levels=6), "cinema 2K.*not 6"),
                          (dict(ratio=[20, 10]), "cinema 2K.*option layers"),
                          (dict(precincts=[(64, 64)]), "cinema 2K.*option precincts"),
                          (dict(poc=[dict(progression="LRCP")]), "cinema 2K.*option progression order changes")):
        with pytest.raises(errors.ArgumentError, match=text):
            lift2k.encode(a, precision=12, profile="cinema2k", **against)
    assert len(lift2k.encode(a, precision=12, profile="cinema2k", max_bytes=9000)) <= 9000


def test_explanations_of_profiles():
    for text in (options.EncoderOptions.__doc__, options.EncodeOptions.__doc__):
        assert "changes whatever it fixes" not in text and "what is set against the profile is an error" in text


def test_profiles_have_the_names_of_the_command():
    named = [options.name_of("l2k_profile", n) for n in (0, 3, 4, *range(0x100, 0xA00, 0x100))]
    assert named == ["none", "cinema2k", "cinema4k", "broadcast", "broadcastmulti", "broadcastmulti-r", "imf2k", "imf4k", "imf8k",
                     "imf2k-r", "imf4k-r", "imf8k-r"]
    assert [options.number("profile", name) for name in named[:3]] == [0, 3, 4]
    with pytest.raises(ValueError, match="'cinema_2k' is not one of: none, cinema2k, cinema4k"):
        options.number("profile", "cinema_2k")


HAAR = "reversible\nhigh 0 : -1\nlow 0 round 1 shift 1 : 1\n"


def test_kernels(random):
    a = picture(random, (50, 70, 3))
    for coding, name in ((dict(wavelet="fidelity"), "fidelity"), (dict(kernel=HAAR), "haar"), (dict(wavelet="1-3"), "1-3")):
        data = lift2k.encode(a, **coding)
        assert lift2k.open(data).header.wavelet == name and np.array_equal(lift2k.decode(data), a)
    with pytest.raises(ValueError, match="no lifting steps"):
        lift2k.encode(a, kernel="reversible")


def test_palette(random):
    colours = random.integers(0, 256, (7, 4), np.uint8)
    indices = random.integers(0, 7, (20, 30), np.uint8)
    data = lift2k.encode(indices, palette=colours, colour="srgb")
    assert np.array_equal(lift2k.decode(data), colours[indices])
    assert np.array_equal(lift2k.decode(data, component=0), indices)
    with pytest.raises(ValueError, match="palette of 7 entries of 2"):
        lift2k.encode(indices, palette=colours[:, :2])


def test_splits(random):
    a = picture(random, (90, 130, 3))
    data = lift2k.encode(a, splits="bhv", levels=4)
    with lift2k.open(data) as img:
        for reduce, shape in enumerate([(90, 130, 3), (45, 65, 3), (45, 33, 3), (23, 33, 3), (12, 17, 3)]):
            level, whole = img.level(reduce), lift2k.decode(data, reduce=reduce)
            assert level.shape == whole.shape == shape
            assert np.array_equal(level[3:11, 5:9], whole[3:11, 5:9]) and np.array_equal(level[-5:, -4:, 1], whole[-5:, -4:, 1])
            assert np.array_equal(level[level.tiles[0].slices], whole)
    with pytest.raises(errors.ArgumentError):
        lift2k.encode(a, splits="x")


def test_options_reach_the_file(random):
    a = picture(random, (200, 300, 3))
    coding = dict(wavelet="9/7", levels=3, tile_width=128, tile_height=64, tile_x0=1, tile_y0=2, block_width=32, block_height=16,
                  progression="RPCL", style=["bypass", "vsc"], component_transform=True, sop=True, eph=True, plt=True, tlm=True,
                  tile_parts="resolution", format="codestream", precincts=[(256, 128), (64, 64)], ratio=[40, 20, 10])
    data = lift2k.encode(a, origin=(3, 4), **coding)
    h = lift2k.open(data).header
    assert (h.wavelet, h.levels, h.tile_width, h.tile_height, h.tile_x0, h.tile_y0) == ("9/7", 3, 128, 64, 1, 2)
    assert (h.block_width, h.block_height, h.progression, h.style, h.format) == (32, 16, "RPCL", 9, "codestream")
    assert h.sop and h.eph and h.component_transform and h.num_layers == 3
    assert h.precincts == ((32, 32), (64, 64), (64, 64), (256, 128)) or h.precincts[3] == (256, 128)
    assert h.num_tile_parts > h.tiles_across * h.tiles_down
    assert 0.9 < len(data) / (a.nbytes / 10) <= 1
    assert lift2k.open(lift2k.encode(a, style="ht", ht_passes=3)).header.ht
    for coarse, fine in ((dict(step=1 / 16), dict(step=1 / 256)), (dict(quality=40), dict(quality=80)),
                         (dict(step=0.01, visual=8000), dict(step=0.01, visual=1000))):
        assert len(lift2k.encode(a, wavelet="9/7", style="ht", **coarse)) < len(lift2k.encode(a, wavelet="9/7", style="ht", **fine))
    error = np.mean((lift2k.decode(lift2k.encode(a, wavelet="9/7", psnr=38)).astype(float) - a) ** 2)
    assert abs(10 * np.log10(255**2 / error) - 38) < 1
    for cpu in ("auto", "c"):
        assert lift2k.encode(a, cpu=cpu, threads=1, **coding, origin=(3, 4)) == data


# ---- Decoding ------------------------------------------------------------------------------------------------------


def test_parts(random):
    a = picture(random, (150, 211, 3))
    data = lift2k.encode(a, levels=3, tile_width=64, tile_height=64, ratio=[8, 4, 1])
    same(lift2k.decode(data, region=(10, 20, 100, 90)), a[20:90, 10:100])
    same(lift2k.decode(data, region=(200, 0, 9999, 9999)), a[:, 200:])
    assert lift2k.decode(data, reduce=2).shape == (38, 53, 3)
    assert not np.array_equal(lift2k.decode(data, layers=1), a)
    same(lift2k.decode(data, components=1), np.ascontiguousarray(a[..., 1]))
    same(lift2k.decode(data, components=[2, 0]), np.ascontiguousarray(a[..., [2, 0]]))
    assert not np.array_equal(lift2k.decode(data, component=0), a[..., 0])  # of the codestream: luminance
    many = picture(random, (50, 60, 7))
    data = lift2k.encode(many)
    same(lift2k.decode(data, components=[6, 3], region=(5, 6, 40, 41)), np.ascontiguousarray(many[6:41, 5:40][..., [6, 3]]))
    out = np.zeros((50, 60, 2), np.int16)
    lift2k.decode(data, components=[4, 5], out=out)
    assert np.array_equal(out, many[..., 4:6])
    with pytest.raises(errors.ArgumentError):
        lift2k.decode(data, region=(5, 5, 5, 9))
    for wrong in ((-5, 0, 9, 9), (0, 0, 9, -9), (0, 0, 2**32, 9), (0, 0, 9)):
        for call in (lambda region: lift2k.decode(data, region=region), lambda region: lift2k.decode_many([data], region=region),
                     lambda region: lift2k.open(data).read(region=region),
                     lambda region: lift2k.Transform((9, 9), direction="inverse", region=region)):
            with pytest.raises(ValueError):
                call(wrong)
    with pytest.raises(IndexError):
        lift2k.decode(data, components=[7])


def test_rows(random, rounds):
    """Pieces in order are what decode() gives, whatever is asked for; a picture without tiles comes in several, too."""
    for _ in range(rounds):
        dtype = np.dtype(random.choice(["u1", "i1", "u2", "i2"]))
        a = picture(random, shape_of(random, (0, 1, 2, 3, 4)), dtype)
        coding = coding_of(random)
        if random.integers(4) == 0:
            coding["splits"] = "vbhvbh"[:coding["levels"]]
        data = lift2k.encode(a, origin=tuple(int(n) for n in random.integers(0, 8, 2)), **coding)
        h = lift2k.open(data).header
        asked = {"reduce": int(random.integers(h.levels + 1))} | ({"layers": 1} if random.integers(3) == 0 else {})
        if random.integers(2):
            asked["region"] = (h.x0 + (h.x1 - h.x0) // 3, h.y0 + (h.y1 - h.y0) // 4, h.x1, h.y1 - (h.y1 - h.y0) // 3)
        if a.ndim == 3 and random.integers(3) == 0:
            asked["components"] = [int(c) for c in random.integers(0, a.shape[2], 2)] if random.integers(2) else a.shape[2] - 1
        try:
            whole = lift2k.decode(data, **asked)
        except errors.ArgumentError:  # the region has no samples at this resolution
            with pytest.raises(errors.ArgumentError):
                list(lift2k.rows(data, **asked))
            continue
        pieces = list(lift2k.rows(data, **asked))
        assert all(len(piece) for piece in pieces)
        same(np.concatenate(pieces), whole)
    a = big(random)
    for coding in ({}, {"wavelet": "9/7", "levels": 3}, {"tile_height": 400}):
        data = lift2k.encode(a, style="ht", **coding)
        for asked in ({}, {"threads": 1, "region": (10, 3, 1500, 1480)}):
            pieces = list(lift2k.rows(io.BytesIO(data), **asked))
            assert len(pieces) > 1 and max(map(len, pieces)) < 1100
            same(np.concatenate(pieces), lift2k.decode(data, **asked))


def test_rows_of_unlike_components(random):
    a = picture(random, (401, 700, 3))
    planes, steps = [a[..., 0], a[::2, ::2, 1], a[::2, ::2, 2]], [(1, 1), (2, 2), (2, 2)]
    for coding in ({}, {"tile_height": 35}, {"tile_height": 1, "tile_width": 700, "levels": 1}):
        data = lift2k.encode(planes, subsampling=steps, **coding)
        for asked in ({}, {"reduce": 1}, {"region": (5, 33, 600, 390)}, {"components": [2, 0]}):
            whole, pieces = lift2k.decode(data, **asked), list(lift2k.rows(data, **asked))
            assert all(isinstance(piece, list) for piece in pieces)
            for part, *found in zip(whole, *pieces, strict=True):
                same(np.concatenate(found), part)
        same(np.concatenate(list(lift2k.rows(data, components=[1, 2]))), lift2k.decode(data, components=[1, 2]))
    colours, indices = random.integers(0, 256, (7, 3), np.uint8), random.integers(0, 7, (200, 30), np.uint8)
    data = lift2k.encode(indices, palette=colours, colour="srgb", tile_height=64)
    same(np.concatenate(list(lift2k.rows(data))), colours[indices])
    flat = lift2k.encode([a[:1, :9, 0], a[:1, :9, 1]], subsampling=[(1, 1), (1, 2)])
    with pytest.raises(ValueError, match="rows .* do not correspond"):
        next(lift2k.rows(flat))
    for wrong, kind in ((dict(components=3), IndexError), (dict(components=[-1]), IndexError),
                        (dict(components=0, component=0), ValueError)):
        with pytest.raises(kind, match="of 3|exclude"):
            next(lift2k.rows(lift2k.encode(a[:9]), **wrong))


def test_rows_that_end_early(random):
    """The decoder takes another image then; during the loop, it takes none."""
    a = big(random)
    data, decoder = lift2k.encode(a, style="ht"), lift2k.Decoder(threads=1)
    pieces = decoder.rows(data)
    assert len(next(pieces)) < 1500
    for call in (decoder.decode, lambda: next(decoder.rows())):
        with pytest.raises(errors.StateError, match="decoder is at work"):
            call()
    pieces.close()
    with pytest.raises(errors.StateError, match="no image has been begun"):  # nor is there memory for one
        decoder.call(lib.l2k_decoder_end)
    same(decoder.decode(), a)
    with pytest.raises(KeyError):
        for piece in decoder.rows(region=(0, 0, 1500, 1400)):
            raise KeyError
    same(np.concatenate(list(decoder.rows(region=(3, 4, 500, 900)))), a[4:900, 3:500])
    same(next(decoder.rows()), next(lift2k.rows(data)))
    same(decoder.decode(), a)


@pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
def test_rows_of_damaged_files(random):
    """They are complete as far as they go, and the end says what decode() does."""
    a = big(random)
    for coding in ({}, {"tile_height": 400}):
        data, seen, failures = lift2k.encode(a, style="ht", **coding)[:-500000], [], []
        for call in (lift2k.decode, lambda data: seen.extend(lift2k.rows(data))):
            with pytest.warns(lift2k.Lift2kWarning), pytest.raises(errors.IncompleteError) as caught:
                call(data)
            failures.append(caught.value)
        whole = failures[0].array
        assert str(failures[0]) == str(failures[1]) and failures[1].array is None
        same(np.concatenate(seen), whole)
        with pytest.warns(lift2k.Lift2kWarning, match=str(failures[0])):
            same(np.concatenate(list(lift2k.rows(data, incomplete=True))), whole)
        with pytest.raises(errors.TruncatedError):
            list(lift2k.rows(data, strict=True))
    for kind, bad in ((errors.TruncatedError, b""), (errors.FormatError, b"junk" * 50), (FileNotFoundError, "none.jp2")):
        with pytest.raises(kind):
            next(lift2k.rows(bad))


def test_sources(random, tmp_path):
    a = picture(random, (30, 40))
    data = lift2k.encode(a)
    path = tmp_path / "a.jp2"
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for source in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8), path, str(path), mapped):
            same(lift2k.decode(source), a)
    with pytest.raises(FileNotFoundError):
        lift2k.decode(tmp_path / "none.jp2")
    decoder = lift2k.Decoder(threads=1)
    for source in (data, path, lift2k.encode(a[::-1])):
        same(decoder.decode(source), a if source in (data, path) else a[::-1])
    same(decoder.decode(region=(3, 4, 9, 9)), a[::-1][4:9, 3:9])  # of the file that is open
    with pytest.raises(errors.StateError):
        lift2k.Decoder().decode()


def test_open(random, tmp_path):
    for _ in range(10):
        a = picture(random, shape_of(random, (0, 3, 5), 200), np.uint16)
        origin, dy = tuple(int(n) for n in random.integers(0, 20, 2)), int(random.integers(1, 3))
        path = tmp_path / "a.jp2"
        lift2k.write(path, a, tile_width=int(random.integers(20, 90)), tile_height=50, levels=3, origin=origin, subsampling=(1, dy))
        with lift2k.open(path) as img:
            same(np.asarray(img), a)
            assert (img.shape, img.dtype, img.ndim, len(img)) == (a.shape, a.dtype, a.ndim, len(a))
            same(pickle.loads(pickle.dumps(img))[...], a)
            for tile in img.tiles:
                same(img.tile(tile.index), a[tile.slices])
            with lift2k.open(path, cache_bytes=1 << 24) as keeps:
                for x in range(0, a.shape[1], 9):
                    same(np.ascontiguousarray(keeps[10:40, x:x + 30]), np.ascontiguousarray(a[10:40, x:x + 30]))
            small = img.level(2)
            whole = small[...]
            same(whole, lift2k.decode(path, reduce=2))
            for array, view in ((a, img), (whole, small)):
                for _ in range(10):
                    key = tuple(slice(*(int(n) if random.integers(3) else None for n in random.integers(-9, n + 9, 2)),
                                      int(random.choice([1, 1, 1, 2, -1, -3]))) for n in array.shape[:2])
                    assert np.array_equal(view[key], array[key])
                y, x = (int(random.integers(-n, n)) for n in array.shape[:2])
                assert np.array_equal(view[y, x], array[y, x]) and np.array_equal(view[..., -1], array[..., -1])
                assert np.array_equal(view[y], array[y]) and view[3:3].shape == array[3:3].shape
                if array.ndim == 3:
                    assert np.array_equal(view[y:, :, 1], array[y:, :, 1])
                    assert np.array_equal(view[:, x, -1:0:-1], array[:, x, -1:0:-1])
        with pytest.raises(errors.StateError):
            img[0]


def any_index(random, shape):
    """Integers, slices and ... for some or all dimensions, in range and beyond."""
    def number(n):
        return int(random.integers(-n - 2, n + 2))

    def one(n):
        if random.integers(3) == 0:
            return number(n) if random.integers(2) else np.int16(number(n))
        return slice(*(None if random.integers(3) == 0 else number(n) for _ in range(2)),
                     random.choice([None, 1, 2, 7, -1, -2, -5]))

    keys = [one(n) for n in shape[:int(random.integers(0, len(shape) + 1))]]
    if random.integers(3) == 0:
        behind = [one(n) for n in shape[len(shape) - int(random.integers(0, len(shape) - len(keys) + 1)):]]
        return (*keys, ..., *(behind if len(behind) <= len(shape) - len(keys) else ()))
    return keys[0] if len(keys) == 1 and random.integers(2) else tuple(keys)


def test_indices_are_those_of_numpy(random):
    """2,000 random ones; those that NumPy refuses are refused."""
    refused = 0
    for shape, coding in (((64, 81, 3), dict(tile_width=30, tile_height=17)), ((64, 80), dict(style="ht")),
                          ((53, 70, 4), dict(style="ht", tile_width=33)), ((64, 81, 3), dict(origin=(5, 3), levels=3))):
        with lift2k.open(lift2k.encode(picture(random, shape), **coding)) as whole:
            for img in (whole, whole.level(1)):
                array = img.read()
                assert array.shape == img.shape
                for _ in range(250):
                    key = any_index(random, img.shape)
                    try:
                        expected = array[key]
                    except IndexError as failure:
                        refused += 1
                        with pytest.raises(IndexError) as caught:
                            img[key]
                        assert "too many" in str(caught.value) or str(caught.value) == str(failure)
                    else:
                        found = img[key]
                        assert np.shape(found) == np.shape(expected) and np.array_equal(found, expected), key
    assert 100 < refused < 1000
    with lift2k.open(lift2k.encode(picture(random, (64, 80)))) as img:
        for wrong in (-65, 64, (slice(None), -81), (0, 80), (0, 0, 0), (..., ...)):
            with pytest.raises(IndexError):
                img[wrong]
        for wrong in (None, [1, 2], 1.0, "1", True, np.True_, np.array([1, 2]), (0, None), slice(0.5), {}):
            with pytest.raises(TypeError):
                img[wrong]


def test_header_and_boxes():
    img = lift2k.open(lift2k.encode(np.zeros((5, 6, 3), np.uint8)))
    assert [b.type for b in img.boxes] == ["jP  ", "ftyp", "jp2h", "ihdr", "colr", "jp2c"]
    assert img.header.comment.startswith("Created by lift2k") and img.header.colour == "srgb"
    assert lift2k.__version__ == "0.2.0"


def test_components_are_those_of_decoded_arrays(random):
    a = picture(random, (30, 41, 4))
    a[..., 0] >>= 4
    planes = [a[..., 0], a[::2, ::2, 1], a[::2, ::2, 2], a[::2, ::2, 3]]
    for given, steps in ((a, (1, 1)), (planes, [(1, 1), (2, 2), (2, 2), (2, 2)])):  # opacity first: last in arrays
        data = lift2k.encode(given, channels=["opacity", "colour", "colour", "colour"], precision=[4, 8, 8, 8], subsampling=steps)
        found, parts = lift2k.decode(data), lift2k.open(data).header.components
        found = found if isinstance(found, list) else list(np.moveaxis(found, 2, 0))
        assert [c.channel for c in parts] == ["colour"] * 3 + ["opacity"] and [c.precision for c in parts] == [8, 8, 8, 4]
        assert [(c.height, c.width) for c in parts] == [p.shape for p in found] and np.array_equal(found[3], a[..., 0])
    data = with_palette(lift2k.encode(picture(random, (30, 41), precision=2) >> 6, levels=2),
                        [[0, 10, 250], [255, 128, 0], [3, 200, 60], [90, 90, 90]])
    for img in (lift2k.open(data), lift2k.open(data, reduce=1)):
        parts = img.header.components
        assert img.shape[2] == len(parts) == 3 and [c.association for c in parts] == [1, 2, 3]
        assert {(c.width, c.height) for c in parts} == {(41, 30)}


def test_coefficients(random):
    a = picture(random, (60, 70))
    transform = lift2k.Transform(a.shape, levels=2)
    expected = transform.forward(a)[0]
    found = lift2k.open(lift2k.encode(a, levels=2)).coefficients()[0]
    assert list(found) == ["LL2", "HL2", "LH2", "HH2", "HL1", "LH1", "HH1"]
    for name, band in found.items():
        assert np.array_equal(band, expected[name])


# ---- Writing -------------------------------------------------------------------------------------------------------


def test_write(random, tmp_path):
    a = picture(random, (150, 90, 3))
    coding = dict(tile_width=64, tile_height=32, tlm=True)
    data = lift2k.encode(a, **coding)
    path = tmp_path / "a.jp2"

    def pieces():
        y = 0
        while y < 150:
            n = int(random.integers(1, 60))
            yield a[y:y + n]
            y += n

    raw = tmp_path / "raw"
    a.tofile(raw)

    class Sliced:
        shape = a.shape

        def __getitem__(self, key):
            return a[key]

    for rows in (a, pieces(), Sliced(), np.memmap(raw, np.uint8, "r", 0, a.shape), iter(a[:, None])):
        lift2k.write(path, rows, shape=a.shape, **coding)
        assert path.read_bytes() == data
    lift2k.write(path, a, by_rows=True, **coding)
    assert path.read_bytes() == data
    memory = io.BytesIO()
    lift2k.write(memory, a, **coding)
    assert memory.getvalue() == data
    with open(path, "wb", buffering=0) as file:  # in the middle of a file, and not buffered
        file.write(b"before")
        lift2k.write(file, a, by_rows=True, **coding)
        file.write(b"after")
    assert path.read_bytes() == b"before" + data + b"after"
    link = tmp_path / "link.jp2"
    link.symlink_to(path)
    lift2k.write(link, a, **coding)
    assert link.is_symlink() and path.read_bytes() == data
    pipe = tmp_path / "pipe.jp2"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(lift2k.decode(pipe)))
    reader.start()
    lift2k.write(pipe, a)
    reader.join()
    assert np.array_equal(found[0], a) and pipe.is_fifo()
    lift2k.write(path, pieces(), shape=a.shape)
    assert lift2k.open(path).header.tile_height == 1024
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_larger_than_memory(tmp_path):
    """Only some tens of MiB of 256 million samples, read and written by rows, are in memory."""
    script = """if True:
        import resource, sys, numpy, lift2k
        row = (numpy.arange(16000) % 256).astype(numpy.uint8)
        rows = (numpy.broadcast_to(row, (250, 16000)) for _ in range(64))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        lift2k.write(sys.argv[1], rows, shape=(16000, 16000), tile_width=1000, tile_height=250, levels=2, threads=2)
        with lift2k.open(sys.argv[1], limit_samples=1 << 30, threads=2) as img:
            assert img.shape == (16000, 16000) and (img[15000:15100, 5:9] == numpy.arange(5, 9)).all()
            assert img.level(2)[3900:].shape == (100, 4000)
        assert sum(len(piece) for piece in lift2k.rows(sys.argv[1], limit_samples=1 << 30, threads=2)) == 16000
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
        """
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "a.jp2"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100


def test_extensions(random, tmp_path):
    """They equal the command's."""
    a = picture(random, (30, 40))
    for name, style, start in (("a.jp2", 0, "jp2 "), ("a.JPH", "ht", "jph "), ("a.j2k", 0, ""), ("a.j2c", "ht", ""),
                               ("a.jpc", ["bypass"], ""), ("a.jhc", ["ht"], "")):
        for data in (a, iter([a])):
            lift2k.write(tmp_path / name, data, shape=a.shape, style=(s for s in style) if isinstance(style, list) else style)
            written = (tmp_path / name).read_bytes()
            assert written[20:24] == start.encode() if start else written[:4] == b"\xff\x4f\xff\x51"
            with lift2k.open(written) as img:
                assert np.array_equal(img, a) and img.header.ht == (name[2:].lower() in ("jph", "j2c", "jhc"))
    for name, coding, message in (
            ("b.png", {}, r"b.png: unknown output format; known are .jp2 .jph .j2k .j2c .jpc .jhc"), ("b", {}, "unknown output"),
            ("b.jp2", {"style": "ht"}, "no HT code-blocks"), ("b.jph", {}, "HT code-blocks"), ("b.jhc", {}, "HT code-blocks"),
            ("b.jp2", {"format": "codestream"}, "contradict"), ("b.j2k", {"format": 0}, "contradict"),
            ("b.j2k", {"xmp": b"<x/>"}, "bare codestream has no boxes: xmp")):
        with pytest.raises(ValueError, match=message):
            lift2k.write(tmp_path / name, a, **coding)
    with pytest.raises(ValueError, match="bare codestream has no boxes: xml"):
        lift2k.encode(a, format="codestream", xml="<a/>")
    lift2k.write(tmp_path / "c.png", a, format="codestream")
    lift2k.write(tmp_path / "d.jp2", a, format="jp2")
    assert sorted(os.listdir(tmp_path))[-2:] == ["c.png", "d.jp2"] and not list(tmp_path.glob("b*"))


def test_a_missing_folder_is_named(tmp_path):
    a = np.zeros((9, 9), np.uint8)
    with pytest.raises(FileNotFoundError) as caught:
        lift2k.write(tmp_path / "missing" / "a.jp2", a)
    assert caught.value.filename == str(tmp_path / "missing") and ".lift2k-" not in str(caught.value)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder that takes no files")
def test_a_folder_that_takes_no_files_is_not_missing():
    with pytest.raises(OSError) as caught:
        lift2k.write("/proc/f.jp2", np.zeros((9, 9), np.uint8))
    assert caught.value.errno and caught.value.filename == "/proc/f.jp2"


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_nothing_is_left_of_a_failed_write(random, tmp_path):
    a = picture(random, (150, 90))
    path = tmp_path / "a.jp2"
    path.write_bytes(b"before")

    def stops():
        yield a[:70]
        raise KeyError("my own")

    for rows, kind in ((stops(), KeyError), (iter([a[:100]]), ValueError), (iter([a, a]), ValueError),
                       (iter([a[:70], a[70:].astype(np.uint16)]), ValueError), (iter([a[:, 1:]]), ValueError)):
        with pytest.raises(kind):
            lift2k.write(path, rows, shape=a.shape, tile_height=32)
    with pytest.raises(errors.ArgumentError):
        lift2k.write(path, a, levels=77)
    with pytest.raises(TypeError, match="shape"):
        lift2k.write(path, iter(a))
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["a.jp2"]

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "no space")

    with pytest.raises(OSError, match="no space"):
        lift2k.write(Full(), a)


# ---- Batches -------------------------------------------------------------------------------------------------------


def test_many(random):
    arrays = [picture(random, shape_of(random, (0, 3, 4))) for _ in range(30)]
    files = lift2k.encode_many(arrays, levels=3)
    assert files == [lift2k.encode(a, levels=3) for a in arrays]
    assert lift2k.encode_many([]) == [] and lift2k.decode_many([]) == []
    for a, b in zip(arrays, lift2k.decode_many(files), strict=True):
        assert np.array_equal(a.squeeze(), b.squeeze())
    out = [np.zeros((*a.shape[:2], a.shape[2]) if a.ndim == 3 else a.shape, np.uint16) for a in arrays]
    assert lift2k.decode_many(files, out=out, threads=2, in_flight=2)[7] is out[7]
    assert all(np.array_equal(a, b) for a, b in zip(arrays, out))
    regions = lift2k.decode_many(files, reduce=1)
    assert all(r.shape[0] == -(-a.shape[0] // 2) for a, r in zip(arrays, regions))
    files[3], files[9] = b"not a picture", files[9][:-30]
    with pytest.raises(errors.FormatError):
        lift2k.decode_many(files)
    with pytest.warns(lift2k.Lift2kWarning):
        results = lift2k.decode_many(files, return_exceptions=True)
    assert isinstance(results[3], errors.FormatError) and isinstance(results[9], errors.IncompleteError)
    assert results[9].array.shape[:2] == arrays[9].shape[:2] and str(results[9]).startswith("image ")
    assert all(np.array_equal(arrays[i].squeeze(), results[i].squeeze()) for i in range(30) if i not in (3, 9))
    with pytest.raises(errors.ArgumentError):
        lift2k.encode_many(arrays, ht_passes=2)
    results = lift2k.encode_many(arrays, limit_samples=3000, return_exceptions=True)
    assert {type(r) for r in results} == {bytes, errors.LimitError}


# ---- The transform -------------------------------------------------------------------------------------------------


def test_transform(random):
    a = picture(random, (67, 93, 3))
    for coding in (dict(), dict(component_transform=True, levels=3), dict(coefficients="int16", threads=1),
                   dict(wavelet="dd-13-7"), dict(kernel=HAAR)):
        forward = lift2k.Transform(a.shape, **coding)
        inverse = lift2k.Transform(a.shape, direction="inverse", **coding)
        for source, target in zip(forward.forward(a), inverse.subbands, strict=True):
            for name in source:
                target[name][...] = source[name]
        assert np.array_equal(inverse.inverse(), a)
    info = forward.info(0, "HL1")
    assert (info.orientation, info.level, info.x1, info.y1) == ("HL", 1, 46, 67 - 33)
    view = forward.subbands[1]["HH2"]
    assert view.base is not None and np.shares_memory(view, forward.subbands[1]["HH2"])
    kept = view.copy()
    del forward
    gc.collect()
    assert np.array_equal(view, kept)  # a view keeps the memory
    with pytest.raises(ValueError, match="shape"):
        inverse.inverse(np.zeros((3, 3, 3), np.uint8))
    with pytest.raises(errors.StateError):
        inverse.forward(a)


def test_transform_of_a_region(random):
    a = picture(random, (100, 120))
    forward = lift2k.Transform(a.shape, levels=3, origin=(5, 6)).forward(a)[0]
    full = lift2k.Transform(a.shape, levels=3, origin=(5, 6), direction="inverse")
    part = lift2k.Transform(a.shape, levels=3, origin=(5, 6), direction="inverse", region=(50, 40, 81, 999))
    for name, band in part.subbands[0].items():
        whole, info = full.info(0, name), part.info(0, name)
        band[...] = forward[name][info.y0 - whole.y0:info.y1 - whole.y0, info.x0 - whole.x0:info.x1 - whole.x0]
    assert part.subbands[0]["HL1"].size < forward["HL1"].size / 2
    same(part.inverse(), np.ascontiguousarray(a[34:, 45:76]))


def test_float_transform(random):
    a = random.normal(0, 1, (64, 48)).astype(np.float32)
    coding = dict(wavelet="9/7", levels=2, coefficients="float32", backend="cpu")
    forward = lift2k.Transform(a.shape, np.float32, precision=8, **coding)
    inverse = lift2k.Transform(a.shape, np.float32, precision=8, direction="inverse", **coding)
    for name, band in forward.forward(a)[0].items():
        assert band.dtype == np.float32
        inverse.subbands[0][name][...] = band
    assert np.abs(inverse.inverse() - a).max() < 1e-3  # the standard's factors are not inverse to the last digit
    steps = [(8, 100)] * 7
    quantised = lift2k.Transform((64, 48), wavelet="9/7", levels=2, steps=steps)
    assert (quantised.info(0, "HH1").exponent, quantised.info(0, "HH1").mantissa) == steps[0]
    reduced = lift2k.Transform((64, 48), levels=3, reduce=2, direction="inverse")
    assert reduced.inverse().shape == (16, 12)


def test_transform_with_splits(random):
    a = picture(random, (67, 93))
    bands = lift2k.Transform(a.shape, levels=4, splits="hbv").forward(a)[0]
    assert bands["LH1"].size == bands["HH1"].size == bands["HL3"].size == 0 and bands["HL1"].shape == (67, 46)
    sizes = [(67, 93), (67, 47), (34, 24), (17, 24), (9, 12)]
    for reduce, shape in enumerate(sizes):
        back = lift2k.Transform(a.shape, levels=4, splits="hbv", reduce=reduce, direction="inverse")
        for name, band in back.subbands[0].items():
            band[...] = bands[name]
        got = back.inverse()
        assert got.shape == shape and (reduce > 0 or np.array_equal(got, a))
    with pytest.raises(errors.ArgumentError):
        lift2k.Transform(a.shape, splits="bx")


# ---- Volumes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", [
    dict(), dict(order="isotropic", levels=2, z_levels=2), dict(z_levels=0), dict(coefficients="int16", levels=2, z_levels=1),
    dict(component_transform=True), dict(wavelet="haar", z_wavelet="1-3"), dict(wavelet="5/3", z_wavelet="dd-9-7", threads=1)])
@pytest.mark.parametrize("slices", [1, 2, 13])
def test_volume(random, coding, slices):
    components = (3,) if "component_transform" in coding else ()
    a = np.stack([picture(random, (20, 31, *components)) for _ in range(slices)])
    forward = lift2k.Volume(a.shape, z0=3, origin=(1, 2), **coding)
    inverse = lift2k.Volume(a.shape, z0=3, origin=(1, 2), direction="inverse", **coding)
    for _ in range(2):  # again for another volume of the same shape
        stored = {found.place: found.subbands for found in forward.forward(a)}
        assert len(stored) == slices or "order" in coding
        assert all(len(bands) == max(components, default=1) for bands in stored.values())
        same(np.stack(list(inverse.inverse(stored))), a)
        a = a[::-1]
    restored = inverse.inverse(lambda place: stored[place.level, place.high, place.number])
    same(np.stack(list(restored)), a[::-1])


def test_volume_of_columns(random):
    """Across slices of one sample it is the transform of a column."""
    a = picture(random, (37, 1))
    bands = lift2k.Transform(a.shape, levels=3, wavelet="9/7", coefficients="float32").forward(a)[0]
    volume = lift2k.Volume((37, 1, 1), wavelet="9/7", levels=0, z_levels=3)
    found = {s.place: s.subbands[0]["LL0"][0, 0] for s in volume.forward(a[:, :, None])}
    for level, high, name in ((1, True, "LH1"), (2, True, "LH2"), (3, True, "LH3"), (3, False, "LL3")):
        column = [found[level, high, i] for i in range(volume.depth(level, high))]
        assert column and np.allclose(column, bands[name][:, 0], rtol=1e-5, atol=1e-4)


def test_wrong_volumes(random):
    a = np.stack([picture(random, (20, 30)) for _ in range(5)])
    with pytest.raises(ValueError, match="neither"):
        lift2k.Volume((20, 30))
    with pytest.raises(TypeError, match="no option"):
        lift2k.Volume(a.shape, z_level=2)
    with pytest.raises(errors.ArgumentError):
        lift2k.Volume(a.shape, order="isotropic", levels=2, z_levels=3)
    with pytest.raises(errors.ArgumentError):
        lift2k.Volume((0, 20, 30))
    volume, inverse = lift2k.Volume(a.shape), lift2k.Volume(a.shape, direction="inverse")
    with pytest.raises(ValueError, match="4 slices are not the 5"):
        list(volume.forward(a[:4]))
    with pytest.raises(errors.StateError):
        list(volume.forward([*a, a[0]]))
    with pytest.raises(ValueError, match="shape"):
        list(volume.forward(a[:, :, :20]))
    with pytest.raises(errors.StateError):
        list(inverse.forward(a))
    stored = {found.place: found.subbands for found in volume.forward(a)}
    with pytest.raises(KeyError):
        list(inverse.inverse({place: bands for place, bands in stored.items() if place.number == 0}))
    same(np.stack(list(inverse.inverse(stored))), a)


# ---- Progress, times, cancelling -----------------------------------------------------------------------------------


def big(random):
    return picture(random, (1500, 1500, 3))


def test_progress_and_times(random, capsys):
    a, seen, times = big(random), [], {}
    data = lift2k.encode(a, progress=seen.append, timings=times, threads=1)
    assert seen == sorted(seen) and len(seen) > 3 and seen[-1] == 1.0 and 0 <= seen[0] < 1
    assert times["tier1"] > 0 and times["transform"] > 0 and set(times) == {"read", "upload", "transform", "download", "tier1",
                                                                             "rate", "tier2", "write"}
    times = {}
    lift2k.decode(data, progress=True, timings=times)
    assert times["tier1"] > 0 and "decode" in capsys.readouterr().err
    times = {}
    lift2k.encode_many([a[:50]], timings=times)
    assert times["tier1"] > 0


def test_cancelling(random):
    a = big(random)
    data = lift2k.encode(a)
    for call in (lambda f: lift2k.encode(a, progress=f), lambda f: lift2k.decode(data, progress=f),
                 lambda f: lift2k.encode_many([a, a], progress=f), lambda f: lift2k.decode_many([data, data], progress=f)):
        with pytest.raises(errors.CancelledError):
            call(lambda done: False)

        def fails(done):
            raise KeyError("my own")

        with pytest.raises(KeyError, match="my own"):
            call(fails)
    with pytest.raises(KeyError, match="my own"):
        lift2k.encode_many([a, a], progress=fails, return_exceptions=True)


def test_interrupt(random):
    """Ctrl-C ends a call in the main thread."""
    script = """if True:
        import os, signal, threading, time, numpy, lift2k
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        a = numpy.random.default_rng(1).integers(0, 256, (3000, 3000, 3), dtype=numpy.uint8)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            while True:
                lift2k.encode(a, threads=1)
        except KeyboardInterrupt:
            assert time.monotonic() - start < 1.5
            print("interrupted")
        """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n", done.stderr


# ---- Faults --------------------------------------------------------------------------------------------------------


def test_bad_files_raise(random):
    data = bytearray(lift2k.encode(picture(random, (40, 50, 3)), tile_width=32, tile_height=32))
    for kind, bad in ((errors.TruncatedError, b""), (errors.FormatError, b"junk" * 50), (errors.DataError, data[:30]),
                      (errors.DataError, data[:200])):
        with pytest.raises(kind) as caught:
            lift2k.decode(bad)
        assert str(caught.value) and caught.value.messages[0] == str(caught.value)
    with pytest.warns(lift2k.Lift2kWarning), pytest.raises(errors.IncompleteError) as caught:
        lift2k.decode(data[:-500])
    assert caught.value.array.shape == (40, 50, 3)
    with pytest.warns(lift2k.Lift2kWarning):
        assert lift2k.decode(data[:-500], incomplete=True).shape == (40, 50, 3)
    with pytest.raises(errors.TruncatedError):
        lift2k.decode(data[:-500], strict=True)
    for path in sorted(DATA.glob("*.j[p2]*")):
        try:
            lift2k.decode(path, limit_samples=1 << 24, incomplete=True)
        except errors.Error as failure:
            assert str(failure)


@pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
def test_damage_raises_or_decodes(random, rounds):
    original = [lift2k.encode(picture(random, (40, 50, 3)), tile_width=32, tile_height=32, style=s) for s in ("ht", 0)]
    for i in range(rounds):
        data = bytearray(original[i % 2])
        for _ in range(int(random.integers(1, 4))):
            data[int(random.integers(0, len(data)) ** random.choice([0.5, 1]))] = int(random.integers(256))
        try:
            lift2k.decode(data, limit_samples=1 << 22, limit_memory=1 << 26)
        except errors.Error as failure:
            assert str(failure)


def test_the_tree_of_exceptions():
    assert issubclass(errors.ArgumentError, ValueError) and issubclass(errors.StreamError, OSError)
    assert issubclass(errors.OutOfMemoryError, MemoryError) and issubclass(errors.CorruptError, errors.DataError)
    with pytest.raises(errors.LimitError) as caught:
        lift2k.encode(np.zeros((9, 9), np.uint8), limit_samples=80)
    assert "9 x 9" in str(caught.value) and caught.value.messages == [str(caught.value)]


# ---- Threads, processes, memory ------------------------------------------------------------------------------------


def test_threads(random):
    arrays = [picture(random, (60, 70, 3)) for _ in range(8)]
    expected = [lift2k.encode(a, threads=1) for a in arrays]
    img, failures = lift2k.open(lift2k.encode(arrays[0], tile_width=16, tile_height=16)), []

    def work(i):
        try:
            for _ in range(10):
                assert lift2k.encode(arrays[i], threads=2) == expected[i]
                assert np.array_equal(lift2k.decode(expected[i]), arrays[i])
                assert np.array_equal(img[i:20 + i, 3:60], arrays[0][i:20 + i, 3:60])
                with pytest.raises(errors.FormatError):
                    lift2k.decode(b"junk")
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_an_object_is_for_one_call_at_a_time(random):
    """Threads that call a shared object while it works are refused, and the others get their own results."""
    arrays = [picture(random, (300, 300)) for _ in range(4)]
    files = [lift2k.encode(a) for a in arrays]
    encoder, decoder, ends = lift2k.Encoder(threads=1), lift2k.Decoder(threads=1), []

    def work(i):
        for _ in range(20):
            for call, given, expected in ((encoder.encode, arrays[i], files[i]), (decoder.decode, files[i], arrays[i])):
                try:
                    ends.append(np.array_equal(call(given), expected))
                except errors.StateError as failure:
                    ends.append("each thread needs its own" in str(failure))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert ends == [True] * 160
    refused = []

    def again(done):
        with pytest.raises(errors.StateError, match="encoder is at work in another call"):
            own.encode(arrays[0])
        with pytest.raises(errors.StateError, match="encoder is at work in another call"):
            own.encode_many(arrays[:1])
        refused.append(done)

    own = lift2k.Encoder(progress=again)
    assert own.encode(arrays[0]) == files[0] and refused


def test_the_lock_is_released(random):
    """Another thread counts while the library works."""
    a, count, stop = big(random), [0], threading.Event()

    def counting():
        while not stop.is_set():
            count[0] += 1

    thread = threading.Thread(target=counting)
    thread.start()
    before = count[0]
    lift2k.encode(a, threads=1, wavelet="9/7")
    during = count[0] - before
    stop.set()
    thread.join()
    assert during > 1000


@pytest.mark.parametrize("given", [None, "active"])
def test_threads_do_not_spin_where_they_wait(given):
    """Unless the environment asks for it; importing leaves the environment unchanged."""
    environment = {**os.environ, "OMP_DISPLAY_ENV": "verbose"} | ({"OMP_WAIT_POLICY": given} if given else {})
    if not given:
        environment.pop("OMP_WAIT_POLICY", None)
    script = "import os, lift2k; print(os.environ.get('OMP_WAIT_POLICY'))"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True)
    spins = re.search(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr)
    if not spins:
        pytest.skip("built without GCC's OpenMP, which shows how often threads look before they sleep")
    assert (int(spins[1]) > 0) == (given == "active") and done.stdout == f"{given}\n"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork(random):
    """OpenMP's threads are gone in the child, which therefore works with one."""
    a = picture(random, (300, 300, 3))
    data = lift2k.encode(a)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if lift2k.encode(a) == data and np.array_equal(lift2k.decode(data), a) else 1)
        finally:
            os._exit(2)
    timer = threading.Timer(60, os.kill, (child, 9))
    timer.start()
    status = os.waitpid(child, 0)[1]
    timer.cancel()
    assert status == 0


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


@pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
def test_nothing_leaks(random):
    """10000 calls, a tenth of them failing."""
    a = picture(random, (24, 24, 3))
    data = lift2k.encode(a)

    def calls(n):
        for i in range(n):
            lift2k.encode(a, threads=1, progress=lambda done: True)
            lift2k.decode(data, threads=1)
            img = lift2k.open(data, threads=1)
            img[3:9, 3:9]
            next(lift2k.rows(data, threads=1))
            lift2k.Transform((24, 24), threads=1, levels=1).forward(a[..., 0])[0]["HL1"]
            if i % 20 == 0:
                lift2k.decode_many(lift2k.encode_many([a, a], in_flight=2, threads=2), threads=1)
            elif i % 2:
                for bad in (data[:100], data[:-40], b"junk"):
                    with pytest.raises(errors.Error):
                        lift2k.decode(bad, threads=1)

    calls(400)  # until pools and caches have their size
    gc.collect()
    before = resident()
    calls(1900)
    gc.collect()
    assert resident() - before < 4 << 20


# ---- The command ---------------------------------------------------------------------------------------------------


def test_command(tmp_path):
    """The wheel brings the command."""
    command = Path(sys.executable).with_name("lift2k")
    if not command.exists():
        pytest.skip("not installed as a wheel")
    subprocess.run([command, "encode", DATA / "camera.png", tmp_path / "a.jp2", "--quiet"], check=True)
    assert lift2k.decode(tmp_path / "a.jp2").shape == (512, 512)
