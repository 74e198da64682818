"""The image server: images, names, errors, caches, limits, many requests at once, the command."""

import os
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lift2k
import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("PIL")

from lift2k.server import Folder, Limits, Resources, Settings, create_app  # noqa: E402
from lift2k.server.command import ForwardedHost  # noqa: E402
from PIL import Image  # noqa: E402
from serving import photograph, serve  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")


def encoded(image, **coding):
    return lift2k.encode(image, progression="RPCL", precincts=[(128, 128)], plt=True, **coding)


@pytest.fixture(scope="module")
def coffee():
    return photograph()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, coffee):
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "maps/old").mkdir(parents=True)
    (folder / "coffee.jp2").write_bytes(encoded(coffee))
    (folder / "maps/old/plain & more.j2k").write_bytes(lift2k.encode(coffee[:100, :150], format="codestream", levels=3))
    (folder / "maps/tiles.jph").write_bytes(lift2k.encode(coffee, style="ht", tile_width=256, tile_height=256))
    (folder / "gray16.jp2").write_bytes(lift2k.encode(coffee[..., 0].astype(np.uint16) * 257))
    (folder / "damaged.jp2").write_bytes(encoded(coffee)[:20000])
    (folder / "nothing.jp2").write_bytes(b"no picture")
    (folder / "notes.txt").write_text("secret")
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with serve(create_app(str(folder))) as client:
        yield client


# ---- Images


def test_unscaled_windows_are_exact(client, coffee):
    random = np.random.default_rng(3)
    for name in ("coffee.jp2", "maps%2Ftiles.jph"):
        for _ in range(12):
            x, y = int(random.integers(0, 599)), int(random.integers(0, 399))
            w, h = int(random.integers(1, 300)), int(random.integers(1, 300))
            for version, size in ((3, "max"), (2, "full")):
                answer = client.image(name, f"{x},{y},{w},{h}/{size}/0/default.png", version)
                assert np.array_equal(answer.pixels, coffee[y:y + h, x:x + w])


