"""The parameters of the image server's URIs, and refusals."""

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("PIL")

from PIL import Image  # noqa: E402

from lift2k.server import Limits  # noqa: E402
from lift2k.server.parameters import Refused, parse, turned_size  # noqa: E402

NO_LIMITS = Limits(max_area=0)


def wanted(text, size=(600, 400), version=3, limits=NO_LIMITS, colour=True):
    return parse(text.split("/"), *size, colour, limits, version)


@pytest.mark.parametrize("text, region", [
    ("full", (0, 0, 600, 400)), ("square", (100, 0, 400, 400)), ("10,20,30,40", (10, 20, 30, 40)),
    ("590,390,100,100", (590, 390, 10, 10)), ("0,0,999999999,999999999", (0, 0, 600, 400)), ("pct:0,0,100,100", (0, 0, 600, 400)),
    ("pct:10,10,10,10", (60, 40, 60, 40)), ("pct:41.6,7.5,40,70", (250, 30, 240, 280)), ("pct:99,99,50,50", (594, 396, 6, 4)),
    ("pct:0,0,0.0001,.0001", (0, 0, 1, 1)), ("pct:33.3,33.3,33.4,33.4", (200, 133, 200, 134)),
])
def test_regions(text, region):
    r = wanted(f"{text}/max/0/default.jpg")
    assert (r.x, r.y, r.width, r.height) == region


@pytest.mark.parametrize("text", [
    "", "fuller", "1,2,3", "1,2,3,4,5", "-1,0,10,10", "0,0,0,10", "0,0,10,0", "600,0,1,1", "0,400,1,1", "1.5,0,2,2", "1e1,0,2,2",
    "pct:0,0,0,1", "pct:100,0,1,1", "pct:1,1,1", "pct:-1,0,1,1", "pct:1e1,0,1,1", "pct:nan,0,1,1", "squares", "FULL",
    "\u0661,0,10,10", "9999999999,0,1,1", "full\n",
])
def test_regions_that_are_not(text):
    with pytest.raises(Refused) as refused:
        wanted(f"{text}/max/0/default.jpg")
    assert refused.value.status == 400


@pytest.mark.parametrize("text, size", [
    ("max", (600, 400)), ("^max", (600, 400)), ("300,", (300, 200)), (",300", (450, 300)), ("pct:50", (300, 200)),
    ("pct:0.01", (1, 1)), ("100,300", (100, 300)), ("!300,300", (300, 200)), ("!600,100", (150, 100)), ("!600,400", (600, 400)),
    ("!900,100", (150, 100)), ("^1200,", (1200, 800)), ("^,800", (1200, 800)), ("^pct:150", (900, 600)), ("^700,100", (700, 100)),
    ("^!1200,1200", (1200, 800)), ("^300,", (300, 200)), ("1,", (1, 1)),
])
def test_sizes(text, size):
    r = wanted(f"full/{text}/0/default.png")
    assert (r.out_width, r.out_height) == size


@pytest.mark.parametrize("text", [
    "", "full", "601,", ",401", "pct:100.1", "601,10", "10,401", "!700,500", "0,", ",0", "0,5", "pct:0", "^pct:0", "!5,", "!,5", ",",
    "!", "^", "^^5,", "!^5,5", "-5,", "5", "5,5,5", "pct:", "pct:1e2", "max ", "1.5,", "9999999999,",
])
def test_sizes_that_are_not(text):
    with pytest.raises(Refused) as refused:
        wanted(f"full/{text}/0/default.png")
    assert refused.value.status == 400


def test_sizes_of_version_2():
    for text, size in (("full", (600, 400)), ("max", (600, 400)), ("1200,", (1200, 800)), ("pct:200", (1200, 800)),
                       ("!1200,1200", (1200, 800)), ("100,300", (100, 300))):
        r = wanted(f"full/{text}/0/default.png", version=2)
        assert (r.out_width, r.out_height) == size
    for text in ("^300,", "^max", "^!5,5"):
        with pytest.raises(Refused):
            wanted(f"full/{text}/0/default.png", version=2)


