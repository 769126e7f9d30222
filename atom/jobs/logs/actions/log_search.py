"""Search in an attempt's log: in chunks first, then in the stream of recent data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from atom.jobs.logs.actions import logs
from atom.jobs.logs.engines.log_search import Match, Position, Query, Search
from atom.jobs.models import Attempt, LogStream

# One request searches at most this much and returns where to go on.
SEARCHED_BYTES = 64 << 20
_SEARCHED_S = 4.0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Matches, and where a later search goes on; `complete` if the search reached the log's end."""

    matches: list[Match]
    next: Position
    complete: bool
    reached_bytes: int
    total_bytes: int


def search(
    attempt: Attempt, query: Query, position: Position, limit: int, rank: int = 0
) -> SearchResult:
    """Return up to about `limit` matches in a rank's log. Raises PatternError."""
    stream = logs.stream_of(attempt, rank)
    total = logs.length(stream)
    end = min(total, position.offset + SEARCHED_BYTES)
    looking = Search(query, position)
    ends_at_s = time.monotonic() + _SEARCHED_S
    reached = min(position.offset, total)
    stopped = False
    for frame in logs.iterate(stream, position.offset, end):
        looking.feed(frame)
        reached = frame.end
        enough = len(looking.matches) >= limit and looking.settled
        if enough or time.monotonic() > ends_at_s:
            stopped = reached < total
            break
    complete = not stopped and reached >= total
    # Before that: what comes next may belong to the lines that are unfinished now.
    after = looking.resume_at()
    if complete:
        looking.finish()
    return SearchResult(looking.matches, after, complete, reached, total)


def matching_text(attempt: Attempt, query: Query, rank: int = 0) -> Iterator[bytes]:
    """Yield the lines of a rank that match, as a terminal shows them. Raises PatternError."""
    looking = Search(query)
    return _lines(logs.stream_of(attempt, rank), looking)


def _lines(stream: LogStream, looking: Search) -> Iterator[bytes]:
    for frame in logs.iterate(stream, 0, 1 << 62):
        looking.feed(frame)
        yield from _drained(looking)
    looking.finish()
    yield from _drained(looking)


def _drained(looking: Search) -> Iterator[bytes]:
    found, looking.matches = looking.matches, []
    return (f"{match.text}\n".encode() for match in found)
