"""Answers "why isn't it running?" and "what would happen?" in plain words; writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from atom.cache.models import CacheRecord
from atom.clusters.models import Cluster
from atom.jobs import states
from atom.jobs.executors import executor_in
from atom.jobs.models import Run
from atom.jobs.runs.actions.chosen_cluster import verdict_on
from atom.jobs.runs.actions.plan import RunPlan
from atom.jobs.runs.engines.cluster_choice import Fits
from atom.jobs.runtimes.actions import runtimes
from atom.jobs.scheduling.actions.queue_order import Turn, queue_position, turn_of
from atom.jobs.scheduling.actions.scheduling import (
    capacities_for,
    demand_of,
    sizes_of,
    warmed_inputs,
)
from atom.jobs.scheduling.engines.placement import Placement, PlacementCode, place


class AnswerCode(StrEnum):
    """Which sentence an answer has, for pages in another language."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    FAILED = "failed"
    RETRY_WAIT = "retry_wait"
    NO_ROOM = "no_room"
    NONE_FITS = "none_fits"
    KEPT_BACK = "kept_back"
    TO_BE_PLACED = "to_be_placed"
    TO_BE_STARTED = "to_be_started"
    PREPARING = "preparing"
    SUBMITTED = "submitted"
    RUNNING = "running"
    CANCELLING = "cancelling"
    FINALIZING = "finalizing"
    MOVING = "moving"
    TO_ANOTHER_CLUSTER = "to_another_cluster"
    TRACKED = "tracked"
    CLUSTER_AWAY = "cluster_away"
    IN_CLUSTER = "in_cluster"


class ReasonKind(StrEnum):
    """The kind of reason why a run waits, or of how it ended."""

    RETRY = "retry"
    QUEUE = "queue"
    PASSED = "passed"
    RESOURCES = "resources"
    MACHINES = "machines"
    PLACEMENT = "placement"
    DATA = "data"
    DATA_RETRY = "data_retry"
    RUNTIME = "runtime"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CLUSTER = "cluster"


class Outlook(StrEnum):
    """The outlook of a run that would be started now."""

    STARTS = "starts"
    WAITS = "waits"
    NEVER_FITS = "never_fits"


# The code of a placement whose machine a registered cluster chooses itself.
CLUSTER_CHOOSES = "cluster_chooses"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a run waits for, or why it ended, and what to do about it."""

    kind: ReasonKind
    text: str
    action: str = ""
    # Values that the text names.
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer in one sentence, with its reasons."""

    code: AnswerCode
    answer: str
    reasons: list[Reason]


def explain(run: Run) -> Explanation:
    """Return why the run is, or is not, running."""
    if run.origin != states.EXECUTED:
        answer = "Its program runs elsewhere and only reports to Atom."
        return Explanation(AnswerCode.TRACKED, answer, [])
    if run.state in states.TERMINAL:
        return _ended(run)
    if run.state in (states.QUEUED, states.CREATED):
        return _queued(run)
    if run.state == states.RETRY_WAIT:
        return between_attempts(run)
    if run.moving_since is not None and run.state in states.SUPERVISED:
        answer = "It moves to another cluster: its command stores a last checkpoint first."
        return Explanation(AnswerCode.TO_ANOTHER_CLUSTER, answer, [])
    if run.state in (states.PLACING, states.WARMING):
        return _warming(run)
    if run.state == states.RUNNING:
        return Explanation(AnswerCode.RUNNING, "It is running.", [])
    return _moving(run)


def between_attempts(run: Run) -> Explanation:
    """Return until when a run waits for its next attempt."""
    when = f"{run.retry_at:%H:%M:%S} UTC" if run.retry_at else "soon"
    text = f"The last attempt was lost; the next one starts at {when}."
    at = run.retry_at.isoformat() if run.retry_at else None
    reason = Reason(ReasonKind.RETRY, text, params={"at": at})
    answer = "It waits a moment before it starts again."
    return Explanation(AnswerCode.RETRY_WAIT, answer, [reason])


def _ended(run: Run) -> Explanation:
    if run.state == states.SUCCEEDED:
        return Explanation(AnswerCode.SUCCEEDED, "It is over: it succeeded.", [])
    if run.state == states.CANCELLED:
        again = Reason(ReasonKind.CANCELLED, "The run was cancelled.", "Retry it to go on.")
        return Explanation(AnswerCode.CANCELLED, "It is over: it was cancelled.", [again])
    params = {"failure_class": run.failure_class}
    reason = Reason(ReasonKind.FAILED, run.failure_reason, run.suggestion, params)
    return Explanation(AnswerCode.FAILED, "It is over: it failed.", [reason])


