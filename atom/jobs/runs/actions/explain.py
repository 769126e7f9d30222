"""Answers "why isn't it running?" in plain words; writes nothing."""

from __future__ import annotations

from typing import Any

from atom.cache.models import CacheRecord
from atom.clusters.models import Cluster
from atom.core import clock
from atom.jobs import states
from atom.jobs.attempts.actions.gangs import forms_another
from atom.jobs.executors import environments_in, executor_of
from atom.jobs.models import Attempt, Run
from atom.jobs.runs.actions.auto_explanations import queue_reasons, waits_for_place
from atom.jobs.runs.actions.cluster_explanations import (
    WAITS_FOR_DATA,
    explain_in_cluster,
    reasons_of_gate,
)
from atom.jobs.runs.actions.explanations import AnswerCode, Explanation, Reason, ReasonKind
from atom.jobs.scheduling.actions.data_places import sizes_of
from atom.jobs.scheduling.actions.in_clusters import missing_accelerators
from atom.jobs.scheduling.actions.queue_order import Turn, turn_of
from atom.jobs.scheduling.actions.scheduling import (
    capacities_for,
    demand_of,
    warmed_inputs,
)
from atom.jobs.scheduling.engines.placement import Placement, PlacementCode, place
from atom_sdk.sentences import Sentence


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
        return Explanation(AnswerCode.RUNNING, "It is running.", _doubts(run))
    return _moving(run)


# A runner reports every two seconds; its network may hiccup.
_SILENT_AFTER_S = 15


def _doubts(run: Run) -> list[Reason]:
    """Return the ranks whose cluster or runner is silent, and whether RDMA is off there."""
    attempt = run.attempts.select_related("cluster", "placed_in").order_by("-number").first()
    if run.cluster is None or attempt is None:
        return []
    seen, now, found = executor_of(attempt).observe(attempt), clock.now(), _without_rdma(attempt)
    heartbeats = attempt.ranks.filter(ended_at=None).order_by("number")
    for number, beaten_at in heartbeats.values_list("number", "heartbeat_at"):
        rank = seen.ranks.get(number)
        if rank is None or rank.is_node_ready is None or beaten_at is None:
            continue
        silent_s = int((now - beaten_at).total_seconds())
        if not rank.is_node_ready:
            found.append(_node_not_ready(rank.node))
        elif silent_s >= _SILENT_AFTER_S:
            found.append(_silent(silent_s, rank.node))
    return found


def _without_rdma(attempt: Attempt) -> list[Reason]:
    off = attempt.placed_in.pod_profile.get("rdma_off") if attempt.placed_in else None
    if not off:
        return []
    action = "Ask an administrator: the page of the cluster says what is missing."
    params = {"said": off["text"], "sentence": off}
    return [Reason(ReasonKind.RDMA_OFF, off["text"], action, params)]


def _silent(silent_s: int, node: str) -> Reason:
    text = f"The runner has not reported for {silent_s} s; its pod runs on the ready node {node}."
    action = "Check that the pod reaches Atom. Cancel the run if it does no work any more."
    return Reason(ReasonKind.SILENT, text, action, {"silent_s": silent_s, "node": node})


def _node_not_ready(node: str) -> Reason:
    text = f"The cluster has lost contact with the node {node}."
    action = "Wait: the run starts again elsewhere once its runner is silent too."
    return Reason(ReasonKind.NODE_NOT_READY, text, action, {"node": node})


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
    if run.auto_request is not None and (run.cluster is not None or not run.has_place):
        return waits_for_place(run)
    if run.cluster is not None:
        return _queued_for(run.cluster, run)
    placement = place(capacities_for(sizes_of(run)), demand_of(run))
    return waiting_in_queue(placement, turn_of(run))


def _queued_for(cluster: Cluster, run: Run) -> Explanation:
    """Return why a run of a registered cluster is not there yet."""
    if cluster.state == "ready" and (missing := missing_accelerators(run, cluster)):
        return _without_accelerators(cluster, missing)
    if cluster.state == "ready":
        return Explanation(AnswerCode.TO_BE_PLACED, "It is about to be placed.", [])
    text = f"{cluster.name} takes no runs now: it is {cluster.state}."
    action = "Ask an administrator, or start a copy in another cluster."
    params = {"cluster": cluster.name, "said": text}
    reason = Reason(ReasonKind.CLUSTER, text, action, params)
    return Explanation(AnswerCode.CLUSTER_AWAY, "It waits for its cluster.", [reason])


def _without_accelerators(cluster: Cluster, missing: Sentence) -> Explanation:
    """Return that a run waits for nodes with its kind, which were there when it was asked for."""
    action = Sentence(
        "jobs.accelerators_gone_do",
        "Wait until the cluster has such nodes again, or start a copy of another kind.",
    )
    params = {
        "cluster": cluster.name,
        "said": str(missing),
        "sentence": missing.as_code(),
        "suggestion": action.as_code(),
    }
    reason = Reason(ReasonKind.CLUSTER, str(missing), str(action), params)
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
    reasons = queue_reasons(turn.ahead - turn.passed)
    if turn.passed:
        plural = "run ahead of it asks" if turn.passed == 1 else "runs ahead of it ask"
        text = (
            f"{turn.passed} {plural} for more than any machine has now; it is not held up by that."
        )
        reasons.append(Reason(ReasonKind.PASSED, text, params={"passed": turn.passed}))
    return reasons


def _warming(run: Run) -> Explanation:
    reasons = [
        reason
        for reason in (*_data_reasons(run), _runtime_reason(run), _build_reason(run))
        if reason
    ]
    gate_reasons = reasons_of_gate(run)
    if (
        not (reasons or gate_reasons)
        and run.cluster is not None
        and forms_another(run, run.cluster)
    ):
        text = "Another run on several nodes gets its nodes in this cluster first."
        action = "Wait: one run at a time gets its nodes, so that no two hold a part of them each."
        reason = Reason(ReasonKind.GANG, text, action)
        answer = "It is ready, and waits for its turn to get all of its nodes."
        return Explanation(AnswerCode.GANG_TURN, answer, [reason])
    if not (reasons or gate_reasons):
        answer = "Data and environment are ready; it is about to start."
        return Explanation(AnswerCode.TO_BE_STARTED, answer, [])
    if gate_reasons:
        return Explanation(AnswerCode.WAITS_FOR_DATA, WAITS_FOR_DATA, [*gate_reasons, *reasons])
    if run.cluster is not None:
        answer = "Its cluster starts it once its environment is built."
        return Explanation(AnswerCode.PREPARING_IN_CLUSTER, answer, reasons)
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


def _build_reason(run: Run) -> Reason | None:
    """Return why the cluster has not started the build of the environment."""
    if run.cluster is None or run.runtime is None or run.runtime.state == states.READY:
        return None
    wait = environments_in(run.cluster).waits_for(run.runtime)
    if wait is None:
        return None
    params = {"cluster": run.cluster.name, "said": str(wait.sentence)}
    return Reason(ReasonKind.CLUSTER, str(wait.sentence), str(wait.suggestion), params)


def _moving(run: Run) -> Explanation:
    if run.cluster is not None and run.state == states.SUBMITTED:
        return explain_in_cluster(run.cluster, run)
    answers = {
        states.SUBMITTED: "Its supervisor is being started.",
        states.CANCELLING: "It is being cancelled: the command has ten seconds to save its work.",
        states.FINALIZING: "The command has ended; the rest of its log and files is being stored.",
    }
    if run.state in answers:
        return Explanation(AnswerCode(run.state), answers[run.state], [])
    return Explanation(AnswerCode.MOVING, f"It is {run.state}.", [])
