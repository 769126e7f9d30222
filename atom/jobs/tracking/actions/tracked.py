"""Tracked runs: a program elsewhere starts, reports and ends them; Atom never does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock
from atom.core.states import check_transition
from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import announce, record
from atom.jobs.models import Attempt, Run
from atom.jobs.models.experiments import Experiment

_ENDS = {
    states.SUCCEEDED: (EventKind.SUCCEEDED, "The run succeeded."),
    states.FAILED: (EventKind.FAILED, "The run failed."),
    states.CANCELLED: (EventKind.CANCELLED, "The run was cancelled."),
}


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """A program's report of a run that it begins; `started_at` is by its own clock."""

    name: str
    experiment: Experiment | None = None
    started_at: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    state: str = states.RUNNING


def create_tracked_run(project: Project, user: User, number: int, said: TrackedRun) -> Run:
    """Make a run that its program reports; it has one attempt, on no machine of ours.

    `number` is of `runs.next_number`, in the caller's transaction.
    """
    started_at = said.started_at or clock.now()
    run = Run.objects.create(
        project=project,
        number=number,
        name=said.name,
        origin=states.MLFLOW,
        experiment=said.experiment,
        labels=dict(said.labels),
        state=said.state,
        created_by=user,
        # It takes nothing of what Atom gives out.
        cpus=0,
        memory_bytes=0,
        max_retries=0,
        started_at=started_at,
        running_since=started_at,
    )
    Attempt.objects.create(
        run=run, number=1, state=states.RUNNING, started_at=started_at, log_complete=True
    )
    audit.record(user, "run.created", run, project, name=run.name, origin=run.origin)
    text = f"{user.username} started the run."
    record(run, EventKind.CREATED, text, user=user.username)
    announce(run)
    return run


def report_state(run: Run, state: str, ended_at: datetime | None = None) -> None:
    """Set the state that a program reports of its run. The caller holds the run's row lock."""
    if run.state == state:
        return
    check_transition(states.TRACKED_RUN_STATES, run.state, state)
    run.state = state
    run.finished_at = (ended_at or clock.now()) if state in states.TERMINAL else None
    if state == states.SUCCEEDED:
        run.progress = 1.0
    _count_time(run)
    run.save(
        update_fields=["state", "finished_at", "progress", "ran_s", "running_since", "updated_at"]
    )
    # The attempt of a tracked run has no life of its own.
    ended = state if state in states.TERMINAL else states.RUNNING
    run.attempts.update(state=ended, finished_at=run.finished_at)
    if state in _ENDS:
        kind, text = _ENDS[state]
        record(run, kind, text)
    announce(run)


def _count_time(run: Run) -> None:
    """A tracked run is one stretch of time, which goes on when its program takes it up again."""
    run.ran_s, run.running_since = 0.0, run.started_at
    if run.finished_at is not None and run.started_at is not None:
        run.ran_s = max(0.0, (run.finished_at - run.started_at).total_seconds())
        run.running_since = None


def lock_run(run_id: UUID) -> Run:
    """Return the run, its row locked until the caller commits."""
    return (
        Run.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project")
        .get(pk=run_id)
    )


def attempt_of(run: Run) -> Attempt:
    """Return the attempt that a program's report of the run belongs to: the last one.

    There is one, as `LoggedRun.attempt` says why.
    """
    return run.attempts.latest("number")


@transaction.atomic
def set_archived(run: Run, user: User | None, *, archived: bool) -> bool:
    """Take a run out of the lists, or bring it back; nothing of it is lost. False: it was so."""
    found = Run.objects.filter(pk=run.pk, archived_at__isnull=archived)
    changed = found.update(archived_at=clock.now() if archived else None) > 0
    if changed:
        # The table of verbs is read from the source, so each is a literal.
        if archived:
            audit.record(user, "run.archived", run, run.project, name=run.name)
        else:
            audit.record(user, "run.restored", run, run.project, name=run.name)
        announce(run)
    return changed


def parameters_of(run: Run) -> dict[str, Any]:
    """Return what the run was started with, and what its program logged beside it."""
    return {**run.parameters, **run.logged_parameters}
