"""Runs as MLflow's client begins, describes and ends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from atom.accounts.models import Project, User
from atom.core.foreign_json import read_json
from atom.jobs import states as run_states
from atom.jobs.events import announce
from atom.jobs.metrics.actions import metrics
from atom.jobs.metrics.actions.metrics import PointRow
from atom.jobs.models import Run
from atom.jobs.models.experiments import Experiment
from atom.jobs.runs.actions.runs import next_number
from atom.jobs.tracking.actions import logged_runs
from atom.jobs.tracking.actions.logged_runs import LoggedRun
from atom.jobs.tracking.actions.tracked import (
    TrackedRun,
    create_tracked_run,
    lock_run,
    parameters_of,
    report_state,
)
from atom.mlflow_api.errors import BadParameter, NotPermitted, ResourceMissing

RUN_NAME_LABEL = "mlflow.runName"
USER_LABEL = "mlflow.user"
# Sent by the client where it does not know who runs the program.
UNKNOWN_USER = "unknown"
MODEL_HISTORY_LABEL = "mlflow.log-model.history"
MAX_NAME = 200
MAX_HISTORY = 100
MAX_ENTRIES = 5000


@dataclass(frozen=True, slots=True)
class Batch:
    """Metrics, params and tags that a program logs in one request."""

    points: list[PointRow] = field(default_factory=list)
    parameters: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@transaction.atomic
def begin_run(
    project: Project,
    user: User,
    experiment: Experiment | None,
    name: str,
    started_at: datetime | None,
    labels: Mapping[str, str],
) -> Run:
    """Make a run that is running; its name may come as a label too."""
    own = dict(labels)
    named = own.pop(RUN_NAME_LABEL, "")
    number = next_number(project)
    shown = (name or named or f"mlflow-run-{number}")[:MAX_NAME]
    said = TrackedRun(shown, experiment, started_at, own)
    return create_tracked_run(project, user, number, said)


@transaction.atomic
def update_run(run_id: UUID, state: str | None, ended_at: datetime | None, name: str) -> Run:
    """Set the state and name that the program reports for its run.

    Where Atom executes the run, Atom knows better how it stands: the state is not taken.
    """
    run = lock_run(run_id)
    if name:
        _rename(run, name)
    if state is not None and run.origin != run_states.EXECUTED:
        report_state(run, state, ended_at)
    return run


def log_batch(run: LoggedRun, batch: Batch, *, is_its_command: bool) -> None:
    """Store metrics, parameters and labels: all of them or none.

    Raises BadParameter for a parameter that was logged with another value, NotPermitted for facts
    about a run of Atom's that come from elsewhere than its command: gates are made of these.
    """
    if run.is_executed and not is_its_command and (batch.points or batch.parameters):
        raise NotPermitted(
            "Atom has executed this run, and its metrics and params are what its own command "
            "logged. Log them to a run of your own; tags may be set here."
        )
    if not batch.parameters and not batch.labels:
        _add_points(run, batch)
        return
    with transaction.atomic():
        locked = logged_runs.lock_described(run.pk)
        changed = [
            *_add_parameters(locked, batch.parameters),
            *_add_labels(locked, batch.labels),
        ]
        logged_runs.describe(locked, *changed)
        announce(locked)
        _add_points(run, batch)


def _add_points(run: LoggedRun, batch: Batch) -> None:
    if batch.points:
        metrics.append(run.attempt, batch.points)


def _add_parameters(run: Run, new: Mapping[str, str]) -> list[str]:
    """Add parameters; return the fields that changed."""
    present = parameters_of(run)
    for key, value in new.items():
        if key in present and str(present[key]) != value:
            raise BadParameter(
                f"Changing param values is not allowed. Param with key='{key}' was already logged "
                f"with value='{present[key]}' for run ID='{run.pk.hex}'. Attempted logging new "
                f"value '{value}'."
            )
    added = {key: value for key, value in new.items() if key not in present}
    if len(present) + len(added) > MAX_ENTRIES:
        raise BadParameter(f"A run has at most {MAX_ENTRIES} params.")
    if not added:
        return []
    # The parameters that Atom started a run with stay, since a clone starts with the same.
    if run.origin == run_states.EXECUTED:
        run.logged_parameters = {**run.logged_parameters, **added}
        return ["logged_parameters"]
    run.parameters = {**run.parameters, **added}
    return ["parameters"]


def _add_labels(run: Run, new: Mapping[str, str]) -> list[str]:
    """Add labels, of which one is the name; return the fields that changed."""
    changed, own = [], dict(new)
    if name := own.pop(RUN_NAME_LABEL, ""):
        run.name = name[:MAX_NAME]
        changed.append("name")
    if own:
        run.labels = {**run.labels, **own}
        changed.append("labels")
    if len(run.labels) > MAX_ENTRIES:
        raise BadParameter(f"A run has at most {MAX_ENTRIES} tags.")
    return changed


@transaction.atomic
def note_model(run: Run, model_json: str) -> None:
    """Add to the label by which clients before 3.0 find the models of a run."""
    try:
        said = read_json(model_json)
    except ValueError as error:
        raise BadParameter("Malformed model info: it is not valid JSON.") from error
    if not isinstance(said, dict):
        raise BadParameter("Malformed model info: it is not an object.")
    locked = lock_run(run.pk)
    history = json.loads(locked.labels.get(MODEL_HISTORY_LABEL, "[]"))
    if len(history) >= MAX_HISTORY:
        raise BadParameter(f"A run notes at most {MAX_HISTORY} models.")
    locked.labels = {**locked.labels, MODEL_HISTORY_LABEL: json.dumps([*history, said])}
    locked.save(update_fields=["labels", "updated_at"])


@transaction.atomic
def remove_label(run: Run, key: str) -> None:
    """Take a label away. Raises ResourceMissing."""
    locked = lock_run(run.pk)
    if key not in locked.labels:
        raise ResourceMissing(f"No tag with name: {key} in run with id {run.pk.hex}")
    del locked.labels[key]
    locked.save(update_fields=["labels", "updated_at"])
    announce(locked)


def _rename(run: Run, name: str) -> None:
    run.name = name[:MAX_NAME]
    run.save(update_fields=["name", "updated_at"])
    announce(run)
