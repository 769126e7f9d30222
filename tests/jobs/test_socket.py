"""`/ws/runs/<id>/`: ids and offsets through the channel layer, log bytes from the stream."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.db import connections

from atom.accounts.models import User
from atom.core import live as core_live
from atom.core.metrics import SOCKETS
from atom.jobs import consumers
from atom.jobs.logs.actions import logs
from atom.jobs.logs.pipelines import log_follow
from atom.jobs.logs.pipelines.log_follow import LogFollower
from atom.jobs.models import Attempt, LogStream
from atom.jobs.routing import websocket_urlpatterns
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.accounts import make_member, make_user
from tests.factories.jobs import make_attempt
from tests.websockets import WebSocketClient

pytestmark = pytest.mark.django_db(transaction=True)


def application(user: User) -> Any:
    """Return the routes of runs, as the session middleware would call them for `user`."""
    routes = URLRouter(websocket_urlpatterns)

    async def signed_in(scope: Any, receive: Any, send: Any) -> None:
        await routes({**scope, "user": user}, receive, send)

    return signed_in


def say(attempt: Attempt, offset: int, payload: bytes) -> int:
    frame = Frame(1, 0, time.time_ns(), payload.count(b"\n"), payload)
    return logs.append(attempt, offset, frames.encode([frame])).next


async def open_socket(attempt: Attempt, user: User, query: str) -> WebSocketClient:
    client = WebSocketClient(application(user), f"/ws/runs/{attempt.run_id}/?{query}")
    assert await client.connect() is None
    return client


async def read_log(client: WebSocketClient, until: int) -> str:
    """Return the text up to the offset `until`; every frame follows the one before."""
    text, offset = "", None
    while offset is None or offset < until:
        message = await client.receive_json()
        if message["type"] != "log":
            continue
        assert offset in (None, message["byte_off"])
        text, offset = text + message["text"], message["next"]
    return text


async def test_the_log_is_replayed_from_chunks_and_stream_and_goes_on_live() -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    offset = await sync_to_async(say)(attempt, 0, b"stored\n")
    await sync_to_async(logs.flush)(attempt.pk)
    offset = await sync_to_async(say)(attempt, offset, b"waiting\n")
    client = await open_socket(attempt, user, "log_from=0")
    assert await read_log(client, offset) == "stored\nwaiting\n"
    started = time.monotonic()
    offset = await sync_to_async(say)(attempt, offset, b"live\n")
    assert await read_log(client, offset) == "live\n"
    assert time.monotonic() - started < 2
    await sync_to_async(logs.finish)(attempt, offset)
    await sync_to_async(logs.flush)(attempt.pk)
    while (message := await client.receive_json(10))["type"] != "eof":
        pass
    assert message["attempt"] == str(attempt.pk)
    await client.close()


async def test_a_page_resumes_at_its_offset() -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    offset = await sync_to_async(say)(attempt, 0, b"one\ntwo\n")
    client = await open_socket(attempt, user, f"attempt={attempt.number}&log_from=4")
    assert await read_log(client, offset) == "two\n"
    await client.close()


async def test_characters_that_come_byte_by_byte_are_whole_from_any_offset_on() -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    data, offset = "日本語🙂ж".encode(), 0
    for byte in data[:5]:
        offset = await sync_to_async(say)(attempt, offset, bytes([byte]))
    await sync_to_async(logs.flush)(attempt.pk)
    clients = [
        (await open_socket(attempt, user, f"log_from={start}"), start) for start in (0, 1, 5, 7)
    ]
    for byte in data[5:]:
        offset = await sync_to_async(say)(attempt, offset, bytes([byte]))
    for client, start in clients:
        # A character belongs to the byte that ends it.
        shown = data.decode()[start // 3 :]
        assert await read_log(client, len(data)) == shown
        await client.close()


async def test_pages_of_the_same_log_each_get_all_of_it_once_whenever_they_come() -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    clients, texts, offset = [], [], 0
    for number in range(4):
        clients.append(await open_socket(attempt, user, "log_from=0"))
        texts.append("")
        # The first are at the end already; the last begins at the first byte.
        offset = await sync_to_async(say)(attempt, offset, f"line {number}\n".encode())
        if number % 2:
            for place, client in enumerate(clients):
                texts[place] += await read_log(client, offset)
    assert set(texts) == {"line 0\nline 1\nline 2\nline 3\n"}
    await clients.pop(0).close()
    offset = await sync_to_async(say)(attempt, offset, b"after one has gone\n")
    assert [await read_log(client, offset) for client in clients] == ["after one has gone\n"] * 3
    for client in clients:
        await client.close()


async def test_an_end_that_nobody_was_told_of_is_found_by_every_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumers, "LOOK_EVERY_S", 0.3)
    monkeypatch.setattr(log_follow, "BLOCK_MS", 100)
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    offset = await sync_to_async(say)(attempt, 0, b"line\n")
    clients = [await open_socket(attempt, user, "log_from=0") for _ in range(3)]
    for client in clients:
        assert await read_log(client, offset) == "line\n"
    # They look at it in turn meanwhile.
    await asyncio.sleep(1)
    await LogStream.objects.filter(attempt=attempt).aupdate(eof_bytes=offset)
    for client in clients:
        assert (await client.receive_json(20))["type"] == "eof"
        await client.close()


async def test_one_look_at_a_quiet_log_does_for_all_who_watch_it() -> None:
    name = str((await sync_to_async(make_attempt)()).pk)
    one, other = LogFollower(), LogFollower()
    assert other.when_it_went_on(name) == -math.inf
    for follower in (one, other):
        assert await follower.wait(name, 0) == []
    one.note_that_it_goes_on(name, 5.0)
    assert other.when_it_went_on(name) == 5.0
    await one.close()
    assert other.when_it_went_on(name) == 5.0
    await other.close()
    later = LogFollower()
    assert later.when_it_went_on(name) == -math.inf
    await later.close()
    # The thread's own; sockets close theirs.
    await sync_to_async(connections.close_all)()


async def test_a_page_that_is_far_behind_gets_a_gap_and_the_end() -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    offset = 0
    for _ in range(10):
        offset = await sync_to_async(say)(attempt, offset, b"0123456789\n" * 6000)
    client = await open_socket(attempt, user, "log_from=0")
    gap = await client.receive_json()
    assert (gap["type"], gap["from"], gap["to"]) == ("gap", 0, offset - (64 << 10))
    assert len(await read_log(client, offset)) == 64 << 10
    await client.close()


async def test_events_of_the_run_reach_the_page() -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    client = await open_socket(attempt, user, "")
    event = {"type": "metrics", "keys": {"loss": 3}}
    await sync_to_async(core_live.publish_now)(f"run.{attempt.run_id}", event)
    assert await client.receive_json() == event
    await client.close()


async def test_strangers_learn_nothing() -> None:
    attempt = await sync_to_async(make_attempt)()
    stranger = await sync_to_async(make_user)()
    client = WebSocketClient(application(stranger), f"/ws/runs/{attempt.run_id}/")
    assert await client.connect() == 4404


@pytest.mark.parametrize("refused", ["websocket.accept", "websocket.send"])
async def test_a_client_that_goes_away_while_it_is_sent_to_leaves_nothing_behind(
    refused: str,
) -> None:
    attempt = await sync_to_async(make_attempt)()
    user = await sync_to_async(make_member)(attempt.run.project)
    connected = [{"type": "websocket.connect"}]
    published: list[asyncio.Task[None]] = []

    async def receive() -> Any:
        return connected.pop() if connected else await asyncio.Event().wait()

    async def publish() -> None:
        # More than one: of joining the group nobody knows when Valkey has heard.
        while True:
            await sync_to_async(core_live.publish_now)(f"run.{attempt.run_id}", {"type": "event"})
            await asyncio.sleep(0.1)

    async def send(message: Any) -> None:
        if message["type"] == refused:
            raise OSError("The client is gone.")
        published.append(asyncio.create_task(publish()))

    path = f"/ws/runs/{attempt.run_id}/"
    scope = {"type": "websocket", "path": path, "query_string": b"log_from=0", "headers": []}
    open_sockets = SOCKETS.labels("RunConsumer")._value.get()
    before = asyncio.all_tasks()
    with pytest.raises(OSError, match="gone"):
        await application(user)(scope, receive, send)
    for task in published:
        task.cancel()
    await asyncio.gather(*published, return_exceptions=True)
    assert SOCKETS.labels("RunConsumer")._value.get() == open_sockets
    assert not [task for task in asyncio.all_tasks() - before if "_pump" in repr(task)]
