"""The files that a version has already, so that a client need not send them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE
from atom.core.bodies import check
from atom.core.pagination import decode_cursor, encode_cursor, parse_limit
from atom.core.query import refuse_unknown
from atom.datasets.browsing.engines.stored_files import StoredFile, files_at, files_below
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.api.scope import DatasetScopedView
from atom.datasets.catalog.reads import quarantined_among

_MAX_FILES = 2000


class StoredPathsSerializer(serializers.Serializer[Any]):
    """Paths that a client is about to send."""

    paths = serializers.ListField(
        child=serializers.CharField(max_length=4095, trim_whitespace=False),
        min_length=1,
        max_length=_MAX_FILES,
    )


class StoredFileSerializer(serializers.Serializer[Any]):
    """A file that the version has."""

    path = serializers.CharField()
    size_bytes = serializers.IntegerField()
    digest = serializers.CharField(help_text="BLAKE3 of the file, in hex.")
    is_damaged = serializers.BooleanField(
        help_text="Its pack is quarantined: the file has to be sent again."
    )
    attributes = serializers.CharField(
        allow_null=True, help_text="JSON, of damaged files only: to be kept when they are sent."
    )


class StoredFilesSerializer(serializers.Serializer[Any]):
    """Files of a version, in path order."""

    results = StoredFileSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class StoredFilesView(DatasetScopedView, APIView):
    """Paths, sizes and digests of a version."""

    # POST only carries the long list.
    reading_methods = SAFE | {"POST"}

    @extend_schema(
        operation_id="version_stored_files",
        parameters=[
            OpenApiParameter("prefix", str, description="Only paths that begin with this."),
            OpenApiParameter("limit", int, description=f"At most {_MAX_FILES}, the default."),
            OpenApiParameter("cursor", str, description="`next` of the last page."),
        ],
        responses=StoredFilesSerializer,
    )
    def get(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return the files below a prefix, in path order."""
        refuse_unknown(request, ("prefix", "limit", "cursor"))
        query = request.query_params
        limit = parse_limit(request, default=_MAX_FILES, maximum=_MAX_FILES)
        after = decode_cursor(query["cursor"], 1)[0] if query.get("cursor") else ""
        browser = open_version(self.version)
        found = files_below(browser, query.get("prefix", ""), after, limit + 1)
        following = encode_cursor([found[limit - 1].path]) if len(found) > limit else None
        return Response({"results": self._rendered(found[:limit]), "next": following})

    @extend_schema(
        operation_id="version_stored_files_at",
        request=StoredPathsSerializer,
        responses=StoredFilesSerializer,
    )
    def post(self, request: Request, project: str, dataset: str, ref: str) -> Response:
        """Return those of the paths that the version has; POST only carries the list."""
        body = StoredPathsSerializer(data=request.data)
        check(body)
        found = list(files_at(open_version(self.version), body.validated_data["paths"]))
        return Response({"results": self._rendered(found), "next": None})

    def _rendered(self, files: Sequence[StoredFile]) -> list[dict[str, Any]]:
        damaged = self._damaged(files)
        return [
            {
                "path": file.path,
                "size_bytes": file.size,
                "digest": file.digest.hex(),
                "is_damaged": file.pack in damaged,
                "attributes": file.attributes if file.pack in damaged else None,
            }
            for file in files
        ]

    def _damaged(self, files: Iterable[StoredFile]) -> set[bytes]:
        packs = {file.pack.hex() for file in files if file.pack is not None}
        return {bytes.fromhex(name) for name in quarantined_among(self.project, sorted(packs))}
