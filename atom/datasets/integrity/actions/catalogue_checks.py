"""Comparing the catalogue with the bucket every night, a few datasets at a time.

Memory is bounded, and each step notes its result. A worker that runs out of time leaves the rest to
the next one, if need be to the next night.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from django.db import IntegrityError
from django.db.models import Count, F, Max, Q

from atom.accounts.models import Project
from atom.core import clock, storage
from atom.core.locks import only_worker
from atom.datasets import keys
from atom.datasets.catalog.engines.stored import ListingDisordered, stored_objects
from atom.datasets.commits.actions.branches import settle_branch
from atom.datasets.integrity.actions.rebuild import Comparison, compare_datasets
from atom.datasets.integrity.rebuild import stored_dataset_ids
from atom.datasets.models import Branch, CatalogueCheck, Dataset, Pack, Version
from atom.datasets.packs.engines.digest_runs import in_batches, without

log = structlog.get_logger(__name__)

# One worker compares at a time, whatever the project.
_ALL: Final = UUID("019a0000-0000-7000-8000-0000000c4ec4")
# Less than a day, so that each night finds its work.
_DUE_AFTER: Final = timedelta(hours=20)
_KEPT: Final = timedelta(days=30)
_BATCH_DATASETS: Final = 100
_BATCH_VERSIONS: Final = 2000
_BATCH_PACKS: Final = 500
_EXAMPLES: Final = 20
# A bucket that lost its packs needs no list of them all.
_MOST_LOST_PACKS: Final = 1000
# Documents that are no documents, or that have rows which no catalogue could hold.
_UNREADABLE: Final = (
    IntegrityError,
    KeyError,
    TypeError,
    ValueError,
    storage.ObjectMissing,
)  # fmt: skip


def check_catalogues() -> None:
    """Compare all projects that are due; quiet when another worker is at it.

    May be cut off anywhere, and is then taken up by the next call.
    """
    with only_worker(_ALL) as mine:
        if mine:
            for project in _due():
                _check(project)


def _due() -> list[Project]:
    """Return the projects whose comparison is under way or old, what waited longest first."""
    checks = Project.objects.annotate(
        under_way=Count("catalogue_checks", filter=Q(catalogue_checks__finished_at=None)),
        begun_at=Max("catalogue_checks__created_at"),
        touched_at=Max("catalogue_checks__updated_at"),
    )
    old = Q(begun_at=None) | Q(begun_at__lt=clock.now() - _DUE_AFTER)
    due = checks.filter(Q(under_way__gt=0) | old)
    # One that never comes to an end stands in nobody's way.
    return list(due.order_by(F("touched_at").asc(nulls_first=True), "pk"))


def _check(project: Project) -> None:
    check = project.catalogue_checks.filter(finished_at=None).first()
    check = check or CatalogueCheck(project=project)
    check.save()
    for ids in _steps(project, check.after):
        found, lines = _compared(project, ids)
        check.dataset_count += found.counts.get("datasets", 0)
        check.version_count += found.counts.get("versions", 0)
        check.after = ids[-1]
        _note(check, lines)
    check.pack_count = Pack.objects.filter(project=project, state="verified").count()
    _note(check, _lost_packs(project))
    _finish(check)


def _steps(project: Project, after: UUID | None) -> Iterator[list[UUID]]:
    """Yield the datasets behind `after`, on either side, as many as are compared at once."""
    known = Dataset.with_deleted.filter(project=project).values_list("pk", flat=True)
    ids = sorted(stored_dataset_ids(project) | set(known))
    left = [pk for pk in ids if after is None or pk > after]
    for some in in_batches(left, _BATCH_DATASETS):
        yield from _by_size(some)


def _by_size(ids: Sequence[UUID]) -> Iterator[list[UUID]]:
    rows = Version.objects.filter(dataset__in=ids).order_by().values_list("dataset")
    sizes = dict(rows.annotate(n=Count("pk")))
    step: list[UUID] = []
    total = 0
    for pk in ids:
        total += sizes.get(pk, 0)
        if step and total > _BATCH_VERSIONS:
            yield step
            step, total = [], sizes.get(pk, 0)
        step.append(pk)
    yield step


def _compared(project: Project, ids: Sequence[UUID]) -> tuple[Comparison, list[str]]:
    """Compare, and look again where there are differences.

    The two sides are not read at the same moment: what changed meanwhile differs once, what is
    wrong differs each time in the same way.
    """
    found = _look(project, ids)
    if found.is_equal:
        return found, []
    branches = Branch.objects.filter(dataset__in=ids, dataset__deleted_at=None)
    for branch in branches.select_related("dataset__project"):
        settle_branch(branch.dataset, branch.name)
    again = set(_look(project, ids).lines())
    return found, [line for line in found.lines() if line in again]


def _look(project: Project, ids: Sequence[UUID]) -> Comparison:
    """Compare datasets; where documents cannot be read, each by itself."""
    try:
        return compare_datasets(project, ids)
    except _UNREADABLE as exc:
        if len(ids) == 1:
            problem = f"the documents of dataset {ids[0]} cannot be read ({type(exc).__name__})"
            return Comparison(problems=[problem])
    joined = Comparison()
    for pk in ids:
        joined.add(_look(project, [pk]))
    return joined


def _lost_packs(project: Project) -> list[str]:
    """Name verified packs that are not in the bucket; neither side is held as a whole."""
    prefix = storage.project_prefix(project)
    lost: list[str] = []
    try:
        for some in in_batches(_unlisted(project, prefix), _BATCH_PACKS):
            verified = Pack.objects.filter(project=project, digest__in=some, state="verified")
            # Asked again: collecting garbage may have taken it meanwhile, or an upload brought it.
            lost += [
                f"only in the catalogue: pack {digest}"
                for digest in verified.order_by("digest").values_list("digest", flat=True)
                if not storage.objects().exists(prefix + keys.pack_key(digest))
            ]
            if len(lost) >= _MOST_LOST_PACKS:
                break
    except ListingDisordered as exc:
        lost.append(f"problem: packs cannot be compared: {exc}")
    return lost


def _unlisted(project: Project, prefix: str) -> Iterator[str]:
    verified = Pack.objects.filter(project=project, state="verified").order_by("digest")
    listing = storage.objects().list_prefix(f"{prefix}packs/")
    packs = (item for item in listing if item.key.endswith(".tar"))
    present = (item.digest for item in stored_objects("packs", packs))
    return without(verified.values_list("digest", flat=True).iterator(), present, bytes.fromhex)


def _note(check: CatalogueCheck, lines: Iterable[str]) -> None:
    found = list(lines)
    check.difference_count += len(found)
    check.differences += found[: _EXAMPLES - len(check.differences)]
    check.save()


def _finish(check: CatalogueCheck) -> None:
    now = clock.now()
    check.finished_at = now
    check.save()
    check.project.catalogue_checks.filter(finished_at__lt=now - _KEPT).delete()
    log.info(
        "catalogue_compared",
        project=check.project.slug,
        versions=check.version_count,
        differences=check.difference_count,
    )
