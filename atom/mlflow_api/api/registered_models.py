"""Registered models and their aliases."""

from __future__ import annotations

from typing import Any

from django.db.models import F
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.models import slug_validator
from atom.mlflow_api.actions import registry
from atom.mlflow_api.api.base import page
from atom.mlflow_api.api.registry import (
    MAX_DESCRIPTION,
    MAX_NAME,
    RegistryView,
    model_field,
    model_messages,
    models_of,
    version_messages,
    versions_of,
)
from atom.mlflow_api.api.values import MAX_KEY, MAX_TAG, tags_of
from atom.mlflow_api.errors import BadParameter, ResourceMissing
from atom.mlflow_api.search import filtered, ordered
from atom.models_registry import actions
from atom.models_registry.models import Model, ModelVersion


class ModelsView(RegistryView):
    """Base of what answers with models."""

    def answer(self, model: Model) -> Response:
        """Return a model, read again."""
        found = models_of(self).get(pk=model.pk)
        return Response({"registered_model": model_messages(self, [found])[0]})


class CreateRegisteredModel(ModelsView):
    """`registered-models/create`."""

    def post(self, request: Request, project: str) -> Response:
        """Make a model without versions."""
        said = self.message
        name = said.text("name", most=MAX_NAME)
        description = said.text("description", "", most=MAX_DESCRIPTION)
        made = registry.create_registered(self.project, self.user, name, description)
        if tags := tags_of(said):
            actions.label(made, tags)
        return self.answer(made)


class GetRegisteredModel(ModelsView):
    """`registered-models/get`."""

    def get(self, request: Request, project: str) -> Response:
        """Return a model."""
        return self.answer(self.model_named())


class RenameRegisteredModel(ModelsView):
    """`registered-models/rename`."""

    def post(self, request: Request, project: str) -> Response:
        """Give a model another name."""
        model = self.model_named()
        registry.rename_registered(model, self.user, self.message.text("new_name", most=MAX_NAME))
        return self.answer(model)


class UpdateRegisteredModel(ModelsView):
    """`registered-models/update`."""

    def patch(self, request: Request, project: str) -> Response:
        """Describe a model."""
        model = self.model_named()
        said = self.message.text("description", "", most=MAX_DESCRIPTION)
        actions.describe(model, self.user, said)
        return self.answer(model)


class DeleteRegisteredModel(ModelsView):
    """`registered-models/delete`."""

    def delete(self, request: Request, project: str) -> Response:
        """Take a model out of the registry, with its versions."""
        actions.delete_model(self.model_named(), self.user)
        return Response({})


class SearchRegisteredModels(ModelsView):
    """`registered-models/search`."""

    def get(self, request: Request, project: str) -> Response:
        """Return a page of models, by name."""
        said = self.message
        limit = said.limit("max_results", 100, 1000)
        rows = filtered(models_of(self), said.text("filter", "", most=10_000), model_field)
        rows = ordered(rows, self.message.texts("order_by"), model_field, (F("shown_name").asc(),))
        found, following = page(rows, said.text("page_token", ""), limit)
        answer: dict[str, Any] = {"registered_models": model_messages(self, found)}
        return Response({**answer, "next_page_token": following} if following else answer)


class GetLatestVersions(ModelsView):
    """`registered-models/get-latest-versions`, by GET or POST."""

    reading_methods = frozenset({"GET", "POST"})

    def get(self, request: Request, project: str) -> Response:
        """Return the version of each stage that is asked for, else the newest of each."""
        wanted = [stage.lower() for stage in self.message.texts("stages")]
        rows = versions_of(self).filter(model=self.model_named()).order_by("-number")
        newest: dict[str, ModelVersion] = {}
        for one in rows:
            stage = registry.stage_of([alias.name for alias in one.aliases.all()]).lower()
            if not wanted or stage in wanted:
                newest.setdefault(stage, one)
        return Response({"model_versions": version_messages(list(newest.values()))})

    post = get


class SetRegisteredModelTag(ModelsView):
    """`registered-models/set-tag`."""

    def post(self, request: Request, project: str) -> Response:
        """Set a tag."""
        key = self.message.text("key", most=MAX_KEY)
        actions.label(self.model_named(), {key: self.message.text("value", "", most=MAX_TAG)})
        return Response({})


class DeleteRegisteredModelTag(ModelsView):
    """`registered-models/delete-tag`."""

    def delete(self, request: Request, project: str) -> Response:
        """Take a tag away; one that is not there is fine, as it is to MLflow."""
        actions.label(self.model_named(), {}, without=self.message.text("key", most=MAX_KEY))
        return Response({})


class RegisteredModelAlias(ModelsView):
    """`registered-models/alias`."""

    def get(self, request: Request, project: str) -> Response:
        """Return the version that the alias points at."""
        model, alias = self.model_named(), self._alias()
        found = versions_of(self).filter(model=model, aliases__name=alias).first()
        if found is None:
            raise ResourceMissing(f"Registered model alias {alias} not found.")
        return Response({"model_version": version_messages([found])[0]})

    def post(self, request: Request, project: str) -> Response:
        """Point the alias at a version."""
        version = self.version_named()
        actions.set_alias(version.model, self._alias(), version, self.user)
        return Response({})

    def delete(self, request: Request, project: str) -> Response:
        """Take the alias away; one that is not there is fine, as it is to MLflow."""
        model, alias = self.model_named(), self._alias()
        if model.aliases.filter(name=alias).exists():
            actions.remove_alias(model, alias, self.user)
        return Response({})

    def _alias(self) -> str:
        """Return the alias as Atom writes it: in lower case."""
        alias = self.message.text("alias", most=255).lower()
        if len(alias) > 63 or slug_validator.regex.fullmatch(alias) is None:  # type: ignore[union-attr]  # compiled
            raise BadParameter(
                f"Invalid alias name: '{alias[:100]}'. An alias has 1 to 63 letters, digits, "
                "dots, dashes and underscores."
            )
        return alias
