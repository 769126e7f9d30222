"""Models that programs log: rows beside the files of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from atom.accounts.models import Project, User
from atom.core.ids import uuid7
from atom.core.states import check_move
from atom.jobs import states as run_states
from atom.jobs.models import Run
from atom.jobs.models.experiments import Experiment
from atom.jobs.tracking.actions.tracked import lock_run, report_state
from atom.mlflow_api import states
from atom.mlflow_api.actions.runs import begin_run
from atom.mlflow_api.engines.names import folder_name
from atom.mlflow_api.errors import BadParameter
from atom.mlflow_api.models import DatasetInput, LoggedModel, ModelOutput, ModelUse

FOLDER = "models"


@dataclass(frozen=True, slots=True)
class NewLoggedModel:
    """A model that a program is about to send; without a name it gets one."""

    name: str = ""
    model_type: str = ""
    source_run_id: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@transaction.atomic
def begin_model(
    project: Project,
    user: User,
    experiment: Experiment | None,
    run: Run | None,
    new: NewLoggedModel,
) -> LoggedModel:
    """Make a model whose files are still to come.

    A model is of a run, which its lineage needs: one without gets a run of its own.
    """
    pk = uuid7()
    name = new.name or f"model-{pk.hex[-8:]}"
    owner = run or begin_run(project, user, experiment, name, None, {})
    lock_run(owner.pk)
    path = f"{FOLDER}/{folder_name(name)}"
    if LoggedModel.objects.filter(run=owner, path=path).exists():
        path = f"{path}-{pk.hex[-8:]}"
    return LoggedModel.objects.create(
        pk=pk,
        run=owner,
        name=name,
        path=path,
        model_type=new.model_type,
        source_run_id=new.source_run_id,
        parameters=dict(new.parameters),
        labels=dict(new.labels),
    )


@transaction.atomic
def finalize_model(model: LoggedModel, state: str) -> LoggedModel:
    """Note that the files are there, or that they will not come; safe to repeat."""
    locked = LoggedModel.objects.select_for_update(of=("self",)).select_related("run")
    found = locked.get(pk=model.pk)
    if found.state == state:
        return found
    check_move(states.LOGGED_MODEL_STATES, found.state, state)
    found.state = state
    found.save(update_fields=["state", "updated_at"])
    if found.source_run_id != found.run_id.hex:
        # The run exists only for the model, so it ends with it.
        ended = run_states.SUCCEEDED if state == states.READY else run_states.FAILED
        report_state(lock_run(found.run_id), ended)
    return found


@transaction.atomic
def describe_model(
    model: LoggedModel,
    parameters: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> LoggedModel:
    """Add parameters and set labels. Raises BadParameter for a parameter with another value."""
    locked = LoggedModel.objects.select_for_update(of=("self",))
    found = locked.select_related("run__experiment").get(pk=model.pk)
    for key, value in (parameters or {}).items():
        if found.parameters.setdefault(key, value) != value:
            raise BadParameter(f"Param '{key}' was already logged with another value.")
    found.labels = {**found.labels, **(labels or {})}
    found.save(update_fields=["parameters", "labels", "updated_at"])
    return found


@transaction.atomic
def remove_model_label(model: LoggedModel, key: str) -> bool:
    """Take a label away; return whether it was there."""
    found = LoggedModel.objects.select_for_update(of=("self",)).get(pk=model.pk)
    had = found.labels.pop(key, None) is not None
    found.save(update_fields=["labels", "updated_at"])
    return had


@transaction.atomic
def note_model_metrics(model: LoggedModel, rows: Sequence[dict[str, Any]]) -> None:
    """Keep the newest value of each key and dataset."""
    found = LoggedModel.objects.select_for_update(of=("self",)).get(pk=model.pk)
    last = {_what(row): row for row in found.metrics}
    for row in rows:
        before = last.get(_what(row))
        if before is None or _when(row) >= _when(before):
            last[_what(row)] = row
    found.metrics = list(last.values())
    found.save(update_fields=["metrics", "updated_at"])


def _what(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["key"], row.get("dataset_name"), row.get("dataset_digest")


def _when(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["step"], row["timestamp"]


def note_outputs(run: Run, outputs: Sequence[tuple[LoggedModel, int]]) -> None:
    """Note which models a run has made, and at which steps; of one model the last step stands."""
    steps = {model.pk: step for model, step in outputs}
    ModelOutput.objects.bulk_create(
        [ModelOutput(run=run, logged_model_id=pk, step=step) for pk, step in steps.items()],
        update_conflicts=True,
        unique_fields=["run", "logged_model"],
        update_fields=["step"],
    )


@transaction.atomic
def note_inputs(run: Run, datasets: Sequence[DatasetInput], used: Sequence[LoggedModel]) -> None:
    """Note what a run read; the same again changes nothing."""
    DatasetInput.objects.bulk_create(datasets, ignore_conflicts=True)
    ModelUse.objects.bulk_create(
        [ModelUse(run=run, logged_model=one) for one in used], ignore_conflicts=True
    )
