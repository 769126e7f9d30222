"""The clusters that runs of a project may choose, each with when it has room."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db.models import F, Sum
from django.forms.models import model_to_dict

from atom.accounts.models import Project, User
from atom.clusters.actions import LOCAL
from atom.clusters.models import AcceleratorPrice, Cluster, NodeAccelerator
from atom.jobs.executors import nodes_for_runs
from atom.jobs.runs.actions.chosen_cluster import (
    taken_on,
    usable_clusters,
    verdict_on,
    verdict_on_own_machines,
)
from atom.jobs.runs.engines.cluster_choice import Verdict
from atom.jobs.scheduling.engines.placement import Demand


def cluster_choices(project: Project, user: User, demand: Demand) -> list[dict[str, Any]]:
    """Return Atom's own machines, then each registered cluster by name, as the API shows them."""
    own = _shown(
        {"name": LOCAL, "kind": LOCAL, "state": "ready"},
        verdict_on_own_machines(demand),
        _own_accelerators(),
        AcceleratorPrice.objects.filter(cluster__name=LOCAL).order_by("kind"),
    )
    clusters = usable_clusters(project, user).prefetch_related("prices").order_by("name")
    return [own, *(_registered(cluster, demand) for cluster in clusters)]


def _registered(cluster: Cluster, demand: Demand) -> dict[str, Any]:
    return _shown(
        model_to_dict(cluster, fields=["name", "kind", "state"]),
        verdict_on(cluster, demand),
        _accelerators(cluster),
        sorted(cluster.prices.all(), key=lambda price: price.kind),
    )


def _shown(
    named: dict[str, str], verdict: Verdict, accelerators: list[dict[str, Any]], prices: Any
) -> dict[str, Any]:
    reason = verdict.reason
    told = reason and {**reason.as_code(), "sentence": str(reason)}
    return {
        **named,
        "fits": verdict.fits,
        "reason": told,
        "accelerators": accelerators,
        "prices": prices,
    }


def _own_accelerators() -> list[dict[str, Any]]:
    # The annotations of a QuerySet are not part of the model's type.
    nodes: Any = nodes_for_runs().filter(gpu_count__gt=0).with_used()
    totals: Counter[str] = Counter()
    free: Counter[str] = Counter()
    for node in nodes:
        kind = node.gpu_model or "GPU"
        totals[kind] += node.gpu_count
        free[kind] += max(0, node.gpu_count - node.used_gpus)
    return [{"kind": kind, "total": totals[kind], "free": free[kind]} for kind in sorted(totals)]


def _accelerators(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the kinds of a registered cluster; a run names a number of GPUs, not their kind."""
    kinds = (
        NodeAccelerator.objects.filter(node__cluster=cluster)
        .values(named=F("kind"))
        .annotate(total=Sum("count"))
        .order_by("named")
    )
    rows = [(row["named"], row["total"]) for row in kinds]
    taken = taken_on(cluster).gpus
    is_known = len(rows) == 1 or taken == 0
    return [
        {"kind": kind, "total": total, "free": max(0, total - taken) if is_known else None}
        for kind, total in rows
    ]
