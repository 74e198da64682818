"""pydicom's plugins, and HTJ2K by compress_htj2k(), compared with pylibjpeg-openjpeg through pydicom."""

import io

import numpy as np
import pytest
from conftest import picture

import lift2k

pytestmark = pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
pydicom = pytest.importorskip("pydicom")
from pydicom import uid  # noqa: E402
from pydicom.dataset import Dataset, FileMetaDataset  # noqa: E402
from pydicom.encaps import encapsulate, generate_frames  # noqa: E402
from pydicom.pixels import get_decoder, get_encoder, pixel_array  # noqa: E402

import lift2k.pydicom as plugin  # noqa: E402

CASES = [("MONOCHROME2", bits, signed, frames) for bits in (8, 10, 12, 16) for signed in (0, 1) for frames in (1, 3)] + [
    ("RGB", 8, 0, 1), ("RGB", 8, 0, 2), ("RGB", 16, 0, 1), ("YBR_FULL", 8, 0, 1)]


def dataset(random, photometric="MONOCHROME2", bits=16, signed=0, frames=1, size=(65, 90), planar=0):
    samples = 1 if photometric.startswith("MONO") else 3
    dtype = np.dtype(f"{'i' if signed else 'u'}{1 if bits <= 8 else 2}")
    a = np.stack([picture(random, (*size, samples) if samples > 1 else size, dtype, bits) for _ in range(frames)])
    ds = Dataset()
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
    ds.SOPClassUID, ds.SOPInstanceUID = uid.MultiFrameGrayscaleWordSecondaryCaptureImageStorage, uid.generate_uid()
    ds.Rows, ds.Columns = size
    ds.SamplesPerPixel, ds.PhotometricInterpretation = samples, photometric
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 8 * dtype.itemsize, bits, bits - 1, signed
    if frames > 1:
        ds.NumberOfFrames = frames
    if samples > 1:
        ds.PlanarConfiguration = planar
    ds.PixelData = (np.moveaxis(a, 3, 1) if planar else a).tobytes()
    return ds, a if frames > 1 else a[0]


def reopened(ds):
    memory = io.BytesIO()
    pydicom.dcmwrite(memory, ds, enforce_file_format=True)
    memory.seek(0)
    return pydicom.dcmread(memory)


def decoded(ds, plugin_name="lift2k"):
    return pixel_array(ds, decoding_plugin=plugin_name, raw=True)


def test_registered():
    plugin.register()  # twice does no harm
    for syntax in plugin.DECODED:
        assert "lift2k" in get_decoder(syntax).available_plugins
    for syntax in plugin.ENCODED:
        assert "lift2k" in get_encoder(syntax).available_plugins


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lossless(random, case):
    ds, a = dataset(random, *case)
    if case[0] == "RGB":
        ds.PhotometricInterpretation = "YBR_RCT"
    ds.compress(uid.JPEG2000Lossless, encoding_plugin="lift2k", generate_instance_uid=False)
    ds = reopened(ds)
    assert np.array_equal(decoded(ds), a) and decoded(ds).dtype == a.dtype
    header = lift2k.open(next(generate_frames(ds.PixelData, number_of_frames=case[3]))).header
    assert header.components[0].precision == case[1] and header.components[0].is_signed == bool(case[2])
    assert header.component_transform == (case[0] == "RGB") and header.wavelet == "5/3" and header.format == "codestream"
    pytest.importorskip("pylibjpeg")
    assert np.array_equal(decoded(ds, "pylibjpeg"), a)
    theirs, _ = dataset(random, *case)
    theirs.PixelData = a.tobytes()
    theirs.compress(uid.JPEG2000Lossless, encoding_plugin="pylibjpeg", generate_instance_uid=False)
    assert np.array_equal(decoded(reopened(theirs)), a)


def test_rgb_without_component_transform(random):
    for planar in (0, 1):
        ds, a = dataset(random, "RGB", 8, planar=planar)
        ds.compress(uid.JPEG2000Lossless, encoding_plugin="lift2k")
        assert np.array_equal(decoded(reopened(ds)), a)
        assert not lift2k.open(next(generate_frames(ds.PixelData, number_of_frames=1))).header.component_transform


def test_lossy(random):
    ds, a = dataset(random, "RGB", 8)
    ds.PhotometricInterpretation = "YBR_ICT"
    ds.compress(uid.JPEG2000, encoding_plugin="lift2k", j2k_cr=[40, 10])
    b = decoded(reopened(ds))
    assert b.shape == a.shape and len(ds.PixelData) < a.nbytes / 9 and 0 < np.abs(b.astype(int) - a).mean() < 60
    pytest.importorskip("pylibjpeg")
    assert np.array_equal(b, decoded(reopened(ds), "pylibjpeg"))
    header = lift2k.open(next(generate_frames(ds.PixelData, number_of_frames=1))).header
    assert header.num_layers == 2 and header.component_transform and header.wavelet == "9/7"
    ds, a = dataset(random, bits=12)
    ds.compress(uid.JPEG2000, encoding_plugin="lift2k", j2k_psnr=[50])
    error = np.mean((decoded(reopened(ds)).astype(float) - a) ** 2)
    assert abs(10 * np.log10(4095**2 / error) - 50) < 2
    for syntax, options in ((uid.JPEG2000, {}), (uid.JPEG2000Lossless, {"j2k_cr": [5]})):
        ds, a = dataset(random)
        with pytest.raises(RuntimeError, match="j2k_cr"):
            get_encoder(syntax).encode(ds, encoding_plugin="lift2k", **options)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("syntax", [uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL, uid.HTJ2K])
