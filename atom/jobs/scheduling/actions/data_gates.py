"""Gates of attempts in clusters: they start once enough of the data is on nodes there.

Without a queue the Job is made then. With one it is made at once, and its queue holds it back
(`queue_gates`). The tick reads rows alone. `gate_plans.bring_data` chooses nodes and starts warm-up
plans.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from atom.cache.agents.actions.plans import end_plan
from atom.cache.agents.actions.reports import SILENT_AFTER
from atom.cache.models import NodeAgent, WarmPlan, WarmPlanNode
from atom.clusters.models import Cluster
from atom.core import clock
from atom.jobs import effects, states
from atom.jobs.attempts.actions.attempts import end_attempt
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import announce, record
from atom.jobs.failures.engines import failures
from atom.jobs.models import Attempt, DataGate, DataGatePlan, Placement, Run
from atom.jobs.scheduling.actions.data_places import bytes_on_nodes, nodes_with_data, sizes_of
from atom.jobs.start_ways import StartWay
from atom_sdk.sentences import Sentence

# A plan that failed is started once more; then the run streams.
MOST_TRIES: Final = 2
_ASK_EVERY: Final = timedelta(seconds=10)
STREAM: Final = "stream"


@dataclass(frozen=True, slots=True)
class Presence:
    """Data on the nodes of a gate, in bytes over all of them; `percent` is that of the worst."""

    percent: int
    bytes_present: int
    bytes_total: int


def live_agents(cluster: Cluster) -> dict[str, NodeAgent]:
    """Return the agents of a cluster that report, by the name of their node."""
    heard = NodeAgent.objects.filter(
        node__cluster=cluster, reported_at__gt=clock.now() - SILENT_AFTER
    )
    return {agent.node.name: agent for agent in heard.select_related("node")}


def clusters_with_agents(clusters: Collection[UUID]) -> set[UUID]:
    """Return which of the clusters have a node agent that reports."""
    heard = NodeAgent.objects.filter(
        node__cluster__in=clusters, reported_at__gt=clock.now() - SILENT_AFTER
    )
    return set(heard.values_list("node__cluster_id", flat=True))


def begin_gate(run: Run, attempt: Attempt, way: StartWay, why: Sentence) -> None:
    """Note how the attempt waits for its data, and have the data brought.

    The caller holds the run's lock.
    """
    gate = DataGate.objects.create(
        attempt=attempt, when=way.when, percent=way.share, why=why, needs_plans=way.share > 0
    )
    _record(run, gate, why)
    if way.share:
        gate.asked_at = clock.now()
        effects.bring_data(attempt.pk)
    else:
        gate.opened_at = clock.now()
    gate.save()


def is_gate_open(run: Run, attempt: Attempt) -> bool | None:
    """Return whether the attempt may start; None once it has failed over its data.

    The caller holds the run's lock.
    """
    gate = DataGate.objects.filter(attempt=attempt).first()
    if gate is None or gate.opened_at is not None:
        return True
    gate.attempt = attempt
    if gate.is_lost:
        names = run.inputs.order_by("alias").values_list("version__dataset__name", flat=True)
        failure = failures.data_warmup(", ".join(names), str(gate.notice))
        end_attempt(run, attempt, failure, {"reason": "data_warmup", "tail": str(gate.notice)})
        return None
    if gate.needs_plans:
        _ask(gate)
        return False
    seen = presence_of(gate)
    _note_presence(run, gate, seen)
    if seen.percent >= gate.percent:
        open_gate(run, gate)
    elif trouble := _trouble(gate):
        _again(run, gate, trouble)
    return gate.opened_at is not None


def _ask(gate: DataGate) -> None:
    """Have plans started, unless a worker does that or was asked a moment ago."""
    now = clock.now()
    is_claimed = gate.claimed_until is not None and gate.claimed_until > now
    if is_claimed or (gate.asked_at is not None and gate.asked_at > now - _ASK_EVERY):
        return
    gate.asked_at = now
    gate.save(update_fields=["asked_at", "updated_at"])
    effects.bring_data(gate.attempt_id)


def waiting_gate(run: Run) -> DataGate | None:
    """Return the gate at which the run's attempt waits, None if it waits at none."""
    gates = DataGate.objects.filter(attempt__state__in=states.AWAITS_DATA, opened_at=None)
    return gates.filter(attempt__run=run).first()


