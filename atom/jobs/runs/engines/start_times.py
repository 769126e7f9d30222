"""The start of a run in one place, for each of the three ways to wait for its data."""

from __future__ import annotations

from dataclasses import dataclass, replace

from atom.jobs.runs.engines.places import Place
from atom.jobs.scheduling.engines.cost import Site
from atom.jobs.scheduling.engines.start_choice import choose_way, without_agents
from atom.jobs.start_ways import DATA_THERE, NOW, SHARE, StartWay
from atom_sdk.sentences import Sentence

DEFAULT_PERCENT = 80


@dataclass(frozen=True, slots=True)
class StartTime:
    """A way with its start in seconds, None if unknown; the data waits for `data_s` of them."""

    way: StartWay
    p50_s: float | None
    p90_s: float | None
    data_s: float | None
    note: Sentence | None
    # Atom takes this way if nobody chooses.
    is_default: bool


def start_times(place: Place, site: Site, percent: int = DEFAULT_PERCENT) -> list[StartTime]:
    """Return all data first, then `percent` of it first, then at once."""
    default = DATA_THERE
    if place.is_registered:
        default = choose_way(site.data_s, place.wait.p50_s)[0].when if place.has_agents else NOW
    ways = (StartWay(DATA_THERE), StartWay(SHARE, percent), StartWay(NOW))
    return [_time_of(place, site, way, is_default=way.when == default) for way in ways]


def _time_of(place: Place, site: Site, way: StartWay, *, is_default: bool) -> StartTime:
    streams = place.is_registered and not place.has_agents
    data_s = 0.0 if streams else _data_s(site, way.share)
    note = (
        without_agents(place.name)
        if streams and way.share
        else _note(place, site, way.share, data_s)
    )
    return StartTime(
        way=way,
        p50_s=_start_s(place.wait.p50_s, data_s, site.image_s),
        p90_s=_start_s(place.wait.p90_s, data_s, site.image_s),
        data_s=data_s,
        note=note,
        is_default=is_default,
    )


def _data_s(site: Site, share: int) -> float | None:
    """Return the seconds until that percentage is there, None without a known bandwidth."""
    first = replace(site, total_bytes=site.total_bytes * share // 100)
    return first.data_s


def _start_s(queue_s: float | None, data_s: float | None, image_s: float) -> float | None:
    return None if queue_s is None or data_s is None else max(queue_s, data_s) + image_s


def _note(place: Place, site: Site, share: int, data_s: float | None) -> Sentence | None:
    if not site.total_bytes:
        return None
    there = int(site.coverage * 100)
    if site.coverage >= 1:
        return Sentence("jobs.way_all_there", "All of its data is there already.")
    if data_s is None:
        return Sentence(
            "jobs.estimate_no_bandwidth",
            "Unknown: nobody stated or measured how fast the data comes there.",
        )
    if share <= there:
        return Sentence(
            "jobs.way_streams",
            "{percent} % of the data streams while the run works.",
            percent=100 - there,
        )
    if not place.is_registered:
        return Sentence(
            "jobs.way_data_first_own",
            "{percent} % of the data comes first, to the machine that the run holds.",
            percent=share - there,
        )
    return Sentence(
        "jobs.way_data_first",
        "{percent} % of the data comes first, and the run holds no GPU meanwhile.",
        percent=share - there,
    )
