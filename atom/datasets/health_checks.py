"""How the data plane is doing, over all projects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Sum

from atom.accounts.models import Project
from atom.core import clock
from atom.core.health_checks import Finding, Gauge, counted
from atom.datasets.models import Dataset, Pack, Version
from atom.datasets.models.checks import CatalogueCheck
from atom.datasets.models.commits import CommitRequest, Upload
from atom.datasets.models.sources import Source

_BEING_MADE = ("pending", "building")
# A worker that builds says so every few seconds.
STUCK_AFTER = timedelta(minutes=15)
# One night may be missed, and a large catalogue takes some.
UNCHECKED_AFTER = timedelta(days=3)
_NAMED = 5


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
    differences = sum(check.difference_count for check in _last_checks())
    yield Gauge(
        "atom_catalogue_differences",
        "Differences of catalogue and bucket, by the last comparison of each project.",
        differences,
    )


def findings() -> list[Finding]:
    """Name parts that stand still, are corrupt, or could not be read."""
    return [*_stuck(), *_quarantined(), *_sources(), *_catalogue()]


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


def _last_checks() -> list[CatalogueCheck]:
    """Return the last finished comparison of each project that had one."""
    finished = CatalogueCheck.objects.filter(finished_at__isnull=False)
    last = finished.order_by("project", "-finished_at").distinct("project")
    return list(last.select_related("project"))


def _catalogue() -> Iterator[Finding]:
    checks = _last_checks()
    differing = [check for check in checks if check.difference_count]
    if differing:
        yield _differing(differing)
    now = clock.now()
    ended = {check.project_id: check.finished_at for check in checks if check.finished_at}
    recent = [pk for pk, at in ended.items() if at >= now - UNCHECKED_AFTER]
    old = Project.objects.filter(created_at__lt=now - UNCHECKED_AFTER).exclude(pk__in=recent)
    names = list(old.order_by("slug").values_list("slug", flat=True)[:_NAMED])
    if names:
        count = old.count()
        yield Finding(
            "catalogue_unchecked",
            "warning",
            f"{count} projects were not compared with the bucket for three days: "
            f"{', '.join(names)}.",
            "See whether beat and workers run at night, and the worker's log of "
            "datasets.check_catalogues.",
            {"total": count, "names": ", ".join(names)},
        )
    elif checks and not differing:
        versions = sum(check.version_count for check in checks)
        age_s = round((now - min(ended.values())).total_seconds())
        yield Finding(
            "catalogue",
            "ok",
            f"It tells the same as the bucket: {versions} versions compared.",
            figures={"versions": versions, "projects": len(checks), "age_s": age_s},
        )


def _differing(checks: list[CatalogueCheck]) -> Finding:
    names = ", ".join(sorted(check.project.slug for check in checks)[:_NAMED])
    total = sum(check.difference_count for check in checks)
    first = checks[0].differences[0]
    return Finding(
        "catalogue_differs",
        "problem",
        f"{total} differences of catalogue and bucket in {names}; the first is {first}",
        "Run manage.py rebuild_catalogue --project PROJECT, which names them all, and delete "
        "nothing (ATOM_GARBAGE_APPLY=false) until it is known why.",
        {"total": total, "names": names, "first": first},
    )
