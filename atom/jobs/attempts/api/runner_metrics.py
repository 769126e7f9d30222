"""Points of curves, as runners send them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import Invalid
from atom.core.foreign_json import read_json
from atom.jobs.attempts.api.runner import RawParser, RunnerView
from atom.jobs.metrics.actions import metrics
from atom.jobs.models import Attempt
from atom_sdk.sentences import Sentence


class RunnerMetricsView(RunnerView):
    """`runner/metrics/`: numbered batches of points."""

    parser_classes: tuple[type[BaseParser], ...] = (RawParser,)

    @extend_schema(
        operation_id="runner_metrics",
        request=inline_serializer(
            "RunnerMetrics",
            {
                "seq": serializers.IntegerField(),
                "rows": serializers.ListField(
                    child=serializers.DictField(),
                    required=False,
                    help_text='`{"step", "ts_ms", "values": {key: value}}`.',
                ),
                "points": serializers.ListField(
                    child=serializers.ListField(),
                    required=False,
                    help_text="`[key, step, ts_ms, value]`, in place of rows.",
                ),
            },
        ),
        responses=inline_serializer(
            "RunnerMetricsNext",
            {
                "next_seq": serializers.IntegerField(),
                "refused": serializers.IntegerField(help_text="Points that cannot be stored."),
                "said": serializers.CharField(help_text="The reason for the first refused point."),
            },
        ),
    )
    def post(self, request: Request) -> Response:
        """Store the sound points of a batch once."""
        seq, store, given = _batch(cast("bytes", request.data))
        stored = store(self.attempt, seq, given, self.rank.number)
        body = {"next_seq": stored.next_seq, "refused": stored.refused, "said": stored.first_reason}
        return Response(body)


_Store = Callable[[Attempt, int, list[Any], int], metrics.Ingested]


def _batch(body: bytes) -> tuple[int, _Store, list[Any]]:
    """Return the number of a batch, by what it is stored, and what it holds."""
    # The strict parser refuses NaN and infinity, which a diverging loss has.
    try:
        data = read_json(body)
        of_rows = "rows" in data
        seq, given = data["seq"], data["rows" if of_rows else "points"]
    except (ValueError, KeyError, TypeError) as error:
        raise Invalid(
            Sentence(
                "jobs.batch_malformed",
                ('Expected {{"seq": …, "rows": [{{"step": …, "ts_ms": …, "values": {{…}}}}, …]}}.'),
            )
        ) from error
    if not isinstance(seq, int) or not isinstance(given, list) or seq < 0:
        raise Invalid(
            errors={
                "seq": [
                    Sentence("jobs.batch_number_missing", "Give the number of the batch, from 0.")
                ]
            }
        )
    return seq, metrics.ingest_rows if of_rows else metrics.ingest, given
