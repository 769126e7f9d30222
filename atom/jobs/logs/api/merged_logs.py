"""The logs of all ranks of a run on several nodes, as one."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import Invalid, NotFound
from atom.jobs.api_base import RunScopedView
from atom.jobs.json_values import number_of
from atom.jobs.logs.actions.merged_logs import Positions, RankPosition, read_merged, tails
from atom.jobs.reads import find_attempt
from atom_sdk.runner.frames import STREAM_NAMES
from atom_sdk.sentences import Sentence

DEFAULT_BYTES = 256 << 10
MOST_BYTES = 4 << 20
# One position for each rank: its number, an offset and a count of lines.
_POSITIONS = re.compile(r"\d{1,6}:\d{1,18}:\d{1,18}(?:,\d{1,6}:\d{1,18}:\d{1,18})*")
_MOST_CHARACTERS = 20_000

PARAMETERS = [
    OpenApiParameter("attempt", str, description="Number or id; the last one if left out."),
    OpenApiParameter("after", str, description="`next` of the answer before this one."),
    OpenApiParameter("tail_bytes", int, description="Begin so many bytes before each log's end."),
    OpenApiParameter("limit_bytes", int),
]
MERGED = inline_serializer(
    "RunMergedLog",
    {
        "attempt": serializers.IntegerField(),
        "attempt_id": serializers.UUIDField(allow_null=True),
        "lines": inline_serializer(
            "RunMergedLine",
            {
                "rank": serializers.IntegerField(),
                "ts_ns": serializers.IntegerField(),
                "stream": serializers.CharField(),
                "text": serializers.CharField(),
            },
            many=True,
        ),
        "next": serializers.CharField(),
        "eof": serializers.BooleanField(),
    },
)


class MergedLogsView(RunScopedView):
    """`runs/<id>/logs/merged/`: lines of all ranks in the order of their times."""

    @extend_schema(operation_id="runs_logs_merged", parameters=PARAMETERS, responses=MERGED)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the next lines of all ranks, and where to go on."""
        wanted = request.query_params.get("attempt", "")
        after = _positions(request.query_params.get("after", ""))
        try:
            attempt = find_attempt(self.run, wanted)
        except NotFound:
            if wanted:
                raise
            return Response(_NOTHING_YET)
        limit = number_of(request, "limit_bytes", DEFAULT_BYTES) or DEFAULT_BYTES
        tail = number_of(request, "tail_bytes", None)
        if not after and tail is not None:
            after = tails(attempt, max(0, tail))
        found = read_merged(attempt, after, max(1, min(limit, MOST_BYTES)))
        lines = [
            {
                "rank": one.rank,
                "ts_ns": one.line.ts_ns,
                "stream": STREAM_NAMES[one.line.fd],
                "text": one.line.text,
            }
            for one in found.lines
        ]
        return Response(
            {
                "attempt": attempt.number,
                "attempt_id": str(attempt.pk),
                "lines": lines,
                "next": _text_of(found.next),
                "eof": found.eof,
            }
        )


_NOTHING_YET: dict[str, Any] = {
    "attempt": 0,
    "attempt_id": None,
    "lines": [],
    "next": "",
    "eof": False,
}


def _positions(text: str) -> Positions:
    if not text:
        return {}
    if len(text) > _MOST_CHARACTERS or not _POSITIONS.fullmatch(text):
        raise Invalid(
            errors={
                "after": [
                    Sentence(
                        "jobs.merged_position", "Give what the answer before this one had as next."
                    )
                ]
            }
        )
    parts = (part.split(":") for part in text.split(","))
    return {int(rank): RankPosition(int(offset), int(lines)) for rank, offset, lines in parts}


def _text_of(positions: Positions) -> str:
    return ",".join(f"{rank}:{one.offset}:{one.newlines}" for rank, one in positions.items())
