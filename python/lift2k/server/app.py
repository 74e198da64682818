"""The server as an ASGI application: IIIF Image API 3.0 and 2.1 at level 2 for the pictures of a folder, and a page that
shows them."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import anyio
from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from .. import __version__, errors
from .parameters import MEDIA_TYPES, Limits, Refused, parse
from .pictures import Folder, Picture, Resources
from .render import largest_scale, render

PAGE = Path(__file__).parent / "page"
METHODS = ["GET", "HEAD", "OPTIONS"]
FEATURES = {  # beyond level 2
    2: ["canonicalLinkHeader", "profileLinkHeader", "mirroring", "regionSquare", "rotationArbitrary", "sizeAboveFull"],
    3: ["canonicalLinkHeader", "profileLinkHeader", "mirroring", "rotationArbitrary", "sizeUpscaling"],
}
PROFILE = {2: "http://iiif.io/api/image/2/level2.json", 3: "http://iiif.io/api/image/3/level2.json"}
CONTEXT = {2: "http://iiif.io/api/image/2/context.json", 3: "http://iiif.io/api/image/3/context.json"}
OPEN_TO_ALL = {"Access-Control-Allow-Origin": "*"}
PREFLIGHT = {"Access-Control-Allow-Methods": ", ".join(METHODS), "Access-Control-Allow-Headers": "*",
             "Access-Control-Max-Age": "86400", "Allow": ", ".join(METHODS)}
POLICY = "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'self'"
log = logging.getLogger("lift2k.server")


@dataclass(frozen=True)
class Settings:
    """base_url: the beginning of URIs, if it differs from that of requests, which may have its path or not."""

    limits: Limits = field(default_factory=Limits)
    resources: Resources = field(default_factory=Resources)
    base_url: str = ""
    max_age: int = 86400  # seconds for which caches may keep images
    queue: int = 256  # requests that may wait for a decoder
    tile: int = 512  # proposed in info.json
    jpeg_quality: int = 85
    page: bool = True


def _status_of(failure: errors.Error) -> tuple[int, str]:
    if isinstance(failure, errors.LimitError):
        return 501, "the picture needs more memory than this server gives"
    if isinstance(failure, errors.OutOfMemoryError):
        return 503, "there is not enough memory now"
    return 500, "the picture cannot be decoded"


class Server:
    """The answers, without the routes."""

    def __init__(self, folder: Folder, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        workers = settings.resources.workers
        self.decoding = anyio.CapacityLimiter(workers)  # requests that have a decoder
        self.threads = anyio.CapacityLimiter(workers)
        self.opening = anyio.CapacityLimiter(2 * workers)

    async def _quickly(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await to_thread.run_sync(function, *arguments, limiter=self.opening)

    def _base(self, http: HttpRequest, version: int, name: str) -> str:
        """The URI of a picture."""
        start = self.settings.base_url
        if not start:
            host = http.headers.get("host", "localhost")
            if not re.fullmatch(r"[A-Za-z0-9._:\[\]-]+", host):
                raise Refused(400, "the host's name has letters that no host has")
            start = f"{http.scope['scheme']}://{host}"
        return f"{start}/iiif/{version}/{quote(name, safe='')}"

    async def iiif(self, http: HttpRequest) -> Response:
        """Everything below /iiif/."""
        if http.method == "OPTIONS":
            return Response(status_code=204, headers=OPEN_TO_ALL | PREFLIGHT)
        try:
            answer = await self._answer(http)
        except Refused as refused:
            answer = _text(refused.status, refused.text)
        except errors.Error as failure:
            log.error("%r: %s", http.scope["path"], failure)
            answer = _text(*_status_of(failure))
        except MemoryError:
            answer = _text(503, "there is not enough memory now")
        except OSError as failure:
            log.error("%r: %s", http.scope["path"], failure)
            answer = _text(500, "the picture cannot be read")
        answer.headers.update(OPEN_TO_ALL | {"X-Content-Type-Options": "nosniff"})
        return answer

    async def _answer(self, http: HttpRequest) -> Response:
        # The path as sent: an identifier may have slashes, as %2F.
        raw = http.scope.get("raw_path") or quote(http.scope["path"]).encode()
        try:
            parts = [unquote(part, errors="strict") for part in raw.partition(b"?")[0].decode("ascii").split("/")]
        except UnicodeDecodeError:
            raise Refused(400, "the URI is not UTF-8") from None
        parts = parts[2 + http.scope.get("root_path", "").count("/"):]
        if len(parts) < 2 or parts[0] not in ("2", "3") or len(parts) not in (2, 3, 6):
            raise Refused(404, "URIs are /iiif/3/NAME/info.json, /iiif/3/NAME/REGION/SIZE/ROTATION/QUALITY.FORMAT, or with 2")
        version, name, rest = int(parts[0]), parts[1], parts[2:]
        if len(rest) == 1 and rest[0] not in ("", "info.json"):
            raise Refused(404, "a picture has info.json and images")
        picture = await self._quickly(self.folder.picture, name)
        base = self._base(http, version, name)
        if len(rest) < 2 and rest != ["info.json"]:
            return Response(status_code=303, headers={"Location": f"{base}/info.json"})
        if len(rest) == 1:
            return self._information(http, picture, base, version)
        return await self._send_image(http, picture, base, rest, version)

    def _lifetime(self, picture: Picture) -> str:
        """How long caches may keep a picture. An incomplete file may soon be complete."""
        return f"public, max-age={self.settings.max_age}" if picture.complete else "no-cache"

    def _kept(self, http: HttpRequest, picture: Picture, *what: Any) -> tuple[dict[str, str], bool]:
        """Headers for caches, and whether the client's copy is current (RFC 9110, 13.2.2)."""
        limits = self.settings.limits
        made_of = repr((what, picture.identity, __version__, limits, self.settings.jpeg_quality))
        etag = f'"{hashlib.sha256(made_of.encode()).hexdigest()[:32]}"'
        headers = {"ETag": etag, "Last-Modified": formatdate(picture.modified, usegmt=True),
                   "Cache-Control": self._lifetime(picture)}
        if "if-none-match" in http.headers:
            tags = [tag.strip().removeprefix("W/") for tag in http.headers["if-none-match"].split(",")]
            return headers, etag in tags or "*" in tags
        try:
            since = parsedate_to_datetime(http.headers["if-modified-since"])
            return headers, int(picture.modified) <= since.timestamp()
        except (KeyError, ValueError, OverflowError):  # none, or no date
            return headers, False

    def _information(self, http: HttpRequest, picture: Picture, base: str, version: int) -> Response:
        accepted = http.headers.get("accept", "")
        linked = "application/ld+json" in accepted or (not accepted and version == 3)
        headers, same = self._kept(http, picture, "info", base, version, linked, self.settings.tile)
        links = [f'<{PROFILE[version]}>;rel="profile"']
        if not linked:
            links.append(f'<{CONTEXT[version]}>;rel="http://www.w3.org/ns/json-ld#context";type="application/ld+json"')
        headers |= {"Vary": "Accept", "Link": ", ".join(links)}
        if same:
            return Response(status_code=304, headers=headers)
        media = f'application/ld+json;profile="{CONTEXT[version]}"' if linked else "application/json"
        return Response(json.dumps(self.description(picture, base, version), indent=1), headers=headers | {"Content-Type": media})

    def description(self, picture: Picture, base: str, version: int) -> dict[str, Any]:
        """info.json."""
        limits, settings = self.settings.limits, self.settings
        sides = [n if 128 <= n <= 2048 and n < whole else settings.tile
                 for n, whole in zip(picture.tile, (picture.width, picture.height))]
        while not limits.allow(*sides):
            sides = [max(n // 2, 1) for n in sides]
        greatest = largest_scale(picture, (sides[0], sides[1]), limits)
        tile = {"width": sides[0], "height": sides[1], "scaleFactors": [1 << n for n in range(greatest.bit_length())]}
        sizes = dict.fromkeys((-(-picture.width // (1 << n)), -(-picture.height // (1 << n)))
                              for n in range(picture.levels, -1, -1))
        common = {
            "protocol": "http://iiif.io/api/image", "width": picture.width, "height": picture.height,
            "sizes": [{"width": w, "height": h} for w, h in sizes if limits.allow(w, h)], "tiles": [tile],
        }
        bounds = {name: value for name, value in (("maxWidth", limits.max_width), ("maxHeight", limits.max_height),
                                                  ("maxArea", limits.max_area)) if value}
        qualities = ["color", "gray", "bitonal"] if picture.model != "L" else ["gray", "bitonal"]
        if version == 2:
            more = {"formats": list(MEDIA_TYPES), "qualities": qualities, "supports": FEATURES[2]} | bounds
            return {"@context": CONTEXT[2], "@id": base} | common | {"profile": [PROFILE[2], more]}
        return {"@context": CONTEXT[3], "id": base, "type": "ImageService3", "profile": "level2"} | common | bounds | {
            "preferredFormats": ["jpg"], "extraFormats": ["webp"], "extraQualities": qualities,
            "extraFeatures": FEATURES[3]}

    async def _send_image(self, http: HttpRequest, picture: Picture, base: str, parts: list[str], version: int) -> Response:
        limits = self.settings.limits
        wanted = parse(parts, picture.width, picture.height, picture.model != "L", limits, version)
        headers, same = self._kept(http, picture, wanted)
        headers["Link"] = f'<{base}/{wanted.canonical}>;rel="canonical", <{PROFILE[version]}>;rel="profile"'
        if same:
            return Response(status_code=304, headers=headers)
        headers["Content-Type"] = MEDIA_TYPES[wanted.format]
        if http.method == "HEAD":
            answer = Response(headers=headers)
            del answer.headers["content-length"]  # unknown without the work
            return answer
        if self.decoding.statistics().tasks_waiting >= self.settings.queue:
            raise Refused(503, "too many requests are waiting")
        async with self.decoding:
            if await http.is_disconnected():  # the viewer has moved on
                return Response(status_code=499)
            data = await to_thread.run_sync(render, picture, wanted, limits, self.settings.jpeg_quality, limiter=self.threads)
        headers["Cache-Control"] = self._lifetime(picture)
        return Response(data, headers=headers)

    async def contents(self, http: HttpRequest) -> Response:
        """The folders and pictures of a folder, for the page."""
        try:
            listed = await self._quickly(self.folder.contents, http.query_params.get("folder", ""))
        except Refused as refused:
            return _text(refused.status, refused.text)
        return Response(json.dumps(listed), media_type="application/json", headers={"Cache-Control": "no-cache"})

    async def page(self, http: HttpRequest) -> Response:
        return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache", "Content-Security-Policy": POLICY})


def _text(status: int, text: str) -> Response:
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": "1"} if status == 503 else {})
    return Response(text + "\n", status, headers, "text/plain")


async def _plain_error(http: HttpRequest, failure: Exception) -> Response:
    assert isinstance(failure, HTTPException)
    answer = _text(failure.status_code, failure.detail)
    answer.headers.update(OPEN_TO_ALL | dict(failure.headers or {}))
    return answer


def create_app(folder: Folder | str, settings: Settings | None = None) -> ASGIApp:
    """The application for an ASGI server."""
    settings = settings or Settings()
    if not isinstance(folder, Folder):
        folder = Folder(folder, settings.resources)
    server = Server(folder, settings)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        server.folder.close()

    routes: list[Route | Mount] = [Route("/iiif/{rest:path}", server.iiif, methods=METHODS)]
    if settings.page:
        routes += [Route("/", server.page), Route("/pictures.json", server.contents), Mount("/page", StaticFiles(directory=PAGE))]
    prefix = unquote(urlsplit(settings.base_url).path)
    if prefix:  # requests may have it or not
        routes.insert(0, Mount(prefix, Router(list(routes), redirect_slashes=False)))
    app = Starlette(routes=routes, lifespan=life, exception_handlers={HTTPException: _plain_error})
    app.router.redirect_slashes = False
    return app
