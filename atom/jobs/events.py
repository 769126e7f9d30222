"""The run's timeline, and the transitions of its state."""

from __future__ import annotations

from typing import Any

import structlog

from atom.core import clock, live, outbox
from atom.core.states import check_transition
from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.models import Attempt, Run, RunEvent

log = structlog.get_logger(__name__)

# The moves that other programs hear of.
_TOLD = {
    states.RUNNING: "run.started",
    states.SUCCEEDED: "run.succeeded",
    states.FAILED: "run.failed",
    states.CANCELLED: "run.cancelled",
}


def record(
    run: Run, kind: EventKind, text: str, attempt: Attempt | None = None, **data: Any
) -> RunEvent:
    """Add a line to the run's timeline and notify the pages that show it.

    `data` holds the values that the sentence names, for pages in another language.
    """
    event = RunEvent.objects.create(run=run, attempt=attempt, kind=kind, text=text, data=data)
    live.publish(f"run.{run.pk}", {"type": "event", "seq": event.pk})
    return event


# Fields that are written under the run's lock. Metrics, heartbeats and launchers write the others
# without it: saving stale values of those would undo newer ones.
_SETTLED = (
    "state", "exit_code", "signal", "failure_class", "failure_reason", "suggestion", "evidence",
    "log_complete", "started_at", "finished_at", "finalizing_since", "updated_at",
)  # fmt: skip


def settle(attempt: Attempt, state: str) -> None:
    """Move an attempt alone, with what its run's lock guards. Raises IllegalTransition."""
    check_transition(states.ATTEMPT_STATES, attempt.state, state)
    attempt.state = state
    attempt.save(update_fields=_SETTLED)


def transition(run: Run, state: str, attempt: Attempt | None = None) -> None:
    """Move the run, and its open attempt with it. Raises IllegalTransition.

    The caller holds the run's row lock; its other changed fields are saved too.
    """
    check_transition(states.RUN_STATES, run.state, state)
    if attempt is not None:
        settle(attempt, state)
    log.info("run_moved", run_id=str(run.pk), old=run.state, new=state)
    run.state = state
    if state in states.TERMINAL:
        run.finished_at = clock.now()
    run.save()
    announce(run)
    if (kind := _TOLD.get(state)) is not None:
        outbox.emit(
            run.project_id,
            kind,
            # Notify nobody of a cancelled run: the person who cancelled it knows.
            people=[run.created_by_id] if state in {states.SUCCEEDED, states.FAILED} else [],
            subject=run.pk,
            run=str(run.pk),
            number=run.number,
            name=run.name,
            state=state,
            failure_class=run.failure_class,
        )


def announce(run: Run) -> None:
    """Notify the pages that show the run that it changed; they read it again."""
    event = {
        "type": "run",
        "id": str(run.pk),
        "state": run.state,
        "progress": run.progress,
        "progress_text": run.progress_text,
    }
    live.publish(f"run.{run.pk}", event)
    live.publish(
        f"project.{run.project_id}", {"type": "run", "id": str(run.pk), "state": run.state}
    )
