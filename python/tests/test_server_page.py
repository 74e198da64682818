"""The server's page in a headless Chromium: the folder, a picture, zoom to full resolution, pan; the screen's pixels against
the decoded window."""

import lift2k
import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from chromium import PROGRAM, Chromium  # noqa: E402
from lift2k.server import create_app  # noqa: E402
from serving import photograph, serve  # noqa: E402

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium to try the image server's page in")

WIDTH, HEIGHT = 900, 700
COMPLETE = "document.getElementById('view')?.dataset.state === 'complete'"


@pytest.fixture(scope="module")
def image():
    """The photograph 3 x 3 times, alternately mirrored, with a pattern that differs everywhere."""
    coffee = photograph()
    rows = np.hstack([coffee, coffee[:, ::-1], coffee])
    image = np.vstack([rows, rows[::-1], rows])
    image[..., 2] ^= (np.arange(image.shape[0])[:, None] // 7 + np.arange(image.shape[1]) // 11).astype(np.uint8) & 31
    return image


@pytest.fixture(scope="module")
def page(tmp_path_factory, image):
    folder = tmp_path_factory.mktemp("page")
    (folder / "sub & more").mkdir()
    data = lift2k.encode(image, progression="RPCL", precincts=[(128, 128)], plt=True)
    (folder / "sub & more" / "big #1.jp2").write_bytes(data)
    (folder / "small.jp2").write_bytes(lift2k.encode(image[:90, :120]))
    with serve(create_app(str(folder))) as client, Chromium(WIDTH, HEIGHT) as browser:
        browser.address, browser.data, browser.folder = f"http://127.0.0.1:{client.port}/", data, folder
        yield browser


def go(page, fields):
    page.send("Page.navigate", url="about:blank")  # so that the next one is a new document
    page.send("Page.navigate", url=page.address + fields)


def canvas(page):
    """The screen's part with the picture, and its position."""
    box = page.value("(({x, y, width, height}) => [x, y, width, height])(document.getElementById('view').getBoundingClientRect())")
    x, y, w, h = (int(n) for n in box)
    return page.screenshot()[y:y + h, x:x + w], (x, y, w, h)


def place(page):
    """The middle and the zoom in the address, once it has them."""
    page.value("new Promise((done) => setTimeout(done, 350))")
    return [float(n) for n in page.value("['x', 'y', 'zoom'].map((k) => new URLSearchParams(location.hash.slice(1)).get(k))")]


def same_pixels(page, image, exact):
    """The screen shows the window of the picture in the address, at full resolution."""
    x, y, zoom = place(page)
    shown, (_, _, w, h) = canvas(page)
    assert zoom == 1
    left, top = round(x - w / 2), round(y - h / 2)
    window = lift2k.decode(page.data, region=(left, top, left + w, top + h))
    assert window.shape == shown.shape == (h, w, 3)
    if exact:
        assert np.array_equal(shown, window)
    else:  # JPEG
        difference = np.abs(shown.astype(int) - window)
        assert difference.mean() < 5
        assert difference.mean() < np.abs(shown.astype(int) - np.roll(window, 2, axis=1)).mean() / 1.5
    return left, top


def test_from_the_folder_to_every_pixel(page, image):
    go(page, "")
    page.wait("document.querySelectorAll('#pictures li').length === 2")
    page.wait("[...document.querySelectorAll('#pictures img')].every((i) => i.complete && i.naturalWidth > 0)")
    assert page.value("document.querySelector('#pictures a span').textContent") == "sub & more"
    page.value("document.querySelector('#pictures a').click()")
    page.wait("document.querySelector('#pictures li a span')?.textContent === 'big #1.jp2'")
    page.value("document.querySelector('#pictures a').click()")
    page.wait(COMPLETE)
    assert page.value("document.title") == "big #1.jp2"
    assert place(page)[:2] == pytest.approx([image.shape[1] / 2, image.shape[0] / 2], abs=2)  # a pixel of the screen

    # The whole picture is there, scaled.
    shown, (_, _, w, h) = canvas(page)
    zoom = min(w / image.shape[1], h / image.shape[0])
    rows = np.abs(shown.astype(int).sum(axis=2) - shown[0, 0].astype(int).sum()).max(axis=1) > 30
    assert abs(rows.sum() - zoom * image.shape[0]) <= 3
    inner = shown[rows][2:-2, 2:-2].reshape(-1, 3).mean(axis=0)
    assert np.abs(inner - image.reshape(-1, 3).mean(axis=0)).max() < 6

    # Full resolution, in JPEG and exactly.
    page.value("document.getElementById('one').click()")
    page.wait(COMPLETE)
    same_pixels(page, image, exact=False)
    page.value("document.getElementById('exact').click()")
    page.wait(COMPLETE)
    left, top = same_pixels(page, image, exact=True)

    # Pan: what lies 200 to the right and 90 below comes to the same place.
    _, (x, y, w, h) = canvas(page)
    page.mouse("mousePressed", x + 500, y + 400, button="left", clickCount=1)
    for n in range(1, 11):
        page.mouse("mouseMoved", x + 500 - 20 * n, y + 400 - 9 * n, button="left", buttons=1)
    page.mouse("mouseReleased", x + 300, y + 310, button="left", clickCount=1)
    page.wait(COMPLETE)
    assert same_pixels(page, image, exact=True) == (left + 200, top + 90)
    assert page.said == []


def test_wheel_keys_and_double_click(page, image):
    go(page, "#picture=sub+%26+more/big+%231.jp2&exact=1")
    page.wait(COMPLETE)
    _, (x, y, w, h) = canvas(page)
    middle_x, middle_y, zoom = place(page)
    point = [middle_x + (200 - w / 2) / zoom, middle_y + (150 - h / 2) / zoom]  # under the pointer
    page.mouse("mouseWheel", x + 200, y + 150, deltaX=0, deltaY=-240)
    page.wait(COMPLETE)
    after_x, after_y, after = place(page)
    assert after == pytest.approx(2 * zoom, rel=1e-4)
    inside = [after_x + (200 - w / 2) / after, after_y + (150 - h / 2) / after]
    assert np.abs(np.subtract(point, inside))[0] <= 2 / zoom
    page.mouse("mousePressed", x + 200, y + 150, button="left", clickCount=1)
    page.mouse("mouseReleased", x + 200, y + 150, button="left", clickCount=1)
    page.mouse("mousePressed", x + 200, y + 150, button="left", clickCount=2)
    page.mouse("mouseReleased", x + 200, y + 150, button="left", clickCount=2)
    page.wait(COMPLETE)
    assert place(page)[2] == pytest.approx(4 * zoom, rel=1e-4)
    page.key("1")
    page.wait(COMPLETE)
    left, top = same_pixels(page, image, exact=True)
    page.key("ArrowRight")
    page.wait(COMPLETE)
    assert same_pixels(page, image, exact=True)[0] > left
    page.key("0")
    page.wait(COMPLETE)
    assert place(page) == pytest.approx([image.shape[1] / 2, image.shape[0] / 2, zoom], abs=2)
    assert page.said == []


def test_two_fingers(page, image):
    go(page, "#picture=sub+%26+more/big+%231.jp2&exact=1")
    page.wait(COMPLETE)
    zoom = place(page)[2]
    _, (x, y, w, h) = canvas(page)
    touch = lambda kind, *points: page.send("Input.dispatchTouchEvent", type=kind, touchPoints=[  # noqa: E731
        {"x": x + px, "y": y + py, "id": n} for n, (px, py) in enumerate(points)])
    touch("touchStart", (400, 300))
    touch("touchStart", (400, 300), (500, 300))
    for n in range(1, 11):
        touch("touchMove", (400 - 10 * n, 300), (500 + 10 * n, 300))
    touch("touchEnd")
    page.wait(COMPLETE)
    assert place(page)[2] == pytest.approx(3 * zoom, rel=0.02)


def test_an_address_leads_to_the_same_place(page, image):
    go(page, "#picture=sub+%26+more/big+%231.jp2&x=1000.5&y=601&zoom=1&exact=1")
    page.wait(COMPLETE)
    _, (_, _, w, h) = canvas(page)
    left, top = same_pixels(page, image, exact=True)
    assert abs(left - (1000.5 - w / 2)) <= 1 and abs(top - (601 - h / 2)) <= 1
    go(page, "#picture=small.jp2&exact=1")  # smaller than the screen: it is not enlarged
    page.wait(COMPLETE)
    shown, (_, _, w, h) = canvas(page)
    left, top = (w - 120) // 2, (h - 90) // 2
    found = [(dx, dy) for dx in (0, 1) for dy in (0, 1)
             if np.array_equal(shown[top + dy:top + dy + 90, left + dx:left + dx + 120], image[:90, :120])]
    assert found


def test_bad_files_have_a_note(page, image):
    """In the folder, and in the viewer, when its file becomes bad."""
    (page.folder / "bad").mkdir()
    (page.folder / "bad" / "junk.jp2").write_bytes(b"no picture" * 99)
    file = page.folder / "bad" / "good.jp2"
    file.write_bytes(page.data)
    go(page, "#folder=bad")
    page.wait("document.querySelector('#pictures .bad')?.textContent.startsWith('the picture cannot be decoded')")
    page.wait("[...document.querySelectorAll('#pictures img')].every((i) => i.complete && i.naturalWidth > 0)")
    assert page.value("[...document.querySelectorAll('#pictures li')].map((i) => i.querySelector('img') !== null)") == [True, False]
    go(page, "#picture=bad/good.jp2")
    page.wait(COMPLETE)
    assert page.value("document.getElementById('message').hidden")
    file.write_bytes(b"no picture" * 99)
    page.value("document.getElementById('one').click()")
    page.wait("document.getElementById('message').textContent.startsWith('the picture cannot be decoded')")
    above = ("(({x, y, width, height}) => document.elementFromPoint(x + width / 2, y + height / 2).id)"
             "(document.getElementById('message').getBoundingClientRect())")
    assert page.value(above) == "message"
    page.said.clear()


def test_what_is_not_there(page):
    for fields in ("#picture=none.jp2", "#folder=none"):
        go(page, fields)
        page.wait("document.getElementById('message')?.hidden === false")
        assert "none" in page.value("document.getElementById('message').textContent")
    page.said.clear()
