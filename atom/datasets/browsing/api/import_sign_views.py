"""`versions/<ref>/import-signs/`: what of a version an import could read."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.datasets.browsing.engines.import_signs import NAMED_ARCHIVES, SIGN_FORMATS, find_signs
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.api.scope import DatasetScopedView


class ArchiveSerializer(serializers.Serializer[Any]):
    """An archive among the files of a version."""

    path = serializers.CharField()
    size_bytes = serializers.IntegerField()


class ImportSignSerializer(serializers.Serializer[Any]):
    """Files whose names look like annotations of a format."""

    format = serializers.ChoiceField(choices=SIGN_FORMATS)
    files = serializers.IntegerField()
    first = serializers.CharField(help_text="The path of one of them.")


class ImportSignsSerializer(serializers.Serializer[Any]):
    """Files of a version that an import could read, by their names."""

    files = serializers.IntegerField()
    pictures = serializers.IntegerField()
    archives = ArchiveSerializer(many=True, help_text=f"The first {NAMED_ARCHIVES}.")
    archives_total = serializers.IntegerField()
    signs = ImportSignSerializer(many=True, help_text="The surest first.")
    is_complete = serializers.BooleanField(
        help_text="False: the version has too many files to be looked at."
    )
    imported = serializers.BooleanField(help_text="The version was made by an import itself.")


class ImportSignsView(DatasetScopedView, APIView):
    """Archives and annotations of a version."""

    @extend_schema(responses=ImportSignsSerializer, operation_id="version_import_signs")
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return the files that an import could read; nothing is opened."""
        signs = find_signs(open_version(self.version))
        origin = self.version.provenance or {}
        shown = {**vars(signs), "imported": origin.get("kind") == "import"}
        return Response(ImportSignsSerializer(shown).data)
