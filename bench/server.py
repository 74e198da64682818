"""The image server under load, with lift2k and with OpenJPEG (through glymur) behind the same application, taking turns.

    python bench/server.py FILE.jp2 [--clients 8] [--rounds 5] [--requests 200] > bench/results/server.md

Clients ask for tiles of 256 x 256 pixels as JPEG on the loopback interface, each over a connection that stays open, at random
places of all resolutions. Prints requests a second and the median and 99th percentile of their time, each the median of the
rounds; the ratio is that of neighbouring rounds. Checks that both send the same first tile of each scale. Needs lift2k[server],
glymur and OpenJPEG.
"""

import argparse
import http.client
import io
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = 256


def serve(kind, folder):
    import uvicorn

    from lift2k.server import Folder, Resources, Settings, create_app
    from lift2k.server.pictures import Picture, Window
    resources = Resources()

    class WithOpenJpeg(Picture):
        """Windows by libopenjp2, from an object of each thread."""

        def __init__(self, path, facts, resources):
            super().__init__(path, facts, resources)
            self.path, self.threads = path, threading.local()

        def window(self, x0, y0, x1, y1, reduce):
            if not hasattr(self.threads, "file"):
                import glymur
                glymur.set_option("lib.num_threads", 1)
                self.threads.file = glymur.Jp2k(self.path)
            step = 1 << reduce
            return Window(self.threads.file[y0:y1:step, x0:x1:step], (x0, y0, x1, y1))

    kept = Folder(folder, resources, WithOpenJpeg if kind == "OpenJPEG" else Picture)
    uvicorn.run(create_app(kept, Settings(resources=resources)), port=0, log_level="info", access_log=False)


class Server:
    def __init__(self, kind, folder):
        self.kind = kind
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", kind, folder], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127.0.0.1:(\d+)", line):
                self.port = int(found[1])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def used(self):
        """Seconds of processor time, and the most MiB in memory."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(peak) / 1024


def tile(name, width, height, scale, column, row, form="jpg"):
    x, y = column * SIZE * scale, row * SIZE * scale
    w, h = min(SIZE * scale, width - x), min(SIZE * scale, height - y)
    return f"/iiif/3/{name}/{x},{y},{w},{h}/{-(-w // scale)},{-(-h // scale)}/0/default.{form}"


def at_random(rng, count, name, width, height, scales):
    for _ in range(count):
        scale = rng.choice(scales)
        yield tile(name, width, height, scale, rng.randrange(-(-width // (SIZE * scale))), rng.randrange(-(-height // (SIZE * scale))))


def load(server, ways):
    """Each client asks for its list; the seconds of each request."""
    def client(paths):
        connection, times = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60), []
        for path in paths:
            start = time.perf_counter()
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.read() and answer.status == 200, (path, answer.status)
            times.append(time.perf_counter() - start)
        connection.close()
        return times

    start = time.perf_counter()
    with ThreadPoolExecutor(len(ways)) as pool:
        times = sorted(t for part in pool.map(client, ways) for t in part)
    seconds = time.perf_counter() - start
    return {"rate": len(times) / seconds, "median": 1000 * statistics.median(times), "p99": 1000 * times[int(0.99 * len(times))]}


def pixels(server, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path)
    data = connection.getresponse().read()
    connection.close()
    return np.asarray(Image.open(io.BytesIO(data)))


def measure(servers, arguments, facts):
    print(f"\n| random tiles | requests/s | median, ms | 99th percentile, ms | requests/s, ratio | 99th percentile, ratio | "
          "processor, ms a request |\n|---|---|---|---|---|---|---|", flush=True)
    rounds = {server.kind: [] for server in servers}
    work = dict.fromkeys(rounds, 0.0)
    for n in range(-1, arguments.rounds):
        for server in servers if n % 2 else servers[::-1]:
            rng = random.Random(n)
            ways = [list(at_random(rng, arguments.requests, *facts)) for _ in range(arguments.clients)]
            before = server.used()[0]
            result = load(server, ways)
            if n >= 0:
                rounds[server.kind].append(result)
                work[server.kind] += server.used()[0] - before
    last = servers[-1].kind
    for kind, results in rounds.items():
        figures = [statistics.median(r[key] for r in results) for key in ("rate", "median", "p99")]
        ratios = [statistics.median(a[key] / b[key] for a, b in zip(results, rounds[last])) for key in ("rate", "p99")]
        each = 1000 * work[kind] / (arguments.rounds * arguments.clients * arguments.requests)
        print(f"| {kind} | {figures[0]:.0f} | {figures[1]:.1f} | {figures[2]:.1f} | **{ratios[0]:.2f}** | {ratios[1]:.2f} | {each:.1f} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--serve", metavar="KIND")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=100, help="of each client in a round")
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve, arguments.file)
        return
    import glymur

    import lift2k
    import lift2k.server
    path = Path(arguments.file).resolve()
    with lift2k.open(path) as img:
        height, width = img.shape[:2]
        levels, h = img.levels, img.header
    scales = [1 << n for n in range(levels + 1) if max(width, height) > SIZE << n]
    print(f"# The image server with lift2k and with OpenJPEG\n\n- file: {path.name}, {width} x {height}, {h.wavelet}, {h.progression}, "
          f"precincts {'none' if h.default_precincts else h.precincts[-1]}, {path.stat().st_size} bytes")
    print(f"- lift2k {lift2k.__version__}, glymur {glymur.__version__}, OpenJPEG {glymur.version.openjpeg_version}, "
          f"Python {platform.python_version()}; {os.cpu_count()} processors")
    print(f"- {arguments.clients} clients, {arguments.requests} requests per client and round, {arguments.rounds} rounds, servers alternating; "
          f"tiles of {SIZE} x {SIZE}, JPEG, scale factors {scales}")
    facts = (path.name, width, height, scales)
    servers = [Server(kind, str(path.parent)) for kind in ("lift2k", "OpenJPEG")]
    try:
        for scale in scales:
            shown = [pixels(server, tile(path.name, width, height, scale, 0, 0, "png")) for server in servers]
            assert all(np.array_equal(shown[0], other) for other in shown), scale
        print("- the first tile of each scale factor is the same from all servers")
        measure(servers, arguments, facts)
        print("\nMost memory: " + ", ".join(f"{server.kind} {server.used()[1]:.0f} MiB" for server in servers))
    finally:
        for server in servers:
            server.process.terminate()
            server.process.wait()


main()
