"""repeat.py IN.ppm OUT.ppm WIDTH HEIGHT: a picture of 8 bits, side by side and below each other until the size is full."""
import re
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
head, width, height = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data).group(0, 1, 2)
across, down, row = int(sys.argv[3]), int(sys.argv[4]), 3 * int(width)
with open(sys.argv[2], "wb") as out:
    out.write(b"P6\n%d %d\n255\n" % (across, down))
    for y in range(down):
        at = len(head) + y % int(height) * row
        out.write((data[at:at + row] * (3 * across // row + 1))[:3 * across])
