"""Values as JSON and OpenAPI can hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from atom.core.errors import Invalid
from atom_sdk.runner.metric_rows import NOT_FINITE, number
from atom_sdk.sentences import Sentence


@extend_schema_field(
    {
        "oneOf": [
            {"type": "number", "format": "double"},
            {"type": "string", "enum": list(NOT_FINITE)},
        ],
        "description": "A number; what JSON has no number for is one of three words.",
    }
)
class MetricValueField(serializers.FloatField):
    """A value of a metric, which may be NaN or infinite."""

    def to_representation(self, value: Any) -> Any:
        """Return a number, or a text of NOT_FINITE."""
        return number(value)


def names(kinds: Iterable[str]) -> list[str]:
    """Return an enumeration as the choices of a field."""
    return [str(kind) for kind in kinds]


def number_of(request: Request, name: str, default: int | None = None) -> int | None:
    """Return a whole number of the query. Raises Invalid."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    try:
        return int(text)
    except ValueError as error:
        raise Invalid(
            errors={name: [Sentence("fields.whole_number", "Give a whole number.")]}
        ) from error
