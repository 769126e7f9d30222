"""Experiments."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from atom.jobs.models.experiments import DEFAULT_EXPERIMENT, Experiment
from atom.jobs.runs.actions import experiments
from atom.mlflow_api.api.base import MlflowView, page
from atom.mlflow_api.api.values import MAX_KEY, MAX_TAG, tags_of
from atom.mlflow_api.engines.fields import invalid
from atom.mlflow_api.errors import BadParameter, ResourceMissing
from atom.mlflow_api.rendering import experiment_id_of, experiment_message
from atom.mlflow_api.search import experiment_field, filtered, ordered

GET = frozenset({"GET"})
POST = frozenset({"POST"})
MAX_NAME = 500


class CreateExperiment(MlflowView):
    """`experiments/create`."""

    def post(self, request: Request, project: str) -> Response:
        """Make an experiment."""
        name = self.message.text("name", most=MAX_NAME)
        if not name.strip():
            raise BadParameter("Invalid experiment name: it is blank.")
        made = experiments.create_experiment(self.project, self.user, name, tags_of(self.message))
        return Response({"experiment_id": experiment_id_of(made)})


class GetExperiment(MlflowView):
    """`experiments/get`."""

    for_commands = GET

    def get(self, request: Request, project: str) -> Response:
        """Return an experiment."""
        found = self.experiment_named(self.message.text("experiment_id"))
        return Response({"experiment": experiment_message(found)})


class GetExperimentByName(MlflowView):
    """`experiments/get-by-name`."""

    for_commands = GET

    def get(self, request: Request, project: str) -> Response:
        """Return an experiment, also a deleted one."""
        name = self.message.text("experiment_name", most=MAX_NAME)
        rows = Experiment.objects.filter(project=self.project, name=name)
        found = self.default_experiment if name == DEFAULT_EXPERIMENT else rows.first()
        if found is None:
            raise ResourceMissing(f"Could not find experiment with name '{name}'")
        return Response({"experiment": experiment_message(found)})


class SearchExperiments(MlflowView):
    """`experiments/search`, by POST or GET."""

    reading_methods = frozenset({"GET", "POST"})

    def post(self, request: Request, project: str) -> Response:
        """Return a page of experiments."""
        said = self.message
        limit = said.limit("max_results", 1000, 50_000)
        rows = self._rows(said.word("view_type", "ACTIVE_ONLY"))
        rows = filtered(rows, said.text("filter", "", most=10_000), experiment_field)
        terms = said.texts("order_by")
        last = (F("pk").desc(),) if terms else (F("created_at").desc(), F("pk").asc())
        rows = ordered(rows, terms, experiment_field, last)
        found, following = page(rows, said.text("page_token", ""), limit)
        answer: dict[str, Any] = {"experiments": [experiment_message(one) for one in found]}
        return Response({**answer, "next_page_token": following} if following else answer)

    get = post

    def _rows(self, view_type: str) -> QuerySet[Experiment]:
        # Filters, orders and pages count it like any other, so its row must be there.
        experiments.default_experiment(self.project)
        rows = Experiment.objects.filter(project=self.project)
        if view_type in {"ACTIVE_ONLY", "1"}:
            return rows.filter(archived_at=None)
        if view_type in {"DELETED_ONLY", "2"}:
            return rows.exclude(archived_at=None)
        if view_type in {"ALL", "3"}:
            return rows
        raise invalid("view_type", view_type)


class UpdateExperiment(MlflowView):
    """`experiments/update`."""

    def post(self, request: Request, project: str) -> Response:
        """Rename an experiment."""
        found = self.changeable()
        name = self.message.text("new_name", "", most=MAX_NAME)
        if found.archived_at is not None:
            raise BadParameter("Cannot rename experiment in non-active lifecycle stage.")
        if name.strip():
            experiments.rename_experiment(found, self.user, name)
        return Response({})

    def changeable(self) -> Experiment:
        """Return the experiment that the message names. Raises BadParameter for the default one."""
        found = self.experiment_named(self.message.text("experiment_id"))
        if found.name == DEFAULT_EXPERIMENT:
            raise BadParameter("The default experiment stays as it is: make one of your own.")
        return found


class DeleteExperiment(UpdateExperiment):
    """`experiments/delete`."""

    def post(self, request: Request, project: str) -> Response:
        """Take an experiment and its runs out of the lists."""
        found = self.changeable()
        if found.archived_at is not None:
            raise ResourceMissing(f"No active Experiment with id={found.pk.hex} exists")
        experiments.archive_experiment(found, self.user, archived=True)
        return Response({})


class RestoreExperiment(UpdateExperiment):
    """`experiments/restore`."""

    def post(self, request: Request, project: str) -> Response:
        """Bring an experiment back with its runs."""
        experiments.archive_experiment(self.changeable(), self.user, archived=False)
        return Response({})


class SetExperimentTag(MlflowView):
    """`experiments/set-experiment-tag`."""

    def post(self, request: Request, project: str) -> Response:
        """Set a tag."""
        found = self.experiment_named(self.message.text("experiment_id"))
        key = self.message.text("key", most=MAX_KEY)
        value = self.message.text("value", "", most=MAX_TAG)
        experiments.label_experiment(_stored(found), {key: value})
        return Response({})


class DeleteExperimentTag(MlflowView):
    """`experiments/delete-experiment-tag`."""

    def post(self, request: Request, project: str) -> Response:
        """Take a tag away."""
        found = self.experiment_named(self.message.text("experiment_id"))
        key = self.message.text("key", most=MAX_KEY)
        if not experiments.label_experiment(_stored(found), {}, without=key):
            raise ResourceMissing(f"No tag with name: {key} in the experiment.")
        return Response({})


def _stored(experiment: Experiment) -> Experiment:
    """Return the experiment's row; the default one gets it now."""
    if experiment.name == DEFAULT_EXPERIMENT:
        return experiments.default_experiment(experiment.project)
    return experiment