def _queued(run: Run) -> Explanation:
    if run.cluster is not None:
        return _queued_for(run.cluster)
    placement = place(capacities_for(sizes_of(run)), demand_of(run))
    return waiting_in_queue(placement, turn_of(run))


def _queued_for(cluster: Cluster) -> Explanation:
    """Return why a run of a registered cluster is not there yet."""
    if cluster.state == "ready":
        return Explanation(AnswerCode.TO_BE_PLACED, "It is about to be placed.", [])
    text = f"{cluster.name} takes no runs now: it is {cluster.state}."
    action = "Ask an administrator, or start a copy in another cluster."
    params = {"cluster": cluster.name, "said": text}
    reason = Reason(ReasonKind.CLUSTER, text, action, params)
    return Explanation(AnswerCode.CLUSTER_AWAY, "It waits for its cluster.", [reason])


def waiting_in_queue(placement: Placement, turn: Turn) -> Explanation:
    """Return why a queued run waits, from where it would go and which come before it."""
    reasons = _turn_reasons(turn)
    decided = {"code": placement.code, "params": placement.params}
    if placement.code == PlacementCode.NONE_FITS:
        action = "Start the worker of a larger machine, let it take jobs again, or ask for less."
        reasons.append(Reason(ReasonKind.MACHINES, placement.why, action, decided))
        answer = "No machine that takes jobs now is large enough for it; other runs pass it."
        return Explanation(AnswerCode.NONE_FITS, answer, reasons)
    if placement.node is None:
        action = "Wait until a run ends, cancel one, or ask for less."
        reasons.append(Reason(ReasonKind.RESOURCES, placement.why, action, decided))
        answer = "It waits for a machine with enough free resources."
        return Explanation(AnswerCode.NO_ROOM, answer, reasons)
    reasons.append(Reason(ReasonKind.PLACEMENT, placement.why, params=decided))
    if turn.is_kept_back:
        answer = "Machines are kept for a run ahead of it that has waited for too long."
        return Explanation(AnswerCode.KEPT_BACK, answer, reasons)
    return Explanation(AnswerCode.TO_BE_PLACED, "It is about to be placed.", reasons)


def _turn_reasons(turn: Turn) -> list[Reason]:
    reasons = []
    if ahead := turn.ahead - turn.passed:
        plural = "run is" if ahead == 1 else "runs are"
        text = f"{ahead} {plural} ahead of it in the queue."
        reasons.append(Reason(ReasonKind.QUEUE, text, "Wait.", {"ahead": ahead}))
    if turn.passed:
        plural = "run ahead of it asks" if turn.passed == 1 else "runs ahead of it ask"
        text = (
            f"{turn.passed} {plural} for more than any machine has now; it is not held up by that."
        )
        reasons.append(Reason(ReasonKind.PASSED, text, params={"passed": turn.passed}))
    return reasons


def _warming(run: Run) -> Explanation:
    reasons = [reason for reason in (*_data_reasons(run), _runtime_reason(run)) if reason]
    if not reasons:
        answer = "Data and environment are ready; it is about to start."
        return Explanation(AnswerCode.TO_BE_STARTED, answer, [])
    answer = "It has a machine, and waits for what it needs there."
    return Explanation(AnswerCode.PREPARING, answer, reasons)


def _data_reasons(run: Run) -> list[Reason]:
    attempt = run.attempts.order_by("-number").first()
    cached = {
        one.version_id: one
        for one in CacheRecord.objects.filter(
            node=attempt.node if attempt else None, version__in=run.inputs.values("version")
        )
    }
    reasons = []
    for one in warmed_inputs(run):
        known = cached.get(one.version_id)
        if known is None or known.state != "warm":
            name = f"{one.version.dataset.name}@{one.version.ref}"
            here = known.bytes_present if known else 0
            total = known.bytes_total if known and known.bytes_total else one.version.size_bytes
            params = {"dataset": name, "bytes_present": here, "bytes_total": total}
            reasons.append(_data_reason(params, known.error if known else ""))
    return reasons


def _data_reason(params: dict[str, Any], error: str) -> Reason:
    """Return how much of a version is there, and the last error of its warm-up if any."""
    text = "{dataset}: {bytes_present} of {bytes_total} bytes are on the machine.".format(**params)
    if not error:
        return Reason(ReasonKind.DATA, text, "Wait; the data is being copied.", params)
    action = "Check that the object store is running; the rest is asked for again and again."
    return Reason(ReasonKind.DATA_RETRY, f"{text} {error}", action, {**params, "error": error})


