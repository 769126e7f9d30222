"""Register models and record evaluations of runs that succeeded.

The registry lies above jobs and gets no event of an ended run, so a periodic task looks for them.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.functions import Now

from atom.accounts.models import slug_validator
from atom.core import clock
from atom.core.errors import AtomError, Invalid
from atom.core.states import check_transition
from atom.jobs import states as job_states
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Run
from atom.models_registry import states
from atom.models_registry.actions.evaluations import evaluation_artifact, record_evaluation
from atom.models_registry.actions.registration import get_or_create_model, register
from atom.models_registry.errors import IntakeFailed
from atom.models_registry.models import ModelVersion, RunIntake
from atom.models_registry.reads import find_version
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

MODEL_PATH = "model"
REGISTER_PARAMETER = "register_model"
EVALUATED_PARAMETER = "model_version"
_BATCH = 100
# Half an hour of tries, at first every few seconds: a store may be away for minutes.
_MAX_TRIES = 12
_FIRST_WAIT_S = 3.0
_LONGEST_WAIT_S = 300.0
# Then the next tick goes on: the task itself has ten minutes.
_LOOKING_S = 300.0


def take_in_finished_runs() -> int:
    """Look at every succeeded run that was not looked at yet. Returns how many."""
    finished = (
        Run.objects.executed()
        .filter(state=job_states.SUCCEEDED)
        .exclude(intake__state__in=[states.DONE, states.FAILED])
        .exclude(intake__next_try_at__gt=Now())
    )
    ids = list(finished.order_by("finished_at").values_list("pk", flat=True)[:_BATCH])
    started = time.monotonic()
    for looked_at, run_id in enumerate(ids):
        if time.monotonic() - started > _LOOKING_S:
            return looked_at
        try:
            take_in_run(run_id)
        except Exception:
            # An outage met by one run must not keep the others waiting.
            log.exception("run_intake_failed", run_id=str(run_id))
    return len(ids)


def take_in_run(run_id: UUID) -> None:
    """Register the run's model and record its evaluation, once.

    A failure is retried for half an hour; then the run's timeline says so.
    """
    RunIntake.objects.get_or_create(run_id=run_id)
    with transaction.atomic():
        rows = RunIntake.objects.select_for_update(skip_locked=True, of=("self",))
        intake = rows.select_related("run__project", "run__created_by").filter(run=run_id).first()
        if intake is None or intake.state != states.PENDING:
            return
        try:
            with transaction.atomic():
                _take_in(intake.run)
        except AtomError as exc:
            _note_failure(intake, exc)
        except Exception:
            # Unexpected errors count too: endless retries would hold up all other runs.
            log.exception("run_intake_failed", run_id=str(run_id))
            _note_failure(intake, IntakeFailed())
        else:
            check_transition(states.INTAKE_STATES, intake.state, states.DONE)
            intake.state, intake.error_code, intake.error_detail = states.DONE, "", ""
        intake.save()


def _take_in(run: Run) -> None:
    registered = _register(run)
    if evaluation_artifact(run) is None:
        return
    version = registered or _evaluated_version(run)
    evaluation = record_evaluation(run, version) if version is not None else None
    if version is not None and evaluation is not None:
        text = f"{version} has {evaluation.accuracy:.2%} accuracy on {evaluation.split}."
        measured: dict[str, Any] = {"accuracy": evaluation.accuracy, "split": evaluation.split}
        measured["evaluation"] = str(evaluation.pk)
        record(run, EventKind.EVALUATED, text, None, **_named(version), **measured)


def _register(run: Run) -> ModelVersion | None:
    name = _parameter(run, REGISTER_PARAMETER)
    if not name:
        return None
    try:
        slug_validator(name)
    except ValidationError as exc:
        raise Invalid(
            Sentence(
                "models.name_invalid",
                "{name} cannot be a model's name: {reason}",
                name=repr(name),
                reason=exc.message,
            )
        ) from exc
    model = get_or_create_model(run.project, run.created_by, name)
    version = register(model, run, MODEL_PATH, run.created_by)
    text = f"Registered as version {version.number} of the model {name}."
    record(run, EventKind.MODEL_REGISTERED, text, None, **_named(version))
    return version


def _named(version: ModelVersion) -> dict[str, Any]:
    name = version.model.name
    return {"model_version": str(version.pk), "model": name, "number": version.number}


def _evaluated_version(run: Run) -> ModelVersion | None:
    reference = _parameter(run, EVALUATED_PARAMETER)
    return find_version(run.project, reference) if reference else None


def _parameter(run: Run, name: str) -> str:
    parameters: dict[str, Any] = run.parameters if isinstance(run.parameters, dict) else {}
    value = parameters.get(name)
    return value.strip() if isinstance(value, str) else ""


def _note_failure(intake: RunIntake, error: AtomError) -> None:
    intake.tries += 1
    intake.error_code, intake.error_detail = error.code, error.detail
    wait_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**intake.tries)
    intake.next_try_at = clock.now() + timedelta(seconds=wait_s)
    log.warning("run_not_taken_in", run_id=str(intake.run_id), code=error.code)
    if intake.tries >= _MAX_TRIES or isinstance(error, Invalid):
        check_transition(states.INTAKE_STATES, intake.state, states.FAILED)
        intake.state = states.FAILED
        text, said = f"{error.detail} {error.action}", error.detail
        record(intake.run, EventKind.REGISTRATION_FAILED, text, code=error.code, said=said)
