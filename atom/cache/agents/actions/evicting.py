"""Eviction on nodes with an agent: the server orders removals, and the agent carries them out.

The caller of what orders holds the row lock of the agent. A pack that is ordered away counts as
absent at once; nothing fetches it anew until the agent says that it is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F, Sum

from atom.cache.agents.actions.coverage import (
    bits_of,
    pack_table,
    projects_on,
    records_on,
    remove_packs,
)
from atom.cache.engines.eviction import (
    Eviction,
    HeldVersion,
    PackKey,
    capacity_bytes,
    choose_packs,
)
from atom.cache.errors import VersionPinned
from atom.cache.models import CacheRecord, NodeAgent, NodeVolume, PackFetch, WarmPlanNode
from atom.cache.needs import NeedRank, registered_needs
from atom.cache.warming.actions.records import UNREADABLE
from atom.cache.warming.actions.watermarks import HIGH_WATERMARK, LOW_WATERMARK
from atom.clusters.models import Node
from atom.core import clock
from atom.datasets.models import Pack, Version, VersionPin
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

# Pins whose holders tell a rank by themselves.
_RANKED_HOLDERS = ("run", "warm_plan")
_MOST_UNNAMED = 5000


def ordered_away(agent: NodeAgent) -> dict[PackKey, int]:
    """Return the packs that the agent is to remove, with their bytes."""
    return {
        (row["project"], row["pack"]): int(row.get("bytes", 0))
        for row in agent.removals
        if not row.get("verify")
    }


def used_bytes(agent: NodeAgent) -> int:
    """Return the bytes of the node's packs, without those that are ordered away."""
    if not agent.disk:
        return 0
    return max(int(agent.disk["cache_bytes"]) - sum(ordered_away(agent).values()), 0)


