"""Searching a run's log, and downloading it: whole, or the lines that match."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import Invalid, NotFound
from atom.core.query import choice, refuse_unknown
from atom.core.streaming import streamed
from atom.jobs.api_base import RunScopedView
from atom.jobs.json_values import number_of
from atom.jobs.logs.actions import log_search, logs
from atom.jobs.logs.api.logs import rank_of
from atom.jobs.logs.engines import log_errors
from atom.jobs.logs.engines.log_lines import Line
from atom.jobs.logs.engines.log_search import MAX_PATTERN, Match, PatternError, Position, Query
from atom.jobs.models import LogStream
from atom.jobs.reads import find_attempt
from atom_sdk.runner.frames import STREAM_NAMES
from atom_sdk.sentences import Sentence

MAX_CONTEXT = 20
MAX_MATCHES = 1000
# A longer line is cut to this many characters, around the match if that is further right.
_SHOWN_CHARS = 2000
_BEFORE_MATCH_CHARS = 200
_CURSOR = re.compile(r"(\d{1,18})\.(\d{1,18})\.(\d{1,18})")
_FLAG = ["0", "1"]
_WANTED = [
    OpenApiParameter("attempt", str, description="Number or id; the last one if left out."),
    OpenApiParameter("rank", int, description="A rank of several nodes; 0 if left out."),
    OpenApiParameter("q", str, description=f"The text to find, up to {MAX_PATTERN} characters."),
    OpenApiParameter("regex", str, enum=_FLAG, description="`q` is a regular expression (RE2)."),
    OpenApiParameter("case", str, enum=_FLAG, description="Upper and lower case differ."),
    OpenApiParameter(
        "errors", str, enum=_FLAG, description="Lines that report an error, without `q`."
    ),
    OpenApiParameter("stream", str, enum=["stdout", "stderr", "all"]),
]
_PAGED = ["context", "limit", "cursor"]


class LogLineSerializer(serializers.Serializer[Any]):
    """A line; its number counts from 1."""

    line = serializers.IntegerField()
    stream = serializers.CharField()
    text = serializers.CharField()


class LogMatchSerializer(LogLineSerializer):
    """A line that matches."""

    byte_off = serializers.IntegerField()
    ts_ns = serializers.IntegerField()
    spans = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="Where in the text it matches: pairs of characters, the second one exclusive.",
    )
    cut = serializers.BooleanField(help_text="The line is longer than its text here.")
    kind = serializers.ChoiceField(choices=["", *log_errors.KINDS])
    summary = serializers.CharField(help_text="The exception at the end of a traceback.")
    before = LogLineSerializer(many=True)
    after = LogLineSerializer(many=True)


class LogMatchesSerializer(serializers.Serializer[Any]):
    """A page of matches. `next` goes on; when complete, with what the log says from now on."""

    attempt = serializers.IntegerField()
    matches = LogMatchSerializer(many=True)
    next = serializers.CharField()
    settled_lines = serializers.IntegerField(
        help_text="This many lines have ended; matches in later lines come again."
    )
    complete = serializers.BooleanField()
    searched_bytes = serializers.IntegerField()
    total_bytes = serializers.IntegerField()


def query_of(request: Request, context: int = 0) -> Query | None:
    """Return what the address asks to find, or None. Raises Invalid."""
    text = request.query_params.get("q", "")
    errors = _flag(request, "errors")
    if text and errors:
        raise Invalid(
            errors={
                "errors": [
                    Sentence("jobs.errors_or_text", "Ask for errors or for a text, not for both.")
                ]
            }
        )
    if not text and not errors:
        return None
    if len(text) > MAX_PATTERN:
        raise Invalid(
            errors={
                "q": [
                    Sentence(
                        "fields.too_long",
                        "Ensure this field has no more than {max_characters} characters.",
                        max_characters=MAX_PATTERN,
                    )
                ]
            }
        )
    regex, case = _flag(request, "regex"), _flag(request, "case")
    return Query(text, regex, case, errors, _fds_of(request), context)


def _fds_of(request: Request) -> frozenset[int]:
    wanted = choice(request, "stream", ("all", *STREAM_NAMES.values()), default="all")
    return frozenset(fd for fd, name in STREAM_NAMES.items() if wanted in ("all", name))


def _flag(request: Request, name: str) -> bool:
    return choice(request, name, _FLAG, default="0") == "1"


def refused(error: PatternError) -> Invalid:
    """Return the answer to a regular expression that cannot be used."""
    return Invalid(errors={"q": [str(error)]})


class LogSearchView(RunScopedView):
    """`runs/<id>/logs/search/`."""

    @extend_schema(
        operation_id="runs_logs_search",
        parameters=[
            *_WANTED,
            OpenApiParameter("context", int, description="Lines before and after; at most 20."),
            OpenApiParameter("limit", int, description="Matches; at most 1,000."),
            OpenApiParameter("cursor", str, description="`next` of the answer before."),
        ],
        responses=LogMatchesSerializer,
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Find lines by text, by regular expression, or because they report an error."""
        refuse_unknown(request, [*(one.name for one in _WANTED), *_PAGED])
        context = _bounded(request, "context", 0, MAX_CONTEXT)
        query = query_of(request, context)
        if query is None:
            raise Invalid(
                errors={
                    "q": [
                        Sentence(
                            "jobs.search_text_missing", "Say what to find, or ask for errors=1."
                        )
                    ]
                }
            )
        limit = max(1, _bounded(request, "limit", 200, MAX_MATCHES))
        position = _position(request.query_params.get("cursor", ""))
        try:
            attempt = find_attempt(self.run, request.query_params.get("attempt", ""))
        except NotFound:
            if request.query_params.get("attempt"):
                raise
            return Response(_nothing(position))
        try:
            found = log_search.search(attempt, query, position, limit, rank_of(request, attempt))
        except PatternError as error:
            raise refused(error) from error
        return Response(
            {
                "attempt": attempt.number,
                "matches": [_match(one) for one in found.matches],
                "next": _cursor(found.next),
                "settled_lines": found.next.after,
                "complete": found.complete,
                "searched_bytes": found.reached_bytes,
                "total_bytes": found.total_bytes,
            }
        )


