"""Serializers of lists: what Django REST framework answers, with less work for each value.

For each value of each row the framework looks the field up, walks its source, asks whether what it
found can be called, and converts it. Most values of a row are columns that need none of it. What
is not as plain as that, or not there, goes the framework's way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.fields import SkipField
from rest_framework.relations import PKOnlyObject

_Show = Callable[[Any], Any]

# Values of these types come out of these fields as they are.
_UNCHANGED: Final[dict[type, type]] = {
    serializers.CharField: str,
    serializers.IntegerField: int,
    serializers.FloatField: float,
    serializers.BooleanField: bool,
}
_UTC: Final = "+00:00"


class PlainRows:
    """A mixin before the serializer's class."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return the row as JSON has it."""
        row = {}
        for name, show in self._shown:
            try:
                row[name] = show(instance)
            except SkipField:
                continue
        return row

    @cached_property
    def _shown(self) -> list[tuple[str, _Show]]:
        fields = self._readable_fields  # type: ignore[attr-defined]  # of the serializer
        return [(field.field_name, self._show_of(field)) for field in fields]

    def _show_of(self, field: Any) -> _Show:
        if type(field) is serializers.SerializerMethodField:
            found: _Show = getattr(self, field.method_name)
            return found
        whole = _as_framework(field)
        if field.source == "*":
            return whole
        if type(field) in _UNCHANGED:
            return _column(field, _UNCHANGED[type(field)], whole)
        if type(field) is serializers.DateTimeField and not hasattr(field, "format"):
            return _moment(field, whole)
        return whole


def _as_framework(field: Any) -> _Show:
    def show(instance: Any) -> Any:
        value = field.get_attribute(instance)
        is_missing = (value.pk if isinstance(value, PKOnlyObject) else value) is None
        return None if is_missing else field.to_representation(value)

    return show


def _column(field: Any, kind: type, otherwise: _Show) -> _Show:
    read = attrgetter(field.source)

    def show(instance: Any) -> Any:
        try:
            value = read(instance)
        except AttributeError:
            return otherwise(instance)
        return value if type(value) is kind else otherwise(instance)

    return show


def _moment(field: Any, otherwise: _Show) -> _Show:
    read = attrgetter(field.source)

    def show(instance: Any) -> Any:
        try:
            value = read(instance)
        except AttributeError:
            return otherwise(instance)
        if type(value) is datetime:
            text = value.isoformat()
            if text.endswith(_UTC):
                return text.removesuffix(_UTC) + "Z"
        return otherwise(instance)

    return show
