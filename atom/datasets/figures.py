"""How the data plane is doing, over all projects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Sum

from atom.core import clock
from atom.core.figures import Finding, Gauge, counted
from atom.datasets.commit_models import CommitRequest, Upload
from atom.datasets.models import Dataset, Pack, Version
from atom.datasets.source_models import Source

_BEING_MADE = ("pending", "building")
# A worker that builds says so every few seconds.
STUCK_AFTER = timedelta(minutes=15)


def gauges() -> Iterator[Gauge]:
    """Yield datasets, versions, packs, uploads, commits and sources."""
    yield Gauge("atom_datasets", "Datasets.", Dataset.objects.count())
    yield Gauge("atom_versions", "Versions, on all branches.", Version.objects.count())
    yield from counted("atom_packs", "Packs by state.", Pack.objects.all())
    sizes = Pack.objects.order_by("state").values_list("state").annotate(size=Sum("size_bytes"))
    for state, size in sizes:
        yield Gauge("atom_pack_bytes", "Bytes of packs by state.", size, {"state": state})
    unfinished = Upload.objects.filter(state__in=("open", "uploaded", "verifying"))
    yield from counted("atom_uploads", "Unfinished uploads.", unfinished)
    commits = CommitRequest.objects.filter(state__in=_BEING_MADE)
    yield from counted("atom_commits_being_made", "Commits that workers have to build.", commits)
    yield from counted("atom_sources", "Sources by state.", Source.objects.all())


def findings() -> list[Finding]:
    """Name what does not go on, is damaged, or could not be read."""
    return [*_stuck(), *_quarantined(), *_sources()]


def _stuck() -> Iterator[Finding]:
    old = clock.now() - STUCK_AFTER
    count = CommitRequest.objects.filter(state__in=_BEING_MADE, updated_at__lt=old).count()
    if count:
        yield Finding(
            "commits_stuck",
            "problem",
            f"{count} commits have not moved for 15 minutes.",
            "See whether workers run, and what their log says of these commits.",
            {"total": count},
        )


def _quarantined() -> Iterator[Finding]:
    count = Pack.objects.filter(state="quarantined").count()
    if count:
        yield Finding(
            "packs_quarantined",
            "problem",
            f"{count} packs are damaged and are given to nobody.",
            "The pages of their datasets name the files; push these folders again.",
            {"total": count},
        )


def _sources() -> Iterator[Finding]:
    broken = Source.objects.filter(state__in=("failed", "drifted"))
    names = sorted(broken.values_list("name", flat=True)[:5])
    if names:
        count = broken.count()
        yield Finding(
            "sources_failing",
            "warning",
            f"{count} sources could not be read, or hold other objects than were registered.",
            "Their pages say what is wrong; scan them again there.",
            {"total": count, "names": ", ".join(names)},
        )
