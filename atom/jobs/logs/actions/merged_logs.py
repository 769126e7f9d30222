"""The logs of all ranks of an attempt as one, line by line in the order of their times.

Each rank has a log of its own, so a merged one is read from all of them at once. The clocks of the
nodes decide the order: where they differ, so do the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from heapq import merge

from atom.jobs import states
from atom.jobs.logs.actions import logs
from atom.jobs.logs.engines.log_lines import Line, Lines
from atom.jobs.models import Attempt
from atom_sdk.runner.frames import Frame

# A bar that redraws its line for hours has no end: more of it is not read again.
OPEN_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class RankPosition:
    """How far a reader is in a rank's log.

    `offset` is that of the oldest byte that is still needed. The two streams of a program
    interleave, so `newlines` from there on belong to lines that were read before.
    """

    offset: int = 0
    newlines: int = 0


Positions = Mapping[int, RankPosition]


@dataclass(frozen=True, slots=True)
class RankLine:
    """A line with its rank."""

    rank: int
    line: Line


@dataclass(frozen=True, slots=True)
class MergedLines:
    """Lines in the order of their times, where to go on, and whether all ranks have ended."""

    lines: list[RankLine]
    next: Positions
    eof: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """The unread lines of a rank, and the frames that they were read from."""

    rank: int
    frames: list[Frame]
    lines: list[Line]
    # The number of the line after them, and of lines without a newline the oldest byte.
    following: int
    open_from: int
    # The time up to which nothing older can follow; None where all there is was read.
    until_ns: int | None
    is_over: bool


def tails(attempt: Attempt, tail_bytes: int) -> Positions:
    """Return positions so many bytes before the end of each rank's log."""
    return {
        rank: RankPosition(max(0, logs.length(logs.stream_of(attempt, rank)) - tail_bytes))
        for rank in _ranks_of(attempt)
    }


def read_merged(
    attempt: Attempt, after: Positions, limit_bytes: int, open_bytes: int = OPEN_BYTES
) -> MergedLines:
    """Return the next lines of all ranks; about `limit_bytes` of logs are read.

    `open_bytes`: so much of a line without an end is read again at each call; before that, it is
    cut.
    """
    ranks = _ranks_of(attempt)
    each = max(1, limit_bytes // max(1, len(ranks)))
    starts = [after.get(rank, RankPosition()) for rank in ranks]
    parts = [
        _part(attempt, rank, start, each + open_bytes, open_bytes)
        for rank, start in zip(ranks, starts, strict=True)
    ]
    # A rank of which more is there to read may have older lines than the others.
    ends = [part.until_ns for part in parts if part.until_ns is not None]
    until_ns = min(ends, default=None)
    chosen = [_up_to(part, until_ns) for part in parts]
    lines = list(merge(*map(_with_rank, parts, chosen), key=lambda one: one.line.ts_ns))
    following = {
        part.rank: _after(part, len(taken)) for part, taken in zip(parts, chosen, strict=True)
    }
    is_read = all(len(taken) == len(part.lines) for part, taken in zip(parts, chosen, strict=True))
    is_over = all(part.is_over for part in parts) or attempt.state in states.TERMINAL
    return MergedLines(lines, following, is_read and is_over and until_ns is None)


def _ranks_of(attempt: Attempt) -> list[int]:
    return list(attempt.ranks.order_by("number").values_list("number", flat=True))


def _part(
    attempt: Attempt, rank: int, position: RankPosition, limit_bytes: int, open_bytes: int
) -> _Part:
    found = logs.read(attempt, position.offset, limit_bytes, rank)
    reading = Lines()
    lines: list[Line] = []
    for frame in found.frames:
        lines += reading.feed(frame)
    unfinished = reading.unfinished()
    following = reading.next
    if found.eof:
        lines += unfinished
        following += len(unfinished)
        unfinished = []
    open_from = min((one.byte_off for one in unfinished), default=found.next)
    is_more = found.next < found.total_bytes
    return _Part(
        rank,
        found.frames,
        _in_order(line for line in lines if line.number >= position.newlines),
        following,
        max(open_from, found.next - open_bytes),
        found.frames[-1].ts_ns if is_more and found.frames else None,
        found.eof,
    )


def _in_order(lines: Iterable[Line]) -> list[Line]:
    """Return the lines with times that never fall: a line may begin before the one above it."""
    ordered: list[Line] = []
    latest_ns = 0
    for line in lines:
        latest_ns = max(latest_ns, line.ts_ns)
        ordered.append(replace(line, ts_ns=latest_ns))
    return ordered


def _up_to(part: _Part, until_ns: int | None) -> list[Line]:
    if until_ns is None:
        return part.lines
    return [line for line in part.lines if line.ts_ns <= until_ns]


def _with_rank(part: _Part, lines: list[Line]) -> list[RankLine]:
    return [RankLine(part.rank, line) for line in lines]


def _after(part: _Part, taken: int) -> RankPosition:
    """Return where the rank's next line is read from, and how many lines to pass over there."""
    left = part.lines[taken:]
    offset = min((line.byte_off for line in left), default=part.open_from)
    offset = min(offset, part.open_from)
    wanted = left[0].number if left else part.following
    before = sum(
        frame.payload[: max(0, offset - frame.byte_off)].count(b"\n") for frame in part.frames
    )
    return RankPosition(offset, max(0, wanted - before))
