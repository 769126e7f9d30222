"""Getting a model out, and seeing where it came from."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import ProjectScopedView
from atom.core.errors import NotFound
from atom.core.storage import objects
from atom.datasets.models import Dataset
from atom.datasets.refs import resolve_ref
from atom.models_registry.api.serializers import DownloadSerializer, LineageSerializer
from atom.models_registry.api.views import ModelScopedView
from atom.models_registry.lineage import lineage_of_dataset, lineage_of_model
from atom.models_registry.models import ModelFile
from atom.models_registry.pipelines import StoredFile, zip_stream

URL_EXPIRES_S = 3600


class DownloadView(ModelScopedView, APIView):
    """The files of a version."""

    @extend_schema(responses=DownloadSerializer, operation_id="models_versions_download")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return presigned addresses of every file, good for an hour."""
        version = self.version
        rows = version.files.select_related("artifact").order_by("path")
        files = [_render_file(file) for file in rows]
        archive = request.build_absolute_uri(f"{request.path}zip/")
        return Response(
            {
                "url": files[0]["url"] if len(files) == 1 else archive,
                "sha256": version.sha256,
                "size_bytes": version.size_bytes,
                "files": files,
            }
        )


def _render_file(file: ModelFile) -> dict[str, Any]:
    artifact = file.artifact
    name = file.path.rsplit("/", 1)[-1]
    return {
        "path": file.path,
        "url": objects().presign_get(artifact.key, URL_EXPIRES_S, filename=name),
        "size_bytes": artifact.size_bytes,
        "sha256": artifact.sha256,
        "digest": artifact.digest,
    }


class DownloadZipView(ModelScopedView, APIView):
    """All files of a version in one archive."""

    @extend_schema(
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
        operation_id="models_versions_download_zip",
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> StreamingHttpResponse:
        """Stream a zip archive."""
        rows = self.version.files.select_related("artifact").order_by("path")
        files = [StoredFile(f.path, f.artifact.key, f.artifact.size_bytes) for f in rows]
        name = f"{self.model.name}-v{self.version.number}.zip"
        response = StreamingHttpResponse(zip_stream(files), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


class ModelLineageView(ModelScopedView, APIView):
    """The lineage of a model version, with its evaluations."""

    @extend_schema(responses=LineageSerializer, operation_id="models_versions_lineage")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the graph around the version."""
        return Response(lineage_of_model(self.version).as_json())


class DatasetLineageView(ProjectScopedView, APIView):
    """The lineage of a dataset version, forwards."""

    @extend_schema(responses=LineageSerializer, operation_id="datasets_versions_lineage")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return its label tasks, the runs that read it and the models that they made."""
        # Also of a deleted one: what was made from it stays known.
        named = Dataset.with_deleted.in_project(self.project).filter(name=self.kwargs["dataset"])
        dataset = named.order_by("-purged_at").last()
        if dataset is None:
            raise NotFound
        version = resolve_ref(dataset, self.kwargs["ref"])
        return Response(lineage_of_dataset(version).as_json())
