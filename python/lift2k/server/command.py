"""lift2k-server: the application under uvicorn."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import sys
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from .. import __version__
from .app import Settings, create_app
from .parameters import Limits
from .pictures import Folder, Resources


class ForwardedHost(ProxyHeadersMiddleware):
    """X-Forwarded-Host in place of Host, for requests from a trusted proxy, beside uvicorn's scheme and client."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and (scope.get("client") or [None])[0] in self.trusted_hosts:
            named = [value for name, value in scope["headers"] if name == b"x-forwarded-host"]
            if named:
                host = named[-1].split(b",")[0].strip()
                others = [(name, value) for name, value in scope["headers"] if name != b"host"]
                scope = {**scope, "headers": [(b"host", host), *others]}
        await super().__call__(scope, receive, send)


def _base_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(f"{text!r} is not like https://images.example.org/maps")
    return text.rstrip("/")


def _proxies(text: str) -> list[str]:
    proxies = [proxy.strip() for proxy in text.split(",") if proxy.strip()]
    for proxy in proxies:
        if proxy != "*":
            try:
                ipaddress.ip_network(proxy)
            except ValueError as failure:
                raise argparse.ArgumentTypeError(str(failure)) from None
    return ["*"] if "*" in proxies else proxies


def _number(least: int, most: int | None = None) -> type[int]:
    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        if most is not None and int(text) > most:
            raise argparse.ArgumentTypeError(f"{text} is more than {most}")
        return int(text)

    number.__name__ = "number"
    return number  # type: ignore[return-value]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="lift2k-server", description="Serves the JPEG 2000 files of a folder and those below it: "
                                "IIIF Image API 3.0 and 2.1, level 2, and a page that shows them.")
    count, positive = _number(0), _number(1)
    p.add_argument("folder", metavar="FOLDER")
    p.add_argument("--version", action="version", version=f"lift2k-server {__version__}")
    net = p.add_argument_group("network")
    net.add_argument("--host", default="127.0.0.1", help="address to listen at; 0.0.0.0: all (%(default)s)")
    net.add_argument("--port", type=_number(0, 65535), default=8182, help="0: a free one (%(default)s)")
    net.add_argument("--base-url", type=_base_url, metavar="URL",
                     help="what clients see, such as https://images.example.org/maps, where a proxy is between")
    net.add_argument("--proxy", type=_proxies, default=["127.0.0.1", "::1"], metavar="ADDRESSES",
                     help="proxies whose X-Forwarded-Proto, -Host and -For are believed, with commas; *: all (this machine)")
    net.add_argument("--no-page", dest="page", action="store_false", help="only the API: nothing lists the pictures")
    net.add_argument("--quiet", action="store_true", help="no line for each request")
    images = p.add_argument_group("images")
    images.add_argument("--tile", type=positive, default=512, metavar="SIZE", help="proposed to viewers (%(default)s)")
    images.add_argument("--jpeg-quality", type=_number(1, 100), default=85, metavar="Q", help="1 to 100, WebP too (%(default)s)")
    images.add_argument("--max-age", type=count, default=86400, metavar="SECONDS", help="in caches (%(default)s)")
    limits = p.add_argument_group("limits")
    limits.add_argument("--max-width", type=count, default=0, metavar="PIXELS", help="of an image, 0: none (%(default)s)")
    limits.add_argument("--max-height", type=count, default=0, metavar="PIXELS", help="likewise")
    limits.add_argument("--max-area", type=count, default=Limits.max_area, metavar="PIXELS", help="likewise (%(default)s)")
    limits.add_argument("--max-samples", type=positive, default=Limits.max_samples, metavar="N",
                        help="decoded for an image (%(default)s)")
    limits.add_argument("--seconds", type=positive, default=30, help="of decoding for an image (%(default)s)")
    limits.add_argument("--memory", type=positive, default=1024, metavar="MIB", help="of a decoder at work (%(default)s)")
    limits.add_argument("--cache", type=count, default=16, metavar="MIB", help="that a decoder keeps (%(default)s)")
    limits.add_argument("--workers", type=positive, default=Resources.workers, metavar="N",
                        help="requests that are decoded at once (one for each processor)")
    limits.add_argument("--queue", type=positive, default=256, metavar="N", help="requests that may wait (%(default)s)")
    limits.add_argument("--files", type=positive, default=32, metavar="N", help="that stay open (%(default)s)")
    return p


def settings_of(arguments: argparse.Namespace) -> Settings:
    a = arguments
    return Settings(
        limits=Limits(a.max_width, a.max_height, a.max_area, a.max_samples),
        resources=Resources(a.workers, a.files, a.cache << 20, a.memory << 20, a.seconds),
        base_url=a.base_url or "", max_age=a.max_age, queue=a.queue, tile=a.tile, jpeg_quality=a.jpeg_quality, page=a.page)


def main(words: list[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    settings = settings_of(arguments)
    logging.captureWarnings(True)
    try:
        folder = Folder(arguments.folder, settings.resources)
    except OSError as failure:
        print(f"lift2k-server: {failure}", file=sys.stderr)
        return 1
    app = ForwardedHost(create_app(folder, settings), arguments.proxy)  # type: ignore[arg-type]
    uvicorn.run(app, host=arguments.host, port=arguments.port, proxy_headers=False,
                access_log=not arguments.quiet, server_header=False, timeout_graceful_shutdown=30)
    return 0
