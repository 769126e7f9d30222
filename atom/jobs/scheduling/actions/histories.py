"""Times of similar runs, of which estimates are made; at most so many rows are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber

from atom.accounts.models import Project
from atom.clusters.actions import LOCAL
from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Attempt, Run

HISTORY = timedelta(days=30)
# At most this many runs of each cluster are read, the newest ones.
_NEWEST = 200
# Atom places a run within a few seconds: those that took no longer had room at once.
_AT_ONCE_S = 5.0
_NOT_STARTED = states.ACTIVE - {
    states.RUNNING,
    states.CANCELLING,
    states.FINALIZING,
    states.CREATED,
}


@dataclass(frozen=True, slots=True)
class Likeness:
    """The figures by which runs are similar: accelerators of each node, and nodes."""

    gpus: int
    # The names of the kind in all clusters; [""] for any.
    kinds: Collection[str]
    nodes: int


def waits_in(
    clusters: Collection[UUID], like: Likeness, image_s: float
) -> dict[tuple[UUID, str], list[float]]:
    """Return for how many seconds similar runs waited that had no room at once.

    The key is the cluster and the kind. The wait in a registered cluster ends when the command
    starts, so it includes the fetch of the image; on Atom's own machines it ends at the placement.
    """
    attempts = Attempt.objects.filter(
        number=1,
        cluster__in=clusters,
        created_at__gte=clock.now() - HISTORY,
        started_at__isnull=False,
        run__queued_at__lte=F("created_at"),
        run__gpus=like.gpus,
        run__accelerator__in=like.kinds,
        run__nodes=like.nodes,
    )
    newest = Window(RowNumber(), partition_by=F("cluster"), order_by=F("created_at").desc())
    rows = (
        attempts.annotate(place=newest)
        .filter(place__lte=_NEWEST)
        .values_list(
            "cluster_id",
            "cluster__name",
            "run__accelerator",
            "run__queued_at",
            "created_at",
            "started_at",
        )
    )
    waits: defaultdict[tuple[UUID, str], list[float]] = defaultdict(list)
    for cluster_id, name, kind, queued_at, placed_at, started_at in rows:
        if queued_at is None or started_at is None:
            continue
        is_own = name == LOCAL
        seconds = ((placed_at if is_own else started_at) - queued_at).total_seconds()
        if seconds > (_AT_ONCE_S if is_own else max(_AT_ONCE_S, image_s)):
            waits[cluster_id, kind].append(seconds)
    return waits


def run_times(
    project: Project, like: Likeness, workflow: str, command: Sequence[str]
) -> list[float]:
    """Return for how many seconds similar runs of the project ran that succeeded."""
    runs = Run.objects.executed().filter(
        project=project,
        state=states.SUCCEEDED,
        created_at__gte=clock.now() - HISTORY,
        ran_s__gt=0,
        gpus=like.gpus,
        accelerator__in=like.kinds,
        nodes=like.nodes,
    )
    if workflow:
        runs = runs.filter(workflow__slug=workflow)
    elif command:
        runs = runs.filter(workflow=None, command=list(command))
    else:
        return []
    return list(runs.order_by("-created_at").values_list("ran_s", flat=True)[:_NEWEST])


def positions_in(clusters: Collection[UUID]) -> dict[UUID, int]:
    """Return how many runs wait for each registered cluster or in it."""
    runs = Run.objects.executed().filter(cluster__in=clusters, state__in=_NOT_STARTED)
    rows = runs.values("cluster_id").annotate(waiting=Count("pk"))
    return dict(rows.values_list("cluster_id", "waiting"))
