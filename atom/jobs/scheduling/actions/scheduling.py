"""Placement of queued runs on machines, with reservation and warm-up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from uuid import UUID

from django.db.models import QuerySet

from atom.cache.models import CacheRecord
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.actions import reserve
from atom.clusters.models import Node
from atom.core.ids import uuid7
from atom.jobs import effects, states
from atom.jobs.attempts.actions.attempts import end_attempt
from atom.jobs.attempts.actions.gangs import may_form
from atom.jobs.attempts.actions.resumption import note_resumption
from atom.jobs.deliveries import STREAM
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record, transition
from atom.jobs.executors import environments_in
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.image_failures import image_failure
from atom.jobs.models import Attempt, Run, RunInput, Runtime
from atom.jobs.runtimes.engines.build_log import excerpt
from atom.jobs.scheduling.actions.attempts_begun import begin_attempt
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.actions.data_places import sizes_of
from atom.jobs.scheduling.actions.in_clusters import place_in_cluster
from atom.jobs.scheduling.actions.queue_gates import may_submit
from atom.jobs.scheduling.engines.placement import Demand, NodeCapacity, Placement, place
from atom.jobs.start_ways import SHARE


def demand_of(run: Run) -> Demand:
    """Return what the run needs of a node."""
    return Demand(run.cpus, run.memory_bytes, run.gpus, run.accelerator)


def capacities_for(inputs: dict[UUID, int]) -> list[NodeCapacity]:
    """Return the nodes with the part of the data that each holds, None where nothing is read.

    `inputs` maps the id of each version that is read to its size in bytes.
    """
    return with_coverage(capacities(), inputs, data_on_nodes(inputs))


def data_on_nodes(versions: Collection[UUID]) -> dict[UUID, list[tuple[UUID, float]]]:
    """Return for each of the versions which part of it each node holds, from 0 to 1."""
    found: dict[UUID, list[tuple[UUID, float]]] = {}
    for node_id, version_id, here, all_bytes in CacheRecord.objects.filter(
        version__in=versions
    ).values_list("node_id", "version_id", "bytes_present", "bytes_total"):
        found.setdefault(version_id, []).append((node_id, here / all_bytes if all_bytes else 0.0))
    return found


def with_coverage(
    nodes: list[NodeCapacity],
    inputs: dict[UUID, int],
    parts: dict[UUID, list[tuple[UUID, float]]],
) -> list[NodeCapacity]:
    """Return the nodes with the part of the inputs that each holds; sizes are in bytes."""
    total_bytes = sum(inputs.values())
    if not total_bytes:
        return [replace(node, coverage=None) for node in nodes]
    present: dict[UUID, int] = {}
    for version_id, size_bytes in inputs.items():
        for node_id, part in parts.get(version_id, []):
            present[node_id] = present.get(node_id, 0) + int(part * size_bytes)
    return [
        replace(node, coverage=min(1.0, present.get(node.id, 0) / total_bytes)) for node in nodes
    ]


def place_run(run: Run) -> bool:
    """Give a queued run a machine and begin an attempt; False while it has to wait.

    The caller holds the run's row lock.
    """
    if run.cluster is not None:
        return place_in_cluster(run, run.cluster)
    placement = place(capacities_for(sizes_of(run)), demand_of(run))
    if placement.node is None:
        return False
    attempt_id = uuid7()
    held = reserve(
        placement.node.id,
        attempt_id,
        cpus=run.cpus,
        memory_bytes=run.memory_bytes,
        gpus=run.gpus,
    )
    if held is None:
        return False  # taken meanwhile: the next tick looks again
    _begin(run, attempt_id, held.node, placement)
    return True


def _begin(run: Run, attempt_id: UUID, node: Node, placement: Placement) -> None:
    attempt = begin_attempt(
        run,
        id=attempt_id,
        cluster_id=node.cluster_id,
        node=node,
        placement=_placement_json(placement),
    )
    decided = {"code": placement.code, "params": placement.params}
    record(run, EventKind.PLACED, placement.why, attempt, node=node.name, **decided)
    note_resumption(run, attempt)
    run.inputs.update(mounted_by="", mount_skipped=[])
    for one in warmed_inputs(run):
        request_warm(one.version, node, one.selector)
    transition(run, states.WARMING, attempt)


def _placement_json(placement: Placement) -> dict[str, object]:
    candidates = [{**asdict(one), "node_id": str(one.node_id)} for one in placement.candidates]
    return {"why": placement.why, "candidates": candidates}


def warmed_inputs(run: Run) -> QuerySet[RunInput]:
    """Return the inputs that the machine warms before the start, of own machines.

    Streamed data comes while the run works; that of `share` is both.
    """
    rows = run.inputs.order_by("alias").select_related("version__dataset__project")
    return rows if _waits_for_share(run) else rows.exclude(delivery=STREAM)


def _waits_for_share(run: Run) -> bool:
    return run.cluster_id is None and run.start_when == SHARE


def warm_run(run: Run, attempt: Attempt) -> None:
    """Submit the attempt once its data and its environment are on the machine."""
    is_own = run.cluster_id is None
    data = _data_ready(run, attempt) if is_own else may_submit(run, attempt)
    runtime = data is not None and _runtime_ready(run, attempt)
    if not (data and runtime):
        return
    if run.cluster is not None and not may_form(run, run.cluster):
        return  # another gang of the cluster gets its nodes first
    run.progress_text = ""
    transition(run, states.SUBMITTED, attempt)
    if run.cluster_id is None:
        record(run, EventKind.WARMED, "Data and environment are ready on the machine.", attempt)
    effects.launch(attempt.pk)


def _data_ready(run: Run, attempt: Attempt) -> bool | None:
    """Return whether all data is there; None when the attempt has failed over it."""
    records = {
        one.version_id: one
        for one in CacheRecord.objects.filter(
            node=attempt.node, version__in=run.inputs.values("version")
        )
    }
    ready = True
    for one in warmed_inputs(run):
        cached = records.get(one.version_id)
        if cached is not None and cached.state == "failed":
            failure = failures.data_warmup(_name(one), cached.error or "see its cache page")
            end_attempt(run, attempt, failure, {"reason": "data_warmup", "tail": cached.error})
            return None
        if attempt.node is not None and (cached is None or cached.state == "cold"):
            request_warm(one.version, attempt.node, one.selector)
        ready = ready and cached is not None and cached.state == "warm"
    return ready or (_waits_for_share(run) and _has_share(run, records))


def _has_share(run: Run, records: Mapping[UUID, CacheRecord]) -> bool:
    sizes = sizes_of(run)
    there = sum(
        size * records[pk].bytes_present // records[pk].bytes_total
        for pk, size in sizes.items()
        if pk in records and records[pk].bytes_total
    )
    return 100 * there >= (run.start_percent or 0) * sum(sizes.values()) > 0


def _name(one: RunInput) -> str:
    return f"{one.version.dataset.name}@{one.version.ref}"


def _build_failure(runtime: Runtime) -> failures.Failure:
    if runtime.image_failure:
        return image_failure(**runtime.image_failure)
    return failures.runtime_build(excerpt(runtime.log_tail))


def _runtime_ready(run: Run, attempt: Attempt) -> bool:
    runtime = run.runtime
    if runtime is None:
        return True  # the image has the environment
    if runtime.state == states.FAILED:
        failure = _build_failure(runtime)
        end_attempt(run, attempt, failure, {"reason": "runtime_build", "tail": runtime.log_tail})
        return False
    environments = environments_in(run.cluster)
    if environments.is_ready(runtime):
        return True
    environments.nudge(run, runtime)
    return False
