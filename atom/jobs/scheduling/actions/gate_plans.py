"""The warm-up plans of a gate: which nodes get the data, and which plan brings it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.cache.agents.actions.evicting import free_on
from atom.cache.agents.actions.plans import PlanOptions, reason_of, start_plan
from atom.cache.engines.sources import choose_nodes
from atom.cache.engines.turns import DEFAULT_PRIORITY, MAX_PRIORITY
from atom.cache.errors import AgentsMissing, CacheTooSmall, WarmPlanUnsuitable
from atom.cache.models import NodeAgent, WarmPlan
from atom.cache.warming.actions.records import UNREADABLE
from atom.clusters.models import Cluster
from atom.core import clock
from atom.core.errors import AtomError
from atom.core.storage import StoreError
from atom.datasets.models import Version
from atom.jobs import effects, states
from atom.jobs.attempts.actions.attempts import lock
from atom.jobs.events import announce
from atom.jobs.models import DataGate, DataGatePlan, Run
from atom.jobs.scheduling.actions.cluster_capacities import capacity_of
from atom.jobs.scheduling.actions.data_gates import (
    as_sentence,
    live_agents,
    open_gate,
    release_links,
    streams_instead,
)
from atom.jobs.scheduling.actions.data_places import bytes_on_nodes
from atom.jobs.scheduling.engines.placement import Demand, Fleet, never_fits
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

# A worker that dies while it starts plans holds the gate up for so long.
LEASE: Final = timedelta(seconds=60)
# The free disk of so many nodes is looked at, those with most of the data.
_MOST_NODES: Final = 50
_REFUSALS = (AgentsMissing, CacheTooSmall, WarmPlanUnsuitable)


def bring_data(attempt_id: UUID) -> None:
    """Choose nodes for an attempt's data and start plans, unless another worker does; repeatable.

    A plan that runs already and covers the nodes is shared.
    """
    gate = _claim(attempt_id)
    if gate is None:
        return
    try:
        nodes, plans = _start_plans(gate)
    except UNREADABLE as gone:
        _lose(gate, reason_of(gone))
    except StoreError as away:
        # The claim ends, and the tick asks again.
        log.warning("gate_store_away", attempt_id=str(attempt_id), error=str(away))
    except _REFUSALS as refusal:
        _refuse(gate, refusal)
    except AtomError as refusal:
        _lose(gate, refusal.detail)
    else:
        _take(gate, nodes, plans)
    effects.wake()


def _claim(attempt_id: UUID) -> DataGate | None:
    free = Q(claimed_until=None) | Q(claimed_until__lt=Now())
    mine = DataGate.objects.filter(free, attempt=attempt_id, needs_plans=True, opened_at=None)
    if not mine.update(claimed_until=Now() + LEASE):
        return None
    gates = DataGate.objects.select_related(
        "attempt__run__project", "attempt__run__created_by", "attempt__cluster"
    )
    return gates.get(attempt=attempt_id)


def _start_plans(gate: DataGate) -> tuple[list[str], list[UUID]]:
    """Return the nodes that get the data, and the plans. Raises the refusals of `start_plan`."""
    run, cluster = gate.attempt.run, gate.attempt.cluster
    assert cluster is not None
    versions = {
        one.version_id: one.version
        for one in run.inputs.select_related("version__dataset__project").order_by("alias")
    }
    sizes = {version.pk: version.size_bytes for version in versions.values()}
    nodes = nodes_for(run, cluster, sizes)
    plans: list[UUID] = []
    for version in versions.values():
        there = bytes_on_nodes(cluster.pk, {version.pk: version.size_bytes}, nodes)
        lacking = [name for name in nodes if there.get(name, 0) < version.size_bytes]
        if lacking:
            plans.append(_link(gate, version, cluster, lacking))
    return nodes, plans


def nodes_for(run: Run, cluster: Cluster, sizes: Mapping[UUID, int]) -> list[str]:
    """Return as many nodes as the run has pods: those with an agent that suit it, best first.

    Nodes with room now go before full ones, then those that have or soon get most of the data.
    Raises AgentsMissing.
    """
    demand = Demand(run.cpus, run.memory_bytes, run.gpus, run.accelerator)
    agents = live_agents(cluster)
    able = [
        node
        for node in capacity_of(cluster).nodes
        if node.name in agents and node.usable and not never_fits([node], demand)
    ]
    if len(able) < run.nodes:
        raise AgentsMissing(
            Sentence(
                "jobs.gate_too_few_nodes",
                "{count} nodes of {cluster} that suit the run have an agent that reports; it "
                "needs {nodes}.",
                count=len(able),
                cluster=cluster.name,
                nodes=run.nodes,
            )
        )
    free_now = [node for node in able if Fleet([node]).choose(demand) is not None]
    names = [node.name for node in (free_now if len(free_now) >= run.nodes else able)]
    return _best(names, agents, _expected(cluster, names, sizes), sum(sizes.values()), run.nodes)


def _expected(cluster: Cluster, names: Sequence[str], sizes: Mapping[UUID, int]) -> dict[str, int]:
    """Return the bytes that nodes have or that running plans bring to them, by name."""
    expected = bytes_on_nodes(cluster.pk, sizes, names)
    running = WarmPlan.objects.filter(cluster=cluster, version__in=sizes, state="running")
    rows = running.filter(parts__state__in=["waiting", "warming"]).values_list(
        "parts__node__name", "version_id"
    )
    for name, version_id in set(rows):
        if name in names:
            there = bytes_on_nodes(cluster.pk, {version_id: sizes[version_id]}, [name])
            expected[name] = expected.get(name, 0) + sizes[version_id] - there.get(name, 0)
    return expected


def _best(
    names: Sequence[str],
    agents: Mapping[str, NodeAgent],
    expected: Mapping[str, int],
    total_bytes: int,
    count: int,
) -> list[str]:
    order = sorted(names, key=lambda name: (-expected.get(name, 0), name))
    near = order[: max(_MOST_NODES, 4 * count)]
    room = free_on([agents[name] for name in near])
    free = {name: room[agents[name].node_id] for name in near}
    roomy = {
        name: left for name, left in free.items() if left >= total_bytes - expected.get(name, 0)
    }
    return choose_nodes(expected, roomy if len(roomy) >= count else free, count)


def _link(gate: DataGate, version: Version, cluster: Cluster, nodes: Sequence[str]) -> UUID:
    """Share a running plan that covers the nodes, or start one of the gate's own."""
    with transaction.atomic():
        running = WarmPlan.objects.select_for_update().filter(
            cluster=cluster, version=version, state="running"
        )
        for plan in running.order_by("created_at"):
            parts = plan.parts.filter(state__in=["waiting", "warming", "warm"])
            if set(nodes) <= set(parts.values_list("node__name", flat=True)):
                again = {"released_at": None}
                DataGatePlan.objects.update_or_create(gate=gate, plan=plan, defaults=again)
                return plan.pk
    run = gate.attempt.run
    with transaction.atomic():
        options = PlanOptions(nodes=nodes, priority=_priority_of(run))
        plan = start_plan(version, cluster, options, run.created_by)
        DataGatePlan.objects.create(gate=gate, plan=plan, is_maker=True)
    return plan.pk


