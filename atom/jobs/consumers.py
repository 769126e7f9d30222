"""`/ws/runs/<id>/?attempt=&rank=&log_from=`: live events of a run, and its log.

Server → client: `log`, `gap`, `eof` of the followed attempt; `run`, `metrics`, `event`, `file`
carry ids and counts only. Client → server: `subscribe_log {attempt, rank, from}`, `pause_log`.
One socket holds at most 256 KiB of log that was not sent. A client that is further behind gets a
`gap` and fills it over HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import structlog
from channels.db import database_sync_to_async

from atom.accounts.models import User
from atom.core.consumers import CLOSE_NOT_FOUND, GuardedConsumer
from atom.core.errors import AtomError
from atom.jobs import states
from atom.jobs.logs.actions import logs
from atom.jobs.logs.engines import log_text
from atom.jobs.logs.engines.log_text import Begun
from atom.jobs.logs.pipelines.log_follow import LogFollower
from atom.jobs.logs.pipelines.log_stream import Entry, log_of
from atom.jobs.models import Attempt, LogStream, Run
from atom.jobs.reads import find_attempt
from atom_sdk.runner import frames

log = structlog.get_logger(__name__)

BEHIND_BYTES = 256 << 10
# After a gap the client gets the end of the log at once.
TAIL_BYTES = 64 << 10
# An event announces the end of a log; this look is for a lost event.
LOOK_EVERY_S = 15.0


class RunConsumer(GuardedConsumer):
    """One socket of one page."""

    async def connect(self) -> None:
        """Let members of the project in; others learn nothing."""
        self.follow: asyncio.Task[None] | None = None
        self.log_may_have_ended = False
        await self.guard()
        run = await self._find()
        if run is None:
            await self.close(CLOSE_NOT_FOUND)
            return
        self.run = run
        self.group = f"run.{run.pk}"
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        query = parse_qs(self.scope.get("query_string", b"").decode("utf-8", "replace"))
        if "log_from" in query:
            rank = query.get("rank", [0])[0]
            await self._follow(query.get("attempt", [None])[0], query["log_from"][0], rank)

    async def disconnect(self, code: int) -> None:
        """Stop following."""
        await self._stop()
        await self.unguard()
        if hasattr(self, "group"):
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def may_listen(self) -> bool:
        """Return whether the run is still visible to the person."""
        return await self._find() is not None

    async def _find(self) -> Run | None:
        run_id: UUID = self.scope["url_route"]["kwargs"]["run_id"]
        found: Run | None = await _visible_run(self.scope.get("user"), run_id)
        return found

    async def receive_json(self, content: Any, **_: Any) -> None:
        """Follow a log from an offset, or stop following."""
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "subscribe_log":
            rank = content.get("rank", 0)
            await self._follow(content.get("attempt"), content.get("from", 0), rank)
        elif kind == "pause_log":
            await self._stop()

    async def live_event(self, message: dict[str, Any]) -> None:
        """Pass on an event of the channel layer, but no end of a log: the follower sends that."""
        if await self.is_access_event(message):
            return
        kind = message["event"].get("type")
        if kind in ("eof", "run"):
            self.log_may_have_ended = True
        if kind != "eof":
            await self.send_json(message["event"])

    async def _follow(self, attempt: Any, start: Any, rank: Any) -> None:
        await self._stop()
        try:
            offset, number = max(0, int(start)), max(0, int(rank or 0))
        except (TypeError, ValueError, OverflowError):
            return
        self.follow = asyncio.create_task(self._pump(str(attempt or ""), offset, number))

    async def _stop(self) -> None:
        if self.follow is not None:
            self.follow.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.follow
            self.follow = None

    async def _pump(self, wanted: str, offset: int, rank: int) -> None:
        follower = LogFollower()
        try:
            attempt = await self._attempt(wanted)
            if rank and not await _has_rank(attempt, rank):
                return
            position = LogPosition(self, attempt, rank, offset, follower)
            while not await position.step():
                pass
        except asyncio.CancelledError:
            raise
        except Exception:
            # The page falls back to reading over HTTP; a defect must not kill its other events.
            log.exception("log_follow_failed", run_id=str(self.run.pk))
        finally:
            await follower.close()

    async def _attempt(self, wanted: str) -> Attempt:
        while True:
            try:
                found: Attempt = await database_sync_to_async(find_attempt)(self.run, wanted)
                return found
            except AtomError:
                if wanted:
                    raise
                await asyncio.sleep(0.5)  # the run has no attempt yet


class LogPosition:
    """How far a socket has got in an attempt's log."""

    def __init__(
        self,
        socket: RunConsumer,
        attempt: Attempt,
        rank: int,
        offset: int,
        follower: LogFollower,
    ) -> None:
        """Start at `offset` of a rank's log."""
        self._socket = socket
        self._attempt = attempt
        self._rank = rank
        self._log = log_of(attempt.pk, rank)
        self._follower = follower
        self._looked_s = -math.inf
        # Characters whose first bytes come before the offset; None: not looked up yet.
        self._begun: Begun | None = None if offset else log_text.NOTHING
        self.offset = offset

    async def step(self) -> bool:
        """Send what is there, or wait for more; return whether the log has ended."""
        if self._is_to_look:
            entries = await self._follower.present(self._log, self.offset)
            if not entries and await self._catch_up():
                return True
        else:
            entries = []
        entries = entries or await self._follower.wait(self._log, self.offset)
        if entries and entries[0].start <= self.offset and not self._behind(entries):
            await self._send(entries)
        elif entries:
            await self._catch_up()
        return False

    @property
    def _is_to_look(self) -> bool:
        """Whether to ask the database, which a thousand quiet logs could keep busy.

        One socket asks for all sockets that watch the attempt whether its log goes on.
        """
        if self._socket.log_may_have_ended or self._looked_s == -math.inf:
            return True
        looked_s = max(self._looked_s, self._follower.when_it_went_on(self._log))
        return time.monotonic() - looked_s >= LOOK_EVERY_S

    @property
    def _named(self) -> dict[str, Any]:
        return {"attempt": str(self._attempt.pk), "rank": self._rank}

    def _behind(self, entries: list[Entry]) -> bool:
        return entries[-1].end - self.offset > BEHIND_BYTES

    async def _catch_up(self) -> bool:
        """Send from chunks what the stream no longer holds; return whether the log has ended."""
        # Reset before the look: an event that comes during the look must cause another one.
        self._socket.log_may_have_ended = False
        self._looked_s = time.monotonic()
        end, ended = await database_sync_to_async(_extent)(self._attempt.pk, self._rank)
        if not ended:
            self._follower.note_that_it_goes_on(self._log, self._looked_s)
        if end - self.offset > BEHIND_BYTES:
            await self._gap(end - TAIL_BYTES)
        if end > self.offset:
            found = await database_sync_to_async(logs.read)(
                self._attempt, self.offset, BEHIND_BYTES, self._rank
            )
            self._begun = found.begun
            for frame in found.frames:
                await self._send_frame(frame)
        if ended and self.offset >= end:
            await self._socket.send_json({"type": "eof", **self._named})
            return True
        return False

    async def _gap(self, to: int) -> None:
        gap = {"type": "gap", **self._named, "from": self.offset, "to": to}
        await self._socket.send_json(gap)
        self.offset, self._begun = to, None

    async def _send(self, entries: list[Entry]) -> None:
        for entry in entries:
            if entry.start < self.offset:
                whole = frames.decode(entry.body, entry.start)
                for frame in frames.cut(whole, self.offset, entry.end):
                    await self._send_frame(frame)
                continue
            begun = await self._characters_begun()
            messages, self._begun = _messages(str(self._attempt.pk), self._rank, entry, begun)
            for frame, message in messages:
                await self._send_message(frame, message)

    async def _send_frame(self, frame: frames.Frame) -> None:
        text, self._begun = log_text.decode(frame, await self._characters_begun())
        await self._send_message(frame, _message(str(self._attempt.pk), self._rank, frame, text))

    async def _characters_begun(self) -> Begun:
        if self._begun is None:
            look = database_sync_to_async(logs.begun_before)
            self._begun = await look(self._attempt, self.offset, self._rank)
        return self._begun

    async def _send_message(self, frame: frames.Frame, message: str) -> None:
        # Waits while the client's buffer is full: nothing is read ahead meanwhile.
        await self._socket.send(text_data=message)
        self.offset = frame.end


