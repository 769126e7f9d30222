"""The clusters that runs of a project may choose, each with when it has room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.forms.models import model_to_dict

from atom.accounts.models import Project, User
from atom.clusters.actions import LOCAL
from atom.clusters.models import AcceleratorPrice
from atom.jobs.runs.actions.chosen_cluster import (
    offer_of,
    own_offer,
    usable_clusters,
    verdict_on,
    without_nodes,
)
from atom.jobs.runs.engines.cluster_choice import Fits, Offer, Verdict, free_of_kind
from atom.jobs.scheduling.engines.accelerators import Kind
from atom.jobs.scheduling.engines.placement import Demand
from atom_sdk.sentences import Sentence


def cluster_choices(
    project: Project, user: User, demand: Demand, nodes: int = 1
) -> list[dict[str, Any]]:
    """Return Atom's own machines, then each registered cluster by name, as the API shows them.

    `demand` is that of each of the `nodes`.
    """
    own = _shown(
        {"name": LOCAL, "kind": LOCAL, "state": "ready"},
        own_offer(),
        demand,
        nodes,
        AcceleratorPrice.objects.filter(cluster__name=LOCAL).order_by("kind"),
    )
    clusters = usable_clusters(project, user).prefetch_related("prices").order_by("name")
    return [
        own,
        *(
            _shown(
                model_to_dict(cluster, fields=["name", "kind", "state"]),
                offer_of(cluster, project),
                demand,
                nodes,
                sorted(cluster.prices.all(), key=lambda price: price.kind),
            )
            for cluster in clusters
        ),
    ]


def _shown(
    named: Mapping[str, str],
    offer: Offer,
    demand: Demand,
    nodes: int,
    prices: Iterable[AcceleratorPrice],
) -> dict[str, Any]:
    if nodes > 1 and offer.name == LOCAL:
        verdict = Verdict(Fits.NEVER, without_nodes())
    else:
        verdict = verdict_on(offer, demand, nodes)
    return {
        **named,
        "fits": verdict.fits,
        "reason": sentence_json(verdict.reason),
        "accelerators": accelerators_of(offer),
        "prices": prices,
    }


def accelerators_of(offer: Offer) -> list[dict[str, Any]]:
    """Return the kinds of accelerators of a cluster, as the API shows them."""
    return [_accelerators(offer, kind) for kind in offer.catalog.kinds.values()]


def _accelerators(offer: Offer, kind: Kind) -> dict[str, Any]:
    return {
        "kind": kind.name,
        "total": kind.total,
        "free": None if kind.obstacle else free_of_kind(offer, kind.name),
        "reason": sentence_json(kind.obstacle),
    }


def sentence_json(sentence: Sentence | None) -> dict[str, Any] | None:
    """Return a sentence with its code and parameters, None for none."""
    return None if sentence is None else {**sentence.as_code(), "sentence": str(sentence)}
