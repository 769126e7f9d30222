"""The places that could take a run, with their figures, and the sentences about the choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from atom.jobs.runs.engines.cluster_choice import Fits, Offer, Verdict
from atom.jobs.scheduling.engines.cost import SAME_COST, Site, cost_of
from atom.jobs.scheduling.engines.estimates import Estimate
from atom.jobs.scheduling.engines.placement import Demand
from atom_sdk.sentences import Sentence


@dataclass(frozen=True, slots=True)
class InputPlace:
    """One input of a run in one place: sizes in bytes, bytes per second, money per byte."""

    alias: str
    dataset: str
    ref: str
    total_bytes: int
    there_bytes: int
    moving_bytes: int
    store: str
    bandwidth: float | None
    is_measured: bool
    egress_per_byte: float
    currency: str

    @property
    def missing_bytes(self) -> int:
        """Return the bytes that are not there yet."""
        return max(0, self.total_bytes - self.there_bytes)

    @property
    def fetched_bytes(self) -> int:
        """Return the bytes that are neither there nor on their way."""
        return max(0, self.missing_bytes - self.moving_bytes)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of an hour of one accelerator."""

    per_hour: float
    currency: str
    # The highest of several kinds, since the run may get any.
    is_highest: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A place as far as the decision asks."""

    offer: Offer
    kind: str
    # A cluster that a person registered, not own machines.
    is_registered: bool
    verdict: Verdict
    wait: Estimate
    image_s: float
    price: Price | None
    inputs: Sequence[InputPlace]
    fragmentation: float = 0.0
    # Node agents report there, which bring data before a run starts.
    has_agents: bool = False
    # PriorityClasses whose pods may preempt the run's; None if unknown.
    preemptors: Sequence[str] | None = ()

    @property
    def name(self) -> str:
        """Return the name of the cluster."""
        return self.offer.name

    @property
    def takes_run(self) -> bool:
        """Return whether it takes the run, now or later."""
        return self.verdict.fits is not Fits.NEVER

    @property
    def currencies(self) -> set[str]:
        """Return the currencies of its price and of its egress."""
        fees = {part.currency for part in self.inputs if part.fetched_bytes and part.currency}
        return fees | ({self.price.currency} if self.price else set())


@dataclass(frozen=True, slots=True)
class Weights:
    """The figures that are alike in all places."""

    # GPUs of all nodes together.
    gpus: int
    run_s: float
    value_per_hour: float


def site_of(place: Place, weights: Weights) -> Site:
    """Return a place as the cost function reads it: several stores become one."""
    missing = [part for part in place.inputs if part.missing_bytes]
    fees = sum(part.fetched_bytes * part.egress_per_byte for part in missing)
    fetched = sum(part.fetched_bytes for part in missing)
    return Site(
        name=place.name,
        gpus=weights.gpus,
        run_s=weights.run_s,
        value_per_hour=weights.value_per_hour,
        price_per_hour=place.price.per_hour if place.price else None,
        queue_s=place.wait.p50_s,
        image_s=place.image_s,
        total_bytes=sum(part.total_bytes for part in place.inputs),
        there_bytes=sum(part.there_bytes for part in place.inputs),
        moving_bytes=sum(min(part.missing_bytes, part.moving_bytes) for part in place.inputs),
        bandwidth=_bandwidth(missing),
        egress_per_byte=fees / fetched if fetched else 0.0,
        currency=min(place.currencies, default=""),
        fragmentation=place.fragmentation,
    )


def _bandwidth(missing: Sequence[InputPlace]) -> float | None:
    """Return the rate at which inputs come one after the other, None if one is unknown."""
    seconds = 0.0
    for part in missing:
        if not part.bandwidth:
            return None
        seconds += part.missing_bytes / part.bandwidth
    return sum(part.missing_bytes for part in missing) / seconds if seconds else None


def fragmentation_of(offer: Offer, demand: Demand) -> float:
    """Return the least part of a node's accelerators that would stay free beside the run."""
    if not demand.gpus:
        return 0.0
    left = [
        (node.free_gpus(demand.accelerator) - demand.gpus) / node.gpus
        for node in offer.nodes
        if node.usable and node.gpus and node.free_gpus(demand.accelerator) >= demand.gpus
    ]
    return min(left, default=0.0)