def test_rotations_qualities_formats():
    for text, mirror, degrees in (("0", False, 0), ("!0", True, 0), ("90", False, 90), ("!180", True, 180), ("22.5", False, 22.5),
                                  ("360", False, 0), ("0.0", False, 0), (".5", False, 0.5)):
        r = wanted(f"full/max/{text}/gray.webp")
        assert (r.mirror, r.degrees) == (mirror, Fraction(degrees))
    for text in ("", "!", "-90", "361", "360.5", "90!", "1e1", "ninety", "!!0", "+90"):
        with pytest.raises(Refused) as refused:
            wanted(f"full/max/{text}/default.jpg")
        assert refused.value.status == 400
    for text, status in (("default.bmp", 400), ("default.", 400), ("default", 400), ("native.jpg", 400), (".jpg", 400),
                         ("grey.jpg", 400), ("default.JPG", 400), ("default.tif", 501), ("default.gif", 501),
                         ("default.jp2", 501), ("default.pdf", 501), ("default.jpg.png", 400)):
        with pytest.raises(Refused) as refused:
            wanted(f"full/max/0/{text}")
        assert refused.value.status == status, text


@pytest.mark.parametrize("version, text, canonical", [
    (3, "full/max/0/default.jpg", "full/max/0/default.jpg"), (3, "0,0,600,400/600,/0.0/color.jpg", "full/max/0/default.jpg"),
    (3, "square/pct:50/!90.0/gray.png", "100,0,400,400/200,200/!90/gray.png"), (3, "full/^1200,/022.50/bitonal.webp",
                                                                                "full/^1200,800/22.5/bitonal.webp"),
    (3, "pct:0,0,50,50/!100,100/360/default.jpg", "0,0,300,200/100,67/0/default.jpg"), (3, "full/^600,/0/color.png",
                                                                                       "full/max/0/default.png"),
    (2, "full/max/0/color.jpg", "full/full/0/default.jpg"), (2, "full/,200/0/default.jpg", "full/300,/0/default.jpg"),
    (2, "full/300,300/0/default.jpg", "full/300,300/0/default.jpg"), (2, "pct:0,0,50,100/!150,150/0/default.jpg",
                                                                     "0,0,300,400/113,150/0/default.jpg"),
])
def test_canonical_uris(version, text, canonical):
    assert wanted(text, version=version).canonical == canonical
    assert wanted(canonical, version=version).canonical == canonical


def test_limits_of_turned_images():
    for text in ("full/^33554432,1/45/default.png", "full/^16383,2000/1/default.webp", "full/^65500,10/.5/default.jpg",
                 "full/^5792,5792/359.5/default.jpg"):
        with pytest.raises(Refused) as refused:
            wanted(text, limits=Limits())
        assert refused.value.status == 400, text
    with pytest.raises(Refused):
        wanted("full/max/45/default.png", limits=Limits(700, 0, 0))  # 709 x 709
    # Right angles keep an image's pixels.
    for text in ("full/max/90/default.png", "full/max/270/default.png", "full/max/!180/default.png"):
        assert wanted(text, limits=Limits(600, 400, 0)).out_width == 600
    # Pillow's image is never larger.
    for size in ((600, 400), (1, 1), (1, 999), (37, 2)):
        for degrees in ("0.5", "1", "45", "89.9", "135", "200.25", "359"):
            turned = Image.new("L", size).rotate(-float(degrees), expand=True).size
            bound = turned_size(*size, Fraction(degrees))
            assert turned[0] <= bound[0] and turned[1] <= bound[1], (size, degrees)


def test_limits_of_sizes():
    for limits, size in ((Limits(300, 0, 0), (300, 200)), (Limits(0, 100, 0), (150, 100)), (Limits(0, 0, 60000), (300, 200)),
                         (Limits(500, 150, 0), (225, 150)), (Limits(150, 0, 0), (150, 100)), (Limits(0, 0, 7), (3, 2))):
        r = wanted("full/max/0/default.jpg", limits=limits)
        assert (r.out_width, r.out_height) == size and limits.allow(*size) and r.canonical.startswith("full/max/")
        with pytest.raises(Refused) as refused:
            wanted("full/599,/0/default.jpg", limits=limits)
        assert refused.value.status == 400
    r = wanted("0,0,100,100/^max/0/default.jpg", limits=Limits(0, 0, 40000))
    assert (r.out_width, r.out_height) == (200, 200)
    for seed in range(200):
        random = np.random.default_rng(seed)
        w, h, area, side = (int(n) for n in random.integers(1, 100000, 4))
        limits = Limits(side, 0, area)
        fitting = limits.fit(w, h, False)
        assert limits.allow(*fitting) and fitting[0] <= w and fitting[1] <= h
    with pytest.raises(Refused):
        wanted("full/^20000,/0/default.webp", size=(10000, 10))