def presence_of(gate: DataGate) -> Presence:
    """Return how much of the run's data the nodes of a gate have; all of it without data."""
    sizes = sizes_of(gate.attempt.run)
    held = bytes_on_nodes(gate.attempt.cluster_id, sizes, gate.nodes)
    total = sum(sizes.values())
    if not total:
        return Presence(100, 0, 0)
    sums = [held.get(name, 0) for name in gate.nodes]
    percent = min((100 * present // total for present in sums), default=0)
    return Presence(percent, sum(sums), total * len(gate.nodes))


def _note_presence(run: Run, gate: DataGate, seen: Presence) -> None:
    """Show how far the data is; pages read it again with each percent."""
    is_new = seen.percent != gate.percent_there or seen.bytes_total != gate.bytes_total
    if not is_new and seen.bytes_present == gate.bytes_present:
        return
    gate.percent_there = seen.percent
    gate.bytes_present, gate.bytes_total = seen.bytes_present, seen.bytes_total
    gate.save(update_fields=["percent_there", "bytes_present", "bytes_total", "updated_at"])
    if is_new:
        announce(run)


def _trouble(gate: DataGate) -> Sentence | None:
    """Return why no plan brings the rest of the data; None if plans are at work."""
    reporting = NodeAgent.objects.filter(
        node__cluster=gate.attempt.cluster_id,
        node__name__in=gate.nodes,
        reported_at__gt=clock.now() - SILENT_AFTER,
    )
    silent = sorted(set(gate.nodes) - set(reporting.values_list("node__name", flat=True)))
    if silent:
        return Sentence(
            "jobs.gate_agents_silent",
            "The agents of these nodes do not report: {nodes}.",
            nodes=", ".join(silent),
        )
    mine = gate.links.filter(released_at=None)
    plans = list(WarmPlan.objects.filter(gate_links__in=mine).order_by("-created_at"))
    if any(plan.state == "running" for plan in plans):
        return None
    ended = next((plan for plan in plans if plan.state == "failed"), None)
    if ended is not None:
        return as_sentence(ended.error)
    if any(plan.state == "cancelled" for plan in plans):
        return Sentence("jobs.gate_cancelled", "A person cancelled the warm-up.")
    return Sentence("jobs.gate_data_gone", "The data left the nodes before the run started.")


def as_sentence(text: str) -> Sentence:
    """Return a text with a code, such as the error of a plan."""
    if isinstance(text, Sentence):
        return text
    return Sentence("jobs.gate_failed", "The warm-up failed: {why}", why=text)


def _again(run: Run, gate: DataGate, trouble: Sentence) -> None:
    """Have other plans started, or stream after too many tries."""
    was_cancelled = gate.links.filter(released_at=None, plan__state="cancelled").exists()
    gate.notice = trouble
    if was_cancelled or (gate.tries >= MOST_TRIES and streams_instead()):
        open_gate(run, gate)
        return
    gate.needs_plans, gate.asked_at = True, None
    gate.save()
    announce(run)
    _ask(gate)


def streams_instead() -> bool:
    """Return whether a run whose data does not come streams it, rather than to wait."""
    return str(settings.ATOM_START_WITHOUT_DATA) == STREAM


def open_gate(run: Run, gate: DataGate) -> None:
    """Let the attempt start; its pods prefer the nodes that have the data.

    The caller holds the run's lock.
    """
    gate.opened_at, gate.needs_plans = clock.now(), False
    gate.save()
    _prefer_warm_nodes(run, gate.attempt)
    said = _streams(gate) if gate.notice and gate.percent_there < gate.percent else _is_there(gate)
    _record(run, gate, said)
    announce(run)


def _prefer_warm_nodes(run: Run, attempt: Attempt) -> None:
    """Let the pods prefer the nodes that have the data now, unless the Job was asked for."""
    if run.cluster is None or attempt.placed_in_id is None:
        return
    unasked = Placement.objects.filter(pk=attempt.placed_in_id, job_uid="", spec_sha256="")
    unasked.update(preferred_nodes=nodes_with_data(run, run.cluster))


def _streams(gate: DataGate) -> Sentence:
    return Sentence(
        "jobs.gate_streams",
        "The data did not come, and the run streams: {why}",
        why=gate.notice,
    )


def _is_there(gate: DataGate) -> Sentence:
    return Sentence(
        "jobs.gate_open",
        "{percent} % of the data is on {nodes}.",
        percent=gate.percent_there,
        nodes=", ".join(gate.nodes),
    )


def _record(run: Run, gate: DataGate, said: Sentence) -> None:
    record(run, EventKind.DATA_GATE, str(said), gate.attempt, sentence=said.as_code())


def release_gates(run: Run) -> None:
    """Give up the plans of the run's gates; the caller holds the run's lock."""
    release_links(DataGatePlan.objects.filter(gate__attempt__run=run))


def release_links(links: QuerySet[DataGatePlan]) -> None:
    """Give up plans; one that a run made is cancelled once no gate needs it."""
    pairs = list(links.filter(released_at=None).values_list("pk", "plan_id"))
    if not pairs:
        return
    plan_ids = {plan_id for _, plan_id in pairs}
    # A lock for each plan: of two runs that give one up, the last one cancels it.
    list(WarmPlan.objects.select_for_update().filter(pk__in=plan_ids).order_by("pk"))
    DataGatePlan.objects.filter(pk__in=[pk for pk, _ in pairs]).update(released_at=clock.now())
    of_plan = DataGatePlan.objects.filter(plan=OuterRef("pk"))
    unneeded = WarmPlan.objects.filter(
        ~Exists(of_plan.filter(released_at=None)),
        Exists(of_plan.filter(is_maker=True)),
        pk__in=plan_ids,
        state="running",
    )
    for plan in unneeded.select_related("version"):
        end_plan(plan, "cancelled")


def eta_s(gate: DataGate) -> float | None:
    """Return the seconds until the gate opens at the nodes' last rates; None if unknown."""
    parts = WarmPlanNode.objects.filter(
        plan__gate_links__gate=gate, plan__state="running", rate_bytes_s__gt=0
    )
    times: list[float] = []
    for part in parts:
        needed = part.bytes_total * gate.percent // 100 - part.bytes_present
        times.append(max(needed, 0) / part.rate_bytes_s)
    return max(times, default=None)
