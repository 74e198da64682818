"""The validator of the IIIF (PyPI: iiif-validator) against the server, for both versions."""

import random

import lift2k
import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("magic", exc_type=ImportError)  # the validator needs libmagic
validator = pytest.importorskip("iiif_validator.validator")

from lift2k.server import Limits, Settings, create_app  # noqa: E402
from serving import serve  # noqa: E402

NAME = "67352ccc-d1b0-11e1-89ae-279075081939.jp2"
# Tests beyond level 2: all but those of formats that are not written (format_webp calls a function that Python 3 lacks).
BEYOND = ("linkheader_canonical", "linkheader_profile", "region_square", "rot_full_non90", "rot_mirror", "rot_mirror_180",
          "rot_region_non90", "size_up")
TESTS = [(version, name) for version in ("2.0", "3.0")
         for name, facts in validator.TestSuite(validator.ValidationInfo()).list_tests(version).items()
         if facts["level"] <= 2 or name in BEYOND]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The validator's image: squares of 100 x 100 pixels in its colours."""
    folder = tmp_path_factory.mktemp("validator")
    colours = np.array(validator.ValidationInfo().colorInfo, np.uint8)
    image = np.repeat(np.repeat(colours.transpose(1, 0, 2), 100, axis=0), 100, axis=1)
    (folder / NAME).write_bytes(lift2k.encode(image, progression="RPCL", precincts=[(256, 256)], plt=True))
    return folder


def validate(client, version, name):
    random.seed(name)
    result = validator.ImageAPI(NAME, f"127.0.0.1:{client.port}", f"iiif/{version[0]}", version=version, debug=False)
    validator.TestSuite(validator.ValidationInfo()).run_test(name, result)
    failure = result.exception
    assert failure is None, f"{failure.type}: {failure.got}, not {failure.expected}; {failure.message}; {result.urls}"


@pytest.fixture(scope="module")
def client(folder):
    # It expects ^max to be the size of the picture, so no limit may allow enlargement.
    with serve(create_app(str(folder), Settings(limits=Limits(max_area=0)))) as client:
        yield client


@pytest.mark.parametrize("version, name", TESTS)
def test_everything(client, version, name):
    validate(client, version, name)


def test_with_the_limits_of_the_command(folder):
    with serve(create_app(str(folder))) as client:
        for version, name in TESTS:
            if (version, name) != ("3.0", "size_up"):
                validate(client, version, name)


def test_it_finds_faults(folder):
    """With a picture of other colours."""
    (folder / "other").mkdir()
    (folder / "other" / NAME).write_bytes(lift2k.encode(np.zeros((1000, 1000, 3), np.uint8)))
    with serve(create_app(str(folder / "other"))) as client:
        for version in ("2.0", "3.0"):
            for name in ("id_squares", "region_pixels", "size_percent"):
                with pytest.raises((AssertionError, validator.ValidatorError)):
                    validate(client, version, name)


def test_there_are_tests():
    assert len(TESTS) > 70
