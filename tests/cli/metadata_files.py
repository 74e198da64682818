"""Pictures with metadata for metadata.sh: made (PNG; TIFF of both byte orders, BigTIFF; sound and hostile), and what is
in them read back.

    metadata_files.py make            writes the files into the current folder
    metadata_files.py get FILE KIND   prints the xmp, exif, iptc or geo of a PNG or JP2 file, or the xml of a JP2 file,
                                      wherever it is, in hexadecimal
    metadata_files.py tags FILE       prints the tags of a TIFF file, or of a JP2 file's Exif, whatever the byte order
"""

import struct
import sys
import zlib
from pathlib import Path

XMP = "\ufeff<x:xmpmeta xmlns:x='adobe:ns:meta/'><t>T\u00e4sschen</t></x:xmpmeta>".encode()
IPTC = b"\x1c\x02\x00\x00\x02\x00\x02\x1c\x02\x05\x00\x05title"
UUIDS = {"xmp": bytes.fromhex("be7acfcb97a942e89c71999491e3afac"), "exif": b"JpgTiffExif->JP2",
         "iptc": bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38"), "geo": bytes.fromhex("b14bf8bd083d4b43a5ae8cd7d5a6ce03")}
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 9: 4, 10: 8, 12: 8, 13: 4, 16: 8}
CODES = {3: "H", 4: "I", 5: "I", 9: "i", 10: "i", 12: "d", 13: "I", 16: "Q"}
WIDTH, HEIGHT = 16, 12


def text(value: str) -> tuple:
    return 2, value.encode() + b"\0"


class Tiff:
    """Directories of tags: (type, list of numbers or bytes), a Directory, or Raw for lies."""

    def __init__(self, order: str, big: bool) -> None:
        self.order, self.big, self.data = order, big, bytearray()
        self.data += (b"II" if order == "<" else b"MM") + self.pack("H", 43 if big else 42)
        self.data += self.pack("HHQ", 8, 0, 0) if big else self.pack("I", 0)

    def pack(self, code: str, *values: int) -> bytes:
        return struct.pack(self.order + code, *values)

    def append(self, data: bytes) -> int:
        self.data += bytes(len(self.data) % 2)
        at = len(self.data)
        self.data += data
        return at

    def directory(self, tags: dict) -> int:
        wide, table = "Q" if self.big else "I", b""
        for tag, value in sorted(tags.items()):
            if isinstance(value, dict):
                value = (16 if self.big else 4, [self.directory(value)])
            kind, values, *lie = value
            data = bytes(values) if isinstance(values, bytes) else self.pack(f"{len(values)}{CODES[kind]}", *values)
            count = lie[0] if lie else len(data) // SIZES[kind]
            room = 8 if self.big else 4
            if lie[1:]:
                data = self.pack(wide, lie[1])
            elif len(data) > room:
                data = self.pack(wide, self.append(data))
            table += self.pack("HH", tag, kind) + self.pack(wide, count) + data.ljust(room, b"\0")
        return self.append(self.pack("Q" if self.big else "H", len(tags)) + table + self.pack(wide, 0))

    def finish(self, first: int) -> bytes:
        at = 8 if self.big else 4
        self.data[at:at + (8 if self.big else 4)] = self.pack("Q" if self.big else "I", first)
        return bytes(self.data)


EXIF = {33434: (5, [1, 250]), 34855: (3, [200]), 36864: (7, b"0232"), 37380: (10, [-1, 3]), 37386: (5, [50, 1]),
        37500: (7, bytes(range(99))), 40965: {1: text("R98"), 2: (7, b"0100")}}
GPS = {0: (1, b"\2\3\0\0"), 1: text("N"), 2: (5, [48, 1, 6, 1, 0, 1])}
GEO = {33550: (12, [10.5, 10.5, 0]), 33922: (12, [0, 0, 0, 5e5, 53e5, 0]), 34735: (3, [1, 1, 0, 1, 1024, 0, 1, 1]),
       34736: (12, [1 / 3]), 34737: text("a place|"), 42113: (2, b"-9999\0")}
SAID = {270: text("a picture"), 271: text("Cam"), 272: text("M"), 306: text("2024:01:02 03:04:05"), 315: text("A. N. Other")}


def exif(order: str, tags: dict) -> bytes:
    blob = Tiff(order, False)
    return blob.finish(blob.directory(tags))


def tiff(order: str, big: bool, tags: dict) -> bytes:
    file = Tiff(order, big)
    samples = file.append(bytes(x * y % 251 for y in range(HEIGHT) for x in range(WIDTH)))
    shape = {256: (3, [WIDTH]), 257: (3, [HEIGHT]), 258: (3, [8]), 259: (3, [1]), 262: (3, [1]), 273: (4, [samples]),
             277: (3, [1]), 278: (3, [HEIGHT]), 279: (4, [WIDTH * HEIGHT])}
    return file.finish(file.directory(shape | tags))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def xmp_chunk(packet: bytes) -> bytes:
    return chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet)


