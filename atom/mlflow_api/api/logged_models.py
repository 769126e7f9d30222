"""Logged models: what `log_model` of clients since 3.0 makes."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Q
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core import clock
from atom.jobs.models import Run
from atom.mlflow_api import states
from atom.mlflow_api.actions import logged_models
from atom.mlflow_api.actions.logged_models import NewLoggedModel
from atom.mlflow_api.api.base import MlflowView, check_active, own_row, page, uuids_of_experiments
from atom.mlflow_api.api.values import MAX_KEY, params_of, tags_of
from atom.mlflow_api.engines import filters
from atom.mlflow_api.engines.fields import invalid
from atom.mlflow_api.engines.filters import BadFilter
from atom.mlflow_api.engines.ids import uuid_of_model
from atom.mlflow_api.engines.messages import Message
from atom.mlflow_api.errors import BadParameter, NotPermitted, ResourceMissing
from atom.mlflow_api.models import LoggedModel
from atom.mlflow_api.rendering import logged_model_message
from atom.mlflow_api.search import Field, filtered, label_of, ordered, text_value, time_value

POST, GET = frozenset({"POST"}), frozenset({"GET"})
MAX_PAGE = 1000
MAX_NAME = 500
_BAD_CHARACTERS = ("/", ":", ".", "%", '"', "'")


class CreateLoggedModel(MlflowView):
    """`logged-models`."""

    for_commands = POST

    def post(self, request: Request, project: str) -> Response:
        """Make a model whose files are still to come."""
        said = self.message
        experiment = self.experiment_named(said.text("experiment_id"))
        check_active(experiment)
        new = NewLoggedModel(
            _name_in(said),
            said.text("model_type", "", most=MAX_NAME),
            said.text("source_run_id", "", most=MAX_NAME),
            params_of(said),
            tags_of(said),
        )
        run = self._source_run(new.source_run_id)
        made = logged_models.begin_model(self.project, self.user, own_row(experiment), run, new)
        return Response({"model": logged_model_message(made)})

    def _source_run(self, run_id: str) -> Run | None:
        """Return the run that the model is of; None for one that the project does not have.

        MLflow keeps whatever a program names here. Raises NotPermitted for a run's command that
        names another run, BadParameter for a deleted run.
        """
        if self.command is not None and run_id != self.command.run_id.hex:
            raise NotPermitted("The token of a run logs models of that run only.")
        try:
            return self.run_named(run_id, active=True)
        except ResourceMissing:
            return None


def _name_in(message: Message) -> str:
    """Return a model's name, "" where it is to get one. Raises BadParameter."""
    name = message.text("name", "", most=MAX_NAME)
    if any(character in name for character in _BAD_CHARACTERS):
        raise BadParameter(
            f"Invalid model name ({name!r}) provided. Model name must be a non-empty string and "
            f"cannot contain the following characters: {_BAD_CHARACTERS}"
        )
    return name


class OneLoggedModel(MlflowView):
    """`logged-models/<id>`."""

    for_commands = frozenset({"GET", "PATCH"})

    def get(self, request: Request, project: str, model_id: str) -> Response:
        """Return a logged model."""
        deleted = self.message.flag("allow_deleted")
        found = self.logged_model(model_id, deleted=deleted)
        return Response({"model": logged_model_message(found)})

    def patch(self, request: Request, project: str, model_id: str) -> Response:
        """Note that its files are there, or that they will not come."""
        word = self.message.word("status")
        words = {said: state for state, said in states.LOGGED_MODEL_WORDS.items()}
        # Protobuf's JSON may name a value by its number.
        numbered = {str(at): state for at, state in enumerate(words.values(), 1)}
        state = {**words, **numbered}.get(word)
        if state not in {states.READY, states.FAILED}:
            raise invalid("status", word)
        found = logged_models.finalize_model(self.logged_model(model_id), str(state))
        return Response({"model": logged_model_message(found)})

    def delete(self, request: Request, project: str, model_id: str) -> Response:
        """Forget the logged model; its run keeps the files."""
        found = self.logged_model(model_id)
        LoggedModel.objects.filter(pk=found.pk).update(archived_at=clock.now())
        return Response({})


