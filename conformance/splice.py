#!/usr/bin/env python3
"""splice.py FILE OTHER OUT SEED: reproducible damage to the data of FILE, most of which leaves its headers alone: cut; bits
flipped; bytes that end HT segments (lengths of MEL and VLC) changed; a run of OTHER's data put in its place or between;
two runs exchanged."""
import random
import sys


def splice(file, other, seed):
    r = random.Random(seed)
    b = bytearray(file)
    start = file.find(b"\xff\x93") + 2 if r.randrange(8) else 2
    size = len(b) - start
    if size < 16:
        return bytes(b[: r.randrange(1, len(b))])
    kind = seed % 5
    at = start + r.randrange(size)
    run = 1 + r.randrange(min(size, 4000))
    if kind == 0:
        return bytes(b[:at])
    if kind == 1:
        for _ in range(1 << r.randrange(7)):
            b[start + r.randrange(size)] ^= 1 << r.randrange(8)
    elif kind == 2:  # small bytes before a new segment: extreme lengths
        for _ in range(1 + r.randrange(8)):
            i = start + r.randrange(size - 1)
            b[i : i + 2] = r.choice([b"\x00\x00", b"\xff\xff", b"\x0f\xff", b"\x02\x00", bytes([r.randrange(256), r.randrange(16)])])
    elif kind == 3:
        source = other[max(0, len(other) - 1 - r.randrange(len(other))) :][:run]
        b[at : at + (len(source) if r.randrange(2) else 0)] = source
    else:
        to = start + r.randrange(size)
        one, two = bytes(b[at : at + run]), bytes(b[to : to + run])
        b[at : at + len(two)] = two
        b[to : to + len(one)] = one
    return bytes(b)


if __name__ == "__main__":
    contents = [open(path, "rb").read() for path in sys.argv[1:3]]
    open(sys.argv[3], "wb").write(splice(*contents, int(sys.argv[4])))
