"""Rows of lists are what Django REST framework makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from rest_framework import serializers

from atom.core.fast_serializers import PlainRows


class Part(serializers.Serializer[Any]):
    """Beside a row."""

    name = serializers.CharField()
    size = serializers.IntegerField()


class Row(serializers.Serializer[Any]):
    """Every kind of field that lists have."""

    id = serializers.UUIDField()
    text = serializers.CharField()
    of_another = serializers.CharField(source="other.name", default="none")
    may_miss = serializers.CharField(required=False)
    count = serializers.IntegerField()
    share = serializers.FloatField()
    is_on = serializers.BooleanField()
    state = serializers.ChoiceField(choices=["new", "old"])
    at = serializers.DateTimeField()
    whole = Part(source="*")
    part = Part(allow_null=True)
    parts = Part(many=True)
    sums = serializers.DictField(child=serializers.FloatField())
    made = serializers.SerializerMethodField()

    def get_made(self, row: Any) -> str:
        """Return something of the row and the context."""
        return f"{row.text} {self.context['word']}"


class PlainPart(PlainRows, Part):
    """The same with less work."""


class PlainRow(PlainRows, Row):
    """The same with less work."""

    whole = PlainPart(source="*")
    part = PlainPart(allow_null=True)
    parts = PlainPart(many=True)


def row(**changes: Any) -> SimpleNamespace:
    part = SimpleNamespace(name="part", size=2)
    values = {
        "id": uuid4(),
        "text": "text",
        "other": SimpleNamespace(name="other"),
        "may_miss": "there",
        "count": 3,
        "share": 0.5,
        "is_on": True,
        "state": "new",
        "at": datetime(2026, 11, 23, 1, 2, 3, 4, tzinfo=UTC),
        "name": "row",
        "size": 1,
        "part": part,
        "parts": [part, part],
        "sums": {"a": 1},
    }
    return SimpleNamespace(**{**values, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"text": 7, "count": "8", "share": 1, "is_on": 1, "name": 9},
        {"text": None, "count": None, "share": None, "is_on": None, "at": None, "part": None},
        {"other": None},
        {"other": SimpleNamespace()},
        {"text": lambda: "called", "count": lambda: 4},
        {"at": datetime(2026, 11, 23, tzinfo=timezone(timedelta(hours=8)))},
        {"at": datetime(2026, 11, 23)},  # noqa: DTZ001  # as a row may have it
        {"at": "2026-11-23"},
        {"count": True, "is_on": False},
        {"parts": [], "sums": {}},
    ],
)
def test_a_row_is_the_same(changes: dict[str, Any]) -> None:
    one, context = row(**changes), {"word": "word"}
    rows: Any = [one, one]
    assert PlainRow(rows, many=True, context=context).data == (
        Row(rows, many=True, context=context).data
    )


def test_what_may_miss_is_left_out_and_what_must_not_is_told() -> None:
    one = row()
    del one.may_miss
    assert "may_miss" not in PlainRow(one, context={"word": ""}).data
    del one.text
    with pytest.raises(AttributeError, match="`text`"):
        _ = PlainRow(one, context={"word": ""}).data


def test_dictionaries_are_rows_too() -> None:
    assert PlainPart({"name": "a", "size": 1}).data == {"name": "a", "size": 1}
