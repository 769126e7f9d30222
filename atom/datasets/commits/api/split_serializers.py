"""Shapes of splits."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.core.names import TextField
from atom_sdk.errors import SplitSpecError
from atom_sdk.manifests.splits.requests import SplitRequest
from atom_sdk.sentences import Sentence


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class SplitSizeField(serializers.Field[int | str, Any, int | str, Any]):
    """A number of samples, or a part of them such as "20%"."""

    def to_internal_value(self, data: Any) -> int | str:
        """Return the size as it was given."""
        if isinstance(data, str) and data.isascii() and data.isdigit() and len(data) < 17:
            data = int(data)
        try:
            if not isinstance(data, int | str):
                raise SplitSpecError(
                    Sentence("datasets.not_a_size", "{value} is no size.", value=repr(data))
                )
            SplitRequest.from_json({"test": data})
        except SplitSpecError as error:
            raise serializers.ValidationError(
                "Give a number of samples, or a part such as 20%.",
                code="split_size",
            ) from error
        return data or 0

    def to_representation(self, value: int | str) -> int | str:
        """Return the size as it was given."""
        return value


class SplitSerializer(serializers.Serializer[Any]):
    """A seeded split that stays fixed by path over versions."""

    test = SplitSizeField(default=0)
    val = SplitSizeField(default=0)
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1, default=0)
    stratify = serializers.BooleanField(
        default=True, help_text="Each label has the same share in every split."
    )
    group_by = TextField(
        max_length=200,
        allow_blank=True,
        default="",
        help_text="Files of one `folder`, or of one `attributes.NAME`, stay in one split.",
    )
    redraw = serializers.BooleanField(
        default=False, help_text="Draw files that have a split again."
    )
    where = TextField(
        max_length=4000,
        allow_blank=True,
        default="",
        help_text="A query: only files that match it are drawn, others keep their split.",
    )
    view = TextField(
        max_length=63,
        allow_blank=True,
        default="",
        help_text="A saved view of the dataset: only its files are drawn.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what does not fit together."""
        try:
            # The query is read with the view's, where the dataset is known.
            SplitRequest.from_json({**attrs, "where": ""})
        except SplitSpecError as error:
            raise serializers.ValidationError(str(error)) from error
        return attrs


class NewSplitSerializer(SplitSerializer):
    """The fields of a version with another split."""

    branch = SlugField(default="main")
    message = TextField(max_length=10_000, allow_blank=True, default="")


class SplitCountSerializer(serializers.Serializer[Any]):
    """How many files a split would get."""

    name = serializers.CharField()
    total = serializers.IntegerField()
    unlabelled = serializers.IntegerField()
    labels = serializers.DictField(child=serializers.IntegerField())


class SplitPreviewSerializer(serializers.Serializer[Any]):
    """The counts of files that a split would give."""

    splits = SplitCountSerializer(many=True)
