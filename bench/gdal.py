"""GDAL's driver JP2Lift2k beside JP2OpenJPEG: whole pictures, windows at random places, writing, and files far away.

    GDAL_DRIVER_PATH=BUILD/plugins/gdal python3 bench/gdal.py [--side 10980] [--rounds 7] > bench/results/gdal.md

The picture has 12 bits, slopes and noise, and is coded without loss by JP2OpenJPEG: in tiles of 1024, and without tiles. Each
measurement is a process of its own that reads the file once before; drivers take turns; medians. Far away: a server on the
loopback interface that waits 40 ms before each answer, nothing cached, no look for files beside. Needs GDAL's Python and NumPy.
"""

import argparse
import json
import os
import platform
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from osgeo import gdal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "gdal"))
OURS, THEIRS = "JP2Lift2k", "JP2OpenJPEG"
SIZE = 512


def picture(name, side):
    rng = np.random.default_rng(1)
    ds = gdal.GetDriverByName("GTiff").Create(name, side, side, 1, gdal.GDT_UInt16)
    ds.GetRasterBand(1).SetMetadataItem("NBITS", "12", "IMAGE_STRUCTURE")
    x = np.arange(side)
    for y in range(0, side, 256):
        rows = np.arange(y, min(y + 256, side))[:, None]
        wave = 2000 + 700 * np.sin(x / 93) * np.cos(rows / 71) + 300 * np.sin((x + rows) / 11)
        ds.GetRasterBand(1).WriteArray((wave + rng.normal(0, 30, wave.shape)).clip(0, 4095).astype("u2"), 0, y)


def opened(driver, name):
    return gdal.OpenEx(name, allowed_drivers=[driver])


def read_whole(driver, name):
    ds = opened(driver, name)
    for y in range(0, ds.RasterYSize, 1024): # as gdal_translate does
        ds.ReadRaster(0, y, ds.RasterXSize, min(1024, ds.RasterYSize - y))


def read_windows(driver, name):
    ds, rng = opened(driver, name), random.Random(2)
    for _ in range(20):
        ds.ReadRaster(rng.randrange(ds.RasterXSize - SIZE), rng.randrange(ds.RasterYSize - SIZE), SIZE, SIZE)


def write_whole(driver, name):
    gdal.GetDriverByName(driver).CreateCopy("/vsimem/copy.jp2", gdal.Open(name), options=["REVERSIBLE=YES", "QUALITY=100"])


def read_overview(driver, name):
    ds = opened(driver, name)
    ds.ReadRaster(buf_xsize=-(-ds.RasterXSize // 16), buf_ysize=-(-ds.RasterYSize // 16))


def read_window(driver, name):
    ds = opened(driver, name)
    ds.ReadRaster(ds.RasterXSize // 3, ds.RasterYSize // 3, SIZE, SIZE)


TASKS = {"whole": read_whole, "windows": read_windows, "write": write_whole, "overview": read_overview, "window": read_window}


def child(task, driver, name):
    gdal.SetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR")
    if task in ("whole", "windows"):
        opened(driver, name).ReadRaster(0, 0, 64, 64)
    start, used = time.monotonic(), time.process_time()
    TASKS[task](driver, name)
    most = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(json.dumps([time.monotonic() - start, time.process_time() - used, most]))


def run(task, driver, name, threads):
    result = subprocess.run([sys.executable, __file__, "--child", task, driver, name], check=True, text=True,
                            stdout=subprocess.PIPE, env={**os.environ, "GDAL_NUM_THREADS": str(threads)})
    return json.loads(result.stdout)


def measure(task, name, threads, rounds):
    """Medians of each driver: seconds, processor seconds, MiB; and the median ratio of seconds and of processor seconds."""
    taken = {OURS: [], THEIRS: []}
    for _ in range(rounds):
        for driver in taken:
            taken[driver].append(run(task, driver, name, threads))
    middle = {driver: [statistics.median(column) for column in zip(*rows)] for driver, rows in taken.items()}
    ratios = [statistics.median(one[i] / other[i] for one, other in zip(taken[OURS], taken[THEIRS])) for i in (0, 1)]
    return middle, ratios


def needed_bytes(data, packets):
    """The main header, and of each tile the header with PLT and the first packets."""
    at = data.index(b"\xff\x4f\xff\x51")
    total = data.index(b"\xff\x90\x00\x0a") - at
    at += total
    while data[at : at + 2] == b"\xff\x90":
        end, start, lengths, length = at + struct.unpack(">I", data[at + 6 : at + 10])[0], at, [], 0
        at += 12
        while data[at : at + 2] != b"\xff\x93":
            size = struct.unpack(">H", data[at + 2 : at + 4])[0]
            for byte in data[at + 5 : at + 2 + size] if data[at + 1] == 0x58 else ():
                length = length << 7 | byte & 127
                if byte < 128:
                    lengths, length = [*lengths, length], 0
            at += 2 + size
        total += at + 2 - start + sum(lengths[:packets])
        at = end
    return total


def far(files, side):
    from server import Server
    server = Server({Path(name).name: Path(name).read_bytes() for name in files}, 0.04)
    needed = needed_bytes(server.files[Path(files[-1]).name], 4)
    print(f"\nFar away: an overview of {-(-side // 16)} x {-(-side // 16)} needs {needed / 1e6:.3f} MB.\n")
    print("| | round trips | MB | s |\n|---|---|---|---|")
    for task in ("overview", "window"):
        for name, what in zip(files, ("TLM", "TLM and PLT")):
            for driver in (OURS, THEIRS):
                seconds, rounds = run(task, driver, server.url(Path(name).name), 2)[0], server.rounds()
                print(f"| {task}, {what}, {driver} | {len(rounds)} | {sum(r[1] for r in rounds) / 1e6:.3f} | {seconds:.2f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=10980)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    gdal.UseExceptions()
    if options.child:
        return child(*options.child)
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line), platform.machine())
    print(f"# GDAL's driver beside JP2OpenJPEG\n\n{processor}, GDAL {gdal.__version__}, {time.strftime('%Y-%m-%d')};"
          f" `bench/gdal.py --side {options.side}`. Seconds and, in brackets, MiB of memory; the ratio, and that of processor time.\n")
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{folder}/{name}" for name in ("picture.tif", "untiled.jp2", "tiles.jp2", "plt.jp2")]
        picture(names[0], options.side)
        lossless = ["REVERSIBLE=YES", "QUALITY=100", "RESOLUTIONS=6"]
        for name, more in zip(names[1:], ([f"BLOCKXSIZE={options.side}", f"BLOCKYSIZE={options.side}"], ["TLM=YES"],
                                          ["TLM=YES", "PLT=YES"])):
            gdal.GetDriverByName(THEIRS).CreateCopy(name, gdal.Open(names[0]), options=lossless + more)
        print("| | lift2k | OpenJPEG | ratio |\n|---|---|---|---|")
        for task, name, title in (("whole", names[2], "tiles"), ("whole", names[1], "no tiles"), ("windows", names[2],
                                  "20 windows, tiles"), ("windows", names[1], "20 windows, no tiles"), ("write", names[0], "written")):
            for threads in (1, 2):
                middle, ratios = measure(task, name, threads, options.rounds)
                cells = [f"{middle[d][0]:.2f} ({middle[d][2]:.0f})" for d in (OURS, THEIRS)]
                print(f"| {title}, {threads} thread{'s' * (threads > 1)} | {' | '.join(cells)} | {ratios[0]:.2f}, {ratios[1]:.2f} |", flush=True)
        far(names[2:], options.side)


main()
