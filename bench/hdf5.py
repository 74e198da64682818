"""The HDF5 filter beside hdf5plugin's (OpenJPH), taking turns, each in a process of its own, on files in memory:

    python bench/hdf5.py PLUGIN_FOLDER [ROUNDS]

Prints milliseconds of processor time for a chunk, medians, and the median ratio of neighbouring rounds.
"""

import os
import statistics
import subprocess
import sys
import time

import h5py
import numpy as np

SHAPES = [("uint16", (64, 64)), ("uint8", (256, 256)), ("uint8", (512, 512, 3)), ("uint16", (512, 512)), ("uint16", (2048, 2048)),
          ("int16", (1 << 20,))]


def picture(dtype, shape):
    bits, random, wave = 8 * np.dtype(dtype).itemsize, np.random.default_rng(1), np.sin(np.arange(shape[0]) / 40)
    for n in shape[1:]:
        wave = wave[..., None] * np.cos(np.arange(n) / 50)
    return (wave * (1 << bits - 2) + random.normal(0, 1 << bits // 3, shape) + (0 if dtype[0] == "i" else 1 << bits - 1)).astype(dtype)


def serve(which):
    """For each line, the number of a shape: what it takes to write and to read a chunk."""
    if which == "theirs":
        import hdf5plugin  # noqa: F401: adds its filter
    for line in sys.stdin:
        a = picture(*SHAPES[int(line)])
        count = max(2, 64_000_000 // a.nbytes)
        places = [slice(i * a.shape[0], (i + 1) * a.shape[0]) for i in range(count)]
        with h5py.File("none", "w", driver="core", backing_store=False, rdcc_nbytes=0) as file:
            file.create_dataset("a", (count * a.shape[0], *a.shape[1:]), a.dtype, chunks=a.shape, compression=32033)
            times = [time.process_time()]
            for place in places:
                file["a"][place] = a  # and closes the dataset, which codes the chunk
            times.append(time.process_time())
            same = [file["a"][place] for place in places]
            times.append(time.process_time())
            assert all((a == b).all() for b in same)
        print(*(1000 * (times[k + 1] - times[k]) / count for k in (0, 1)), flush=True)


def main(folder, rounds):
    sides = [subprocess.Popen([sys.executable, __file__, which], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"HDF5_PLUGIN_PATH": path}) for which, path in (("--ours", folder), ("--theirs", ""))]
    print("| chunk | | lift2k | OpenJPH | ratio |\n|---|---|---|---|---|")
    for number, (dtype, shape) in enumerate(SHAPES):
        pairs = []
        for i in range(rounds + 1):
            both = [[], []]
            for k in ((0, 1), (1, 0))[i % 2]:
                print(number, file=sides[k].stdin, flush=True)
                both[k] = [float(word) for word in sides[k].stdout.readline().split()]
            pairs.append(both)
        for k, work in enumerate(("write", "read")):
            a, b = (statistics.median(pair[side][k] for pair in pairs[1:]) for side in (0, 1))
            ratio = statistics.median(pair[0][k] / pair[1][k] for pair in pairs[1:])
            print(f"| {dtype} {' x '.join(map(str, shape))} | {work} | {a:.2f} | {b:.2f} | **{ratio:.2f}** |", flush=True)


if __name__ == "__main__":
    if sys.argv[1][:2] == "--":
        serve(sys.argv[1][2:])
    else:
        main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9)