def test_tiles_are_those_of_the_resolutions(client, folder):
    for name, file in (("coffee.jp2", "coffee.jp2"), ("maps%2Ftiles.jph", "maps/tiles.jph")):
        info = client.ask(f"/iiif/3/{name}/info.json").json
        tile = info["tiles"][0]
        for scale in tile["scaleFactors"]:
            whole = lift2k.decode(str(folder / file), reduce=scale.bit_length() - 1)
            for y in range(0, 400, scale * tile["height"]):
                for x in range(0, 600, scale * tile["width"]):
                    w, h = min(scale * tile["width"], 600 - x), min(scale * tile["height"], 400 - y)
                    got = client.image(name, f"{x},{y},{w},{h}/{-(-w // scale)},{-(-h // scale)}/0/default.png").pixels
                    assert np.array_equal(got, whole[y // scale:-(-(y + h) // scale), x // scale:-(-(x + w) // scale)])


def test_sizes_of_info_are_resolutions(client, folder):
    for size in client.ask("/iiif/3/coffee.jp2/info.json").json["sizes"]:
        got = client.image("coffee.jp2", f"full/{size['width']},{size['height']}/0/default.png").pixels
        reduce = next(r for r in range(6) if -(-600 >> r) * -1 == -size["width"] or -(-600 // (1 << r)) == size["width"])
        assert np.array_equal(got, lift2k.decode(str(folder / "coffee.jp2"), reduce=reduce))


def test_scaling_between_resolutions(client, coffee):
    whole = Image.fromarray(coffee)
    for region, size in (((0, 0, 600, 400), (400, 267)), ((30, 50, 333, 211), (201, 150)), ((200, 100, 400, 300), (399, 299))):
        x, y, w, h = region
        got = client.image("coffee.jp2", f"{x},{y},{w},{h}/{size[0]},{size[1]}/0/default.png").pixels.astype(int)
        same = np.asarray(whole.resize(size, Image.Resampling.LANCZOS, box=(x, y, x + w, y + h)))
        assert np.abs(got - same).max() <= 1
    for size, most in (((71, 47), 7.5), ((131, 90), 5)):  # from a smaller resolution: nearly the same
        got = client.image("coffee.jp2", f"full/{size[0]},{size[1]}/0/default.png").pixels.astype(int)
        same = np.asarray(whole.resize(size, Image.Resampling.LANCZOS))
        assert np.abs(got - same).mean() < most
    got = client.image("coffee.jp2", "100,100,50,40/^200,160/0/default.png").pixels.astype(int)
    same = np.asarray(whole.resize((200, 160), Image.Resampling.BICUBIC, box=(100, 100, 150, 140)))
    assert np.abs(got - same).max() <= 1


def test_scaled_tiles_have_no_seams(client):
    left = client.image("coffee.jp2", "0,0,300,400/201,268/0/default.png").pixels
    right = client.image("coffee.jp2", "300,0,300,400/201,268/0/default.png").pixels
    whole = client.image("coffee.jp2", "full/402,268/0/default.png").pixels.astype(int)
    assert np.abs(np.hstack([left, right]) - whole).max() <= 1


def test_rotation_and_mirroring(client, coffee):
    part = coffee[100:180, 200:320]
    for text, same in (("90", np.rot90(part, -1)), ("180", np.rot90(part, 2)), ("270", np.rot90(part)), ("!0", part[:, ::-1]),
                       ("!90", np.rot90(part[:, ::-1], -1)), ("360", part)):
        assert np.array_equal(client.image("coffee.jp2", f"200,100,120,80/max/{text}/default.png").pixels, same), text
    turned = client.image("coffee.jp2", "200,100,120,80/max/30/default.png").pixels
    assert turned.shape[2] == 4 and turned[0, 0, 3] == 0 and turned[turned.shape[0] // 2, turned.shape[1] // 2, 3] == 255
    assert (turned.shape[1], turned.shape[0]) == Image.fromarray(part).rotate(-30, expand=True).size
    middle = np.asarray(Image.fromarray(part).rotate(-30, Image.Resampling.BICUBIC, expand=True))[50:80, 50:80].astype(int)
    assert np.abs(turned[50:80, 50:80, :3] - middle).max() <= 1
    assert client.image("coffee.jp2", "200,100,120,80/max/30/default.jpg").image.mode == "RGB"


def test_qualities_and_formats(client, coffee):
    gray = client.image("coffee.jp2", "0,0,200,100/max/0/gray.png")
    assert gray.image.mode == "L" and np.array_equal(gray.pixels, np.asarray(Image.fromarray(coffee[:100, :200]).convert("L")))
    bitonal = client.image("coffee.jp2", "0,0,200,100/max/0/bitonal.png").pixels
    assert np.array_equal(bitonal, np.where(gray.pixels > 127, 255, 0))
    for name, kind, media in (("jpg", "JPEG", "image/jpeg"), ("png", "PNG", "image/png"), ("webp", "WEBP", "image/webp")):
        answer = client.image("coffee.jp2", f"0,0,200,100/max/0/color.{name}")
        assert answer.image.format == kind and answer.headers["content-type"] == media
        assert np.abs(answer.pixels.astype(int) - coffee[:100, :200]).mean() < 6
    assert client.image("gray16.jp2", "full/max/0/color.jpg").image.mode == "L"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A function that gives a server's answer for a picture, or a file's bytes."""
    folder = tmp_path_factory.mktemp("shown")
    with serve(create_app(str(folder))) as client:
        def show(image, parameters="full/max/0/default.png", data=None, **coding):
            name = f"{len(os.listdir(folder))}.jp2"
            (folder / name).write_bytes(data or lift2k.encode(image, **coding))
            return client.image(name, parameters)

        yield show


def test_depths_and_signs(shown):
    ramp = np.arange(4096, dtype=np.uint16).reshape(64, 64)
    for precision, dtype in ((1, np.uint8), (4, np.uint8), (7, np.uint8), (12, np.uint16), (16, np.uint16), (20, np.uint32)):
        samples = (ramp.astype(np.uint64) * ((1 << precision) - 1) // 4095).astype(dtype)
        got = shown(samples, precision=precision).pixels.astype(int)
        assert np.abs(got - samples.astype(float) * 255 / ((1 << precision) - 1)).max() < 1
        assert got.min() == 0 and got.max() == 255
    signed = (ramp.astype(np.int32) * 16 - 32768).astype(np.int16)
    got = shown(signed).pixels.astype(int)
    assert got.min() == 0 and np.abs(got - (signed.astype(float) + 32768) * 255 / 65535).max() < 1
    assert np.array_equal(shown((ramp // 16).astype(np.int32).astype(np.int8)).pixels,
                          (ramp // 16).astype(np.int8).astype(int) + 128)


def test_opacity(shown, coffee):
    rgba = np.dstack([coffee[:90, :120], np.arange(90 * 120).reshape(90, 120) % 256]).astype(np.uint8)
    got = shown(rgba)
    assert got.image.mode == "RGBA" and np.array_equal(got.pixels, rgba)
    flat = shown(rgba, "full/max/0/default.jpg").pixels.astype(int)
    alpha = rgba[..., 3:] / 255
    assert np.abs(flat - (rgba[..., :3] * alpha + 255 * (1 - alpha))).mean() < 12
    got = shown(rgba[..., 2:])
    assert got.image.mode == "LA" and np.array_equal(got.pixels, rgba[..., 2:])
    assert shown(rgba[..., 2:], "full/max/45/gray.webp").status == 200
    clear = np.dstack([np.zeros((40, 40, 3)), np.zeros((40, 40))]).astype(np.uint8)
    assert (shown(clear, "full/max/0/default.jpg").pixels == 255).all()
    edge = np.zeros((60, 90, 4), np.uint8)
    edge[:, 45:] = 255
    for image in (edge, edge[..., 2:]):  # transparent pixels lend no colour to their neighbours
        got = shown(image, "full/61,41/0/default.png", levels=0).pixels
        assert got[20, 0, -1] == 0 and got[20, -1, -1] == 255 and (got[got[..., -1] > 0][:, :-1] >= 254).all()
    half = np.dstack([np.full((40, 40, 3), 64), np.full((40, 40), 128)]).astype(np.uint8)
    for size in ("max", "31,29"):
        for image in (half, half[..., 2:]):
            kinds = ["colour"] * (image.shape[2] - 1) + ["premultiplied_opacity"]
            got = shown(image, f"full/{size}/0/default.png", channels=kinds).pixels
            assert np.abs(got.astype(int) - 128).max() <= 1


def test_colour_spaces(shown, coffee):
    ycc = np.asarray(Image.fromarray(coffee).convert("YCbCr"))
    rgb = lift2k.decode(lift2k.encode(ycc, colour="sycc"), rgb8=True)
    assert np.abs(shown(ycc, colour="sycc").pixels.astype(int) - rgb).max() <= 1
    planes = [np.ascontiguousarray(p) for p in (ycc[..., 0], ycc[::2, ::2, 1], ycc[::2, ::2, 2])]
    data = lift2k.encode(planes, subsampling=[(1, 1), (2, 2), (2, 2)])
    got = shown(None, data=data).pixels.astype(int)
    assert got.shape == coffee.shape and np.abs(got - rgb).mean() < 4
    for x, y, w, h in ((1, 1, 1, 1), (599, 399, 1, 1), (7, 3, 100, 50), (33, 77, 2, 1)):
        part = shown(None, f"{x},{y},{w},{h}/max/0/default.png", data=data).pixels.astype(int)
        assert part.shape == (h, w, 3) and np.abs(part - got[y:y + h, x:x + w]).max() <= 2
    cmyk = np.dstack([coffee[:50, :60], np.zeros((50, 60), np.uint8)])
    got = shown(cmyk, colour="cmyk", channels=["colour"] * 4).pixels
    assert np.array_equal(got, 255 - cmyk[..., :3])
    deep = (coffee.astype(np.uint16) << 4 | 5)[:20]
    for given, coding in ((deep, {}), (deep[..., 1], {}), (deep, {"colour": "cmyk"}), (deep, {"colour": "sycc"}),
                          ((coffee.astype(np.int16) - 128).astype(np.int8), {})):
        coding |= {"precision": 12} if given.dtype == np.uint16 else {}
        if coding.get("colour") == "cmyk":
            given, coding["channels"] = np.dstack([given, given[..., :1]]), ["colour"] * 4
        expected = lift2k.decode(lift2k.encode(given, **coding), rgb8=True).astype(int)
        assert np.abs(shown(given, **coding).pixels - expected).max() <= (2 if "colour" in coding else 0)
    assert shown(coffee[:20, :20], colour="cielab").status == 501


def test_profiles(shown, coffee):
    from PIL import ImageCms
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for name in ("png", "jpg", "webp"):
        got = shown(coffee[:30, :40], f"full/max/0/default.{name}", icc=profile)
        assert got.image.info["icc_profile"] == profile
    assert "icc_profile" not in shown(coffee[:30, :40], "full/max/0/gray.png", icc=profile).image.info
    inks = np.dstack([coffee[:30, :40], np.zeros((30, 40), np.uint8)])
    broken = profile[:16] + b"CMYK" + profile[20:]
    assert np.array_equal(shown(inks, icc=broken, channels=["colour"] * 4).pixels, 255 - inks[..., :3])


def test_palettes(tmp_path, shown):
    glymur = pytest.importorskip("glymur")
    entries = np.array([[0, 10, 250], [255, 128, 0], [3, 200, 60], [90, 90, 90]], np.uint8)
    indices = (np.arange(32 * 48).reshape(32, 48) % 4).astype(np.uint8)
    (tmp_path / "indices.jp2").write_bytes(lift2k.encode(indices))
    plain = glymur.Jp2k(tmp_path / "indices.jp2")
    boxes = list(plain.box)
    header = boxes[2]
    mapping = glymur.jp2box.ComponentMappingBox(component_index=(0, 0, 0), mapping_type=(1, 1, 1), palette_index=(0, 1, 2))
    palette = glymur.jp2box.PaletteBox(palette=entries, bits_per_component=(8, 8, 8), signed=(False, False, False))
    colour = glymur.jp2box.ColourSpecificationBox(colorspace=glymur.core.SRGB)
    header.box = [header.box[0], palette, mapping, colour]
    plain.wrap(tmp_path / "palette.jp2", boxes=boxes)
    got = shown(None, data=(tmp_path / "palette.jp2").read_bytes())
    assert np.array_equal(got.pixels, entries[indices])


def test_origins(shown, coffee):
    data = encoded(coffee, origin=(37, 5), levels=3)
    for parameters, same in (("full/max/0/default.png", coffee), ("10,20,101,77/max/0/default.png", coffee[20:97, 10:111])):
        assert np.array_equal(shown(None, parameters, data=data).pixels, same)
    whole = lift2k.decode(data, reduce=1)
    got = shown(None, f"full/{whole.shape[1]},{whole.shape[0]}/0/default.png", data=data).pixels
    assert np.array_equal(got, whole)


def segment(data, marker):
    place = data.index(marker)
    return data[place:place + 2 + int.from_bytes(data[place + 2:place + 4])]


def tile_parts(data):
    """Of a codestream with a tile-part for each tile."""
    place, parts = data.index(b"\xff\x90"), []
    while data[place:place + 2] == b"\xff\x90":
        length = int.from_bytes(data[place + 6:place + 10])
        parts.append(data[place:place + length])
        place += length
    return parts


def test_tiles_with_fewer_resolutions(shown, coffee):
    """The main header says five levels, that of the second tile one."""
    same = {"format": "codestream", "tile_width": 300, "tile_height": 400}
    many, few = lift2k.encode(coffee, levels=5, **same), lift2k.encode(coffee, levels=1, **same)
    own, (first, _), (_, last) = segment(few, b"\xff\x52") + segment(few, b"\xff\x5c"), tile_parts(many), tile_parts(few)
    last = last[:6] + (len(last) + len(own)).to_bytes(4) + last[10:12] + own + last[12:]
    data = many[:many.index(b"\xff\x90")] + first + last + b"\xff\xd9"
    assert np.array_equal(lift2k.decode(data), coffee)
    with pytest.raises(lift2k.errors.ArgumentError):
        lift2k.decode(data, reduce=2)
    same = shown(None, "full/40,27/0/default.png", data=lift2k.encode(coffee, levels=1))
    got = shown(None, "full/40,27/0/default.png", data=data)
    assert np.abs(got.pixels.astype(int) - same.pixels).max() <= 1


# ---- Names


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, folder):
    """A server of a folder with files that it must not show, and with secrets beside it."""
    top = tmp_path_factory.mktemp("guarded")
    inside = top / "inside"
    shutil.copytree(folder, inside)
    (top / "outside.jp2").write_bytes((inside / "coffee.jp2").read_bytes())
    (inside / ".hidden").mkdir()
    for hidden in (".hidden.jp2", ".hidden/coffee.jp2"):
        (inside / hidden).write_bytes((inside / "coffee.jp2").read_bytes())
    (inside / "folder.jp2").mkdir()
    os.mkfifo(inside / "pipe.jp2")
    for link, target in (("linkout.jp2", top / "outside.jp2"), ("linkfolder", top), ("dangling.jp2", "none.jp2"),
                         ("loop.jp2", "loop.jp2"), ("linkin.jp2", "maps/tiles.jph"), ("linkhidden.jp2", ".hidden/coffee.jp2"),
                         ("linkname.jp2", "notes.txt")):
        (inside / link).symlink_to(target)
    with serve(create_app(str(inside))) as client:
        yield client


@pytest.mark.parametrize("name, status", [
    ("coffee.jp2", 200), ("cof%66ee.jp2", 200), ("maps%2Ftiles.jph", 200), ("maps%2Fold%2Fplain%20%26%20more.j2k", 200),
    ("none.jp2", 404), ("notes.txt", 404), ("maps", 404), ("maps%2F", 404), ("", 404), ("%2F", 404), (".", 404), ("..", 404),
    ("%2E%2E", 404), ("maps%2F..%2Fcoffee.jp2", 404), ("..%2Foutside.jp2", 404), ("%2e%2e%2foutside.jp2", 404),
    ("maps%2F%2E%2E%2F%2E%2E%2Foutside.jp2", 404), ("%2E%2E%252Foutside.jp2", 404), ("..%5Coutside.jp2", 404),
    ("coffee.jp2%00", 404), ("coffee.jp2%00.jp2", 404), ("coffee.jp2%2F", 404), ("%2Fcoffee.jp2", 404), ("maps%2F%2Ftiles.jph", 404),
    ("%FF%FE.jp2", 400), (".hidden.jp2", 404), (".hidden%2Fcoffee.jp2", 404), ("x" * 5000 + ".jp2", 404), ("coffee.jp2.jp2", 404),
    ("folder.jp2", 404), ("pipe.jp2", 404), ("linkout.jp2", 404), ("linkfolder%2Foutside.jp2", 404), ("dangling.jp2", 404),
    ("loop.jp2", 404), ("linkin.jp2", 200), ("linkhidden.jp2", 404), ("linkname.jp2", 404),
])
def test_names(guarded, name, status):
    for end in ("info.json", "full/max/0/default.jpg"):
        answer = guarded.ask(f"/iiif/3/{name}/{end}")
        assert answer.status == status, answer
        assert b"secret" not in answer.body


def test_listing_shows_what_can_be_asked_for(guarded):
    listed = guarded.ask("/pictures.json").json
    assert listed["folders"] == ["folder.jp2", "maps"]
    assert listed["pictures"] == ["coffee.jp2", "damaged.jp2", "gray16.jp2", "linkin.jp2", "nothing.jp2"]
    for hostile in ("..", ".hidden", "linkfolder", "/", "maps/..", "coffee.jp2"):
        assert guarded.ask(f"/pictures.json?folder={hostile}").status == 404


def test_a_link_to_the_folder_itself(tmp_path, folder):
    (tmp_path / "link").symlink_to(folder)
    with serve(create_app(str(tmp_path / "link"))) as client:
        assert client.ask("/iiif/3/coffee.jp2/info.json").status == 200
        assert client.ask("/pictures.json?folder=maps").json == {"folders": ["maps/old"], "pictures": ["maps/tiles.jph"]}
    with pytest.raises(NotADirectoryError):
        Folder(folder / "coffee.jp2")


# ---- HTTP


def test_information(client):
    answer = client.ask("/iiif/3/coffee.jp2/info.json", Host="images.example.org:8080")
    info = answer.json
    assert info["@context"] == "http://iiif.io/api/image/3/context.json" and info["type"] == "ImageService3"
    assert info["id"] == "http://images.example.org:8080/iiif/3/coffee.jp2" and info["profile"] == "level2"
    assert (info["width"], info["height"], info["maxArea"]) == (600, 400, 2**25)
    assert info["sizes"][-1] == {"width": 600, "height": 400} and info["sizes"][0] == {"width": 19, "height": 13}
    assert info["tiles"] == [{"width": 512, "height": 512, "scaleFactors": [1, 2]}]
    assert {"mirroring", "rotationArbitrary", "sizeUpscaling", "canonicalLinkHeader"} <= set(info["extraFeatures"])
    assert "webp" in info["extraFormats"] and "bitonal" in info["extraQualities"]
    assert '<http://iiif.io/api/image/3/level2.json>;rel="profile"' in answer.headers["link"]
    old = client.ask("/iiif/2/maps%2Ftiles.jph/info.json").json
    assert old["@context"] == "http://iiif.io/api/image/2/context.json" and old["@id"].endswith("/iiif/2/maps%2Ftiles.jph")
    assert old["profile"][0] == "http://iiif.io/api/image/2/level2.json" and "sizeAboveFull" in old["profile"][1]["supports"]
    assert old["tiles"][0]["width"] == 256 and old["profile"][1]["maxArea"] == 2**25
    assert client.ask("/iiif/3/gray16.jp2/info.json").json["extraQualities"] == ["gray", "bitonal"]


def test_media_types(client):
    linked = 'application/ld+json;profile="http://iiif.io/api/image/{}/context.json"'
    for version in (2, 3):
        path = f"/iiif/{version}/coffee.jp2/info.json"
        answers = {accept: client.ask(path, Accept=accept) for accept in ("application/ld+json", "application/json", "*/*")}
        assert answers["application/ld+json"].headers["content-type"] == linked.format(version)
        assert answers["application/json"].headers["content-type"] == "application/json"
        assert answers["*/*"].headers["content-type"] == "application/json"
        assert 'rel="http://www.w3.org/ns/json-ld#context"' in answers["application/json"].headers["link"]
        assert len({answer.headers["etag"] for answer in answers.values()}) == 2
        assert {answer.headers["vary"] for answer in answers.values()} == {"Accept"}
    assert client.ask("/iiif/3/coffee.jp2/info.json").headers["content-type"] == linked.format(3)
    assert client.ask("/iiif/2/coffee.jp2/info.json").headers["content-type"] == "application/json"


def test_redirects(client):
    for path in ("/iiif/3/coffee.jp2", "/iiif/3/coffee.jp2/"):
        answer = client.ask(path, Host="a.example")
        assert answer.status == 303 and answer.headers["location"] == "http://a.example/iiif/3/coffee.jp2/info.json"
    assert client.ask("/iiif/2/maps%2Ftiles.jph").headers["location"].endswith("/iiif/2/maps%2Ftiles.jph/info.json")
    assert client.ask("/iiif/3/none.jp2").status == 404


@pytest.mark.parametrize("path, status", [
    ("/iiif", 404), ("/iiif/", 404), ("/iiif/3", 404), ("/iiif/3/", 404), ("/iiif/1/coffee.jp2/info.json", 404),
    ("/iiif/3/coffee.jp2/info.xml", 404), ("/iiif/3/coffee.jp2/full/max", 404), ("/iiif/3/coffee.jp2/full/max/0", 404),
    ("/iiif/3/coffee.jp2/full/max/0/default.jpg/", 404), ("/iiif/3/maps/tiles.jph/full/max/0/default.jpg", 404), ("/none", 404),
    ("/page/../app.py", 404), ("/page/%2e%2e/app.py", 404), ("/page/..%2fapp.py", 404), ("/iiif/3/coffee.jp2/x/max/0/default.jpg", 400),
    ("/iiif/3/coffee.jp2/full/x/0/default.jpg", 400), ("/iiif/3/coffee.jp2/full/max/x/default.jpg", 400),
    ("/iiif/3/coffee.jp2/full/max/0/x.jpg", 400), ("/iiif/3/coffee.jp2/full/max/0/default.x", 400),
    ("/iiif/3/coffee.jp2/full/max/0/default.tif", 501), ("/iiif/3/coffee.jp2/full/%5E9000,9000/0/default.jpg", 400),
    ("/iiif/3/damaged.jp2/full/max/0/default.jpg", 200), ("/iiif/3/nothing.jp2/info.json", 500), ("/iiif/3/coffee.jp2/info.json", 200),
])
def test_statuses(client, path, status):
    answer = client.ask(path)
    assert answer.status == status, answer
    assert answer.headers["access-control-allow-origin"] == "*"
    if status >= 400:
        assert answer.body and answer.headers["content-type"].startswith("text/plain")
        assert answer.headers["cache-control"] == "no-store"


def test_methods(client):
    path = "/iiif/3/coffee.jp2/0,0,100,100/max/0/default.jpg"
    got, head = client.ask(path), client.ask(path, "HEAD")
    assert head.status == 200 and head.body == b"" and head.headers["etag"] == got.headers["etag"]
    assert head.headers["content-type"] == "image/jpeg" and int(got.headers["content-length"]) == len(got.body)
    assert client.ask("/iiif/3/coffee.jp2/info.json", "HEAD").status == 200
    assert client.ask("/iiif/3/coffee.jp2/x/max/0/default.jpg", "HEAD").status == 400
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.ask(path, method).status == 405
    before = client.ask(path, "OPTIONS", Origin="http://a.example", Access_Control_Request_Method="GET")
    assert before.status == 204 and before.headers["access-control-allow-origin"] == "*"
    assert "GET" in before.headers["access-control-allow-methods"] and before.headers["access-control-allow-headers"] == "*"


def test_links_and_caches(client):
    path = "/iiif/3/coffee.jp2/square/200,/0/color.jpg"
    answer = client.ask(path, Host="a.example")
    assert ('<http://a.example/iiif/3/coffee.jp2/100,0,400,400/200,200/0/default.jpg>;rel="canonical"' in answer.headers["link"]
            and '<http://iiif.io/api/image/3/level2.json>;rel="profile"' in answer.headers["link"])
    assert answer.headers["cache-control"] == "public, max-age=86400"
    tag, date = answer.headers["etag"], answer.headers["last-modified"]
    for headers, status in (({"If_None_Match": tag}, 304), ({"If_None_Match": f'"x", W/{tag}'}, 304), ({"If_None_Match": "*"}, 304),
                            ({"If_None_Match": '"x"'}, 200), ({"If_Modified_Since": date}, 304),
                            ({"If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200), ({"If_Modified_Since": "yesterday"}, 200),
                            ({"If_Modified_Since": "Mon, 01 Jan 2035 00:00:00 +99999999999999"}, 200),
                            ({"If_None_Match": '"x"', "If_Modified_Since": date}, 200)):
        for method in ("GET", "HEAD"):
            again = client.ask(path, method, **headers)
            assert again.status == status, headers
            assert again.headers["etag"] == tag and again.headers["cache-control"]
            assert status == 200 or again.body == b""
    same = client.ask("/iiif/3/coffee.jp2/100,0,400,400/200,200/0.0/default.jpg")
    assert same.headers["etag"] == tag and same.body == answer.body
    other = client.ask("/iiif/3/coffee.jp2/100,0,400,400/200,201/0/default.jpg")
    assert other.headers["etag"] != tag
    info = client.ask("/iiif/3/coffee.jp2/info.json")
    assert client.ask("/iiif/3/coffee.jp2/info.json", If_None_Match=info.headers["etag"]).status == 304


def test_a_file_that_changes(tmp_path, coffee):
    (tmp_path / "a.jp2").write_bytes(encoded(coffee))
    with serve(create_app(str(tmp_path))) as client:
        first = client.image("a.jp2", "0,0,50,50/max/0/default.png")
        (tmp_path / "new").write_bytes(encoded(255 - coffee[:300, :300]))
        os.replace(tmp_path / "new", tmp_path / "a.jp2")
        second = client.image("a.jp2", "0,0,50,50/max/0/default.png")
        assert np.array_equal(second.pixels, 255 - first.pixels) and first.headers["etag"] != second.headers["etag"]
        assert client.ask("/iiif/3/a.jp2/info.json").json["width"] == 300
        with open(tmp_path / "a.jp2", "r+b") as file:  # cut off while it is open
            file.truncate(30000)
        cut = client.image("a.jp2", "full/max/0/default.png")
        assert cut.status == 200 and cut.pixels.shape == (300, 300, 3) and cut.headers["cache-control"] == "no-cache"
        with open(tmp_path / "a.jp2", "r+b") as file:  # to less than its headers
            file.truncate(150)
        assert client.image("a.jp2", "full/max/0/default.png").status == 500
        (tmp_path / "a.jp2").unlink()
        assert client.image("a.jp2", "full/max/0/default.png").status == 404


def test_a_truncated_file(tmp_path, coffee, caplog):
    data = encoded(coffee)
    (tmp_path / "whole.jp2").write_bytes(data)
    (tmp_path / "cut.jp2").write_bytes(data[:len(data) // 2])
    expected = lift2k.decode(data[:len(data) // 2], incomplete=True)
    with serve(create_app(str(tmp_path))) as client:
        assert client.ask("/iiif/3/cut.jp2/info.json").json["width"] == coffee.shape[1]
        for _ in range(2):
            cut = client.image("cut.jp2", "full/max/0/default.png")
            assert cut.status == 200 and np.array_equal(cut.pixels, expected) and cut.headers["cache-control"] == "no-cache"
        assert sum("cut.jp2" in record.getMessage() for record in caplog.records) == 1
        again = client.ask("/iiif/3/cut.jp2/full/max/0/default.png", If_None_Match=cut.headers["etag"])
        assert again.status == 304 and again.headers["cache-control"] == "no-cache"
        # What came first in the file is as it was.
        path = "full/75,/0/default.png"
        assert np.array_equal(client.image("cut.jp2", path).pixels, client.image("whole.jp2", path).pixels)
        assert client.image("whole.jp2", path).headers["cache-control"] == "public, max-age=86400"


def test_levels_that_split_in_one_direction(tmp_path, coffee):
    """Only levels that split both ways can be discarded."""
    for split, both in (("bh", 1), ("v", 0)):
        (tmp_path / f"{split}.jp2").write_bytes(lift2k.encode(coffee, splits=split))
        (tmp_path / f"{both}.jp2").write_bytes(lift2k.encode(coffee, levels=both))
    with serve(create_app(str(tmp_path))) as client:
        for names in (("bh.jp2", "1.jp2"), ("v.jp2", "0.jp2")):
            for path in ("full/150,/0/default.png", "100,100,400,200/100,/0/default.png"):
                assert np.array_equal(*(client.image(name, path).pixels for name in names))


def test_long_names_are_cut(client):
    long = "x" * 5000
    for path in (f"{long}/info.json", f"coffee.jp2/{long}/max/0/default.jpg", f"coffee.jp2/full/{long}/0/default.jpg",
                 f"coffee.jp2/full/max/{long}/default.jpg", f"coffee.jp2/full/max/0/{long}.jpg", f"coffee.jp2/full/max/0/default.{long}"):
        answer = client.ask(f"/iiif/3/{path}")
        assert answer.status in (400, 404) and b"xxx..." in answer.body and len(answer.body) < 200
    assert len(client.ask(f"/pictures.json?folder={long}").body) < 200


def test_addresses(folder):
    settings = Settings(base_url="https://images.example.org/old%20maps")
    with serve(create_app(str(folder), settings)) as client:
        for prefix in ("", "/old%20maps"):
            answer = client.ask(f"{prefix}/iiif/3/maps%2Ftiles.jph/0,0,9,9/max/0/default.png")
            assert "<https://images.example.org/old%20maps/iiif/3/maps%2Ftiles.jph/0,0,9,9/max/0/default.png>" in answer.headers["link"]
            assert client.ask(f"{prefix}/").status == 200 and client.ask(f"{prefix}/page/viewer.js").status == 200
        assert client.ask("/old%20mapsiiif/3/coffee.jp2/info.json").status == 404
    for proxies, expected in ((["127.0.0.0/8"], "b.example"), (["*"], "b.example"), (["10.0.0.0/8"], "a.example"), ([], "a.example")):
        with serve(ForwardedHost(create_app(str(folder)), proxies)) as client:
            info = client.ask("/iiif/3/coffee.jp2/info.json", Host="a.example", X_Forwarded_Host="b.example, c.example").json
            assert info["id"] == f"http://{expected}/iiif/3/coffee.jp2"
    with serve(create_app(str(folder))) as client:
        assert client.ask("/iiif/3/coffee.jp2/info.json", Host='a"><script>').status == 400


def test_the_page(folder):
    with serve(create_app(str(folder))) as client:
        page = client.ask("/")
        assert page.status == 200 and b"page/page.js" in page.body and "default-src 'self'" in page.headers["content-security-policy"]
        assert client.ask("/page/page.js").status == client.ask("/page/page.css").status == 200
    with serve(create_app(str(folder), Settings(page=False))) as client:
        assert [client.ask(path).status for path in ("/", "/page/page.js", "/pictures.json")] == [404] * 3
        assert client.ask("/iiif/3/coffee.jp2/info.json").status == 200


# ---- Limits, and many requests at once


def test_limits(folder, tmp_path, coffee):
    with serve(create_app(str(folder), Settings(limits=Limits(max_area=60000)))) as client:
        assert client.image("coffee.jp2", "full/max/0/default.png").pixels.shape == (200, 300, 3)
        assert client.image("coffee.jp2", "full/301,201/0/default.png").status == 400
        assert client.image("coffee.jp2", "full/full/0/default.png", version=2).status == 400
        assert client.image("coffee.jp2", "full/max/0/default.png", version=2).pixels.shape == (200, 300, 3)
        info = client.ask("/iiif/3/coffee.jp2/info.json").json
        assert info["maxArea"] == 60000 and info["sizes"][-1] == {"width": 300, "height": 200}
    with serve(create_app(str(folder), Settings(limits=Limits(max_width=100)))) as client:
        tile = client.ask("/iiif/3/maps%2Ftiles.jph/info.json").json["tiles"][0]
        assert tile == {"width": 64, "height": 64, "scaleFactors": [1, 2, 4, 8, 16]}
        assert client.image("maps%2Ftiles.jph", "512,256,88,128/44,64/0/default.png").pixels.shape == (64, 44, 3)
    few = Settings(limits=Limits(max_samples=300000), tile=100)
    (tmp_path / "one.jp2").write_bytes(lift2k.encode(coffee, levels=0))
    (tmp_path / "five.jp2").write_bytes(lift2k.encode(coffee, levels=5))
    with serve(create_app(str(tmp_path), few)) as client:
        assert client.image("one.jp2", "full/60,40/0/default.png").status == 501
        assert client.image("five.jp2", "full/60,40/0/default.png").status == 200
        assert client.ask("/iiif/3/one.jp2/info.json").json["tiles"][0]["scaleFactors"] == [1, 2]
        assert client.ask("/iiif/3/five.jp2/info.json").json["tiles"][0]["scaleFactors"] == [1, 2, 4, 8]
    with serve(create_app(str(folder), Settings(resources=Resources(memory_bytes=1 << 16)))) as client:
        assert client.image("coffee.jp2", "full/max/0/default.png").status == 501


def test_memory_of_large_windows(tmp_path):
    """Without tiles, a decoder has some rows of coefficients; deeper samples are no longer there when Pillow has its own."""
    photo = np.asarray(Image.fromarray(photograph()).resize((3000, 2000)))
    (tmp_path / "a.jp2").write_bytes(lift2k.encode(photo, style="ht"))
    with serve(create_app(str(tmp_path), Settings(resources=Resources(memory_bytes=50 << 20)))) as client:
        assert np.array_equal(client.image("a.jp2", "full/max/0/default.png").pixels, photo)
    (tmp_path / "b.jp2").write_bytes(lift2k.encode(photo.astype(np.uint16) * 257, style="ht"))
    picture = Folder(tmp_path).picture("b.jp2")
    tracemalloc.start()
    try:
        samples = picture.window(0, 0, 3000, 2000, 0).samples
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.array_equal(samples, photo) and kept < 1.1 * photo.nbytes and peak < 3.3 * photo.nbytes


def test_time_is_limited(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (2500, 2500, 3), np.uint8)
    (tmp_path / "a.jp2").write_bytes(lift2k.encode(noise))
    with serve(create_app(str(tmp_path), Settings(resources=Resources(seconds=0.2)))) as client:
        answer = client.image("a.jp2", "full/max/0/default.jpg")
        assert answer.status == 503 and answer.headers["retry-after"] == "1"
        assert np.array_equal(client.image("a.jp2", "9,9,8,8/max/0/default.png").pixels, noise[9:17, 9:17])


class Slow:
    """A picture whose windows wait."""

    identity, modified, colour, icc, model, width, height, x0, y0, dx, dy, levels, tile = (
        (1,), 0.0, "gray", None, "L", 100, 100, 0, 0, 1, 1, 0, (100, 100))

    complete = True

    def __init__(self, *_):
        self.channels = (lift2k.Component(100, 100, 1, 1, 8, False, "colour", 1),)
        self.go, self.at_work, self.most = threading.Event(), 0, 0
        self.lock = threading.Lock()

    def samples(self, x0, y0, x1, y1, reduce):
        return (x1 - x0) * (y1 - y0)

    def window(self, x0, y0, x1, y1, reduce):
        from lift2k.server.pictures import Window
        with self.lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        self.go.wait(20)
        with self.lock:
            self.at_work -= 1
        return Window(np.zeros((y1 - y0, x1 - x0), np.uint8), (x0, y0, x1, y1))


def test_few_are_decoded_at_once_and_few_wait(folder):
    slow = Slow()
    resources = Resources(workers=3)
    app = create_app(Folder(folder, resources, lambda *_: slow), Settings(resources=resources, queue=4))
    with serve(app) as client, ThreadPoolExecutor(20) as pool:
        answers = [pool.submit(client.image, "coffee.jp2", f"{n},0,9,9/max/0/default.png") for n in range(20)]
        while sum(answer.done() for answer in answers) < 13:
            pass
        assert client.ask("/iiif/3/coffee.jp2/info.json").status == 200  # not behind them
        slow.go.set()
        statuses = sorted(answer.result().status for answer in answers)
    assert statuses == [200] * 7 + [503] * 13 and slow.most == 3


def test_clients_that_have_gone_are_not_decoded_for(folder):
    import socket
    slow = Slow()
    resources = Resources(workers=1)
    with serve(create_app(Folder(folder, resources, lambda *_: slow), Settings(resources=resources))) as client:
        first = threading.Thread(target=client.image, args=("coffee.jp2", "0,0,9,9/max/0/default.png"))
        first.start()
        while slow.at_work == 0:
            pass
        windows = []
        slow.window = lambda *_, window=slow.window: (windows.append(1), window(*_))[1]
        for n in range(5):
            with socket.create_connection(("127.0.0.1", client.port)) as gone:
                gone.sendall(f"GET /iiif/3/coffee.jp2/{n},0,9,9/max/0/default.png HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                threading.Event().wait(0.05)
        slow.go.set()
        first.join()
        assert client.image("coffee.jp2", "5,5,9,9/max/0/default.png").status == 200
        assert len(windows) == 1


@pytest.mark.parametrize("cache_bytes", [0, 1 << 20])
def test_many_requests_at_once(folder, coffee, cache_bytes):
    resources = Resources(workers=4, files=2, cache_bytes=cache_bytes)
    kept = Folder(folder, resources)

    def look(seed):
        random, wrong = np.random.default_rng(seed), 0
        for _ in range(25):
            x, y = int(random.integers(0, 590)), int(random.integers(0, 390))
            name = ("coffee.jp2", "maps%2Ftiles.jph", "gray16.jp2")[int(random.integers(3))]
            got = client.image(name, f"{x},{y},64,64/max/0/default.png").pixels
            same = coffee[y:y + 64, x:x + 64]
            wrong += not np.array_equal(got, same[..., 0] if name == "gray16.jp2" else same)
        return wrong

    with serve(create_app(kept, Settings(resources=resources))) as client, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, range(8))) == [0] * 8
        assert len(kept._open) == 2
        assert all(1 <= len(picture._idle) <= 4 for picture in kept._open.values())
        files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    kept.close()
    assert not files or len(os.listdir("/proc/self/fd")) <= files


def test_decoders_of_a_file_share_what_is_known(folder):
    """The second decoder does not read packet headers that the first one has found."""
    picture = Folder(folder).picture("coffee.jp2")
    picture.window(0, 0, 600, 400, 0)
    with picture._decoder(True) as first, picture._decoder(True) as second:
        assert first is not second
        assert second.read_count[1] <= 30


# ---- The command


def test_command(folder):
    program = Path(sysconfig.get_path("scripts")) / "lift2k-server"
    with subprocess.Popen([program, folder, "--port", "0", "--workers", "2"], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as server:
        line = next(line for line in server.stderr if "http://" in line)
        port = int(line.split("http://127.0.0.1:")[1].split()[0])
        from serving import Client
        assert Client(port).image("coffee.jp2", "0,0,10,10/max/0/default.jpg").status == 200
        asked = Client(port).ask("/iiif/3/coffee.jp2/info.json", Host="x", X_Forwarded_Proto="https", X_Forwarded_Host="y").json
        assert asked["id"] == "https://y/iiif/3/coffee.jp2"
        with ThreadPoolExecutor(1) as pool:  # what is at work is finished
            last = pool.submit(Client(port).image, "coffee.jp2", "full/^5000,/0/default.jpg")
            threading.Event().wait(0.2)
            server.send_signal(signal.SIGTERM)
            assert last.result().image.size == (5000, 3333)
        out, err = server.communicate(timeout=20)
        assert server.returncode in (0, -signal.SIGTERM) and "Traceback" not in out + err
        assert "GET /iiif/3/coffee.jp2/info.json" in out


def test_the_guide_names_each_option():
    from lift2k.server.command import parser
    guide = (Path(__file__).parents[2] / "docs/guides/image-server.md").read_text()
    options = {option for action in parser()._actions for option in action.option_strings if option.startswith("--")}
    named = set(re.findall(r"--[a-z][a-z-]*", guide))
    assert options - named == {"--help", "--version"}
    assert named - options == {"--plt", "--ht"}  # of the command lift2k


def test_command_refuses(tmp_path, capsys):
    from lift2k.server.command import main
    assert main([str(tmp_path / "none")]) == 1
    for words in (["--base-url", "ftp://x"], ["--base-url", "x"], ["--proxy", "house"], ["--port", "x"], ["--workers", "0"], []):
        with pytest.raises(SystemExit) as ended:
            main([*([str(tmp_path)] if words else []), *words])
        assert ended.value.code == 2
    assert "error" in capsys.readouterr().err
