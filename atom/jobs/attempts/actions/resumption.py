"""The checkpoint from which an attempt goes on."""

from __future__ import annotations

from typing import Any

from atom.jobs.attempts.actions.job_spec import job_of
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Attempt, Run


def note_resumption(run: Run, attempt: Attempt) -> None:
    """Record from which checkpoint an attempt goes on, if there is one."""
    step = attempt.resumed_from_step
    if step is not None:
        text = f"It resumes from the checkpoint of step {step}."
        record(run, EventKind.RESUMES, text, attempt, step=step)


def job_to_start(attempt: Attempt, rank: int = 0) -> dict[str, Any]:
    """Return the job of a rank that is about to start. Raises SecretsMissing.

    A checkpoint may have become durable since the attempt was made. The job has the newest one, so
    the attempt is noted to go on from there.
    """
    job = job_of(attempt, rank)
    step = job["resume"]["step"] if job["resume"] else None
    if step != attempt.resumed_from_step:
        attempt.resumed_from_step = step
        Attempt.objects.filter(pk=attempt.pk).update(resumed_from_step=step)
        note_resumption(attempt.run, attempt)
    return job
