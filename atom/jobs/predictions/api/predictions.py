"""`runs/<id>/predictions/`: a model's prediction for each file, filtered and by confidence."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
from drf_spectacular.utils import OpenApiParameter, extend_schema
from numpy.typing import NDArray
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import AtomError, Invalid
from atom.core.pagination import decode_cursor, encode_cursor, parse_limit
from atom.core.query import refuse_unknown
from atom.datasets.browsing.api.entry_serializers import EntrySerializer
from atom.datasets.browsing.api.rendering import EntryRenderer
from atom.datasets.browsing.reads import open_version
from atom.datasets.models import Version
from atom.jobs.api_base import RunScopedView
from atom.jobs.predictions.actions.predictions import predicted_version, predictions_of
from atom.jobs.predictions.engines.predictions import PredictionFilter, Predictions, chosen
from atom_sdk.sentences import Sentence

_PARAMETERS = ("true", "predicted", "wrong", "confidence_min", "confidence_max", "order")
_ORDERS = {"": False, "-confidence": False, "confidence": True}


class PredictionPlaceSerializer(serializers.Serializer[Any]):
    """The boxes of a detector's row, in pixels of the upright picture."""

    kind = serializers.CharField(
        help_text="right, double, wrong_class, misplaced, wrong_and_misplaced, false or missed."
    )
    width = serializers.IntegerField(help_text="Width of the upright picture, in pixels.")
    height = serializers.IntegerField()
    detected = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text="[x, y, width, height] of the detection; null for a missed object.",
    )
    true = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text="[x, y, width, height] of the object; null where nothing is there.",
    )


class PredictionSerializer(serializers.Serializer[Any]):
    """The model's prediction for one file; `entry` is null where the file cannot be shown."""

    path = serializers.CharField()
    true = serializers.CharField()
    predicted = serializers.CharField()
    confidence = serializers.FloatField(help_text="0 to 1.")
    place = PredictionPlaceSerializer(
        allow_null=True,
        help_text="Null unless a detector says where, with the size of the picture.",
    )
    entry = EntrySerializer(allow_null=True)


class PredictionPageSerializer(serializers.Serializer[Any]):
    """One page of predictions."""

    dataset = serializers.CharField(allow_null=True)
    ref = serializers.CharField(allow_null=True)
    split = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    measured = serializers.IntegerField(help_text="Files that the model was asked about.")
    kept = serializers.IntegerField(help_text="Files among these whose prediction is kept.")
    total = serializers.IntegerField(help_text="Files that match.")
    results = PredictionSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class PredictionsView(RunScopedView):
    """Predictions of one run."""

    @extend_schema(
        operation_id="run_predictions",
        parameters=[
            OpenApiParameter("true", str, description="Files of this label."),
            OpenApiParameter("predicted", str, description="Files that the model calls so."),
            OpenApiParameter("wrong", bool, description="Mistakes only; false: right ones only."),
            OpenApiParameter("confidence_min", float, description="At least so sure, 0 to 1."),
            OpenApiParameter("confidence_max", float, description="At most so sure, 0 to 1."),
            OpenApiParameter("order", str, enum=["confidence", "-confidence"]),
            OpenApiParameter("limit", int),
            OpenApiParameter("cursor", str),
        ],
        responses=PredictionPageSerializer,
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the predictions that match, by default the surest first."""
        refuse_unknown(request, (*_PARAMETERS, "limit", "cursor"))
        predictions = predictions_of(self.run)
        rows = chosen(predictions, _filter_of(request))
        limit, start = parse_limit(request), _start_of(request)
        page = rows[start : start + limit]
        version = predicted_version(self.run)
        entries = _entries(version, [predictions.paths[row] for row in page.tolist()])
        results = [
            {
                "path": predictions.paths[row],
                "true": predictions.labels[predictions.true[row]],
                "predicted": predictions.labels[predictions.predicted[row]],
                "confidence": float(predictions.confidence[row]),
                "place": _place_of(predictions, row),
                "entry": entries.get(predictions.paths[row]),
            }
            for row in page.tolist()
        ]
        more = start + limit < len(rows)
        shown = {
            "dataset": version.dataset.name if version else None,
            "ref": version.ref if version else None,
            "split": predictions.split,
            "labels": predictions.labels,
            "measured": predictions.total,
            "kept": len(predictions.paths),
            "total": len(rows),
            "results": results,
            "next": encode_cursor([start + limit]) if more else None,
        }
        return Response(PredictionPageSerializer(shown).data)


def _place_of(predictions: Predictions, row: int) -> dict[str, Any] | None:
    places = predictions.places
    if places is None or not places.sizes[row].all() or np.isnan(places.sizes[row]).any():
        return None
    width, height = places.sizes[row].tolist()
    return {
        "kind": places.kinds[row],
        "width": int(width),
        "height": int(height),
        "detected": _box_of(places.detected[row]),
        "true": _box_of(places.true[row]),
    }


def _box_of(sides: NDArray[np.float64]) -> list[float] | None:
    return None if np.isnan(sides).any() else sides.tolist()


def _entries(version: Version | None, paths: list[str]) -> dict[str, dict[str, Any]]:
    """Return files as the API shows them, by path; none if the version has expired."""
    if version is None:
        return {}
    try:
        browser = open_version(version)
    except AtomError:
        # The version cannot be read, for example expired; the predictions still count.
        return {}
    return EntryRenderer(version.dataset.project).render_at(browser, paths)


def _filter_of(request: Request) -> PredictionFilter:
    query = request.query_params
    order, wrong = query.get("order", ""), query.get("wrong", "")
    if order not in _ORDERS:
        raise Invalid(
            errors={
                "order": [
                    Sentence("jobs.prediction_order_unknown", "Give confidence or -confidence.")
                ]
            }
        )
    if wrong not in ("", "1", "0", "true", "false"):
        raise Invalid(errors={"wrong": [Sentence("fields.true_or_false", "Give true or false.")]})
    return PredictionFilter(
        true=query.get("true"),
        predicted=query.get("predicted"),
        wrong=wrong in ("1", "true") if wrong else None,
        least=_share_of(request, "confidence_min", 0.0),
        most=_share_of(request, "confidence_max", 1.0),
        ascending=_ORDERS[order],
    )


def _share_of(request: Request, name: str, default: float) -> float:
    text = request.query_params.get(name, "")
    try:
        share = float(text) if text else default
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise Invalid(errors={name: [Sentence("fields.share", "Give a number from 0 to 1.")]})
    return share


def _start_of(request: Request) -> int:
    cursor = request.query_params.get("cursor")
    text = decode_cursor(cursor, 1)[0] if cursor else "0"
    if not text.isdecimal() or len(text) > 9:
        raise Invalid(
            errors={
                "cursor": [
                    Sentence("jobs.prediction_cursor_invalid", "Give `next` of the last page.")
                ]
            }
        )
    return int(text)
