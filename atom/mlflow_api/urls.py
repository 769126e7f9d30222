"""Addresses below `/api/mlflow/<project>/`, which is what the client has as its tracking URI."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseRedirect
from django.urls import URLPattern, path
from rest_framework.request import Request
from rest_framework.response import Response

from atom.mlflow_api.api import (
    artifacts,
    experiments,
    logged_models,
    logging,
    model_versions,
    registered_models,
    runs,
)
from atom.mlflow_api.api.base import MlflowView
from atom.mlflow_api.errors import NoSuchEndpoint


class Unknown(MlflowView):
    """Every other address: a part of MLflow that Atom does not have."""

    def _refuse(self, request: Request, project: str, rest: str) -> Response:
        raise NoSuchEndpoint(
            f"Atom does not have '{request.method} /{rest[:200]}' of MLflow's API: "
            "see docs/mlflow.md."
        )

    get = post = put = patch = delete = _refuse


def to_portal(request: HttpRequest, project: str) -> HttpResponseRedirect:
    """Lead a person who follows a link that the client has printed to the portal.

    The link's fragment, which names the run, stays with the browser; the portal reads it.
    """
    return HttpResponseRedirect("/runs")


_VIEWS: dict[str, type[Any]] = {
    "experiments/create": experiments.CreateExperiment,
    "experiments/get": experiments.GetExperiment,
    "experiments/get-by-name": experiments.GetExperimentByName,
    "experiments/search": experiments.SearchExperiments,
    "experiments/update": experiments.UpdateExperiment,
    "experiments/delete": experiments.DeleteExperiment,
    "experiments/restore": experiments.RestoreExperiment,
    "experiments/set-experiment-tag": experiments.SetExperimentTag,
    "experiments/delete-experiment-tag": experiments.DeleteExperimentTag,
    "runs/create": runs.CreateRun,
    "runs/get": runs.GetRun,
    "runs/update": runs.UpdateRun,
    "runs/delete": runs.DeleteRun,
    "runs/restore": runs.RestoreRun,
    "runs/search": runs.SearchRuns,
    "runs/log-parameter": runs.LogParameter,
    "runs/set-tag": runs.SetTag,
    "runs/delete-tag": runs.DeleteTag,
    "runs/log-metric": logging.LogMetric,
    "runs/log-batch": logging.LogBatch,
    "runs/log-inputs": logging.LogInputs,
    "runs/outputs": logging.LogOutputs,
    "runs/log-model": logging.LogModel,
    "metrics/get-history": logging.GetHistory,
    "metrics/get-history-bulk-interval": logging.GetHistoryBulkInterval,
    "artifacts/list": artifacts.ListArtifacts,
    "logged-models": logged_models.CreateLoggedModel,
    "logged-models/search": logged_models.SearchLoggedModels,
    "logged-models/<str:model_id>": logged_models.OneLoggedModel,
    "logged-models/<str:model_id>/tags": logged_models.LoggedModelTags,
    "logged-models/<str:model_id>/tags/<path:key>": logged_models.LoggedModelTag,
    "logged-models/<str:model_id>/params": logged_models.LoggedModelParams,
    "logged-models/<str:model_id>/artifacts/directories": artifacts.ListModelArtifacts,
    "registered-models/create": registered_models.CreateRegisteredModel,
    "registered-models/get": registered_models.GetRegisteredModel,
    "registered-models/rename": registered_models.RenameRegisteredModel,
    "registered-models/update": registered_models.UpdateRegisteredModel,
    "registered-models/delete": registered_models.DeleteRegisteredModel,
    "registered-models/search": registered_models.SearchRegisteredModels,
    "registered-models/get-latest-versions": registered_models.GetLatestVersions,
    "registered-models/set-tag": registered_models.SetRegisteredModelTag,
    "registered-models/delete-tag": registered_models.DeleteRegisteredModelTag,
    "registered-models/alias": registered_models.RegisteredModelAlias,
    "model-versions/create": model_versions.CreateModelVersion,
    "model-versions/get": model_versions.GetModelVersion,
    "model-versions/update": model_versions.UpdateModelVersion,
    "model-versions/delete": model_versions.DeleteModelVersion,
    "model-versions/search": model_versions.SearchModelVersions,
    "model-versions/get-download-uri": model_versions.GetDownloadUri,
    "model-versions/set-tag": model_versions.SetModelVersionTag,
    "model-versions/delete-tag": model_versions.DeleteModelVersionTag,
    "model-versions/transition-stage": model_versions.TransitionStage,
}
_ARTIFACTS: dict[str, type[Any]] = {
    "artifacts": artifacts.ListProxied,
    "artifacts/<path:path>": artifacts.Proxied,
    "mpu/create/<path:path>": artifacts.CreateMultipart,
    "mpu/complete/<path:path>": artifacts.CompleteMultipart,
    "mpu/abort/<path:path>": artifacts.AbortMultipart,
}

# MLflow answers its own pages at the second one, and some programs have copied that address.
_ROOTS = ("api", "ajax-api")

urlpatterns: list[URLPattern] = [
    *(
        path(f"<str:project>/{root}/2.0/{part}/{route}", view.as_view(route=route))
        for root in _ROOTS
        for part, views in (("mlflow", _VIEWS), ("mlflow-artifacts", _ARTIFACTS))
        for route, view in views.items()
    ),
    path("<str:project>/", to_portal),
    path("<str:project>/<path:rest>", Unknown.as_view()),
]
