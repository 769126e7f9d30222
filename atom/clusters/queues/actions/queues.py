"""The queue of each project in a cluster: one for all, and those of single ones in its place."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import F, Q

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.clusters.models import Cluster, RunQueue
from atom.clusters.queues.engines.choices import QueueChoice, QueueOffer, offer_of
from atom.clusters.registration.actions.registering import (
    check_now,
    locked_cluster,
    refuse_local,
)
from atom.clusters.registration.actions.stored_profiles import read_profile


def queue_of(cluster: Cluster, project: str) -> QueueChoice | None:
    """Return the queue of a project (its slug): its own, else that of all; None: it uses none."""
    applies = Q(project__slug=project) | Q(project=None)
    rows = RunQueue.objects.filter(applies, cluster=cluster)
    # Its own comes first.
    row = rows.order_by(F("project").asc(nulls_last=True)).first()
    return choice_of(row) if row is not None and row.cluster_queue else None


def choice_of(row: RunQueue) -> QueueChoice:
    """Return what a row says."""
    return QueueChoice(row.cluster_queue, row.local_queue, tuple(row.uncounted))


def queue_offer(cluster: Cluster, project: str) -> QueueOffer | None:
    """Return a project's queue as the last check of the cluster saw it, None without any."""
    choice = queue_of(cluster, project)
    if choice is None:
        return None
    profile = read_profile(cluster)
    has_rdma = profile.rdma is not None and profile.rdma_state == "on"
    devices = [profile.rdma.resource] if profile.rdma and has_rdma else []
    return offer_of(choice, cluster.facts, devices)


def set_queues(
    cluster: Cluster,
    common: QueueChoice | None,
    by_project: Mapping[Project, QueueChoice],
    actor: User,
) -> None:
    """Replace all queues of a cluster; `common` is for projects without one of their own.

    New runs use them; a Job that was made keeps its own. Then the cluster is asked whether it has
    them. Raises ClusterIsLocal, ClusterNotFound.
    """
    refuse_local(cluster)
    rows: list[tuple[Project | None, QueueChoice]] = list(by_project.items())
    if common is not None:
        rows.append((None, common))
    with transaction.atomic():
        locked = locked_cluster(cluster.pk)
        RunQueue.objects.filter(cluster=locked).delete()
        RunQueue.objects.bulk_create(
            RunQueue(
                cluster=locked,
                project=project,
                cluster_queue=choice.cluster_queue,
                local_queue=choice.local_queue,
                uncounted=list(choice.uncounted),
            )
            for project, choice in rows
        )
        audit.record(actor, "cluster.queues_changed", locked, name=locked.name)
    check_now(cluster)
