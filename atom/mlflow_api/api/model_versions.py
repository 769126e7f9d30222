"""Versions of registered models."""

from __future__ import annotations

from typing import Any

from django.db.models import F
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core import clock
from atom.mlflow_api.actions import registry
from atom.mlflow_api.actions.registry import NewVersion, Origin, find_model
from atom.mlflow_api.api.base import page
from atom.mlflow_api.api.registry import (
    MAX_DESCRIPTION,
    RegistryView,
    download_uri,
    version_field,
    version_messages,
    versions_of,
)
from atom.mlflow_api.api.values import MAX_KEY, MAX_TAG, tags_of
from atom.mlflow_api.engines import sources
from atom.mlflow_api.engines.sources import Named, Place, parse_source
from atom.mlflow_api.errors import BadParameter, ResourceMissing
from atom.mlflow_api.search import filtered, ordered
from atom.models_registry import actions
from atom.models_registry.models import ModelVersion


class VersionsView(RegistryView):
    """Base of what answers with versions."""

    def answer(self, version: ModelVersion) -> Response:
        """Return a version, read again."""
        found = versions_of(self).get(pk=version.pk)
        return Response({"model_version": version_messages([found])[0]})


class CreateModelVersion(VersionsView):
    """`model-versions/create`."""

    def post(self, request: Request, project: str) -> Response:
        """Register files of a run as the next version."""
        asked_at = clock.now()
        said, model = self.message, self.model_named()
        description = said.text("description", "", most=MAX_DESCRIPTION)
        new = NewVersion(self._origin(), description, tags_of(said), asked_at)
        return self.answer(registry.create_version(model, self.user, new))

    def _origin(self) -> Origin:
        source = self.message.text("source")
        logged = self.message.text("model_id", "")
        found = parse_source(f"models:/{logged}" if logged else source)
        if isinstance(found, Named):
            return self._of_version(found)
        if found is None:
            raise BadParameter(
                f"Invalid model version source: '{source[:200]}'. Atom registers files that a run "
                "of the project has logged."
            )
        return self._of_place(found)

    def _of_place(self, place: Place) -> Origin:
        if place.root == sources.LOGGED_MODELS:
            logged = self.logged_model(f"m-{place.id.hex}")
            path = "/".join(part for part in (logged.path, place.path) if part)
            return Origin(logged.run, path)
        if place.root == sources.RUNS:
            return Origin(self.run_named(place.id.hex), place.path)
        version = versions_of(self).filter(pk=place.id).first()
        if version is None:
            raise ResourceMissing(f"There is no model version {place.id.hex}.")
        return Origin(version.run, version.artifact_path)

    def _of_version(self, named: Named) -> Origin:
        model = find_model(self.project, named.name)
        rows = versions_of(self).filter(model=model)
        if named.version.startswith("@"):
            rows = rows.filter(aliases__name=named.version[1:].lower())
        else:
            number = named.version
            rows = rows.filter(number=int(number) if number.isdecimal() and len(number) < 10 else 0)
        if model is None or (found := rows.first()) is None:
            raise ResourceMissing(f"There is no model version {named.name}/{named.version}.")
        return Origin(found.run, found.artifact_path)


class GetModelVersion(VersionsView):
    """`model-versions/get`."""

    def get(self, request: Request, project: str) -> Response:
        """Return a version."""
        return self.answer(self.version_named())


class UpdateModelVersion(VersionsView):
    """`model-versions/update`."""

    def patch(self, request: Request, project: str) -> Response:
        """Describe a version."""
        version = self.version_named()
        said = self.message.text("description", "", most=MAX_DESCRIPTION)
        actions.describe(version, self.user, said)
        return self.answer(version)


class DeleteModelVersion(VersionsView):
    """`model-versions/delete`."""

    def delete(self, request: Request, project: str) -> Response:
        """Take a version out of the registry."""
        actions.delete_version(self.version_named(), self.user)
        return Response({})


class SearchModelVersions(VersionsView):
    """`model-versions/search`."""

    def get(self, request: Request, project: str) -> Response:
        """Return a page of versions, by the name of their model, the newest first."""
        said = self.message
        limit = min(said.limit("max_results", 1000, 200_000), 1000)
        rows = filtered(versions_of(self), said.text("filter", "", most=10_000), version_field)
        last = (F("shown_name").asc(), F("number").desc())
        rows = ordered(rows, self.message.texts("order_by"), version_field, last)
        found, following = page(rows, said.text("page_token", ""), limit)
        answer: dict[str, Any] = {"model_versions": version_messages(found)}
        return Response({**answer, "next_page_token": following} if following else answer)


class GetDownloadUri(VersionsView):
    """`model-versions/get-download-uri`."""

    def get(self, request: Request, project: str) -> Response:
        """Return where the version's files are."""
        return Response({"artifact_uri": download_uri(self.version_named())})


class SetModelVersionTag(VersionsView):
    """`model-versions/set-tag`."""

    def post(self, request: Request, project: str) -> Response:
        """Set a tag."""
        key = self.message.text("key", most=MAX_KEY)
        actions.label(self.version_named(), {key: self.message.text("value", "", most=MAX_TAG)})
        return Response({})


class DeleteModelVersionTag(VersionsView):
    """`model-versions/delete-tag`."""

    def delete(self, request: Request, project: str) -> Response:
        """Take a tag away; one that is not there is fine, as it is to MLflow."""
        actions.label(self.version_named(), {}, without=self.message.text("key", most=MAX_KEY))
        return Response({})


class TransitionStage(VersionsView):
    """`model-versions/transition-stage`: a stage is an alias of its name."""

    def post(self, request: Request, project: str) -> Response:
        """Move the stage's alias to the version."""
        version = self.version_named()
        registry.set_stage(version, self.user, self.message.text("stage", most=50))
        return self.answer(version)
