"""Adds a run to the trace of the request that started it, when each attempt is over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction

from atom.core import tracing
from atom.jobs import states
from atom.jobs.models import Attempt, Run


def trace_attempt(run: Run, attempt: Attempt) -> None:
    """Trace the attempt and its phases once the current transaction has committed."""
    if run.trace_parent and tracing.is_on():
        transaction.on_commit(lambda: _notify(run, attempt))


def _notify(run: Run, attempt: Attempt) -> None:
    begun = (run.queued_at if attempt.number == 1 else None) or attempt.created_at
    attributes = {
        "atom.run.id": str(run.pk),
        "atom.run.number": run.number,
        "atom.run.name": run.name,
        "atom.attempt.id": str(attempt.pk),
        "atom.attempt.number": attempt.number,
        "atom.attempt.state": attempt.state,
        "atom.failure_class": attempt.failure_class,
    }
    ended = attempt.finished_at or attempt.updated_at
    whole = tracing.past_span(
        f"attempt {attempt.number}",
        run.trace_parent,
        (begun, ended),
        attributes,
        is_error=attempt.state == states.FAILED,
    )
    for name, times in _phases(attempt, begun, ended):
        tracing.past_span(name, whole, times)


def _phases(
    attempt: Attempt, begun: datetime, ended: datetime
) -> Iterator[tuple[str, tuple[datetime, datetime]]]:
    """Yield waiting, preparing (place, data, environment), the command, and the last bytes."""
    marks = [
        ("waiting", begun),
        ("preparing", attempt.created_at),
        ("command", attempt.started_at),
        ("finalizing", attempt.finalizing_since),
    ]
    known = [(name, at) for name, at in marks if at is not None]
    following = [*(at for _, at in known[1:]), ended]
    for (name, at), until in zip(known, following, strict=True):
        if until > at:
            yield name, (at, until)
