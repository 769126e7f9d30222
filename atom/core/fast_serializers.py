"""Serializers of lists: what Django REST framework answers, with less work for each value.

For each value of each row the framework looks the field up, walks its source, asks whether the
value can be called, and converts it. Most values of a row are columns that need none of it. Other
values, and missing ones, go the framework's way.

It also makes all fields again for each answer, from those of the model. Fields whose value is shown
alike to everybody are made once for each class.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, ClassVar, Final

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
_ALIKE: Final = {
    *_UNCHANGED,
    serializers.ChoiceField,
    serializers.DateTimeField,
    serializers.DictField,
    serializers.JSONField,
    serializers.ListField,
    serializers.UUIDField,
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
        if "fields" in self.__dict__ or getattr(self.root, "partial", False):  # type: ignore[attr-defined]
            # Somebody has changed them, or what is missing is left out.
            fields = self._readable_fields  # type: ignore[attr-defined]
            return [(field.field_name, self._show_of(field)) for field in fields]
        return [(name, show or self._show_of(self._own(name))) for name, show in self._once()]

    @classmethod
    def _once(cls) -> list[tuple[str, _Show | None]]:
        """Return how each value is shown; None where that is up to the serializer."""
        if "_shown_alike" not in cls.__dict__:
            model: Any = cls()
            cls._fields_of_all = model.fields
            # Set last, because other threads test for it.
            cls._shown_alike = [
                (field.field_name, _show(field) if _is_alike(field) else None)
                for field in model._readable_fields
            ]
        return cls._shown_alike

    def _own(self, name: str) -> Any:
        field = copy.deepcopy(self._fields_of_all[name])
        field.bind(name, self)
        return field

    def _show_of(self, field: Any) -> _Show:
        if type(field) is serializers.SerializerMethodField:
            found: _Show = getattr(self, field.method_name)
            return found
        return _show(field)

    _shown_alike: ClassVar[list[tuple[str, _Show | None]]]
    _fields_of_all: ClassVar[Any]


def _is_alike(field: Any) -> bool:
    """Whether the field shows a value without asking its serializer."""
    child = getattr(field, "child", None)
    return type(field) in _ALIKE and (child is None or _is_alike(child))


def _show(field: Any) -> _Show:
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
