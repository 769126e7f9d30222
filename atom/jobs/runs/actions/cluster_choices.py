"""The clusters that runs of a project may choose, each with when it has room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.forms.models import model_to_dict

from atom.accounts.models import Project, User
from atom.clusters.actions import LOCAL
from atom.clusters.models import AcceleratorPrice
from atom.jobs.runs.actions.chosen_cluster import offer_of, own_offer, usable_clusters, verdict_on
from atom.jobs.runs.engines.cluster_choice import Offer, free_of_kind
from atom.jobs.scheduling.engines.accelerators import Kind
from atom.jobs.scheduling.engines.placement import Demand
from atom_sdk.sentences import Sentence


def cluster_choices(project: Project, user: User, demand: Demand) -> list[dict[str, Any]]:
    """Return Atom's own machines, then each registered cluster by name, as the API shows them."""
    own = _shown(
        {"name": LOCAL, "kind": LOCAL, "state": "ready"},
        own_offer(),
        demand,
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
                sorted(cluster.prices.all(), key=lambda price: price.kind),
            )
            for cluster in clusters
        ),
    ]


def _shown(
    named: Mapping[str, str], offer: Offer, demand: Demand, prices: Iterable[AcceleratorPrice]
) -> dict[str, Any]:
    verdict = verdict_on(offer, demand)
    return {
        **named,
        "fits": verdict.fits,
        "reason": _sentence_json(verdict.reason),
        "accelerators": [_accelerators(offer, kind) for kind in offer.catalog.kinds.values()],
        "prices": prices,
    }


def _accelerators(offer: Offer, kind: Kind) -> dict[str, Any]:
    return {
        "kind": kind.name,
        "total": kind.total,
        "free": None if kind.obstacle else free_of_kind(offer, kind.name),
        "reason": _sentence_json(kind.obstacle),
    }


def _sentence_json(sentence: Sentence | None) -> dict[str, Any] | None:
    return None if sentence is None else {**sentence.as_code(), "sentence": str(sentence)}
