"""Logs: ingest → Redis Stream → flusher → chunk objects → index rows; and the way back.

Acknowledged bytes are in the stream. A chunk's row is written after its object and before the
stream is trimmed. So a flusher may die anywhere: bytes are then in the stream, or in both. Readers
and the next flush go by the row's `flushed_bytes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F

from atom.core import live, redis
from atom.jobs import effects
from atom.jobs.errors import BadLogFrames, LogGap
from atom.jobs.logs.engines import log_text
from atom.jobs.logs.engines.log_text import Begun
from atom.jobs.logs.pipelines import log_objects, log_stream
from atom.jobs.logs.pipelines.log_stream import Entry, ask_once
from atom.jobs.models import Attempt, LogChunk, LogStream
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

CHUNK_BYTES = 1 << 20
CHUNK_AGE_S = 10.0
# Chunk objects stay of a size that a page can read in one go, whatever a runner sends at once.
_MAX_CHUNK_ENTRIES = 256
_FLUSH_ASKED_FOR_S = 5


@dataclass(frozen=True, slots=True)
class LogSlice:
    """A part of a log: whole or cut frames from `start`, and where to go on.

    `begun` holds the first bytes of characters that end in these frames.
    """

    start: int
    begun: Begun
    frames: list[Frame]
    next: int
    total_bytes: int
    lines: int
    eof: bool


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a log stands: the offset that comes next, and how much is not in chunks yet."""

    next: int
    pending_bytes: int


def append(attempt: Attempt, offset: int, body: bytes, rank: int = 0) -> Appended:
    """Append frames whose first payload byte is at `offset`; what is already there is cut off.

    Raises LogGap if bytes before `offset` are missing, BadLogFrames if it is not made of frames.
    """
    extent = _measure(body)
    stream = stream_of(attempt, rank)
    end = offset + extent.payload_bytes
    expected = _expected(stream)
    while True:
        if offset > expected:
            raise LogGap(
                Sentence(
                    "core.byte_out_of_order",
                    "Byte {expected} comes next, not {offset}.",
                    expected=expected,
                    offset=offset,
                ),
                next=expected,
            )
        if end <= expected:
            return Appended(expected, expected - stream.flushed_bytes)
        new = frames.skip(body, expected - offset)
        size = _measure(new) if expected > offset else extent
        after = log_stream.append(
            _log_of(stream), stream.flushed_bytes, expected, (size.payload_bytes, size.lines), new
        )
        if after is not None:
            return Appended(after, after - stream.flushed_bytes)
        # Another request of the same runner came between: look again.
        expected = _expected(stream)


def _measure(body: bytes) -> frames.Extent:
    try:
        return frames.measure(body)
    except frames.FrameError as error:
        raise BadLogFrames(str(error)) from error


def _log_of(stream: LogStream) -> str:
    return log_stream.log_of(stream.attempt_id, stream.rank)


def _expected(stream: LogStream) -> int:
    known = log_stream.next_offset(_log_of(stream))
    return stream.flushed_bytes if known is None else known


def length(stream: LogStream) -> int:
    """Return how many bytes of the log have arrived."""
    return max(stream.flushed_bytes, log_stream.next_offset(_log_of(stream)) or 0)


def stream_of(attempt: Attempt, rank: int = 0) -> LogStream:
    """Return the log of a rank, creating its row at first use."""
    return LogStream.objects.get_or_create(attempt=attempt, name=LogStream.name_of(rank))[0]


def finish(attempt: Attempt, total_bytes: int, rank: int = 0) -> int:
    """Note that the log ends at `total_bytes`. Raises LogGap if some of it has not arrived."""
    stream = stream_of(attempt, rank)
    expected = _expected(stream)
    if total_bytes > expected:
        raise LogGap(
            Sentence(
                "jobs.log_end_differs",
                "The log ends at {end} but byte {expected} comes next.",
                end=total_bytes,
                expected=expected,
            ),
            next=expected,
        )
    LogStream.objects.filter(pk=stream.pk).update(eof_bytes=expected)
    live.publish(f"run.{attempt.run_id}", {"type": "eof", "attempt": str(attempt.pk), "rank": rank})
    return expected


def streams_due() -> list[LogStream]:
    """Return the logs that a flusher should look at now."""
    waiting = LogStream.objects.filter(attempt__in=log_stream.attempts_to_flush())
    return [stream for stream in waiting if is_due(stream)]


def is_due(stream: LogStream) -> bool:
    """Return whether the stream holds a full chunk, an old one, or the rest of an ended log."""
    end = log_stream.next_offset(_log_of(stream))
    if end is None or end <= stream.flushed_bytes:
        return False
    if stream.eof_bytes is not None or end - stream.flushed_bytes >= CHUNK_BYTES:
        return True
    first = log_stream.read(_log_of(stream), stream.flushed_bytes, 1)
    return bool(first) and redis.now_s() - first[0].arrived_ms / 1000 >= CHUNK_AGE_S


def flush(attempt_id: UUID) -> int:
    """Move all that is in the streams of its ranks to chunk objects; return their number."""
    written = 0
    logs_of_ranks = LogStream.objects.filter(attempt_id=attempt_id).order_by("name")
    for stream_id in logs_of_ranks.values_list("pk", flat=True):
        while flush_chunk(stream_id):
            written += 1
    return written


