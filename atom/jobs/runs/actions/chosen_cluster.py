"""The cluster that a request for a run chose, and the clusters that a project may choose."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from django.db.models import Q, QuerySet

from atom.accounts.models import Project, User
from atom.clusters.actions import AUTO, LOCAL
from atom.clusters.models import Cluster
from atom.clusters.queues.actions.queues import queue_offer
from atom.clusters.queues.engines.choices import QueueOffer
from atom.clusters.quotas.actions.quotas import quota_of
from atom.clusters.quotas.engines.limits import QuotaLimits, build_exceeds
from atom.jobs.deliveries import STREAM
from atom.jobs.executors import environments_in
from atom.jobs.launchers import PLAIN
from atom.jobs.runs.actions.program import Program
from atom.jobs.runs.actions.requests import Errors, RunRequest
from atom.jobs.runs.engines.cluster_choice import Offer, Verdict, judge, refusal_of
from atom.jobs.runs.engines.images import wrong_image
from atom.jobs.scheduling.actions.capacities import capacities, kinds_on
from atom.jobs.scheduling.actions.cluster_capacities import ClusterCapacity, capacity_of
from atom.jobs.scheduling.engines.accelerators import Catalog, catalog_of
from atom.jobs.scheduling.engines.placement import Demand, never_fits
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class ChosenCluster:
    """A registered cluster, or None for Atom's own machines, and what is wrong with the choice."""

    cluster: Cluster | None = None
    offer: Offer | None = None
    errors: Errors = field(default_factory=dict)

    def demand(self, demand: Demand) -> Demand:
        """Return a demand with its kind as the cluster spells it."""
        return demand if self.offer is None else demand_on(self.offer.catalog, demand)

    def wrong_accelerator(self, demand: Demand) -> Errors:
        """Return why the cluster refuses the kind of a demand, by field."""
        if self.offer is None:
            return {}
        refusal = self.offer.catalog.refusal_of(self.offer.name, demand)
        return {"accelerator": [refusal]} if refusal else {}

    def never_fits(self, demand: Demand, nodes: int = 1) -> Errors:
        """Return what no machine of the cluster, or no quota there, could ever offer, by field."""
        if self.offer is None:
            return never_fits([], demand)
        if wrong := never_fits(self.offer.nodes, demand):
            return wrong
        if too_many := self.offer.too_many_nodes(demand, nodes):
            return {"nodes": [too_many]}
        if above := self.offer.above_quota(demand, nodes):
            return {name: [why] for name, why in above.items()}
        refusal = self.offer.never_admits(demand)
        return {"cluster": [refusal]} if refusal else {}

    def never_builds(self, requirements: str, image: str, project: Project) -> Errors:
        """Return why the quota leaves no room to build the run's environment, by field."""
        if self.cluster is None or self.offer is None:
            return {}
        why = unbuildable(self.cluster, self.offer, requirements, image, project)
        return {"cluster": [why]} if why else {}


def usable_clusters(project: Project, user: User | None) -> QuerySet[Cluster]:
    """Return the registered clusters that runs of the project may use.

    `user` is None for a run whose creator is gone: it may use those of its project.
    """
    if user is None:
        usable = Q(all_projects=True) | Q(projects=project)
        return Cluster.objects.all().present().registered().filter(usable).distinct()
    return Cluster.objects.all().visible_to(user, project.pk).registered()


def choose_cluster(project: Project, user: User, request: RunRequest) -> ChosenCluster:
    """Look the chosen cluster up; a cluster of others is told from none by no word."""
    if request.cluster == AUTO:
        return ChosenCluster(errors=_wrong_image(request))
    if not request.cluster or request.cluster == LOCAL:
        return ChosenCluster(offer=own_offer(), errors=_wrong_without_cluster(request))
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
    return ChosenCluster(cluster, offer_of(cluster, project), errors)


