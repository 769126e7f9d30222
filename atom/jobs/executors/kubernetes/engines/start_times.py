"""The moments of a start, from the pods of a placement as their watcher last saw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from atom.clusters.engines.documents import condition, containers, moment
from atom.jobs.executors.base import StartTimes
from atom.jobs.executors.kubernetes.engines import names


def start_times_of(observed: Mapping[str, Any]) -> StartTimes:
    """Return when the last pod got a node, and when the last main container started.

    Both are by the cluster's clock. Never raises for malformed objects.
    """
    pods = observed.get("pods") or ()
    return StartTimes(_last(map(_scheduled_at, pods)), _last(map(_started_at, pods)))


def _last(moments: Iterable[datetime | None]) -> datetime | None:
    """Return the latest moment; None without any, or while one is unknown."""
    known = list(moments)
    return None if None in known else max((at for at in known if at), default=None)


def _scheduled_at(pod: object) -> datetime | None:
    return moment(condition(pod, "PodScheduled"), "lastTransitionTime")


def _started_at(pod: object) -> datetime | None:
    main = dict(containers(pod)).get(names.MAIN, {})
    found = (moment(main, state, "startedAt") for state in ("running", "terminated"))
    return next((at for at in found if at is not None), None)