def test_htj2k(random, case, syntax):
    ds, a = dataset(random, *case)
    plugin.compress_htj2k(ds, syntax, extended=case[3] > 1)
    ds = reopened(ds)
    assert ds.file_meta.TransferSyntaxUID == syntax and np.array_equal(decoded(ds), a)
    assert ds.PhotometricInterpretation == ("YBR_RCT" if case[0] == "RGB" else case[0])
    pytest.importorskip("pylibjpeg")
    assert np.array_equal(decoded(ds, "pylibjpeg"), a)


def test_rpcl_constraints(random):
    for size in ((40, 50), (65, 4100), (300, 5000), (2600, 2500)):
        ds, a = dataset(random, bits=8, size=size)
        plugin.compress_htj2k(ds)
        data = next(generate_frames(ds.PixelData, number_of_frames=1))
        header = lift2k.open(data).header
        assert header.progression == "RPCL" and header.ht and header.ht_blocks == 0
        assert min(size) / 2**header.levels <= 64
        assert b"\xff\x55" in data[:data.index(b"\xff\x90")]  # TLM in the main header
        assert np.array_equal(decoded(ds), a)
    for options in ({"progression": "LRCP"}, {"tlm": False}, {"style": 0}, {"wavelet": "9/7"}, {"ratio": 5}):
        with pytest.raises(ValueError):
            plugin.compress_htj2k(ds, **options)


def test_lossy_htj2k(random):
    ds, a = dataset(random, "RGB", 8, frames=2)
    plugin.compress_htj2k(ds, uid.HTJ2K, wavelet="9/7", ratio=8)
    ds = reopened(ds)
    assert ds.PhotometricInterpretation == "YBR_ICT" and ds.LossyImageCompression == "01"
    assert ds.LossyImageCompressionMethod == "ISO_15444_15" and 7 < float(ds.LossyImageCompressionRatio) < 10
    assert 0 < np.abs(decoded(ds).astype(int) - a).mean() < 60


@pytest.mark.parametrize("case", CASES[::3], ids=str)
@pytest.mark.parametrize("syntax", [uid.HTJ2KLossless, uid.HTJ2KLosslessRPCL, uid.HTJ2K])
def test_transcode(random, case, syntax):
    ds, a = dataset(random, *case)
    if case[0] == "RGB":
        ds.PhotometricInterpretation = "YBR_RCT"
    ds.compress(uid.JPEG2000Lossless, encoding_plugin="lift2k", generate_instance_uid=False)
    before = list(generate_frames(ds.PixelData, number_of_frames=case[3]))
    plugin.transcode(ds, syntax, extended=case[3] > 1)
    ds = reopened(ds)
    assert ds.file_meta.TransferSyntaxUID == syntax and np.array_equal(decoded(ds), a)
    assert ("ExtendedOffsetTable" in ds) == (case[3] > 1)
    if pytest.importorskip("pylibjpeg"):
        assert np.array_equal(decoded(ds, "pylibjpeg"), a)
    plugin.transcode(ds, uid.JPEG2000Lossless, extended=False, progression="LRCP", tlm=False)
    assert "ExtendedOffsetTable" not in ds and np.array_equal(decoded(reopened(ds)), a)
    assert list(generate_frames(ds.PixelData, number_of_frames=case[3])) == before  # to the byte


def test_transcode_refuses(random):
    ds, _ = dataset(random, "RGB", 8)
    with pytest.raises(ValueError, match="only between"):
        plugin.transcode(ds)
    ds.PhotometricInterpretation = "YBR_ICT"
    ds.compress(uid.JPEG2000, encoding_plugin="lift2k", j2k_cr=[10])
    same = decoded(ds)
    with pytest.raises(ValueError, match="loss"):
        plugin.transcode(ds)
    plugin.transcode(ds, uid.HTJ2K)
    assert np.array_equal(decoded(reopened(ds)), same)
    ds, _ = dataset(random, bits=8, size=(300, 300))
    plugin.compress_htj2k(ds, uid.HTJ2KLossless, levels=1)
    with pytest.raises(ValueError, match="levels"):
        plugin.transcode(ds)


def test_bad_frames_raise(random):
    ds, _ = dataset(random)
    ds.compress(uid.JPEG2000Lossless, encoding_plugin="lift2k")
    good = ds.PixelData
    frame = next(generate_frames(good, number_of_frames=1))
    for bad, words in ((frame[:len(frame) // 2], "ends in the middle"), (frame[:30], "lift2k: "), (b"junk", "lift2k: ")):
        ds.PixelData = encapsulate([bad])
        with pytest.raises(RuntimeError, match=words):
            decoded(ds)
    ds.PixelData, ds.Rows = good, 64
    with pytest.raises(RuntimeError, match="rows, columns"):
        decoded(ds)
