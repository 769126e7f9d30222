"""Holds answers back until the awaited object has its final state, see `atom.core.waiting`.

Django answers each look in full. Between the looks a wait holds no thread and no database
connection. The live event that pages hear wakes a wait too.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import redis
import structlog
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from channels.layers import get_channel_layer

from atom.core import waiting
from atom.core.errors import AtomError, Unavailable
from atom.core.waiting import Awaited
from atom.web.answers import send_problem
from atom.web.router import HttpApplication

log = structlog.get_logger(__name__)

_SUFFIX = "/wait/"
_CANCEL_AGAIN_S = 0.5
# Events are not kept: one that was lost, as when Valkey restarts, costs no more than this.
RELOOK_S = 30.0


@dataclass
class _Look:
    """A whole answer of Django, and what the view left to wait for."""

    messages: list[Any] = field(default_factory=list)
    places: list[Awaited] = field(default_factory=list)

    @property
    def awaited(self) -> Awaited | None:
        """Return what it waits for; None for what is over and for every failure."""
        is_answer = bool(self.messages) and self.messages[0].get("status") == 200
        return self.places[-1] if self.places and is_answer else None


class _Heard:
    """The last state of one object, from live events."""

    def __init__(self, thing_id: str) -> None:
        self._id = thing_id
        self._changed = asyncio.Event()
        self._state = ""

    def note(self, event: dict[str, Any]) -> None:
        """Take an event of the group; others in it are of other things."""
        if event.get("id") == self._id and "state" in event:
            self._state = event["state"]
            self._changed.set()

    async def another_than(self, state: str) -> None:
        """Return once an event reports another state than this one."""
        while not self._state or self._state == state:
            self._changed.clear()
            await self._changed.wait()
        self._state = ""


class LongPoll:
    """Passes requests on to Django; those under `…/wait/` it may ask more than once."""

    def __init__(self, application: HttpApplication, relook_s: float = RELOOK_S) -> None:
        self._application = application
        self._relook_s = relook_s

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Handle one request."""
        if scope["method"] != "GET" or not scope["path"].endswith(_SUFFIX):
            await self._application(scope, receive, send)
            return
        look = await self._look(scope)
        if look.awaited is not None:
            try:
                look = await self._wait(scope, receive, look.awaited)
            except AtomError as error:
                await _refuse(error, send)
                return
        for message in look.messages:
            await send(message)

    async def _wait(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, awaited: Awaited
    ) -> _Look:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + awaited.timeout_s
        async with _place(awaited.who), _listening(awaited) as heard, _presence(receive) as gone:
            # This look finds events from before the listening began, which reached no listener.
            look = await self._look(scope)
            while (now := look.awaited) is not None and (left_s := deadline - loop.time()) > 0:
                told = asyncio.create_task(heard.another_than(now.state))
                try:
                    await asyncio.wait(
                        {told, gone},
                        timeout=min(left_s, self._relook_s),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                finally:
                    told.cancel()
                if gone.done():
                    return _Look()
                look = await self._look(scope)
        return look

    async def _look(self, scope: HTTPScope) -> _Look:
        look = _Look()

        async def keep(message: Any) -> None:
            look.messages.append(message)

        # Not a part of the ASGI scope's type, which Django hands to views as it is.
        asked: Any = {**scope, waiting.SCOPE: look.places}
        await self._application(asked, _receive_nothing(), keep)
        return look


def _receive_nothing() -> Any:
    """Return the `receive` of a request without a body, whose client stays."""
    bodies: list[Any] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        if bodies:
            return bodies.pop()
        return await asyncio.get_running_loop().create_future()

    return receive


@contextlib.asynccontextmanager
async def _place(who: str) -> AsyncIterator[None]:
    member = uuid4().hex
    await asyncio.to_thread(waiting.enter, who, member)
    try:
        yield
    finally:
        await asyncio.shield(asyncio.to_thread(waiting.leave, who, member))


@contextlib.asynccontextmanager
async def _presence(receive: ASGIReceiveCallable) -> AsyncIterator[asyncio.Task[None]]:
    """Give a task that is done once the client has gone."""

    async def until_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    task = asyncio.create_task(until_gone())
    try:
        yield task
    finally:
        await _cancelled(task)


@contextlib.asynccontextmanager
async def _listening(awaited: Awaited) -> AsyncIterator[_Heard]:
    """Hear the group's events. Raises Unavailable when the channel layer is away."""
    layer: Any = get_channel_layer()
    heard = _Heard(awaited.id)
    try:
        channel = await layer.new_channel()
        await layer.group_add(awaited.group, channel)
    except (OSError, redis.RedisError) as error:
        log.warning("live_events_away", error=str(error))
        raise Unavailable(headers={"Retry-After": "2"}) from error

    async def pump() -> None:
        while True:
            heard.note((await layer.receive(channel))["event"])

    task = asyncio.create_task(pump())
    try:
        yield heard
    finally:
        with contextlib.suppress(OSError, redis.RedisError):
            await layer.group_discard(awaited.group, channel)
        # Cancelled, it also gives the channel back.
        await _cancelled(task)


async def _cancelled(task: asyncio.Task[None]) -> None:
    while not task.done():
        # Cancel again: Valkey's client loses a cancellation that comes together with an answer.
        task.cancel()
        await asyncio.wait({task}, timeout=_CANCEL_AGAIN_S)
    with contextlib.suppress(asyncio.CancelledError, OSError, redis.RedisError):
        await task


async def _refuse(error: AtomError, send: ASGISendCallable) -> None:
    await send_problem(
        send,
        status=error.status,
        code=error.code,
        title=error.title,
        detail=error.detail,
        action=error.action,
        headers=error.headers,
    )
