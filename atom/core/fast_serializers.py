"""Serializers whose fields are made once for each class."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from rest_framework.serializers import Field


class FieldsOnce:
    """A mixin before the serializer's class: it copies its fields in place of making them.

    The framework derives the fields of a model's serializer from the model for each answer. For the
    page of a run that takes a quarter of the request (bench/api/hot_lists.py).
    """

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        """Return copies of the fields of the class."""
        cls = type(self)
        if "_fields_of_class" not in cls.__dict__:
            cls._fields_of_class = super().get_fields()  # type: ignore[misc]  # of a serializer
        return copy.deepcopy(cls._fields_of_class)

    _fields_of_class: ClassVar[dict[str, Field[Any, Any, Any, Any]]]