def png(before: bytes, behind: bytes = b"") -> bytes:
    rows = b"".join(b"\0" + bytes(x * y % 251 for x in range(WIDTH)) for y in range(HEIGHT))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)) + before +
            chunk(b"IDAT", zlib.compress(rows)) + behind + chunk(b"IEND", b""))


def compressed_xmp(packet: bytes, names: bytes = b"\0\0") -> bytes:
    return chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0" + names + zlib.compress(packet))


def raw_profile(name: str, data: bytes, compress: bool = True, length: int | None = None) -> bytes:
    """As ImageMagick writes it."""
    digits = data.hex()
    lines = "\n".join(digits[i:i + 72] for i in range(0, len(digits), 72))
    text = f"\n{name}\n{len(data) if length is None else length:8}\n{lines}\n".encode()
    keyword = f"Raw profile type {name}".encode() + b"\0"
    return chunk(b"zTXt", keyword + b"\0" + zlib.compress(text)) if compress else chunk(b"tEXt", keyword + text)


def resources(iptc: bytes, name: bytes = b"\0\0") -> bytes:
    """Photoshop's resources, of which one is IPTC."""
    return (b"8BIM\x04\x0b\0\0" + struct.pack(">I", 3) + b"url\0" + b"8BIM\x04\x04" + name + struct.pack(">I", len(iptc)) +
            iptc + bytes(len(iptc) % 2))


def png_with_texts(exif_data: bytes) -> dict:
    """Texts as writers have them, and damaged ones."""
    app1 = b"http://ns.adobe.com/xap/1.0/\0" + XMP
    large = b"<" * (17 << 20)
    sound = {
        "flag": compressed_xmp(XMP), "named": compressed_xmp(XMP, b"de\0Verpackung\0"),
        "language": chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0x-default\0\0" + XMP),
        "raw": raw_profile("exif", b"Exif\0\0" + exif_data) + raw_profile("xmp", XMP) + raw_profile("iptc", resources(IPTC)),
        "plain": raw_profile("APP1", b"Exif\0\0" + exif_data, False) + raw_profile("APP1", app1, False) +
        raw_profile("iptc", resources(IPTC, b"\3abc"), False),
        "bare": raw_profile("iptc", IPTC) + raw_profile("exif", exif_data, False) + raw_profile("xmp", XMP, False),
    }
    start = b"XML:com.adobe.xmp\0\1\0\0\0"
    lies = {
        "zlib": chunk(b"iTXt", start + b"no zlib"), "cut": chunk(b"iTXt", start + zlib.compress(XMP)[:-9]),
        "short": chunk(b"iTXt", b"XML:com.adobe.xmp\0\1"), "names": chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0de"),
        "empty": chunk(b"zTXt", b"Raw profile type xmp\0"), "long": raw_profile("xmp", XMP, length=1000),
        "length": raw_profile("xmp", XMP, length=1 << 70),
        "letters": chunk(b"tEXt", b"Raw profile type xmp\0\nxmp\n 4\n3cq2612f3e"), "lines": chunk(b"tEXt", b"Raw profile type exif\0\n"),
        "iptc": raw_profile("iptc", resources(IPTC)[:-4]), "iptc-none": raw_profile("iptc", b"8BIM\4\5\0\0\0\0\0\1a"),
        "iptc-end": raw_profile("iptc", b"8BIM\4\5\xff"), "bomb": compressed_xmp(b"<" * (200 << 20)),
        "bombs": compressed_xmp(b"x" * (100 << 20)) * 9, "too-long": raw_profile("xmp", large), "too-long-zlib": compressed_xmp(large),
        "many": b"".join(raw_profile("xmp", b"x", False) for _ in range(5000)),
    }
    return {f"text-{n}.png": png(d) for n, d in sound.items()} | {f"lie-text-{n}.png": png(d) for n, d in lies.items()}


