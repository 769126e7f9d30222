"""PUT of a file: its bytes go on to the object store as they come, and are never held whole.

Django reads a body to its end before a view runs; so this stands in front of it, asks first who
sends the file, and then hashes and passes on what arrives.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import structlog
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from blake3 import blake3
from channels.db import database_sync_to_async

from atom.accounts import permissions
from atom.accounts.authentication import find_token
from atom.accounts.errors import BadToken
from atom.accounts.models import Project
from atom.core.errors import NotAuthenticated, NotFound
from atom.core.storage import objects
from atom.jobs.artifacts.actions.stored_files import StoredFile, keep_file, new_key
from atom.jobs.attempts.actions import tracking_access
from atom.jobs.models import Attempt, Run
from atom.jobs.tracking.actions.tracked import attempt_of
from atom.mlflow_api.actions.uploads import check_path, check_sender
from atom.mlflow_api.engines import sources
from atom.mlflow_api.engines.sources import Place, parse_place
from atom.mlflow_api.errors import (
    BadParameter,
    BatchTooLarge,
    NotPermitted,
    ResourceMissing,
    as_answer,
)
from atom.mlflow_api.files import Folder, folder_of_model, folder_of_run
from atom.mlflow_api.models import LoggedModel

log = structlog.get_logger(__name__)

HttpApplication = Callable[[HTTPScope, ASGIReceiveCallable, ASGISendCallable], Awaitable[None]]

_PATH = re.compile(rb"/api/mlflow/([^/]+)/(?:ajax-)?api/2\.0/mlflow-artifacts/artifacts/(.+)")
# The limit of the store for one object.
MAX_BYTES = 5 << 30


@dataclass(frozen=True, slots=True)
class _Target:
    """The file that is to be: of which run, at which path, of which kind."""

    run: Run
    path: str
    kind: str


class _Gone(Exception):
    """The client went away before it had sent everything."""


class ArtifactUploads:
    """Takes PUT of files; passes every other request on."""

    def __init__(self, application: HttpApplication) -> None:
        self._application = application

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Handle one request."""
        found = _PATH.fullmatch((scope["raw_path"] or scope["path"].encode()).split(b"?")[0])
        if scope["method"] != "PUT" or found is None:
            await self._application(scope, receive, send)
            return
        try:
            project, path = (unquote(part.decode("latin-1")) for part in found.groups())
            headers = dict(scope["headers"])
            target = await database_sync_to_async(_authorized)(headers, project, path)
            await _store(target, receive)
        except _Gone:
            return
        except Exception as error:
            answer = as_answer(error)
            if answer is None:
                log.exception("artifact_not_stored")
                answer = 500, {"error_code": "INTERNAL_ERROR", "message": "Something went wrong."}
            await _send(send, *answer)
        else:
            await _send(send, 200, {})


def _authorized(headers: dict[bytes, bytes], slug: str, path: str) -> _Target:
    """Return what may be written. Raises what the other endpoints raise for such a caller."""
    kind, _, text = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if kind.lower() != "bearer":
        raise NotAuthenticated
    place = parse_place(path)
    if place is None:
        raise BadParameter("Invalid path")
    check_path(place.path)
    command = tracking_access.find_by_token(text)
    project = _project_of_command(command, slug) if command else _project_of_person(text, slug)
    folder = _folder(project, place)
    if command is not None and folder.run.pk != command.run_id:
        raise ResourceMissing(f"There is no {place.root[:-1]} {place.id.hex}.")
    check_sender(folder.run, is_its_command=command is not None)
    if folder.run.archived_at is not None:
        raise BadParameter(f"The run {folder.run.pk.hex} must be in the 'active' state.")
    whole = folder.path_of(place.path)
    check_path(whole)
    return _Target(folder.run, whole, folder.kind)


def _project_of_command(command: Attempt, slug: str) -> Project:
    if command.run.project.slug != slug:
        raise NotFound
    return command.run.project


def _project_of_person(text: str, slug: str) -> Project:
    token = find_token(text)
    if token is None:
        raise BadToken
    project = Project.objects.select_related("unit").filter(slug=slug).first()
    if project is None:
        raise NotFound
    permissions.require_project(token, project)
    permissions.require(token.user, project, "researcher")
    permissions.require_scope(token, "write")
    return project


def _folder(project: Project, place: Place) -> Folder:
    if place.root == sources.RUNS:
        run = Run.objects.filter(project=project, pk=place.id).first()
        if run is not None:
            return folder_of_run(run)
    if place.root == sources.LOGGED_MODELS:
        models = LoggedModel.objects.filter(run__project=project, pk=place.id, archived_at=None)
        if (model := models.select_related("run").first()) is not None:
            return folder_of_model(model)
    if place.root == sources.MODEL_VERSIONS:
        raise NotPermitted("The files of a registered version stay as they are.")
    raise ResourceMissing(f"There is no {place.root[:-1]} {place.id.hex}.")


class _Body:
    """The body of an upload, hashed and counted while it arrives."""

    def __init__(self, receive: ASGIReceiveCallable) -> None:
        self._receive = receive
        self.size_bytes = 0
        self.sha256 = hashlib.sha256()
        self.blake3 = blake3()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body. Raises _Gone, BatchTooLarge."""
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                raise _Gone
            piece = message["body"]
            self.size_bytes += len(piece)
            if self.size_bytes > MAX_BYTES:
                raise BatchTooLarge(f"A file has at most {MAX_BYTES} bytes.")
            self.sha256.update(piece)
            self.blake3.update(piece)
            if piece:
                yield piece
            if not message.get("more_body"):
                return


async def _store(target: _Target, receive: ASGIReceiveCallable) -> None:
    body, key = _Body(receive), new_key(target.run)
    await objects().put_stream(key, body.pieces())
    digests = body.sha256.hexdigest(), body.blake3.hexdigest()
    file = StoredFile(target.path, key, body.size_bytes, *digests, target.kind)
    await database_sync_to_async(_keep)(target.run, file)


def _keep(run: Run, file: StoredFile) -> None:
    keep_file(attempt_of(run), file)


async def _send(send: ASGISendCallable, status: int, body: dict[str, Any]) -> None:
    content = json.dumps(body).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send(
        {"type": "http.response.start", "status": status, "headers": headers, "trailers": False}
    )
    await send({"type": "http.response.body", "body": content, "more_body": False})