def without_nodes() -> Sentence:
    """Return why Atom's own machines take no run on several nodes."""
    return Sentence(
        "jobs.nodes_without_cluster",
        "A run on several nodes needs a registered cluster. Choose one, or ask for one node.",
    )


def without_images() -> Sentence:
    """Return why Atom's own machines take no run with an image."""
    return Sentence(
        "jobs.image_without_cluster",
        "Atom's own machines start no images. Choose a cluster, or leave this out.",
    )


def wrong_nodes(cluster: Cluster | None, request: RunRequest, program: Program) -> Errors:
    """Return what is wrong with a request for several nodes, by field."""
    errors: Errors = {}
    if request.nodes > 1 and cluster is None and request.cluster != AUTO:
        errors["nodes"] = [without_nodes()]
    elif request.nodes > 1 and program.workflow is not None and not program.is_distributed:
        errors["nodes"] = [
            Sentence(
                "jobs.workflow_on_one_node",
                "The workflow {workflow} trains on one node. Ask for one node, or run a command of "
                "your own.",
                workflow=program.workflow.slug,
            )
        ]
    if request.launcher != PLAIN and request.nodes == 1:
        errors["launcher"] = [
            Sentence(
                "jobs.launcher_on_one_node",
                "A launcher starts the command on several nodes. Ask for two nodes or more, or "
                "leave it out.",
            )
        ]
    return errors


def wrong_cluster_deliveries(
    cluster: Cluster | None, request: RunRequest, aliases: Collection[str]
) -> Errors:
    """Refuse ways of delivery that a registered cluster, or the choice by Atom, does not have."""
    if request.cluster == AUTO:
        reason = Sentence(
            "jobs.auto_delivers",
            "Atom chooses the place, which decides how the data comes. Choose stream, or leave "
            "this out.",
        )
    elif cluster is None:
        return {}
    else:
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


def offer_of(cluster: Cluster, project: Project) -> Offer:
    """Return a registered cluster as a project's choice of it asks."""
    limits = quota_of(cluster, project.slug), queue_offer(cluster, project.slug)
    return offer_from(cluster, capacity_of(cluster), *limits)


def offer_from(
    cluster: Cluster, capacity: ClusterCapacity, quota: QuotaLimits, queue: QueueOffer | None
) -> Offer:
    """Return a registered cluster as the choice of it asks, from what was read of it."""
    return Offer(
        cluster.name,
        cluster.state,
        capacity.nodes,
        capacity.unplaced,
        cluster.heartbeat_at,
        capacity.catalog,
        quota,
        queue,
    )


def unbuildable(
    cluster: Cluster, offer: Offer, requirements: str, image: str, project: Project
) -> Sentence | None:
    """Return why the quota leaves no room to build an environment in a registered cluster."""
    if not offer.quota.hard():
        return None
    build = environments_in(cluster).build_demand(requirements, image, project)
    return build_exceeds(offer.name, offer.quota, build) if build else None


def own_offer() -> Offer:
    """Return Atom's own machines as the choice of them asks."""
    nodes = capacities()
    return Offer(LOCAL, "ready", nodes, catalog=catalog_of(kinds_on(nodes)))


def demand_on(catalog: Catalog, demand: Demand) -> Demand:
    """Return the demand with its kind as the cluster spells it."""
    kind = catalog.find(demand.accelerator)
    return demand if kind is None else replace(demand, accelerator=kind.name)


def verdict_on(offer: Offer, demand: Demand, nodes: int = 1) -> Verdict:
    """Return when a cluster has room for so many pods; the kind may be spelled in another way."""
    return judge(offer, demand_on(offer.catalog, demand), nodes)


def _wrong_without_cluster(request: RunRequest) -> Errors:
    if not request.image:
        return {}
    return {"image": [without_images()]}


def _wrong_image(request: RunRequest) -> Errors:
    wrong = wrong_image(request.image) if request.image else None
    return {"image": [wrong]} if wrong else {}
