"""Shapes of the first rows of a file that is a table."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class TableColumnSerializer(serializers.Serializer[Any]):
    """A column, typed by the rows that are shown or by what the file declares."""

    name = serializers.CharField()
    type = serializers.ChoiceField(choices=["integer", "number", "boolean", "time", "text"])
    declared = serializers.CharField(help_text="The type as the file has it; empty if it has none.")


class PreviewTableSerializer(serializers.Serializer[Any]):
    """The first rows: 1,000 of a text, 100 of a Parquet file."""

    columns = TableColumnSerializer(many=True)
    rows = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_null=True))
    )
    row_count = serializers.IntegerField(
        allow_null=True, help_text="Rows of the whole file; null where it does not say."
    )
    row_groups = serializers.IntegerField(
        allow_null=True, help_text="Parquet files have these alone."
    )
    column_count = serializers.IntegerField(help_text="Columns of the whole file.")
    writer = serializers.CharField(
        help_text="The program that wrote a Parquet file, as the file names it; or empty."
    )