def make() -> None:
    files = {}
    full = SAID | GEO | {274: (3, [6]), 700: (1, XMP), 33723: (7, IPTC), 34665: EXIF, 34853: GPS}
    for name, order, big in (("little", "<", False), ("large", ">", False), ("little-big", "<", True), ("large-big", ">", True)):
        files[f"{name}.tif"] = tiff(order, big, full)
        files[f"{name}.exif"] = exif(order, SAID | {274: (3, [6]), 34665: EXIF, 34853: GPS})
        files[f"{name}.png"] = png(chunk(b"eXIf", files[f"{name}.exif"]) + xmp_chunk(XMP))
    files["plain.tif"] = tiff("<", False, {})
    files["no-data.tif"] = tiff(">", False, {42113: (2, b"7\0")})
    files["plain.png"] = png(b"".join(chunk(kind, b"") for kind in (b"tEXt", b"zTXt", b"iTXt")))
    files["behind.png"] = png(b"", chunk(b"eXIf", files["little.exif"]) + xmp_chunk(XMP))
    files["jpeg.exif"] = b"Exif\0\0" + files["large.exif"]
    files["packet.xmp"] = XMP.replace(b"T\xc3\xa4", b"other")
    # Hostile ones: lies about places and sizes; directories inside themselves.
    lies = {"beyond": {34665: (4, [1 << 30])}, "itself": {34665: (4, [8 + WIDTH * HEIGHT])}, "zero": {34665: (4, [0])},
            "geo": {34735: (3, b"", (1 << 31) - 1, 8)}, "geo-kind": {33550: (3, [1]), 34735: (12, [1.0])},
            "many": {34665: {37500: (7, b"", (1 << 32) - 1, 8)}}, "far": {34665: {37500: (7, b"", 100, (1 << 32) - 9)}},
            "nested": {34665: {40965: {34665: {34853: {34665: EXIF}}}}}, "kind": {34665: (2, b"abc\0")},
            "much": {34665: {tag: (7, b"", 1 << 24, 0) for tag in range(50000, 50040)}}}
    for name, tags in lies.items():
        files[f"lie-{name}.tif"] = tiff("<", False, tags)
        files[f"lie-{name}.exif"] = exif(">", tags)
        files[f"lie-{name}.png"] = png(chunk(b"eXIf", files[f"lie-{name}.exif"]))
    files["cut.tif"] = tiff(">", False, {700: (1, b"", (1 << 32) - 1, 8), 33723: (7, b"", 9, (1 << 32) - 1)})
    files["lie-kind.png"] = png(chunk(b"eXIf", b"junk") + xmp_chunk(b"\0\1\2") + chunk(b"iTXt", b"XML:com.adobe.xmp\0"))
    files["lie-large.png"] = png(xmp_chunk(b"<" * (17 << 20)))
    files["lie-larger.png"] = png(xmp_chunk(b"<" * (49 << 20)))
    files |= png_with_texts(files["little.exif"])
    for name, data in files.items():
        Path(name).write_bytes(data)


def pieces(data: bytes) -> dict:
    """The metadata of a PNG or JP2 file; another file is what it holds."""
    if data[:4] != b"\x89PNG" and data[4:8] != b"jP  ":
        return {"xmp": data, "exif": data}
    found, at = {}, 8 if data[:4] == b"\x89PNG" else 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if data[:4] == b"\x89PNG":
            body = data[at + 8:at + 8 + size]
            if kind == b"eXIf":
                found["exif"] = body
            elif kind == b"iTXt" and body[:22] == b"XML:com.adobe.xmp\0\0\0\0\0":
                found["xmp"] = body[22:]
            at += size + 12
        else:
            size = size or len(data) - at
            if kind == b"xml ":
                found["xml"] = data[at + 8:at + size].rstrip(b"\0")
            if kind == b"asoc":  # what is in it comes next
                size = 8
            for name, uuid in UUIDS.items():
                if kind == b"uuid" and data[at + 8:at + 24] == uuid:
                    found[name] = data[at + 24:at + size]
            at += size
    return found


def tags(data: bytes) -> None:
    data = pieces(data)["exif"]
    order, big = "<" if data[:2] == b"II" else ">", data[2:4] in (b"\x2b\0", b"\0\x2b")

    def get(code: str, at: int, count: int = 1) -> tuple:
        return struct.unpack_from(f"{order}{count}{code}", data, at)

    def show(at: int, path: str) -> None:
        count, = get("Q" if big else "H", at)
        for i in range(count):
            entry = at + (8 + 20 * i if big else 2 + 12 * i)
            tag, kind = get("H", entry, 2)
            n, = get("Q" if big else "I", entry + 4)
            value = entry + (12 if big else 8)
            if n * SIZES[kind] > (8 if big else 4):
                value, = get("Q" if big else "I", value)
            if tag in (34665, 34853, 40965):
                show(get(CODES[kind], value)[0], f"{path}{tag}/")
            elif path or tag in SAID or tag in (274, 700, 33723) or tag in GEO:
                raw = kind in (1, 2, 7)
                numbers = list(data[value:value + n]) if raw else list(get(CODES[kind], value, n * SIZES[kind] // struct.calcsize(CODES[kind])))
                print(f"{path}{tag}", 7 if tag in (700, 33723) else kind, numbers)

    show(get("Q", 8)[0] if big else get("I", 4)[0], "")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make()
    elif sys.argv[1] == "get":
        print(pieces(Path(sys.argv[2]).read_bytes()).get(sys.argv[3], b"").hex())
    else:
        tags(Path(sys.argv[2]).read_bytes())
