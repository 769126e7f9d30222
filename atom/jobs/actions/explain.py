"""Answers "why isn't it running?" and "what would happen?" in plain words; writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from atom.cache.models import CacheRecord
from atom.jobs import states
from atom.jobs.actions import runtimes
from atom.jobs.actions.requests import RunPlan
from atom.jobs.actions.scheduling import capacities_for, demand_of, sizes_of
from atom.jobs.engines.placement import Placement, place
from atom.jobs.models import Run


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a run waits for, or why it ended, and what to do about it."""

    kind: str
    text: str
    action: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer in one sentence, with its reasons."""

    answer: str
    reasons: list[Reason]


def explain(run: Run) -> Explanation:
    """Return why the run is, or is not, running."""
    if run.state in states.TERMINAL:
        return _ended(run)
    if run.state in (states.QUEUED, states.CREATED):
        return _queued(run)
    if run.state == states.RETRY_WAIT:
        when = f"{run.retry_at:%H:%M:%S} UTC" if run.retry_at else "soon"
        reason = Reason("retry", f"The last attempt was lost; the next one starts at {when}.")
        return Explanation("It waits a moment before it starts again.", [reason])
    if run.state in (states.PLACING, states.WARMING):
        return _warming(run)
    if run.state == states.RUNNING:
        return Explanation("It is running.", [])
    return _moving(run)


def _ended(run: Run) -> Explanation:
    if run.state == states.SUCCEEDED:
        return Explanation("It is over: it succeeded.", [])
    if run.state == states.CANCELLED:
        again = Reason("cancelled", "The run was cancelled.", "Retry it to go on.")
        return Explanation("It is over: it was cancelled.", [again])
    reason = Reason(run.failure_class.lower(), run.failure_reason, run.suggestion)
    return Explanation("It is over: it failed.", [reason])


def _queued(run: Run) -> Explanation:
    placement = place(capacities_for(sizes_of(run)), demand_of(run))
    ahead = queue_position(run) - 1
    reasons = []
    if ahead:
        plural = "run is" if ahead == 1 else "runs are"
        reasons.append(Reason("queue", f"{ahead} {plural} ahead of it in the queue.", "Wait."))
    if placement.node is None:
        action = "Wait until a run ends, cancel one, or ask for less."
        reasons.append(Reason("resources", placement.why, action))
        return Explanation("It waits for a machine with enough free resources.", reasons)
    reasons.append(Reason("placement", placement.why))
    return Explanation("It is about to be placed.", reasons)


def queue_position(run: Run | None = None) -> int:
    """Return the place in the queue, from 1; of a run that does not exist yet without one."""
    queued = Run.objects.filter(state=states.QUEUED)
    if run is None:
        return queued.count() + 1
    since = run.queued_at or run.created_at
    before = Q(priority__gt=run.priority) | Q(priority=run.priority, queued_at__lt=since)
    return queued.filter(before).count() + 1


def _warming(run: Run) -> Explanation:
    reasons = [reason for reason in (*_data_reasons(run), _runtime_reason(run)) if reason]
    if not reasons:
        return Explanation("Data and environment are ready; it is about to start.", [])
    return Explanation("It has a machine, and waits for what it needs there.", reasons)


def _data_reasons(run: Run) -> list[Reason]:
    attempt = run.attempts.order_by("-number").first()
    cached = {
        one.version_id: one
        for one in CacheRecord.objects.filter(
            node=attempt.node if attempt else None, version__in=run.inputs.values("version")
        )
    }
    reasons = []
    for one in run.inputs.select_related("version__dataset"):
        known = cached.get(one.version_id)
        if known is None or known.state != "warm":
            name = f"{one.version.dataset.name}@{one.version.ref}"
            here = known.bytes_present if known else 0
            total = known.bytes_total if known and known.bytes_total else one.version.size_bytes
            text = f"{name}: {here} of {total} bytes are on the machine."
            reasons.append(Reason("data", text, "Wait; the data is being copied."))
    return reasons


def _runtime_reason(run: Run) -> Reason | None:
    if run.runtime is None or run.runtime.state == states.READY:
        return None
    last_line = run.runtime.log_tail.rstrip().rsplit("\n", 1)[-1]
    text = "Its Python environment is being built" + (f": {last_line}" if last_line else ".")
    return Reason("runtime", text, "Wait; runs with the same requirements start at once later.")


def _moving(run: Run) -> Explanation:
    answers = {
        states.SUBMITTED: "Its supervisor is being started.",
        states.CANCELLING: "It is being cancelled: the command has ten seconds to save its work.",
        states.FINALIZING: "The command has ended; the rest of its log and files is being stored.",
    }
    return Explanation(answers.get(run.state, f"It is {run.state}."), [])


def preview(plan: RunPlan) -> dict[str, Any]:
    """Return what would happen to a run like this, without creating it."""
    sizes = {version.pk: version.size_bytes for version in plan.inputs.values()}
    placement = place(capacities_for(sizes), plan.demand)
    digest, runtime = runtimes.find_runtime(plan.requirements)
    errors = {**plan.errors, **plan.too_large}
    return {
        "valid": not errors,
        "errors": errors,
        "placement": _placement(placement),
        "queue_position": queue_position(),
        "warm": _warm(placement, sum(sizes.values())),
        "runtime": {"digest": digest, "state": runtime.state if runtime else "pending"},
    }


def _placement(placement: Placement) -> dict[str, Any]:
    node = placement.node
    return {"cluster": "local", "node": node.name if node else None, "why": placement.why}


def _warm(placement: Placement, total_bytes: int) -> dict[str, Any]:
    coverage = placement.node.coverage if placement.node else 0.0
    return {"bytes_missing": int(total_bytes * (1 - coverage)), "coverage": coverage}
