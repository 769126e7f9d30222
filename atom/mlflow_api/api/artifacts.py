"""Files: listed by a run, or through MLflow's proxy of its artifact store.

PUT of a file is not here: `atom.mlflow_api.upload` passes its bytes on as they come.
"""

from __future__ import annotations

import mimetypes
from typing import Any
from urllib.parse import quote

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from atom.jobs.artifacts.actions.stored_files import remove_files
from atom.jobs.models import Run
from atom.mlflow_api import files
from atom.mlflow_api.actions import uploads
from atom.mlflow_api.api.base import MlflowView
from atom.mlflow_api.engines import sources
from atom.mlflow_api.engines.sources import Place, is_safe, parse_place
from atom.mlflow_api.errors import BadParameter, NotPermitted, ResourceMissing, WrongState
from atom.mlflow_api.files import Folder
from atom.mlflow_api.rendering import run_artifact_uri
from atom.models_registry.models import ModelVersion

GET, POST = frozenset({"GET"}), frozenset({"POST"})


def place_of(path: str) -> Place:
    """Return what a path below `artifacts/` names. Raises BadParameter."""
    place = parse_place(path)
    if place is None:
        raise BadParameter("Invalid path")
    return place


class ArtifactView(MlflowView):
    """Base of what reads or writes files."""

    def folder(self, place: Place) -> Folder:
        """Return the folder of a place. Raises ResourceMissing."""
        if place.root == sources.RUNS:
            return files.folder_of_run(self.run_named(place.id.hex))
        if place.root == sources.LOGGED_MODELS:
            return files.folder_of_model(self.logged_model(f"m-{place.id.hex}"))
        versions = ModelVersion.objects.filter(model__project=self.project, pk=place.id)
        found = versions.select_related("run").first()
        if found is None or self.command is not None:
            raise ResourceMissing(f"There is no model version {place.id.hex}.")
        return files.folder_of_version(found)


class ListArtifacts(ArtifactView):
    """`artifacts/list`."""

    for_commands = GET

    def get(self, request: Request, project: str) -> Response:
        """Return what is in a folder of a run."""
        run = self.run_of_message()
        path = self.message.text("path", "").strip("/")
        if path and not is_safe(path):
            raise BadParameter("Invalid path")
        found = files.listing(_sizes(files.folder_of_run(run), path), path)
        is_file = len(found) == 1 and found[0]["path"] == path
        answer: dict[str, Any] = {"root_uri": run_artifact_uri(run.pk)}
        return Response({**answer, "files": [] if is_file else found})


class ListModelArtifacts(ArtifactView):
    """`logged-models/<id>/artifacts/directories`."""

    for_commands = GET

    def get(self, request: Request, project: str, model_id: str) -> Response:
        """Return what is in a folder of a logged model."""
        folder = files.folder_of_model(self.logged_model(model_id))
        path = self.message.text("artifact_directory_path", "").strip("/")
        if path and not is_safe(path):
            raise BadParameter("Invalid path")
        uri = f"{sources.SCHEME}{sources.LOGGED_MODELS}/{model_id}"
        return Response({"root_uri": uri, "files": files.listing(_sizes(folder, path), path)})


def _sizes(folder: Folder, path: str) -> list[tuple[str, int]]:
    return [(name, one.size_bytes) for name, one in folder.files(path).items()]


class ListProxied(ArtifactView):
    """`mlflow-artifacts/artifacts?path=`."""

    for_commands = GET

    def get(self, request: Request, project: str) -> Response:
        """Return what is in a folder; paths are relative to it, as the client expects."""
        place = place_of(self.message.text("path"))
        rows = files.listing(_sizes(self.folder(place), place.path), place.path)
        for row in rows:
            row["path"] = row["path"].rsplit("/", 1)[-1]
        return Response({"files": rows})


class Proxied(ArtifactView):
    """`mlflow-artifacts/artifacts/<path>`."""

    for_commands = GET

    def get(self, request: Request, project: str, path: str) -> Any:
        """Send a file, a piece at a time."""
        place = place_of(path)
        found = self.folder(place).files(place.path).get(place.path)
        if found is None:
            raise ResourceMissing(f"There is no file '{place.path[:200]}'.")
        name = place.path.rsplit("/", 1)[-1]
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        response = StreamingHttpResponse(files.bytes_of(found.key), content_type=kind)
        response["Content-Length"] = str(found.size_bytes)
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def delete(self, request: Request, project: str, path: str) -> Response:
        """Remove a file, or a folder with all that is in it."""
        place = place_of(path)
        folder = self.folder(place)
        if folder.version is not None or not uploads.is_run_of_program(folder.run):
            raise NotPermitted("Only files that a program logged can be removed.")
        kept = remove_files(folder.run, folder.path_of(place.path))
        if kept:
            raise WrongState(f"{kept} of the files belong to a registered model and stay.")
        return Response({})


class MultipartView(ArtifactView):
    """Base of uploads in parts, which go to the object store without passing the server."""

    for_commands = POST

    def target(self, path: str) -> tuple[Run, str, str]:
        """Return run, path and kind of the file that is sent."""
        local = self.message.text("path").replace("\\", "/").rsplit("/", 1)[-1]
        place = place_of(f"{path.strip('/')}/{local}")
        folder = self.folder(place)
        if folder.version is not None:
            raise NotPermitted("The files of a registered version stay as they are.")
        uploads.check_sender(folder.run, is_its_command=self.command is not None)
        return folder.run, folder.path_of(place.path), folder.kind


class CreateMultipart(MultipartView):
    """`mlflow-artifacts/mpu/create/<path>`."""

    def post(self, request: Request, project: str, path: str) -> Response:
        """Return where to PUT each part."""
        run, name, _ = self.target(path)
        parts = self.message.limit("num_parts", 1, uploads.MAX_PARTS)
        token, urls = uploads.begin_parts(run, name, parts)
        credentials = [
            {"url": url, "part_number": number, "headers": {}} for number, url in enumerate(urls, 1)
        ]
        return Response({"upload_id": token, "credentials": credentials})


class CompleteMultipart(MultipartView):
    """`mlflow-artifacts/mpu/complete/<path>`."""

    def post(self, request: Request, project: str, path: str) -> Response:
        """Join the parts into a file of the run."""
        run, name, kind = self.target(path)
        parts = [
            (one.whole("part_number"), one.text("etag"))
            for one in self.message.messages("parts", most=uploads.MAX_PARTS)
        ]
        uploads.complete_parts(run, name, kind, self.message.text("upload_id"), parts)
        return Response({})


class AbortMultipart(MultipartView):
    """`mlflow-artifacts/mpu/abort/<path>`."""

    def post(self, request: Request, project: str, path: str) -> Response:
        """Throw the parts away."""
        run, name, _ = self.target(path)
        uploads.abort_parts(run, name, self.message.text("upload_id"))
        return Response({})