def _priority_of(run: Run) -> int:
    """Return the priority of the run's plans, 0 to 100: that of people's plans for runs of 0."""
    return max(0, min(MAX_PRIORITY, DEFAULT_PRIORITY + run.priority))


def _take(gate: DataGate, nodes: list[str], plans: Sequence[UUID]) -> None:
    """Let the attempt wait for these nodes; give all plans up if it waits no more."""
    with transaction.atomic():
        run, attempt = lock(gate.attempt_id)
        links = DataGatePlan.objects.filter(gate__attempt__run=run)
        if attempt.state not in states.AWAITS_DATA:
            release_links(links)
            return
        DataGate.objects.filter(pk=gate.pk).update(
            nodes=nodes,
            needs_plans=False,
            claimed_until=None,
            tries=gate.tries + 1,
            updated_at=Now(),
        )
        # Those of earlier attempts, and of nodes that fell silent.
        release_links(links.exclude(gate=gate, plan__in=plans))
        announce(run)


def _lose(gate: DataGate, reason: str) -> None:
    rows = DataGate.objects.filter(pk=gate.pk, opened_at=None)
    rows.update(is_lost=True, notice=as_sentence(reason), claimed_until=None, updated_at=Now())


def _refuse(gate: DataGate, refusal: AtomError) -> None:
    """Let the run stream although its data does not come, or wait and try again later."""
    with transaction.atomic():
        run, attempt = lock(gate.attempt_id)
        now = DataGate.objects.get(pk=gate.pk)
        if attempt.state not in states.AWAITS_DATA or now.opened_at is not None:
            return
        now.attempt, now.notice = attempt, as_sentence(refusal.detail)
        if streams_instead() or isinstance(refusal, WarmPlanUnsuitable):
            open_gate(run, now)
            return
        # The tick asks again once the claim is over.
        now.claimed_until = clock.now() + LEASE
        now.save()
        announce(run)