def reason_of(order: Sequence[Site], *, by_time: bool) -> Sentence | None:
    """Return why the first place was chosen, beside the second; None without a place."""
    if not order:
        return None
    if len(order) == 1:
        return Sentence("jobs.place_only", "Only {cluster} takes this run.", cluster=order[0].name)
    best, other = order[0], order[1]
    if best.start_s is None or other.start_s is None:
        return Sentence(
            "jobs.place_start_unknown",
            "{cluster} comes before {other}: the start in {other} is unknown.",
            cluster=best.name,
            other=other.name,
        )
    best_cost, other_cost = cost_of(best).total, cost_of(other).total
    if by_time or best_cost is None or other_cost is None:
        return Sentence(
            "jobs.place_by_time",
            "{cluster} comes before {other}: their costs cannot be compared, and the run would "
            "start after {seconds} s and {other_seconds} s.",
            cluster=best.name,
            other=other.name,
            seconds=round(best.start_s),
            other_seconds=round(other.start_s),
        )
    is_same = other_cost <= best_cost * (1 + SAME_COST)
    if is_same and best.coverage >= other.coverage:
        return _same_cost(best, other)
    sooner_s = round(other.start_s - best.start_s)
    facts = {
        "cluster": best.name,
        "other": other.name,
        "percent": _percent(best),
        "amount": f"{other_cost - best_cost:.2f} {best.currency}".rstrip(),
    }
    if sooner_s >= 0:
        return Sentence(
            "jobs.place_cheaper",
            "{cluster} has {percent} % of the data, is {amount} cheaper than {other} and starts "
            "the run {seconds} s sooner.",
            **facts,
            seconds=sooner_s,
        )
    return Sentence(
        "jobs.place_cheaper_later",
        "{cluster} has {percent} % of the data, is {amount} cheaper than {other} and starts the "
        "run {seconds} s later.",
        **facts,
        seconds=-sooner_s,
    )


def _same_cost(best: Site, other: Site) -> Sentence:
    if best.coverage > other.coverage:
        return Sentence(
            "jobs.place_more_data",
            "{cluster} and {other} cost the same within 5 %. {cluster} has {percent} % of the "
            "data, {other} {other_percent} %.",
            cluster=best.name,
            other=other.name,
            percent=_percent(best),
            other_percent=_percent(other),
        )
    return Sentence(
        "jobs.place_same_cost",
        "{cluster} and {other} cost the same within 5 % and have as much of the data: packing, "
        "then the name decides.",
        cluster=best.name,
        other=other.name,
    )


def _percent(site: Site) -> int:
    return int(site.coverage * 100)


def assumptions_of(
    places: Iterable[Place], weights: Weights, run: Estimate, *, by_time: bool, streams: bool
) -> list[Sentence]:
    """Return what the costs assume."""
    usable = [place for place in places if place.takes_run]
    parts = [part for place in usable for part in place.inputs if part.missing_bytes]
    stated = [
        Sentence(
            "jobs.assumed_no_failures",
            "Failures and evicted data cost 0 here: there is no data for them yet.",
        ),
        Sentence(
            "jobs.assumed_hour_value",
            "An hour until the end of the run is worth {value}.",
            value=f"{weights.value_per_hour:g}",
        ),
    ]
    if not run.is_known:
        stated.append(
            Sentence(
                "jobs.assumed_run_time",
                "The run time is unknown: the costs assume {seconds} s in all places.",
                seconds=round(weights.run_s),
            )
        )
    if not weights.gpus:
        stated.append(
            Sentence("jobs.assumed_no_price", "Only accelerators have a price; others cost 0.")
        )
    if any(place.price and place.price.is_highest for place in usable):
        stated.append(
            Sentence(
                "jobs.assumed_highest_price",
                "The run may get any kind of accelerator: the price is that of the dearest.",
            )
        )
    if any(part.is_measured for part in parts):
        stated.append(
            Sentence(
                "jobs.assumed_measured_rate",
                "A way without a stated bandwidth counts with the mean that its nodes measured.",
            )
        )
    if streams and parts:
        stated.append(
            Sentence(
                "jobs.assumed_transfer",
                "A cluster that streams starts before its data is there: the time for data is "
                "then transfer while the run works.",
            )
        )
    if any(place.verdict.fits is Fits.LATER and place.is_registered for place in usable):
        stated.append(
            Sentence(
                "jobs.assumed_image_in_wait",
                "The wait in a full cluster includes the fetch of the image.",
            )
        )
    if by_time:
        stated.append(
            Sentence(
                "jobs.assumed_currencies",
                "The prices have several currencies, which are never summed: time alone orders.",
            )
        )
    return stated