def _runtime_reason(run: Run) -> Reason | None:
    if run.runtime is None or run.runtime.state == states.READY:
        return None
    last_line = run.runtime.log_tail.rstrip().rsplit("\n", 1)[-1]
    text = "Its Python environment is being built" + (f": {last_line}" if last_line else ".")
    action = "Wait; runs with the same requirements start at once later."
    return Reason(ReasonKind.RUNTIME, text, action, {"said": last_line})


def _in_cluster(cluster: Cluster, run: Run) -> Explanation:
    """Return why the pods of a run do not run, in the words of its cluster."""
    answer = "Its cluster has it, and starts it when it has room."
    attempt = run.attempts.select_related("cluster", "placed_in").order_by("-number").first()
    found = executor_in(cluster).waits_for(attempt) if attempt is not None else None
    if found is None:
        return Explanation(AnswerCode.IN_CLUSTER, answer, [])
    params = {"cluster": cluster.name, "said": str(found.sentence)}
    reason = Reason(ReasonKind.CLUSTER, str(found.sentence), str(found.suggestion), params)
    return Explanation(AnswerCode.IN_CLUSTER, answer, [reason])


def _moving(run: Run) -> Explanation:
    if run.cluster is not None and run.state == states.SUBMITTED:
        return _in_cluster(run.cluster, run)
    answers = {
        states.SUBMITTED: "Its supervisor is being started.",
        states.CANCELLING: "It is being cancelled: the command has ten seconds to save its work.",
        states.FINALIZING: "The command has ended; the rest of its log and files is being stored.",
    }
    if run.state in answers:
        return Explanation(AnswerCode(run.state), answers[run.state], [])
    return Explanation(AnswerCode.MOVING, f"It is {run.state}.", [])


_OUTLOOKS = {Fits.NOW: Outlook.STARTS, Fits.LATER: Outlook.WAITS, Fits.NEVER: Outlook.NEVER_FITS}


def preview(plan: RunPlan) -> dict[str, Any]:
    """Return what would happen to a run like this, without creating it."""
    if plan.cluster is not None:
        return _preview_on(plan.cluster, plan)
    sizes = {version.pk: version.size_bytes for version in plan.inputs.values()}
    placement = place(capacities_for(sizes), plan.demand)
    digest, runtime = runtimes.find_runtime(plan.requirements)
    errors = {**plan.errors, **plan.too_large}
    return {
        "valid": not errors,
        "errors": errors,
        "outlook": _outlook(plan, placement),
        "placement": _placement(placement),
        "queue_position": queue_position(),
        "warm": _warm(placement, sum(sizes.values())),
        "runtime": {"digest": digest, "state": runtime.state if runtime else "pending"},
    }


def _preview_on(cluster: Cluster, plan: RunPlan) -> dict[str, Any]:
    """Return the forecast on a registered cluster, whose scheduler chooses the node."""
    errors = {**plan.errors, **plan.too_large}
    verdict = verdict_on(cluster, plan.demand)
    digest, runtime = runtimes.find_runtime("")
    why = verdict.reason or f"Cluster {cluster.name} has room now; it chooses the machine itself."
    return {
        "valid": not errors,
        "errors": errors,
        "outlook": _OUTLOOKS[verdict.fits],
        "placement": {
            "cluster": cluster.name,
            "node": None,
            "why": why,
            "code": CLUSTER_CHOOSES,
            "params": {"cluster": cluster.name, "fits": verdict.fits},
        },
        "queue_position": queue_position(),
        # Its data is streamed: nothing is copied before the start.
        "warm": None,
        "runtime": {"digest": digest, "state": runtime.state if runtime else "pending"},
    }


def _outlook(plan: RunPlan, placement: Placement) -> Outlook:
    if plan.too_large:
        return Outlook.NEVER_FITS
    return Outlook.STARTS if placement.node is not None else Outlook.WAITS


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "cluster": "local",
        "node": placement.node.name if placement.node else None,
        "why": placement.why,
        "code": placement.code,
        "params": placement.params,
    }


def _warm(placement: Placement, total_bytes: int) -> dict[str, Any] | None:
    """Return how much is there; None where nothing is read, or no machine is known yet."""
    coverage = placement.node.coverage if placement.node is not None else None
    if coverage is None:
        return None
    return {"bytes_missing": int(total_bytes * (1 - coverage)), "coverage": coverage}
