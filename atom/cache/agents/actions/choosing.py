"""The nodes of a plan: those that are named, or the best ones, with room for the version."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from atom.cache.agents.actions.coverage import bits_on, pack_table
from atom.cache.agents.actions.evicting import (
    evict_packs,
    eviction_for,
    promised_on,
    room_bytes,
)
from atom.cache.agents.actions.reports import is_live
from atom.cache.engines.eviction import capacity_bytes
from atom.cache.engines.sources import choose_nodes
from atom.cache.errors import AgentsMissing, CacheTooSmall
from atom.cache.models import CacheRecord, NodeAgent
from atom.cache.needs import NeedRank
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence

# A plan harms no run: what a queued run needs stays.
_MOST = NeedRank.LIMITED


def chosen_agents(
    version: Version, cluster: Cluster, names: Sequence[str], copies: int
) -> list[NodeAgent]:
    """Return the agents of named nodes, or of the best ones, their rows locked.

    Raises AgentsMissing.
    """
    agents = live_agents(cluster)
    if names:
        return locked(_named(agents, names))
    if len(agents) < copies:
        raise AgentsMissing(
            Sentence(
                "cache.too_few_agents",
                "{count} nodes of {cluster} have an agent that reports; the plan needs {copies}.",
                count=len(agents),
                cluster=cluster.name,
                copies=copies,
            )
        )
    return locked(best_agents(version, agents, copies))


def live_agents(cluster: Cluster) -> list[NodeAgent]:
    """Return the agents of a cluster that report, by the name of the node."""
    now = clock.now()
    rows = NodeAgent.objects.filter(node__cluster=cluster).select_related("node")
    return [row for row in rows.order_by("node__name") if is_live(row, now)]


def locked(agents: Collection[NodeAgent]) -> list[NodeAgent]:
    """Lock agents in one order, and return them as they are now."""
    rows = NodeAgent.objects.select_for_update(of=("self",)).select_related("node")
    return list(rows.filter(pk__in=[agent.pk for agent in agents]).order_by("pk"))


def _named(agents: list[NodeAgent], names: Sequence[str]) -> list[NodeAgent]:
    by_name = {agent.node.name: agent for agent in agents}
    silent = sorted(set(names) - by_name.keys())
    if silent:
        raise AgentsMissing(
            Sentence(
                "cache.nodes_without_agent",
                "These nodes have no agent that reports: {nodes}.",
                nodes=", ".join(silent),
            ),
            nodes=silent,
        )
    return [by_name[name] for name in sorted(set(names))]


def best_agents(version: Version, agents: list[NodeAgent], copies: int) -> list[NodeAgent]:
    """Return the best agents: most of the version there, then most room; those with room first."""
    by_name = {agent.node.name: agent for agent in agents}
    sizes = pack_table(version).sizes
    there = {
        node_id: int(sizes[bits].sum())
        for node_id, bits in bits_on([agent.node_id for agent in agents], version).items()
    }
    promised = promised_on([agent.node_id for agent in agents])
    coverage = {name: there[agent.node_id] for name, agent in by_name.items()}
    free = {name: room_bytes(agent, promised[agent.node_id]) for name, agent in by_name.items()}
    fitting: list[NodeAgent] = []
    others: list[NodeAgent] = []
    for name in choose_nodes(coverage, free, len(agents)):
        lacking = int(sizes.sum()) - coverage[name] - free[name]
        fits = lacking <= 0 or _can_free(by_name[name], lacking, version)
        (fitting if fits else others).append(by_name[name])
        if len(fitting) == copies:
            break
    return [*fitting, *others][:copies]


def _can_free(agent: NodeAgent, lacking_bytes: int, version: Version) -> bool:
    freed = eviction_for(agent, lacking_bytes, _MOST, version).freed_bytes
    return bool(capacity_bytes(agent.disk)) and freed >= lacking_bytes


def make_fit(agent: NodeAgent, record: CacheRecord) -> None:
    """Evict from a node what is needed least until a version fits; the agent's row is locked.

    Raises CacheTooSmall with the bytes that are missing even then.
    """
    missing = record.bytes_total - record.bytes_present
    promised = promised_on([agent.node_id])[agent.node_id]
    lacking, freed = missing - room_bytes(agent, promised), 0
    if not missing or lacking <= 0:
        return
    eviction = eviction_for(agent, lacking, _MOST, record.version)
    if capacity_bytes(agent.disk):
        freed = eviction.freed_bytes
    if freed < lacking:
        raise CacheTooSmall(
            Sentence(
                "cache.node_too_small",
                "The cache of {node} lacks {bytes} bytes for this version.",
                node=agent.node.name,
                bytes=lacking - freed,
            ),
            node=agent.node.name,
            missing_bytes=lacking - freed,
        )
    evict_packs(agent, eviction, "plan")
