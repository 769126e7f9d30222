"""States of nodes that hold pods of runs, and the ranks that were lost with their nodes.

A lost node's pods stay Running in the API, or marked for deletion: no kubelet ends them. So the
cluster's word about the node counts, together with a runner that is silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from atom.clusters.engines.documents import (
    child,
    last_condition,
    moment,
    rows,
    text,
)
from atom.jobs.executors.base import LostRank, Observation, RankObservation
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.observations import is_over, pod_of

# Clocks of clusters differ a little from ours, and a kubelet needs a moment after the grace time.
DELETION_OVERDUE: Final = timedelta(seconds=30)
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"


class NodeState(StrEnum):
    """The state of a node, as far as its pods depend on it."""

    READY = "ready"
    NOT_READY = "not_ready"
    UNREACHABLE = "unreachable"
    # Its object is being deleted.
    LEAVING = "leaving"
    GONE = "gone"


def slim_node(node: Mapping[str, Any]) -> NodeState:
    """Return the state of a node's object: all that is kept of it."""
    if any(text(taint, "key") == _UNREACHABLE for taint in rows(node, "spec", "taints")):
        return NodeState.UNREACHABLE
    ready = last_condition(node, "Ready") or {}
    if ready.get("status") != "True":
        is_unknown = ready.get("status") == "Unknown"
        return NodeState.UNREACHABLE if is_unknown else NodeState.NOT_READY
    is_leaving = child(node, "metadata").get("deletionTimestamp") is not None
    return NodeState.LEAVING if is_leaving else NodeState.READY


def nodes_of(pods: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of the nodes whose state matters for pods that are not over."""
    return {text(pod, "spec", "nodeName") for pod in pods if not is_over(pod)} - {""}


def observed_nodes(
    observed: Mapping[str, Any],
    pods: Iterable[Mapping[str, Any]],
    known: Mapping[str, NodeState],
    now: datetime,
) -> dict[str, dict[str, str]]:
    """Return state and since when (RFC 3339, our clock) of each node of the pods.

    A node that is not in `known` keeps the state that was observed before, if there is any.
    """
    before = child(observed, "nodes")
    found: dict[str, dict[str, str]] = {}
    for name in sorted(nodes_of(pods)):
        old = child(before, name)
        state = known.get(name) or text(old, "state")
        if not state:
            continue
        is_same = text(old, "state") == state
        found[name] = {
            "state": str(state),
            "since": text(old, "since") if is_same else now.isoformat(),
        }
    return found


def pod_of_rank(
    observed: Mapping[str, Any], number: int, identity: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return the pod that a rank joined from, or the one that is to become it."""
    if uid := str(identity.get("pod_uid") or ""):
        return pod_of(observed, uid)
    pods = [pod for pod in observed.get("pods") or () if not is_over(pod)]
    index = str(number)
    return next(
        (pod for pod in pods if text(pod, "metadata", "annotations", names.JOB_INDEX) == index),
        None,
    )


def node_state_of(observed: Mapping[str, Any], pod: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return name and state of a pod's node, "" for what is not known."""
    name = text(pod, "spec", "nodeName")
    return name, text(observed, "nodes", name, "state")


def lost_ranks(
    observed: Mapping[str, Any], identities: Mapping[int, Mapping[str, Any]], now: datetime
) -> dict[int, LostRank]:
    """Return the ranks whose pods stand in the API though their cluster counts them as lost.

    Only a silent runner makes them lost for good: the caller knows its heartbeats.
    """
    found: dict[int, LostRank] = {}
    for number, identity in identities.items():
        pod = pod_of_rank(observed, number, identity)
        if pod is None or is_over(pod):
            continue
        since = _lost_since(observed, pod, now)
        if since is not None:
            found[number] = LostRank(node_state_of(observed, pod)[0] or "?", since)
    return found


def _lost_since(
    observed: Mapping[str, Any], pod: Mapping[str, Any], now: datetime
) -> datetime | None:
    name, state = node_state_of(observed, pod)
    if state not in {"", NodeState.READY}:
        return moment(observed, "nodes", name, "since") or now
    ends_at = moment(pod, "metadata", "deletionTimestamp")
    if ends_at is not None and now - ends_at >= DELETION_OVERDUE:
        return ends_at
    return None


def add_nodes(
    observation: Observation, observed: Mapping[str, Any], now: datetime, *, is_current: bool
) -> Observation:
    """Return the observation with the nodes of its ranks, and with those that are lost.

    `is_current`: the cluster answers. Earlier words of one that is unreachable end nothing.
    """
    identities = {number: rank.identity for number, rank in observation.ranks.items()}
    ranks = {
        number: _with_node(rank, observed, number) for number, rank in observation.ranks.items()
    }
    lost = lost_ranks(observed, identities, now) if is_current else {}
    return replace(observation, ranks=ranks, lost=lost)


def _with_node(rank: RankObservation, observed: Mapping[str, Any], number: int) -> RankObservation:
    name, state = node_state_of(observed, pod_of_rank(observed, number, rank.identity))
    is_ready = state == NodeState.READY if state else None
    return replace(rank, node=name, is_node_ready=is_ready)
