"""How long the last pods of each cluster took to fetch their image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from statistics import median
from uuid import UUID

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from atom.jobs.models import PlacementDecision
from atom.jobs.scheduling.engines.estimates import ENOUGH_RUNS

# The newest attempts of each cluster that count.
_NEWEST = 20


def pull_times(clusters: Collection[UUID]) -> dict[UUID, float]:
    """Return the median time for the image in seconds, of clusters with enough attempts."""
    newest = Window(
        RowNumber(), partition_by=F("attempt__cluster"), order_by=F("decided_at").desc()
    )
    rows = (
        PlacementDecision.objects.filter(attempt__cluster__in=clusters, image_s__isnull=False)
        .annotate(place=newest)
        .filter(place__lte=_NEWEST)
        .values_list("attempt__cluster_id", "image_s")
    )
    seconds: defaultdict[UUID, list[float]] = defaultdict(list)
    for cluster_id, image_s in rows:
        if cluster_id is not None and image_s is not None:
            seconds[cluster_id].append(image_s)
    return {
        cluster_id: median(times)
        for cluster_id, times in seconds.items()
        if len(times) >= ENOUGH_RUNS
    }
