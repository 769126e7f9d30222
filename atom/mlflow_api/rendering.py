"""Runs, experiments and files as MLflow's client reads them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from atom.jobs.models import MetricSeries, Run
from atom.jobs.models.experiments import DEFAULT_EXPERIMENT, Experiment
from atom.jobs.tracking.actions.tracked import parameters_of
from atom.mlflow_api.actions.runs import RUN_NAME_LABEL, USER_LABEL
from atom.mlflow_api.engines.ids import DEFAULT_EXPERIMENT_ID, model_id
from atom.mlflow_api.engines.messages import number_as_json
from atom.mlflow_api.engines.sources import LOGGED_MODELS, RUNS, SCHEME
from atom.mlflow_api.models import DatasetInput, LoggedModel, ModelOutput, ModelUse
from atom.mlflow_api.states import LOGGED_MODEL_WORDS, word_for

_STAGE = {False: "active", True: "deleted"}


def ms(at: datetime | None) -> int | None:
    """Return a time as milliseconds since 1970."""
    return None if at is None else math.floor(at.timestamp() * 1000)


def pairs(found: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a mapping as a list of keys and values."""
    return [{"key": key, "value": str(value)} for key, value in sorted(found.items())]


def without_none(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not set, as protobuf's JSON does."""
    return {key: value for key, value in found.items() if value is not None}


def experiment_id_of(experiment: Experiment | None) -> str:
    """Return the id of an experiment; of none, that of the default one."""
    if experiment is None or experiment.name == DEFAULT_EXPERIMENT:
        return DEFAULT_EXPERIMENT_ID
    return experiment.pk.hex


def experiment_message(experiment: Experiment) -> dict[str, Any]:
    """Return an experiment."""
    its_id = experiment_id_of(experiment)
    return without_none(
        {
            "experiment_id": its_id,
            "name": experiment.name,
            "artifact_location": f"{SCHEME}experiments/{its_id}",
            "lifecycle_stage": _STAGE[experiment.archived_at is not None],
            "creation_time": ms(experiment.created_at),
            "last_update_time": ms(experiment.updated_at),
            "tags": pairs(experiment.labels),
        }
    )


def run_info(run: Run) -> dict[str, Any]:
    """Return what is known of a run beside what it logged."""
    return without_none(
        {
            "run_id": run.pk.hex,
            "run_uuid": run.pk.hex,
            "run_name": run.name,
            "experiment_id": experiment_id_of(run.experiment),
            "user_id": _user_of(run),
            "status": word_for(run.state),
            "start_time": ms(run.started_at or run.created_at),
            "end_time": ms(run.finished_at),
            "artifact_uri": run_artifact_uri(run.pk),
            "lifecycle_stage": _STAGE[run.archived_at is not None],
        }
    )


def _user_of(run: Run) -> str:
    """Return who runs the program by its own word, else the account that it logs with."""
    return run.labels.get(USER_LABEL) or (run.created_by.username if run.created_by else "")


def run_artifact_uri(run_id: UUID) -> str:
    """Return where a run's files are."""
    return f"{SCHEME}{RUNS}/{run_id.hex}"


def run_messages(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return runs with all that they logged, in a fixed number of queries."""
    last = _last_metrics(runs)
    read = _grouped(DatasetInput.objects.filter(run__in=runs).order_by("id"))
    used = _grouped(ModelUse.objects.filter(run__in=runs).order_by("id"))
    outputs = ModelOutput.objects.filter(run__in=runs, logged_model__archived_at=None)
    made = _grouped(outputs.order_by("id"))
    return [
        _run_message(run, last[run.pk], read[run.pk], used[run.pk], made[run.pk]) for run in runs
    ]


def new_run_message(run: Run) -> dict[str, Any]:
    """Return a run that has just been made, which nothing can have been logged to."""
    return _run_message(run, [], [], [], [])


def _run_message(
    run: Run,
    last: Sequence[dict[str, Any]],
    read: Sequence[DatasetInput],
    used: Sequence[ModelUse],
    made: Sequence[ModelOutput],
) -> dict[str, Any]:
    return {
        "info": run_info(run),
        "data": {
            "metrics": last,
            "params": pairs(parameters_of(run)),
            "tags": pairs({RUN_NAME_LABEL: run.name, **run.labels}),
        },
        "inputs": {
            "dataset_inputs": [_dataset(one) for one in read],
            "model_inputs": [{"model_id": model_id(one.logged_model_id)} for one in used],
        },
        "outputs": {
            "model_outputs": [
                {"model_id": model_id(one.logged_model_id), "step": one.step} for one in made
            ]
        },
    }


def _grouped(rows: Iterable[Any]) -> dict[UUID, list[Any]]:
    grouped: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        grouped[row.run_id].append(row)
    return grouped


def _last_metrics(runs: Sequence[Run]) -> dict[UUID, list[dict[str, Any]]]:
    series = MetricSeries.objects.filter(run__in=runs, n__gt=0)
    last: dict[UUID, dict[str, dict[str, Any]]] = defaultdict(dict)
    # The values of a later attempt replace those of an earlier one.
    for one in series.order_by("run", "attempt__number", "key"):
        last[one.run_id][one.key] = metric(one.key, one.last, one.last_ts_ms, one.last_step)
    return defaultdict(list, {run: list(found.values()) for run, found in last.items()})


def metric(key: str, value: float | None, ts_ms: int | None, step: int | None) -> dict[str, Any]:
    """Return one point of a metric."""
    return {
        "key": key,
        "value": number_as_json(value),
        "timestamp": ts_ms or 0,
        "step": step or 0,
    }


def _dataset(one: DatasetInput) -> dict[str, Any]:
    said = {
        name: getattr(one, name)
        for name in ("name", "digest", "source_type", "source", "schema", "profile")
        if getattr(one, name)
    }
    return {"tags": pairs(one.labels), "dataset": said}


def logged_model_message(model: LoggedModel) -> dict[str, Any]:
    """Return a logged model; its run's experiment is read too."""
    return {
        "info": {
            "model_id": model_id(model.pk),
            "experiment_id": experiment_id_of(model.run.experiment),
            "name": model.name,
            "creation_timestamp_ms": ms(model.created_at),
            "last_updated_timestamp_ms": ms(model.updated_at),
            "artifact_uri": f"{SCHEME}{LOGGED_MODELS}/{model_id(model.pk)}",
            "status": LOGGED_MODEL_WORDS[model.state],
            "model_type": model.model_type,
            "source_run_id": model.source_run_id,
            "tags": pairs(model.labels),
        },
        "data": {
            "params": pairs(model.parameters),
            "metrics": [
                without_none(
                    {
                        **row,
                        "value": number_as_json(_number(row["value"])),
                        "model_id": model_id(model.pk),
                    }
                )
                for row in model.metrics
            ],
        },
    }


def _number(value: float | str) -> float:
    return float(value)
