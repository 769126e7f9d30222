"""The files that a run has written so far: folder by folder, and what is in them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core import storage
from atom.core.errors import Invalid, NotFound
from atom.core.query import choice, refuse_unknown
from atom.core.streaming import streamed
from atom.core.tables import PreviewTableSerializer
from atom.jobs import states
from atom.jobs.api_base import PAGE, RunScopedView, listing, page_of
from atom.jobs.artifacts.actions import folders, previews
from atom.jobs.artifacts.actions.previews import Curve
from atom.jobs.artifacts.api.artifact_serializers import ArtifactSerializer
from atom.jobs.json_values import MetricValueField
from atom_sdk.runner.metric_rows import number
from atom_sdk.sentences import Sentence

MAX_PATH = 1000


class RunFolderSerializer(serializers.Serializer[Any]):
    """A folder, with all that is below it."""

    name = serializers.CharField()
    files = serializers.IntegerField()
    size_bytes = serializers.IntegerField()
    changed_at = serializers.DateTimeField()


class RunFolderListingSerializer(serializers.Serializer[Any]):
    """Folders and files directly in a folder, by name."""

    folders = RunFolderSerializer(many=True)
    files = ArtifactSerializer(many=True)
    truncated = serializers.BooleanField(help_text="There is more than 1,000 of them.")


class PreviewCurveSerializer(serializers.Serializer[Any]):
    """A curve of an event file, thinned to 1,000 points."""

    key = serializers.CharField()
    n = serializers.IntegerField()
    steps = serializers.SerializerMethodField()
    ts = serializers.SerializerMethodField()
    values = serializers.SerializerMethodField()

    def get_steps(self, curve: Curve) -> list[int]:
        """Return the steps."""
        steps: list[int] = curve.points.steps.tolist()
        return steps

    def get_ts(self, curve: Curve) -> list[int]:
        """Return the times in milliseconds since 1970."""
        times: list[int] = curve.points.ts_ms.tolist()
        return times

    @extend_schema_field(serializers.ListField(child=MetricValueField()))
    def get_values(self, curve: Curve) -> list[float | str]:
        """Return the values, NaN and infinity as words."""
        return list(map(number, curve.points.values.tolist()))


class FilePreviewSerializer(serializers.Serializer[Any]):
    """A preview of a file; the fields of the other kinds are empty."""

    kind = serializers.ChoiceField(choices=previews.KINDS)
    reason = serializers.ChoiceField(
        choices=previews.REASONS,
        help_text="For kind `none`: why there is nothing to see; for a table: why no rows.",
    )
    truncated = serializers.BooleanField(help_text="The file holds more than is shown.")
    text = serializers.CharField()
    value = serializers.SerializerMethodField(
        "document", help_text="The JSON or YAML of kind `tree`."
    )
    numbers = serializers.ListField(
        child=serializers.CharField(),
        help_text="For kind `tree`: JSON pointers to the texts in `value` that are numbers, "
        "too large for a browser or none (NaN, Infinity).",
    )
    table = PreviewTableSerializer(allow_null=True)
    curves = PreviewCurveSerializer(many=True)
    others = serializers.IntegerField(help_text="Values of an event file that are no scalars.")

    @extend_schema_field(OpenApiTypes.ANY)
    def document(self, preview: previews.Preview) -> Any:
        """Return the document."""
        return preview.value


class FolderView(RunScopedView):
    """`runs/<id>/files/folder/`."""

    @extend_schema(
        operation_id="runs_files_folder",
        parameters=[OpenApiParameter("path", str, description="A folder; the top if left out.")],
        responses=RunFolderListingSerializer,
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """List what the run has written into one folder so far."""
        refuse_unknown(request, ["path"])
        path = request.query_params.get("path", "")
        if len(path) > MAX_PATH or "\0" in path:
            raise Invalid(
                errors={"path": [Sentence("jobs.folder_missing", "Give the path of a folder.")]}
            )
        return Response(RunFolderListingSerializer(folders.listing(self.run, path)).data)


class FileView(RunScopedView):
    """`runs/<id>/files/<id>/`."""

    @extend_schema(operation_id="runs_file_get", responses=ArtifactSerializer)
    def get(self, request: Request, run_id: UUID, file_id: UUID) -> Response:
        """Return one file of the run."""
        found = self.run.artifacts.select_related("attempt").filter(pk=file_id).first()
        if found is None:
            raise NotFound
        return Response(ArtifactSerializer(found).data)


class PictureView(RunScopedView):
    """`runs/<id>/files/<id>/picture/`."""

    @extend_schema(
        operation_id="runs_file_picture", responses={(200, "image/*"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, run_id: UUID, file_id: UUID) -> StreamingHttpResponse:
        """Return a picture from this origin: the portal shows none of another."""
        found = self.run.artifacts.filter(pk=file_id).first()
        kind = previews.picture_type(found) if found is not None else None
        if found is None or kind is None or not storage.objects().exists(found.key):
            raise NotFound
        pieces = map(bytes, storage.objects().views(found.key))
        response = StreamingHttpResponse(streamed(pieces), content_type=kind)
        response["Content-Length"] = str(found.size_bytes)
        response["X-Content-Type-Options"] = "nosniff"
        response["Cache-Control"] = "private, max-age=3600"
        return response


class PreviewView(RunScopedView):
    """`runs/<id>/files/<id>/preview/`."""

    @extend_schema(operation_id="runs_file_preview", responses=FilePreviewSerializer)
    def get(self, request: Request, run_id: UUID, file_id: UUID) -> Response:
        """Return what the file holds, as data: a bounded part of it, and never its markup."""
        found = self.run.artifacts.filter(pk=file_id).first()
        if found is None:
            raise NotFound
        return Response(FilePreviewSerializer(previews.preview(found)).data)


class FilesView(RunScopedView):
    """`runs/<id>/files/`."""

    keyset = ("-created_at", "-id")
    filters = ("kind", "path")

    @extend_schema(
        operation_id="runs_files",
        parameters=[
            *PAGE,
            OpenApiParameter("kind", str, enum=states.ARTIFACT_KINDS),
            OpenApiParameter("path", str),
        ],
        responses=listing(ArtifactSerializer, "ArtifactPage"),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the files that the run left, newest first."""
        found = self.run.artifacts.select_related("attempt")
        if kind := choice(request, "kind", states.ARTIFACT_KINDS):
            found = found.filter(kind=kind)
        if path := request.query_params.get("path"):
            found = found.filter(path=path)
        return page_of(self, found, ArtifactSerializer)
