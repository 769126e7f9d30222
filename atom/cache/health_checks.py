"""Metrics of the nodes' caches, and a warning about failed warm-ups."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Sum

from atom.cache.models import CacheRecord
from atom.core import clock
from atom.core.health_checks import Finding, Gauge, counted

_LATELY = timedelta(hours=24)


def gauges() -> Iterator[Gauge]:
    """Yield bytes per node, and versions by state."""
    per_node = CacheRecord.objects.order_by("node__name").values_list("node__name")
    for node, present, wanted in per_node.annotate(Sum("bytes_present"), Sum("bytes_total")):
        at = {"node": node}
        yield Gauge(
            "atom_cache_bytes", "Bytes of versions on a node; shared ones count each.", present, at
        )
        yield Gauge("atom_cache_wanted_bytes", "Bytes that these have in all.", wanted, at)
    yield from counted(
        "atom_cache_versions", "Versions on nodes, by state.", CacheRecord.objects.all()
    )


def findings() -> list[Finding]:
    """Count the warm-ups that failed within a day and were not repeated with success."""
    failed = CacheRecord.objects.filter(state="failed", updated_at__gte=clock.now() - _LATELY)
    count = failed.count()
    if not count:
        return []
    return [
        Finding(
            "warmups_failed",
            "warning",
            f"{count} versions could not be brought to a node within a day.",
            "The pages of these datasets say why; warm them up again there.",
            {"total": count},
        )
    ]
