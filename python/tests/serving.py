"""A server for tests: uvicorn in a thread, and requests sent exactly as written."""

import contextlib
import http.client
import io
import json
import socket
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import uvicorn
from PIL import Image

DATA = Path(__file__).parents[2] / "tests/data"


def photograph(name="coffee"):
    return np.asarray(Image.open(DATA / f"{name}.png").convert("RGB"))


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def image(self):
        return Image.open(io.BytesIO(self.body))

    @property
    def pixels(self):
        assert self.status == 200, self
        return np.asarray(self.image)


class Client:
    def __init__(self, port):
        self.port = port

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def image(self, name, parameters, version=3):
        return self.ask(f"/iiif/{version}/{name}/{parameters}")


@contextlib.contextmanager
def serve(app):
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", proxy_headers=False, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Client(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
