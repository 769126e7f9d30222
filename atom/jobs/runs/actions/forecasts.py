"""Answers "what would happen?" to a request for a run; writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from atom.clusters.actions import AUTO
from atom.clusters.models import Cluster
from atom.jobs import states
from atom.jobs.executors import environments_in
from atom.jobs.runs.actions.chosen_cluster import offer_of, verdict_on
from atom.jobs.runs.actions.plan import RunPlan
from atom.jobs.runs.engines.cluster_choice import Fits, Verdict
from atom.jobs.scheduling.actions.queue_order import queue_position
from atom.jobs.scheduling.actions.scheduling import capacities_for
from atom.jobs.scheduling.engines.placement import Placement, PlacementCode, place
from atom_sdk.sentences import Sentence


class Outlook(StrEnum):
    """The outlook of a run that would be started now."""

    STARTS = "starts"
    WAITS = "waits"
    NEVER_FITS = "never_fits"


_OUTLOOKS = {Fits.NOW: Outlook.STARTS, Fits.LATER: Outlook.WAITS, Fits.NEVER: Outlook.NEVER_FITS}


def preview(plan: RunPlan) -> dict[str, Any]:
    """Return what would happen to a run like this, without creating it."""
    if plan.cluster is not None:
        return _preview_on(plan.cluster, plan)
    if not plan.has_place:
        return _preview_nowhere(plan)
    sizes = {version.pk: version.size_bytes for version in plan.inputs.values()}
    placement = place(capacities_for(sizes), plan.demand)
    errors = {**plan.errors, **plan.too_large}
    return {
        "valid": not errors,
        "errors": errors,
        "outlook": _outlook(plan, placement),
        "placement": _placement(placement),
        "queue_position": queue_position(),
        "warm": _warm(placement, sum(sizes.values())),
        "runtime": _runtime(plan),
    }


def _preview_nowhere(plan: RunPlan) -> dict[str, Any]:
    """Return the forecast of a run that Atom places and that no place takes now."""
    return {
        "valid": not plan.errors,
        "errors": plan.errors,
        "outlook": Outlook.WAITS,
        "placement": {
            "cluster": AUTO,
            "node": None,
            "why": "No place takes the run now: it waits for one.",
            "code": PlacementCode.NO_PLACE,
            "params": {},
        },
        "queue_position": queue_position(),
        "warm": None,
        "runtime": None,
    }


def _preview_on(cluster: Cluster, plan: RunPlan) -> dict[str, Any]:
    """Return the forecast on a registered cluster, whose scheduler chooses the node."""
    errors = {**plan.errors, **plan.too_large}
    verdict = verdict_on(offer_of(cluster, plan.project), plan.demand, plan.request.nodes)
    if verdict.fits is not Fits.NEVER and plan.too_large:
        verdict = Verdict(Fits.NEVER, _first_reason(plan.too_large))
    why = verdict.reason or f"Cluster {cluster.name} has room now; it chooses the machine itself."
    return {
        "valid": not errors,
        "errors": errors,
        "outlook": _OUTLOOKS[verdict.fits],
        "placement": {
            "cluster": cluster.name,
            "node": None,
            "why": why,
            "code": PlacementCode.CHOSEN_CLUSTER,
            "params": {
                "cluster": cluster.name,
                "fits": verdict.fits,
                "reason": verdict.reason and verdict.reason.as_code(),
            },
        },
        "queue_position": queue_position(),
        # Its data is streamed: nothing is copied before the start.
        "warm": None,
        "runtime": _runtime(plan),
    }


def _first_reason(errors: Mapping[str, list[str]]) -> Sentence | None:
    for reasons in errors.values():
        for reason in reasons:
            return reason if isinstance(reason, Sentence) else None
    return None


def _runtime(plan: RunPlan) -> dict[str, Any] | None:
    """Return the environment of the run; None if its image is enough."""
    if plan.cluster is not None and not plan.requirements.strip():
        return None
    digest, runtime = environments_in(plan.cluster).find(
        plan.requirements, plan.request.image, plan.project
    )
    return {"digest": digest, "state": runtime.state if runtime else states.PENDING}


def _outlook(plan: RunPlan, placement: Placement) -> Outlook:
    if plan.too_large:
        return Outlook.NEVER_FITS
    return Outlook.STARTS if placement.node is not None else Outlook.WAITS


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "cluster": "local",
        "node": placement.node.name if placement.node else None,
        "why": placement.why,
        "code": placement.code,
        "params": placement.params,
    }


def _warm(placement: Placement, total_bytes: int) -> dict[str, Any] | None:
    """Return how much is there; None where nothing is read, or no machine is known yet."""
    coverage = placement.node.coverage if placement.node is not None else None
    if coverage is None:
        return None
    return {"bytes_missing": int(total_bytes * (1 - coverage)), "coverage": coverage}