# All sockets that watch an attempt get the same messages.
@lru_cache(maxsize=128)
def _messages(
    attempt_id: str, rank: int, entry: Entry, begun: Begun
) -> tuple[list[tuple[frames.Frame, str]], Begun]:
    """Return the messages of an entry's frames, and the characters that are begun after them."""
    messages = []
    for frame in frames.decode(entry.body, entry.start):
        text, begun = log_text.decode(frame, begun)
        messages.append((frame, _message(attempt_id, rank, frame, text)))
    return messages, begun


def _message(attempt_id: str, rank: int, frame: frames.Frame, text: str) -> str:
    return json.dumps(
        {
            "type": "log",
            "attempt": attempt_id,
            "rank": rank,
            "byte_off": frame.byte_off,
            "next": frame.end,
            "text": text,
            "fd": frame.fd,
            "ts_ns": frame.ts_ns,
        }
    )


@database_sync_to_async
def _visible_run(user: Any, run_id: UUID) -> Run | None:
    if not isinstance(user, User) or not user.is_active:
        return None
    return Run.objects.visible_to(user).filter(pk=run_id).first()


@database_sync_to_async
def _has_rank(attempt: Attempt, rank: int) -> bool:
    return attempt.ranks.filter(number=rank).exists()


def _extent(attempt_id: UUID, rank: int) -> tuple[int, bool]:
    """Return the log's present length in bytes, and whether it is all there will be."""
    attempt = Attempt.objects.get(pk=attempt_id)
    stream = LogStream.objects.filter(attempt=attempt, name=LogStream.name_of(rank)).first()
    over = attempt.state in states.TERMINAL
    if stream is None:
        return 0, over
    return logs.length(stream), stream.eof_bytes is not None or over
