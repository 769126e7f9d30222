"""The S3 endpoint as an ASGI application. Loading it sets Django's applications up."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import django
import structlog
from django.apps import apps
from django.conf import settings

if not apps.ready:
    django.setup()

from atom.core import storage
from atom.core.errors import AtomError
from atom.core.storage import StoreError
from atom.gateway.responses import ClientLeft, Receive, Send
from atom.gateway.s3.server import S3Server
from atom.gateway.sources import MediaSource

log = structlog.get_logger(__name__)


@functools.lru_cache(maxsize=1)
def s3_server() -> S3Server:
    """Return the process-wide server over the installation's bucket and warm packs."""
    return S3Server(MediaSource(storage.objects(), settings.ATOM_HOME / "cache"))


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer one request."""
    answer = await s3_server().answer(scope)
    try:
        await answer.send(send, receive, with_body=scope["method"] != "HEAD")
    except (ClientLeft, OSError, asyncio.CancelledError):
        log.info("s3_client_left", path=scope["path"])
    except (AtomError, StoreError) as error:
        # The answer has begun: what stays incomplete is cut off, and the client sees that.
        log.error("s3_body_cut", path=scope["path"], error=str(error))