class LoggedModelTags(MlflowView):
    """`logged-models/<id>/tags`."""

    for_commands = frozenset({"PATCH"})

    def patch(self, request: Request, project: str, model_id: str) -> Response:
        """Set tags."""
        found = logged_models.describe_model(
            self.logged_model(model_id), labels=tags_of(self.message)
        )
        return Response({"model": logged_model_message(found)})


class LoggedModelTag(MlflowView):
    """`logged-models/<id>/tags/<key>`."""

    for_commands = frozenset({"DELETE"})

    def delete(self, request: Request, project: str, model_id: str, key: str) -> Response:
        """Take a tag away."""
        if not logged_models.remove_model_label(self.logged_model(model_id), key):
            raise ResourceMissing(f"No tag with key {key[:MAX_KEY]!r} on model {model_id}.")
        return Response({})


class LoggedModelParams(MlflowView):
    """`logged-models/<id>/params`."""

    for_commands = POST

    def post(self, request: Request, project: str, model_id: str) -> Response:
        """Add parameters."""
        logged_models.describe_model(self.logged_model(model_id), params_of(self.message))
        return Response({})


class SearchLoggedModels(MlflowView):
    """`logged-models/search`."""

    reading_methods = frozenset({"GET", "POST"})

    def post(self, request: Request, project: str) -> Response:
        """Return a page of logged models."""
        said = self.message
        limit = said.limit("max_results", 100, MAX_PAGE)
        ids, default = uuids_of_experiments(said.texts("experiment_ids"))
        wanted = Q(run__experiment__in=ids)
        if default:
            wanted |= Q(run__experiment=None)
        rows = LoggedModel.objects.filter(wanted, run__project=self.project, archived_at=None)
        rows = filtered(rows, said.text("filter", "", most=10_000), _field)
        rows = ordered(rows, self._order(), _field, (F("created_at").desc(), F("pk").desc()))
        rows = rows.select_related("run__experiment")
        found, following = page(rows, said.text("page_token", ""), limit)
        answer: dict[str, Any] = {"models": [logged_model_message(one) for one in found]}
        return Response({**answer, "next_page_token": following} if following else answer)

    def _order(self) -> list[str]:
        terms = []
        for one in self.message.messages("order_by", most=10):
            upward = not one.has("ascending") or one.flag("ascending")
            terms.append(f"{one.text('field_name')} {'ASC' if upward else 'DESC'}")
        return terms


def _model_ids(value: Any) -> Any:
    return [found] if (found := uuid_of_model(text_value(value))) else []


def _statuses(value: Any) -> Any:
    word = text_value(value).upper()
    known = states.LOGGED_MODEL_WORDS.items()
    return [state for state, said in known if word in {said, said.removeprefix("LOGGED_MODEL_")}]


_ATTRIBUTES: dict[str, Field] = {
    "name": (F("name"), text_value),
    "model_id": (F("pk"), _model_ids),
    "model_type": (F("model_type"), text_value),
    "source_run_id": (F("source_run_id"), text_value),
    "status": (F("state"), _statuses),
    "creation_time": (F("created_at"), time_value),
    "creation_timestamp": (F("created_at"), time_value),
    "last_updated_timestamp": (F("updated_at"), time_value),
}


def _field(entity: str, key: str) -> Field:
    if entity == filters.TAG:
        return label_of(key)
    if entity == filters.PARAM:
        return label_of(key, "parameters")
    found = _ATTRIBUTES.get(key.lower())
    if entity != filters.ATTRIBUTE or found is None:
        known = ", ".join(sorted(_ATTRIBUTES))
        raise BadFilter(f"Invalid key '{key}' for a search of models. Valid keys are: {known}.")
    return found
