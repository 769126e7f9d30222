"""The gateway: bytes by signed link, without the ORM. `uvicorn atom.gateway.asgi:application`.

GET|HEAD /media/<token>/<name>   the bytes, or a thumbnail of them
PUT      /media/parts/<token>    a part of an upload from a browser
GET|HEAD /media/tiles/<token>/<level>/<x>_<y>   one tile of a large picture
GET      /healthz                the process answers
GET      /metrics                     metrics, for a holder of ATOM_METRICS_TOKEN
"""

from __future__ import annotations

import asyncio
import functools
import os
from typing import Any
from urllib.parse import unquote

import structlog

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.development")

from django.conf import settings

from atom.core import metrics, storage
from atom.core.errors import AtomError, InternalError, NotFound
from atom.core.service_problems import of_services
from atom.gateway.errors import MethodUnknown
from atom.gateway.links import open_link, open_part_link, open_tiles_link
from atom.gateway.measuring import OTHER, measured
from atom.gateway.media import MediaServer
from atom.gateway.parts import ClientGone, PartServer
from atom.gateway.responses import Answer, ClientLeft, Receive, Send, json_answer, problem
from atom.gateway.sources import MediaSource
from atom.gateway.thumb_cache import ThumbCache
from atom.gateway.tiles import TileServer

log = structlog.get_logger(__name__)

_THUMB_CACHE_BYTES = 512 << 20


@functools.lru_cache(maxsize=1)
def media_server() -> MediaServer:
    """Return the process-wide server over the installation's bucket and warm packs."""
    cache_dir = settings.ATOM_HOME / "cache"
    source = MediaSource(storage.objects(), cache_dir)
    return MediaServer(source, ThumbCache(cache_dir / "thumbs", _THUMB_CACHE_BYTES))


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer one connection."""
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
        return
    if scope["type"] != "http":
        raise ValueError(f"the gateway does not speak {scope['type']}")
    with measured(_kind(scope["path"]), scope, send) as passing:
        try:
            answer = await _answer(scope, receive)
            await answer.send(passing.send, receive, with_body=scope["method"] != "HEAD")
        except (ClientLeft, OSError, asyncio.CancelledError):
            log.info("media_client_left", path=scope["path"])
        except ClientGone:
            log.info("part_client_left")
        except (AtomError, storage.StoreError) as error:
            # The answer has begun: what stays incomplete is cut off, and the client sees that.
            log.error("media_body_cut", path=scope["path"], error=str(error))


def _kind(path: str) -> str:
    return "media" if path.startswith("/media/") else OTHER


@functools.lru_cache(maxsize=1)
def tile_server() -> TileServer:
    """Return the process-wide server of tiles."""
    return TileServer(storage.objects())


@functools.lru_cache(maxsize=1)
def part_server() -> PartServer:
    """Return the process-wide taker of parts."""
    return PartServer()


async def _answer(scope: dict[str, Any], receive: Receive) -> Answer:
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in scope["headers"]}
    request_id = headers.get("x-request-id")
    try:
        return await _route(scope, headers, receive)
    except AtomError as error:
        return problem(error, request_id)
    except ClientGone:
        raise
    except Exception as error:
        if known := of_services(error):
            return problem(known, request_id)
        log.exception("media_failed", path=scope["path"], request_id=request_id)
        return problem(InternalError(), request_id)


async def _route(scope: dict[str, Any], headers: dict[str, str], receive: Receive) -> Answer:
    # The raw path: a file name may hold an escaped slash.
    raw = scope.get("raw_path") or scope["path"].encode()
    parts = raw.decode("latin-1").split("?", 1)[0].split("/")
    match parts:
        case ["", "media", "parts", token] if scope["method"] == "PUT":
            announced = headers.get("content-length", "")
            return await part_server().take(open_part_link(token), announced, receive)
        case _ if scope["method"] not in {"GET", "HEAD"}:
            raise MethodUnknown(headers={"Allow": "GET, HEAD"})
        case ["", "healthz"]:
            return json_answer(200, {"status": "ok"})
        case ["", "metrics"] if metrics.may_scrape(headers.get("authorization", "")):
            return Answer(200, {"content-type": metrics.CONTENT_TYPE}, metrics.render())
        case ["", "media", "tiles", token, level, place]:
            return await tile_server().answer(open_tiles_link(token), level, place, headers)
        case ["", "media", token, name]:
            return await media_server().answer(open_link(token, unquote(name)), headers)
    raise NotFound


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            if media_server.cache_info().currsize:
                media_server().close()
            if tile_server.cache_info().currsize:
                tile_server().close()
            if part_server.cache_info().currsize:
                await part_server().aclose()
            await send({"type": "lifespan.shutdown.complete"})
            return