def promised_on(node_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the bytes that open plans will bring to each node."""
    parts = WarmPlanNode.objects.filter(
        node__in=node_ids, plan__state="running", state__in=["waiting", "warming"]
    ).values_list("node_id")
    sums = parts.annotate(bytes=Sum(F("bytes_total") - F("bytes_present")))
    return dict.fromkeys(node_ids, 0) | dict(sums)


def room_bytes(agent: NodeAgent, promised: int) -> int:
    """Return how much the node's cache may still grow beside the bytes that plans will bring.

    It is negative where plans will bring more than fits.
    """
    return capacity_bytes(agent.disk) - used_bytes(agent) - promised


def free_on(agents: Collection[NodeAgent]) -> dict[UUID, int]:
    """Return how much the cache of each node may still grow beside its open plans, by node."""
    promised = promised_on([agent.node_id for agent in agents])
    return {agent.node_id: max(room_bytes(agent, promised[agent.node_id]), 0) for agent in agents}


def count_bytes(agent: NodeAgent, change: int) -> None:
    """Add bytes to what the agent last reported, until its next report; the caller saves it."""
    if agent.disk:
        disk = dict(agent.disk)
        disk["cache_bytes"] = max(int(disk["cache_bytes"]) + change, 0)
        disk["free_bytes"] = max(int(disk["free_bytes"]) - change, 0)
        agent.disk = disk


def ranks_on(
    node_ids: Collection[UUID], versions: Collection[UUID]
) -> dict[tuple[UUID, UUID], NeedRank]:
    """Return how much each of the versions is needed on each of the nodes, by node and version."""
    ranks = {(node, version): NeedRank.COLD for node in node_ids for version in versions}

    def need(keys: Iterable[tuple[UUID, UUID]], rank: NeedRank) -> None:
        for key in keys:
            if key in ranks:
                ranks[key] = max(ranks[key], rank)

    parts = WarmPlanNode.objects.filter(node__in=node_ids, plan__version__in=versions)
    places = parts.exclude(state="replaced").values_list("node_id", "plan__version_id")
    done = places.filter(plan__state="done")
    need(done.filter(plan__keep_until__gt=clock.now()), NeedRank.LIMITED)
    for key, rank in registered_needs(node_ids).items():
        need([key], rank)
    need(places.filter(plan__state="running"), NeedRank.RUNNING)
    # A pod may have the volume before its run begins, and keep it a while after its end.
    volumes = NodeVolume.objects.filter(node__in=node_ids, version__in=versions)
    need(volumes.values_list("node_id", "version_id"), NeedRank.RUNNING)
    need(done.filter(plan__pinned=True), NeedRank.PINNED)
    pins = VersionPin.objects.filter(version__in=versions).exclude(holder_type__in=_RANKED_HOLDERS)
    for version in set(pins.values_list("version_id", flat=True)):
        need([(node, version) for node in node_ids], NeedRank.PINNED)
    return ranks


def eviction_for(
    agent: NodeAgent, target_bytes: int, most: NeedRank, spared: Version | None = None
) -> Eviction:
    """Return which packs would free the bytes on the node, versions up to a rank losing packs.

    `spared` loses none.
    """
    held: list[tuple[CacheRecord, dict[PackKey, int]]] = []
    for project_id in projects_on(agent.node):
        held += _held_in(agent, project_id)
    ranks = ranks_on([agent.node_id], {record.version_id for record, _ in held})
    if spared is not None:
        ranks[agent.node_id, spared.pk] = NeedRank.PINNED
    versions = [
        HeldVersion(
            ranks[agent.node_id, record.version_id],
            record.used_at.timestamp() if record.used_at else 0.0,
            packs,
        )
        for record, packs in held
    ]
    return choose_packs(versions, target_bytes, most, _served(agent.node))


def _held_in(agent: NodeAgent, project_id: UUID) -> list[tuple[CacheRecord, dict[PackKey, int]]]:
    """Return the node's records of a project, each with the packs that may leave the node.

    Only packs that the object store keeps may: another copy may be lost.
    """
    project, away = str(project_id), ordered_away(agent)
    rows = records_on([agent.node_id], project_id)
    names = [pack_table(record.version).named(bits) for record, bits in rows]
    stored = Pack.objects.filter(
        project=project_id, state="verified", digest__in=set().union(*names)
    )
    sizes = {(project, digest): size for digest, size in stored.values_list("digest", "size_bytes")}
    held = []
    for (record, _), digests in zip(rows, names, strict=True):
        keys = [(project, digest) for digest in digests]
        packs = {key: sizes[key] for key in keys if key in sizes and key not in away}
        held.append((record, packs))
    return held


def _served(node: Node) -> set[PackKey]:
    """Return the packs that the node sends to a peer now."""
    rows = PackFetch.objects.filter(peer=node).values_list("project_id", "pack")
    return {(str(project_id), pack) for project_id, pack in rows}


def order_away(agent: NodeAgent, packs: Mapping[PackKey, int]) -> None:
    """Order the agent to remove packs of so many bytes; they count as absent from now on."""
    if not packs:
        return
    by_project: dict[str, list[str]] = {}
    for project, pack in packs:
        by_project.setdefault(project, []).append(pack)
    for project, digests in by_project.items():
        remove_packs(agent.node, UUID(project), digests)
    known = ordered_away(agent)
    rows: list[dict[str, Any]] = [
        {"project": project, "pack": pack, "bytes": size_bytes}
        for (project, pack), size_bytes in packs.items()
        if (project, pack) not in known
    ]
    agent.removals = [*agent.removals, *rows]
    agent.save(update_fields=["removals", "updated_at"])


def evict_packs(agent: NodeAgent, eviction: Eviction, why: str) -> None:
    """Order away the packs of an eviction."""
    order_away(agent, eviction.packs)
    if eviction.packs:
        log.info(
            "packs_evicted", node=agent.node.name, packs=len(eviction.packs),
            bytes=eviction.freed_bytes, why=why,
        )  # fmt: skip


def _sizes_of(project_id: UUID, digests: Collection[str]) -> dict[PackKey, int]:
    """Return the bytes of packs; 0 for those that the server does not know any more."""
    rows = Pack.objects.filter(project=project_id, digest__in=digests)
    sizes = dict(rows.values_list("digest", "size_bytes"))
    return {(str(project_id), digest): sizes.get(digest, 0) for digest in sorted(digests)}


def make_room(agent: NodeAgent) -> int:
    """Evict down to the low watermark once the high one is passed; return the bytes to be freed.

    A version that runs, queued ones too, or pins need stays. The next inventory tells packs that
    no version names.
    """
    capacity, used = capacity_bytes(agent.disk), used_bytes(agent)
    if not capacity or used <= capacity * HIGH_WATERMARK:
        return 0
    target = int(used - capacity * LOW_WATERMARK)
    eviction = eviction_for(agent, target, NeedRank.LIMITED)
    evict_packs(agent, eviction, "watermark")
    if eviction.freed_bytes < target:
        agent.needs_packs = True
    return eviction.freed_bytes


def remove_unnamed(agent: NodeAgent, project_id: UUID, unnamed: Collection[str]) -> None:
    """Order away packs of an inventory that no version on the node names.

    Those that the object store keeps go only above the high watermark. A next inventory brings
    what is more than one order holds.
    """
    capacity, used = capacity_bytes(agent.disk), used_bytes(agent)
    gone = set(sorted(unnamed)[: max(_MOST_UNNAMED - len(agent.removals), 0)])
    agent.needs_packs |= len(gone) < len(unnamed)
    if used <= capacity * HIGH_WATERMARK:
        rows = Pack.objects.filter(project=project_id, digest__in=gone, state="verified")
        gone -= set(rows.values_list("digest", flat=True))
    order_away(agent, _sizes_of(project_id, gone))


def evict_version(version: Version, node: Node) -> CacheRecord | None:
    """Order a node to remove a version's packs that none of its other versions shares.

    Raises VersionPinned while it is pinned there, or a run or a plan needs it.
    """
    with transaction.atomic():
        agent = NodeAgent.objects.select_for_update().get(node=node)
        agent.node = node
        record = CacheRecord.objects.filter(node=node, version=version).first()
        if record is None:
            return None
        (rank,) = ranks_on([node.pk], [version.pk]).values()
        if rank > NeedRank.LIMITED:
            raise VersionPinned(
                Sentence(
                    "cache.version_in_use",
                    "{dataset}@{ref} is in use.",
                    dataset=version.dataset.name,
                    ref=version.ref,
                )
            )
        record.version = version
        order_away(agent, _sizes_of(version.dataset.project_id, _own_packs(record)))
        record.refresh_from_db()
    return record


def _own_packs(record: CacheRecord) -> set[str]:
    """Return the packs of a record that no other record of its node has."""
    project_id = record.version.dataset.project_id
    try:
        own = set(pack_table(record.version).named(bits_of(record)))
    except UNREADABLE:
        return set()
    for other, bits in records_on([record.node_id], project_id):
        if other.pk != record.pk:
            own -= set(pack_table(other.version).named(bits))
    return own
