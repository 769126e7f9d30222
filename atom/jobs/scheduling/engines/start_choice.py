"""The choice of the way to start: by the time for the data and the wait for room."""

from __future__ import annotations

from atom.jobs.start_ways import DATA_THERE, NOW, StartWay
from atom_sdk.sentences import Sentence


def choose_way(data_s: float | None, queue_s: float | None) -> tuple[StartWay, Sentence]:
    """Return the way that costs no waiting, and why; times in seconds, None where unknown.

    The data comes first where the run would wait at least as long for room.
    """
    if data_s is not None and data_s <= 0:
        return StartWay(DATA_THERE), Sentence(
            "jobs.start_all_there", "All of its data is on the nodes already."
        )
    if data_s is None:
        return StartWay(NOW), Sentence(
            "jobs.start_data_unknown",
            "It is not known how long the data takes: the run starts at once and streams.",
        )
    if queue_s is None:
        return StartWay(NOW), Sentence(
            "jobs.start_wait_unknown",
            "It is not known how long the run waits for room: it starts at once and streams.",
        )
    times = {"data_s": round(data_s), "queue_s": round(queue_s)}
    if data_s <= queue_s:
        return StartWay(DATA_THERE), Sentence(
            "jobs.start_data_first",
            "The data takes {data_s} s, and the run waits {queue_s} s for room.",
            **times,
        )
    return StartWay(NOW), Sentence(
        "jobs.start_room_first",
        "The data takes {data_s} s, and the run waits {queue_s} s for room: it starts at once and "
        "streams.",
        **times,
    )


def by_person() -> Sentence:
    """Return that a person chose the way."""
    return Sentence("jobs.start_by_person", "A person chose this.")


def without_agents(cluster: str) -> Sentence:
    """Return why a cluster keeps no data."""
    return Sentence(
        "jobs.start_no_agents",
        "No node agent reports in {cluster}: the run starts at once and streams.",
        cluster=cluster,
    )