def _bounded(request: Request, name: str, default: int, most: int) -> int:
    given = number_of(request, name, default) or 0
    if not 0 <= given <= most:
        raise Invalid(
            errors={
                name: [
                    Sentence(
                        "fields.whole_number_up_to", "Give a whole number up to {max}.", max=most
                    )
                ]
            }
        )
    return given


def _position(cursor: str) -> Position:
    if not cursor:
        return Position()
    if (found := _CURSOR.fullmatch(cursor)) is None:
        raise Invalid(
            errors={
                "cursor": [
                    Sentence("jobs.log_cursor_invalid", "Give the `next` of an earlier answer.")
                ]
            }
        )
    return Position(*map(int, found.groups()))


def _cursor(position: Position) -> str:
    return f"{position.offset}.{position.line}.{position.after}"


def _nothing(position: Position) -> dict[str, Any]:
    return {
        "attempt": 0,
        "matches": [],
        "next": _cursor(position),
        "settled_lines": 0,
        "complete": True,
        "searched_bytes": 0,
        "total_bytes": 0,
    }


def _line(line: Line) -> dict[str, Any]:
    text = line.text[:_SHOWN_CHARS]
    return {"line": line.number + 1, "stream": STREAM_NAMES[line.fd], "text": text}


def _match(match: Match) -> dict[str, Any]:
    first = match.spans[0][0] if match.spans else 0
    start = max(0, first - _BEFORE_MATCH_CHARS) if len(match.text) > _SHOWN_CHARS else 0
    text = match.text[start : start + _SHOWN_CHARS]
    inside = [(a - start, min(b - start, len(text))) for a, b in match.spans]
    return {
        **_line(match.line),
        "text": text,
        "byte_off": match.line.byte_off,
        "ts_ns": match.line.ts_ns,
        "spans": [list(span) for span in inside if span[0] < len(text)],
        "cut": len(text) < len(match.text),
        "kind": match.kind,
        "summary": match.summary[:_SHOWN_CHARS],
        "before": [_line(one) for one in match.before],
        "after": [_line(one) for one in match.after],
    }


class RawLogView(RunScopedView):
    """`runs/<id>/logs/raw/`."""

    @extend_schema(
        operation_id="runs_logs_raw",
        parameters=_WANTED,
        responses={(200, "text/plain"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, run_id: UUID) -> StreamingHttpResponse:
        """Download the log as the command wrote it, or the lines that match, without colours.

        With `stream` alone, the bytes of one stream.
        """
        attempt = find_attempt(self.run, request.query_params.get("attempt", ""))
        rank = rank_of(request, attempt)
        query = query_of(request)
        try:
            lines = log_search.matching_text(attempt, query, rank) if query else None
        except PatternError as error:
            raise refused(error) from error
        fds = _fds_of(request)
        pieces = lines or _bytes_of(logs.stream_of(attempt, rank), fds)
        response = StreamingHttpResponse(streamed(pieces), content_type="text/plain; charset=utf-8")
        part = f"-rank-{rank}" if rank else ""
        part += "".join(f"-{STREAM_NAMES[fd]}" for fd in fds) if len(fds) == 1 else ""
        part += "-matches" if query else ""
        name = f"run-{self.run.number}-attempt-{attempt.number}{part}.log"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["X-Content-Type-Options"] = "nosniff"
        return response


def _bytes_of(stream: LogStream, fds: Collection[int]) -> Iterator[bytes]:
    for frame in logs.iterate(stream, 0, 1 << 62):
        if frame.fd in fds:
            yield frame.payload
