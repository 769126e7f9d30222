"""The beginning of an attempt, wherever it is placed."""

from __future__ import annotations

from typing import Any

from django.db.models import Max

from atom.jobs import states
from atom.jobs.artifacts.actions import outputs
from atom.jobs.events import transition
from atom.jobs.models import Attempt, Rank, Run


def begin_attempt(run: Run, **where: Any) -> Attempt:
    """Make the next attempt of a run and put it into the state `placing`."""
    last = run.attempts.aggregate(last=Max("number"))["last"] or 0
    checkpoint = outputs.latest_checkpoint(run)
    step = checkpoint.step if checkpoint else None
    attempt = Attempt.objects.create(run=run, number=last + 1, resumed_from_step=step, **where)
    Rank.objects.bulk_create(
        Rank(attempt=attempt, number=number, node=attempt.node) for number in range(run.nodes)
    )
    run.claimed_until = None
    run.progress, run.progress_text = 0.0, ""
    transition(run, states.PLACING)
    return attempt
