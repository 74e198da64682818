"""The Python package beside imagecodecs (OpenJPEG, OpenJPH): NumPy to bytes and back, taking turns.

    python bench/python.py PICTURE [THREADS...] [--runs N] > bench/results/python-DATE.md

PICTURE is a PPM or PGM, of 8 bits. Prints medians in milliseconds, and the median ratio of neighbouring runs, of wall and of
processor time. Checks samples both ways where nothing is lost. Needs lift2k, imagecodecs and NumPy.
"""

import argparse
import os
import platform
import re
import statistics
import time

import imagecodecs
import numpy as np

import lift2k


def read_pnm(path):
    with open(path, "rb") as file:
        data = file.read()
    kind, width, height, head = re.match(rb"P([56])\s+(\d+)\s+(\d+)\s+255\s", data).group(1, 2, 3, 0)
    shape = (int(height), int(width)) + ((3,) if kind == b"6" else ())
    return np.frombuffer(data, np.uint8, offset=len(head)).reshape(shape)


def timed(function):
    wall, work = time.perf_counter(), time.process_time()
    function()
    return 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - work)


def compare(name, mine, theirs, runs):
    mine(), theirs()
    pairs = [(timed(mine), timed(theirs)) if i % 2 else (timed(theirs), timed(mine))[::-1] for i in range(runs)]
    wall, work = (statistics.median(a[k] / b[k] for a, b in pairs) for k in (0, 1))
    a, b = (statistics.median(pair[i][0] for pair in pairs) for i in (0, 1))
    print(f"| {name} | {a:.0f} | {b:.0f} | **{wall:.2f}** | {work:.2f} |", flush=True)


def works(a, threads):
    """(name, lift2k, imagecodecs)"""
    mine, theirs = {"threads": threads}, {"numthreads": threads}
    lossless, rate = lift2k.encode(a), lift2k.encode(a, wavelet="9/7", ratio=20)
    decibels = 42
    yield ("MQ 5/3 lossless, encode", lambda: lift2k.encode(a, **mine),
           lambda: imagecodecs.jpeg2k_encode(a, level=0, reversible=True, **theirs))
    yield (f"MQ 9/7 at {decibels} dB, encode", lambda: lift2k.encode(a, wavelet="9/7", psnr=decibels, **mine),
           lambda: imagecodecs.jpeg2k_encode(a, level=decibels, reversible=False, **theirs))
    yield ("MQ 5/3 lossless, decode", lambda: lift2k.decode(lossless, **mine),
           lambda: imagecodecs.jpeg2k_decode(lossless, **theirs))
    yield "MQ 9/7 20:1, decode", lambda: lift2k.decode(rate, **mine), lambda: imagecodecs.jpeg2k_decode(rate, **theirs)
    if threads == 1:  # OpenJPH has one
        high = imagecodecs.htj2k_encode(a, reversible=True)
        yield ("HT 5/3 lossless, encode", lambda: lift2k.encode(a, style="ht", **mine),
               lambda: imagecodecs.htj2k_encode(a, reversible=True))
        yield "HT 5/3 lossless, decode", lambda: lift2k.decode(high, **mine), lambda: imagecodecs.htj2k_decode(high)


def many_small(a, threads):
    tiles = [np.ascontiguousarray(a[y:y + 256, x:x + 256]) for y in range(0, 1024, 256) for x in range(0, 1024, 256)]
    files = lift2k.encode_many(tiles)
    yield ("16 of 256 x 256, lossless, encode", lambda: lift2k.encode_many(tiles, threads=threads),
           lambda: [imagecodecs.jpeg2k_encode(t, level=0, reversible=True, numthreads=threads) for t in tiles])
    yield ("16 of 256 x 256, lossless, decode", lambda: lift2k.decode_many(files, threads=threads),
           lambda: [imagecodecs.jpeg2k_decode(f, numthreads=threads) for f in files])


def check(a):
    data = lift2k.encode(a)
    assert np.array_equal(lift2k.decode(data), a) and np.array_equal(imagecodecs.jpeg2k_decode(data), a)
    theirs = imagecodecs.jpeg2k_encode(a, level=0, reversible=True)
    assert np.array_equal(lift2k.decode(theirs), a)
    assert np.array_equal(lift2k.decode(imagecodecs.htj2k_encode(a, reversible=True)), a)
    print(f"\nlossless: {len(data)} bytes, imagecodecs {len(theirs)}; samples are equal both ways, HT too\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("picture")
    parser.add_argument("threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    a = read_pnm(arguments.picture)
    versions = dict(part.rsplit("-", 1) for part in imagecodecs.version().split(", ") if "-" in part)
    print(f"# lift2k and imagecodecs in Python\n\n- picture: {os.path.basename(arguments.picture)}, {a.shape}, {a.dtype}")
    print(f"- lift2k {lift2k.__version__}, imagecodecs {imagecodecs.__version__} (OpenJPEG {versions['openjpeg']}, "
          f"OpenJPH {versions['openjph']}), NumPy {np.__version__}, Python {platform.python_version()}")
    print(f"- {os.cpu_count()} processors; medians of {arguments.runs} alternating runs; ratios are lift2k over imagecodecs")
    check(a)
    for threads in arguments.threads:
        print(f"| {threads} thread(s) | lift2k, ms | imagecodecs, ms | wall, ratio | processor time, ratio |\n|---|---|---|---|---|")
        for work in (*works(a, threads), *many_small(a, threads)):
            compare(*work, arguments.runs)
        print()


main()
