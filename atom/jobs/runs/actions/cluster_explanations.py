"""Answers why a run that its cluster has does not run, in the words of the cluster."""

from __future__ import annotations

from django.conf import settings

from atom.clusters.models import Cluster
from atom.clusters.queues.actions.queues import queue_offer
from atom.jobs.attempts.actions.gangs import is_gang, missing_ranks
from atom.jobs.executors import executor_in
from atom.jobs.executors.base import Phase
from atom.jobs.models import Attempt, Run
from atom.jobs.runs.actions.explanations import AnswerCode, Explanation, Reason, ReasonKind
from atom.jobs.scheduling.actions.data_gates import eta_s, waiting_gate
from atom_sdk.amounts import size_text
from atom_sdk.sentences import Sentence

WAITS_FOR_DATA = "It waits until its data is on nodes; it holds no GPU meanwhile."


def reasons_of_gate(run: Run) -> list[Reason]:
    """Return how much of the data is on the nodes of a run that waits for it in a cluster."""
    gate = waiting_gate(run)
    if gate is None:
        return []
    nodes, left_s = ", ".join(gate.nodes), eta_s(gate)
    params = {
        "bytes_present": gate.bytes_present,
        "bytes_total": gate.bytes_total,
        "percent": gate.percent,
        "nodes": nodes,
        "eta_s": left_s,
    }
    text = "Nodes for its data are being chosen."
    if gate.nodes:
        there, total = size_text(gate.bytes_present), size_text(gate.bytes_total)
        text = f"{there} of {total} are on {nodes}; it starts at {gate.percent} %."
        if left_s is not None:
            text += f" About {round(left_s)} s to go."
    action = "Wait, or start a copy that starts at once."
    found = [Reason(ReasonKind.DATA_GATE, text, action, params)]
    if gate.notice:
        said = {"said": str(gate.notice), "sentence": gate.notice.as_code()}
        found.append(Reason(ReasonKind.DATA_TROUBLE, str(gate.notice), params=said))
    return found


def explain_in_cluster(cluster: Cluster, run: Run) -> Explanation:
    """Return why the pods of a run do not run, in the words of its cluster."""
    attempt = run.attempts.select_related("cluster", "placed_in").order_by("-number").first()
    if attempt is None:
        return Explanation(AnswerCode.IN_CLUSTER, _IN_CLUSTER[AnswerCode.IN_CLUSTER], [])
    placement = attempt.placed_in
    if placement is not None and placement.problem and not placement.job_uid:
        return _not_taken(cluster, placement.problem)
    executor = executor_in(cluster)
    phase = executor.phase_of(attempt)
    gate_reasons = reasons_of_gate(run)
    forming = _forming(run, attempt)
    code = _PHASES.get(phase, AnswerCode.IN_CLUSTER) if phase else AnswerCode.IN_CLUSTER
    found = executor.waits_for(attempt)
    if forming and phase not in (Phase.QUEUED, Phase.ENDED):
        code = AnswerCode.GANG_FORMING
    if gate_reasons:
        code = AnswerCode.WAITS_FOR_DATA
    reasons = [*gate_reasons, *forming, *_never_admitted(run, attempt)]
    if found is None:
        return Explanation(code, _IN_CLUSTER[code], reasons)
    params = {
        "cluster": cluster.name,
        "said": str(found.sentence),
        "sentence": found.sentence.as_code(),
        "suggestion": found.suggestion.as_code(),
    }
    reason = Reason(ReasonKind.CLUSTER, str(found.sentence), str(found.suggestion), params)
    return Explanation(code, _IN_CLUSTER[code], [*reasons, reason])


def _never_admitted(run: Run, attempt: Attempt) -> list[Reason]:
    """Return that the queue of a run does not cover what it asks for: Kueue says nothing of it."""
    placement = attempt.placed_in
    if placement is None or not placement.queue or run.cluster is None:
        return []
    offer = queue_offer(run.cluster, run.project.slug)
    if offer is None or offer.choice.cluster_queue != placement.cluster_queue:
        return []
    refusal = offer.refusal_of(run.cluster.name, placement.accelerators)
    if refusal is None:
        return []
    said = {"said": str(refusal), "sentence": refusal.as_code()}
    return [Reason(ReasonKind.CLUSTER, refusal, params={"cluster": run.cluster.name, **said})]


def _not_taken(cluster: Cluster, problem: str) -> Explanation:
    """Return why a cluster that is not well has not taken the run's Job."""
    action = Sentence(
        "jobs.job_not_taken_do",
        "Wait: Atom asks again every few seconds. If it stays, show this to an administrator.",
    )
    params = {"cluster": cluster.name, "said": problem, "suggestion": action.as_code()}
    if isinstance(problem, Sentence):
        params["sentence"] = problem.as_code()
    reason = Reason(ReasonKind.CLUSTER, problem, str(action), params)
    answer = "Its cluster does not take its Job now."
    return Explanation(AnswerCode.JOB_NOT_TAKEN, answer, [reason])


def _forming(run: Run, attempt: Attempt) -> list[Reason]:
    """Return how many nodes a run on several nodes has already."""
    if not is_gang(run):
        return []
    joined = run.nodes - len(missing_ranks(attempt))
    limit_s = settings.ATOM_GANG_FORMING_S
    text = f"{joined} of {run.nodes} nodes have started their pod; the command waits for all."
    action = f"Wait. After {limit_s} s it gives its nodes back and waits for its next turn."
    params = {"joined": joined, "nodes": run.nodes, "limit_s": limit_s}
    return [Reason(ReasonKind.GANG, text, action, params)]


_IN_CLUSTER = {
    AnswerCode.WAITS_FOR_DATA: WAITS_FOR_DATA,
    AnswerCode.IN_CLUSTER: "Its cluster has it, and starts it when it has room.",
    AnswerCode.GANG_FORMING: "Its cluster gives it its nodes, one after the other.",
    AnswerCode.CLUSTER_QUEUED: "It waits in a queue of its cluster.",
    AnswerCode.CLUSTER_ADMITTED: "The queue of its cluster has admitted it; its pods come next.",
    AnswerCode.CLUSTER_SCHEDULING: "Its cluster looks for a node with room for it.",
    AnswerCode.CLUSTER_PULLING: "It has a node, which fetches its image and its volumes.",
    AnswerCode.CLUSTER_INITIALIZING: "Its node prepares it: the runner is being fetched.",
    AnswerCode.CLUSTER_RUNNING: "Its pod runs, and its runner prepares the command.",
    AnswerCode.CLUSTER_STOPPING: "Its cluster takes its pods away.",
    AnswerCode.CLUSTER_ENDED: "Its Job has ended in the cluster; the run goes on in a moment.",
}
_PHASES = {
    Phase.QUEUED: AnswerCode.CLUSTER_QUEUED,
    Phase.ADMITTED: AnswerCode.CLUSTER_ADMITTED,
    Phase.SCHEDULING: AnswerCode.CLUSTER_SCHEDULING,
    Phase.PULLING: AnswerCode.CLUSTER_PULLING,
    Phase.INITIALIZING: AnswerCode.CLUSTER_INITIALIZING,
    Phase.RUNNING: AnswerCode.CLUSTER_RUNNING,
    Phase.STOPPING: AnswerCode.CLUSTER_STOPPING,
    Phase.ENDED: AnswerCode.CLUSTER_ENDED,
}
