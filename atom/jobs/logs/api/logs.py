"""The log of a run: one byte sequence per attempt, resumed by one offset."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import NotFound
from atom.core.query import choice
from atom.jobs import states
from atom.jobs.api_base import RunScopedView
from atom.jobs.json_values import number_of
from atom.jobs.logs.actions import logs
from atom.jobs.logs.actions.logs import LogSlice
from atom.jobs.logs.engines import log_text
from atom.jobs.logs.engines.log_search import MAX_PATTERN, Query, Search
from atom.jobs.models import Attempt, LogStream
from atom.jobs.reads import find_attempt
from atom_sdk.runner.frames import STREAM_NAMES, Frame
from atom_sdk.sentences import Sentence

DEFAULT_LOG_BYTES = 256 << 10


MAX_LOG_BYTES = 4 << 20


# A search looks at so much in one request and answers where to go on.
SEARCHED_BYTES = 32 << 20


MAX_MATCHES = 1000


LOG_PARAMETERS = [
    OpenApiParameter("attempt", str, description="Number or id; the last one if left out."),
    OpenApiParameter("rank", int, description="A rank of several nodes; 0 if left out."),
    OpenApiParameter("stream", str, enum=["stdout", "stderr", "all"]),
    OpenApiParameter("from", int, description="Byte offset; negative counts from the end."),
    OpenApiParameter("limit_bytes", int),
    OpenApiParameter("q", str, description="Only lines that contain this."),
]


LOG = inline_serializer(
    "RunLog",
    {
        "attempt": serializers.IntegerField(),
        "attempt_id": serializers.UUIDField(),
        "rank": serializers.IntegerField(),
        "streams": inline_serializer(
            "RunLogStream",
            {
                "stream": serializers.CharField(),
                "bytes": serializers.IntegerField(),
                "lines": serializers.IntegerField(),
                "eof": serializers.BooleanField(),
            },
            many=True,
        ),
        "frames": inline_serializer(
            "RunLogFrame",
            {
                "stream": serializers.CharField(),
                "seq": serializers.IntegerField(),
                "byte_off": serializers.IntegerField(),
                "ts_ns": serializers.IntegerField(),
                "fd": serializers.IntegerField(),
                "text": serializers.CharField(),
            },
            many=True,
        ),
        "next": serializers.IntegerField(),
        "eof": serializers.BooleanField(),
    },
)


class LogsView(RunScopedView):
    """`runs/<id>/logs/`: one byte sequence per attempt, resumed by one offset."""

    @extend_schema(operation_id="runs_logs", parameters=LOG_PARAMETERS, responses=LOG)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return a part of the log, or its lines that match."""
        try:
            attempt = find_attempt(self.run, request.query_params.get("attempt", ""))
        except NotFound:
            if request.query_params.get("attempt"):
                raise
            return Response(_NO_LOG_YET)
        rank = rank_of(request, attempt)
        query = request.query_params.get("q", "")
        limit = SEARCHED_BYTES if query else number_of(request, "limit_bytes", DEFAULT_LOG_BYTES)
        start = _start(attempt, number_of(request, "from", 0) or 0, rank)
        cap = SEARCHED_BYTES if query else MAX_LOG_BYTES
        found = logs.read(attempt, start, max(1, min(limit or 1, cap)), rank)
        wanted = choice(request, "stream", ("all", *STREAM_NAMES.values()), default="all")
        fds = {fd for fd, name in STREAM_NAMES.items() if wanted in ("all", name)}
        rows = _matches(found.frames, Query(query[:MAX_PATTERN])) if query else _rows(found)
        return Response(_log(attempt, rank, found, [row for row in rows if row["fd"] in fds]))


def rank_of(request: Request, attempt: Attempt) -> int:
    """Return the rank that a request names, 0 if none. Raises Invalid, NotFound."""
    rank = number_of(request, "rank", 0) or 0
    if rank and not attempt.ranks.filter(number=rank).exists():
        raise NotFound(Sentence("jobs.rank_unknown", "The attempt has no rank {rank}.", rank=rank))
    return rank


_NO_LOG_YET: dict[str, Any] = {
    "attempt": 0,
    "attempt_id": None,
    "rank": 0,
    "streams": [],
    "frames": [],
    "next": 0,
    "eof": False,
}


def _start(attempt: Attempt, start: int, rank: int) -> int:
    if start >= 0:
        return start
    return max(0, logs.read(attempt, 1 << 62, 1, rank).total_bytes + start)


def _rows(found: LogSlice) -> list[dict[str, Any]]:
    shown = zip(found.frames, logs.texts(found), strict=True)
    return [_row(one.fd, one.byte_off, one.ts_ns, text) for one, text in shown]


def _matches(frames: list[Frame], query: Query) -> list[dict[str, Any]]:
    looking = Search(query)
    for frame in frames:
        looking.feed(frame)
    looking.finish()
    lines = [match.line for match in looking.matches[:MAX_MATCHES]]
    return [
        _row(one.fd, one.byte_off, one.ts_ns, f"{log_text.text_of(one.raw)}\n") for one in lines
    ]


def _row(fd: int, byte_off: int, ts_ns: int, text: str) -> dict[str, Any]:
    # A frame is named by its offset: unique in its stream and rising, as a sequence number is.
    return {
        "stream": STREAM_NAMES[fd],
        "seq": byte_off,
        "byte_off": byte_off,
        "ts_ns": ts_ns,
        "fd": fd,
        "text": text,
    }


def _log(
    attempt: Attempt, rank: int, found: LogSlice, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "attempt": attempt.number,
        "attempt_id": str(attempt.pk),
        "rank": rank,
        "streams": [
            {
                "stream": LogStream.name_of(rank),
                "bytes": found.total_bytes,
                "lines": found.lines,
                "eof": found.eof,
            }
        ],
        "frames": rows,
        "next": found.next,
        # An attempt that was over before its supervisor started has no log that could end.
        "eof": found.eof or attempt.state in states.TERMINAL,
    }
