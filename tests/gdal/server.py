"""A web server on the loopback interface with byte ranges, which waits before each answer and lists its requests."""

import http.server
import re
import threading
import time


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def __init__(self, files, delay):
        """`files`: name: bytes."""
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.delay, self.requests = files, delay, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"/vsicurl/http://127.0.0.1:{self.server_port}/{name}"

    def rounds(self):
        """Groups of requests that were under way together, as [end, bytes]; forgets them."""
        groups = []
        for start, end, count in sorted(self.requests):
            if groups and start < groups[-1][0]:
                groups[-1] = [max(groups[-1][0], end), groups[-1][1] + count]
            else:
                groups.append([end, count])
        self.requests = []
        return groups


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        start = time.monotonic()
        time.sleep(self.server.delay)
        data = self.server.files.get(self.path[1:])
        asked = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))
        if data is None:
            self.send_response(404)
            data = b""
        elif asked:
            first, last = int(asked[1]), min(len(data) - 1, int(asked[2] or len(data)))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            data = data[first : last + 1]
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "HEAD":
            data = b""
        self.server.requests.append((start, time.monotonic(), len(data)))
        self.wfile.write(data)

    do_HEAD = do_GET
