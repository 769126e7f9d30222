"""The cluster that a request for a run chose, and the clusters that a project may choose."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet, Sum

from atom.accounts.models import Project, User
from atom.clusters.actions import LOCAL
from atom.clusters.models import Cluster, Node
from atom.jobs import states
from atom.jobs.deliveries import STREAM
from atom.jobs.models import Run
from atom.jobs.runs.actions.requests import Errors, RunRequest
from atom.jobs.runs.engines.cluster_choice import Offer, Verdict, judge, refusal_of
from atom.jobs.runs.engines.images import wrong_image
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.engines.placement import Demand, NodeCapacity
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class ChosenCluster:
    """A registered cluster, or None for Atom's own machines, and what is wrong with the choice."""

    cluster: Cluster | None = None
    nodes: list[NodeCapacity] = field(default_factory=list)
    errors: Errors = field(default_factory=dict)


def usable_clusters(project: Project, user: User) -> QuerySet[Cluster]:
    """Return the registered clusters that runs of the project may use."""
    return Cluster.objects.all().visible_to(user, project.pk).registered()


def choose_cluster(project: Project, user: User, request: RunRequest) -> ChosenCluster:
    """Look the chosen cluster up; a cluster of others is told from none by no word."""
    if not request.cluster or request.cluster == LOCAL:
        return ChosenCluster(nodes=capacities(), errors=_wrong_without_cluster(request))
    cluster = usable_clusters(project, user).filter(name=request.cluster).first()
    if cluster is None:
        reason = Sentence(
            "jobs.cluster_unknown",
            "The project may use no cluster '{cluster}'. Choose one of its list, or leave this "
            "out for Atom's own machines.",
            cluster=request.cluster,
        )
        return ChosenCluster(errors={"cluster": [reason]})
    errors = _wrong_image(request)
    if refusal := refusal_of(cluster.name, cluster.state, cluster.heartbeat_at):
        errors["cluster"] = [refusal]
    return ChosenCluster(cluster, nodes_of(cluster), errors)


def wrong_cluster_deliveries(
    cluster: Cluster | None, request: RunRequest, aliases: Collection[str]
) -> Errors:
    """Refuse ways of delivery that a registered cluster does not have."""
    if cluster is None:
        return {}
    reason = Sentence(
        "jobs.cluster_streams_only",
        "Cluster {cluster} streams data only. Choose stream, or leave this out.",
        cluster=cluster.name,
    )
    return {
        f"deliveries.{alias}": [reason]
        for alias, delivery in request.deliveries.items()
        if delivery != STREAM and alias in aliases
    }


def nodes_of(cluster: Cluster) -> list[NodeCapacity]:
    """Return the nodes of a registered cluster, each as large as it is when it is empty."""
    nodes: Iterable[Any] = (
        Node.objects.filter(cluster=cluster).prefetch_related("accelerators").order_by("name")
    )
    return [
        NodeCapacity(
            id=node.pk,
            name=node.name,
            cpus=node.cpu_count,
            memory_bytes=node.memory_bytes,
            gpus=max(node.gpu_count, sum(one.count for one in node.accelerators.all())),
            usable=node.schedulable and node.ready_since is not None,
        )
        for node in nodes
    ]


def taken_on(cluster: Cluster) -> Demand:
    """Return what Atom's runs hold on a registered cluster; pods of others are not known."""
    sums = Run.objects.filter(cluster=cluster, state__in=states.ACTIVE - states.WAITING).aggregate(
        cpus=Sum("cpus", default=0),
        memory_bytes=Sum("memory_bytes", default=0),
        gpus=Sum("gpus", default=0),
    )
    return Demand(**sums)


def verdict_on(cluster: Cluster, demand: Demand) -> Verdict:
    """Return when a registered cluster has room for a demand."""
    return judge(
        Offer(
            cluster.name, cluster.state, nodes_of(cluster), taken_on(cluster), cluster.heartbeat_at
        ),
        demand,
    )


def verdict_on_own_machines(demand: Demand) -> Verdict:
    """Return when Atom's own machines have room for a demand."""
    return judge(Offer(LOCAL, "ready", capacities()), demand)


def _wrong_without_cluster(request: RunRequest) -> Errors:
    if not request.image:
        return {}
    reason = Sentence(
        "jobs.image_without_cluster",
        "Atom's own machines start no images. Choose a cluster, or leave this out.",
    )
    return {"image": [reason]}


def _wrong_image(request: RunRequest) -> Errors:
    wrong = wrong_image(request.image) if request.image else None
    return {"image": [wrong]} if wrong else {}