def flush_chunk(stream_id: UUID) -> bool:
    """Write one chunk of a log, if there is data and no other flusher writes it."""
    with transaction.atomic():
        stream = (
            LogStream.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("attempt__run")
            .filter(pk=stream_id)
            .first()
        )
        if stream is None:
            return False
        entries = pending(stream)
        if entries:
            record_chunk(stream, entries, store_chunk(stream, entries))
    trim(stream)
    return bool(entries)


def pending(stream: LogStream) -> list[Entry]:
    """Return the entries of the next chunk: about CHUNK_BYTES, from the flushed offset on."""
    chosen: list[Entry] = []
    size = 0
    for entry in log_stream.read(_log_of(stream), stream.flushed_bytes, _MAX_CHUNK_ENTRIES):
        if chosen and size + entry.end - entry.start > CHUNK_BYTES:
            break
        chosen.append(entry)
        size += entry.end - entry.start
    return chosen


def store_chunk(stream: LogStream, entries: list[Entry]) -> tuple[str, int]:
    """Write the chunk's object; return its key and compressed size in bytes."""
    project_id = str(stream.attempt.run.project_id)
    span = (entries[0].start, entries[-1].end)
    key = log_objects.chunk_key(project_id, str(stream.attempt_id), stream.name, *span)
    return key, log_objects.write_chunk(key, b"".join(entry.body for entry in entries))


def record_chunk(stream: LogStream, entries: list[Entry], stored: tuple[str, int]) -> None:
    """Write the chunk's row and move the stream's flushed offset, in the caller's transaction."""
    start, end = entries[0].start, entries[-1].end
    if start != stream.flushed_bytes:
        raise RuntimeError(f"Chunk at {start} does not follow byte {stream.flushed_bytes}.")
    lines = sum(entry.lines for entry in entries)
    key, compressed_bytes = stored
    LogChunk.objects.create(
        stream=stream,
        seq=stream.chunks.count(),
        byte_start=start,
        byte_end=end,
        line_start=stream.flushed_lines,
        line_end=stream.flushed_lines + lines,
        first_ts_ns=frames.measure(entries[0].body).first_ts_ns,
        key=key,
        compressed_bytes=compressed_bytes,
    )
    stream.flushed_bytes, stream.flushed_lines = end, stream.flushed_lines + lines
    LogStream.objects.filter(pk=stream.pk).update(
        flushed_bytes=end, flushed_lines=F("flushed_lines") + lines
    )


def trim(stream: LogStream) -> None:
    """Drop from Valkey what the chunks hold; safe to repeat."""
    name = _log_of(stream)
    log_stream.trim(name, stream.flushed_bytes)
    log_stream.settle(name, stream.flushed_bytes)
    if stream.eof_bytes is not None and stream.flushed_bytes >= stream.eof_bytes:
        log_stream.expire(name)


def read(attempt: Attempt, start: int, limit_bytes: int, rank: int = 0) -> LogSlice:
    """Return the frames of [start, start + limit), from chunks and then from the stream."""
    stream = stream_of(attempt, rank)
    total = _expected(stream)
    end = min(total, start + limit_bytes)
    around = list(iterate(stream, _before(start), end)) if start < end else []
    begun = log_text.begun_after(frames.cut(around, 0, start))
    found = list(frames.cut(around, start, end))
    reached = found[-1].end if found else start
    eof = stream.eof_bytes is not None and reached >= stream.eof_bytes
    lines = stream.flushed_lines + log_stream.lines_after(_log_of(stream), stream.flushed_bytes)
    return LogSlice(start, begun, found, reached, total, lines, eof)


def begun_before(attempt: Attempt, start: int, rank: int = 0) -> Begun:
    """Return the characters that are begun before a byte of the log."""
    return log_text.begun_after(iterate(stream_of(attempt, rank), _before(start), start))


def texts(found: LogSlice) -> list[str]:
    """Return the text of each frame of a part, with whole characters only."""
    return log_text.decode_all(found.frames, found.begun, final=found.eof)


def _before(start: int) -> int:
    return max(0, start - log_text.LOOK_BACK_BYTES)


def iterate(stream: LogStream, start: int, end: int) -> Iterator[Frame]:
    """Yield the frames of [start, end) in order, without holding more than a chunk."""
    position = start
    chunks = stream.chunks.filter(byte_end__gt=start, byte_start__lt=end).order_by("byte_start")
    for chunk in chunks.iterator():
        body = log_objects.read_chunk(chunk.key)
        yield from frames.cut(frames.decode(body, chunk.byte_start), position, end)
        position = min(end, chunk.byte_end)
    while position < end:
        entries = log_stream.read(_log_of(stream), position)
        if not entries or entries[0].start > position:
            # Flushed and trimmed since the chunk rows were read: they are in a chunk now.
            if not stream.chunks.filter(byte_start__lte=position, byte_end__gt=position).exists():
                return
            yield from iterate(stream, position, end)
            return
        for entry in entries:
            yield from frames.cut(frames.decode(entry.body, entry.start), position, end)
            position = max(position, min(end, entry.end))


def ask_flush(attempt_id: UUID) -> None:
    """Request a flush of a log, with one task for all requests at the same time."""
    if ask_once(attempt_id, "flush", _FLUSH_ASKED_FOR_S):
        effects.flush(attempt_id)
