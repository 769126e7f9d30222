"""A decision as the API shows it: each place with its start, data, price and cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from atom.jobs.runs.actions.cluster_choices import accelerators_of, sentence_json
from atom.jobs.runs.actions.decide import Decision
from atom.jobs.runs.engines.places import InputPlace, Place
from atom.jobs.runs.engines.start_times import StartTime, start_times
from atom.jobs.scheduling.engines.cost import Cost, Site, cost_of
from atom.jobs.scheduling.engines.estimates import Estimate
from atom_sdk.sentences import Sentence

Json = dict[str, Any]


def decision_row(decision: Decision, place: str | None = None) -> Json:
    """Return the decision with all places, best first; those that never take the run come last.

    `place` is the one that a person chose; others are compared with it, else with the best.
    """
    base = decision.sites.get(place or str(decision.chosen))
    return {
        "chosen": decision.chosen,
        "why": sentence_json(decision.why),
        "assumptions": [sentence_json(sentence) for sentence in decision.assumptions],
        "candidates": [_candidate(decision, one, base) for one in decision.places],
    }


def _candidate(decision: Decision, place: Place, base: Site | None) -> Json:
    site = decision.sites.get(place.name)
    row = {
        "name": place.name,
        "kind": place.kind,
        "state": place.offer.state,
        "fits": place.verdict.fits,
        "reason": sentence_json(place.verdict.reason),
        "data": [_data(part) for part in place.inputs],
        "preempted_by": None if place.preemptors is None else list(place.preemptors),
        "accelerators": accelerators_of(place.offer),
    }
    if site is None:
        absent = ("rank", "coverage", "start", "parts", "run", "price", "cost")
        nulls = dict.fromkeys((*absent, "cheaper_than_chosen", "later_than_chosen_s"))
        return {**row, **nulls, "ways": []}
    cost = _comparable(site, by_time=decision.by_time)
    return {
        **row,
        "rank": list(decision.sites).index(place.name) + 1,
        "coverage": site.coverage,
        "start": _start(place, site),
        "ways": [_way(one) for one in start_times(place, site, decision.start_percent)]
        if place.inputs
        else [],
        "parts": {
            "queue": _estimate(place.wait),
            "data_s": _rounded(site.data_s),
            "image_s": _rounded(site.image_s),
        },
        "run": _estimate(decision.run),
        "price": _price(place, site, cost),
        "cost": {
            "compute": _money(cost.compute),
            "egress": _money(cost.egress) if len(place.currencies) <= 1 else None,
            "time": _money(cost.time),
            "eviction": _money(cost.eviction),
            "failure": _money(cost.failure),
            "total": None if decision.by_time else _money(cost.total),
            "currency": site.currency,
        },
        "cheaper_than_chosen": _cheaper(base, site, by_time=decision.by_time),
        "later_than_chosen_s": _later_s(base, site),
    }


def _comparable(site: Site, *, by_time: bool) -> Cost:
    """Return the cost of a place; without the value of time where currencies differ."""
    cost = cost_of(site)
    return replace(cost, time=None) if by_time else cost


def _estimate(estimate: Estimate) -> Json:
    return {
        "known": estimate.is_known,
        "p50_s": _rounded(estimate.p50_s),
        "p90_s": _rounded(estimate.p90_s),
        "basis": sentence_json(estimate.basis),
    }


def _start(place: Place, site: Site) -> Json:
    """Return the time until the start, as an interval: room and data, then the image."""
    later = replace(site, queue_s=place.wait.p90_s)
    basis = place.wait.basis
    if site.data_s is None:
        basis = Sentence(
            "jobs.estimate_no_bandwidth",
            "Unknown: nobody stated or measured how fast the data comes there.",
        )
    return _estimate(Estimate(basis, site.start_s, later.start_s))


def _way(time: StartTime) -> Json:
    """Return a way to start with its time; `start` includes the wait for room and the image."""
    return {
        "when": time.way.when,
        "percent": time.way.percent,
        "start": {
            "known": time.p50_s is not None,
            "p50_s": _rounded(time.p50_s),
            "p90_s": _rounded(time.p90_s),
        },
        "data_s": _rounded(time.data_s),
        "note": sentence_json(time.note),
        "is_default": time.is_default,
    }


def _data(part: InputPlace) -> Json:
    return {
        "alias": part.alias,
        "dataset": part.dataset,
        "ref": part.ref,
        "bytes_total": part.total_bytes,
        "bytes_there": part.there_bytes,
        "bytes_moving": min(part.moving_bytes, part.missing_bytes),
        "bytes_to_fetch": part.fetched_bytes,
        "store": part.store,
        "egress_cost": _money(part.fetched_bytes * part.egress_per_byte) if part.currency else None,
        "currency": part.currency,
    }


def _price(place: Place, site: Site, cost: Cost) -> Json:
    """Return the price of an hour and of the whole run, its egress included."""
    is_known = cost.compute is not None and len(place.currencies) <= 1
    return {
        "per_hour": _money(place.price.per_hour * site.gpus) if place.price else None,
        "total": _money((cost.compute or 0.0) + cost.egress) if is_known else None,
        "currency": place.price.currency if place.price else site.currency,
    }


def _cheaper(chosen: Site | None, site: Site, *, by_time: bool) -> str | None:
    if chosen is None:
        return None
    ours, theirs = cost_of(site).total, cost_of(chosen).total
    return None if by_time or ours is None or theirs is None else _money(theirs - ours)


def _later_s(chosen: Site | None, site: Site) -> float | None:
    if chosen is None or chosen.start_s is None or site.start_s is None:
        return None
    return _rounded(site.start_s - chosen.start_s)


def _money(amount: float | None) -> str | None:
    # Without the sign of a zero.
    return None if amount is None else f"{round(amount, 2) + 0.0:.2f}"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
