"""The activity of a dataset: its versions and recorded events, as one list by time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from atom.accounts.models import AuditEvent
from atom.datasets.models import CommitRequest, Dataset, Version

VERSIONS = "versions"
# The verbs of each kind begin so.
_VERBS = {
    "refs": ("branch.", "tag."),
    "labels": ("label_task.",),
    "views": ("view.",),
    "keeping": ("dataset.retention_changed", "hold.", "version."),
    "sources": ("source.", "scan."),
    "moving": ("dataset.loaded", "dataset.exported", "replica."),
    "writers": ("writer.", "write_job."),
    "cleaning": ("cleaning_report.",),
    "dataset": (
        "dataset.created",
        "dataset.described",
        "dataset.deleted",
        "dataset.restored",
        "commit.cancelled",
    ),
}
KINDS = (VERSIONS, *_VERBS)
# Everybody who may read the dataset reads these; the rest of an event is for administrators.
_TOLD = (
    "branch", "files", "kind", "limit", "name", "node", "operation", "reason", "ref", "source",
    "store", "task", "version", "versions", "was",
)  # fmt: skip


@dataclass(frozen=True)
class Happening:
    """One line: who did what, when. `version` is the one that was made."""

    at: datetime
    id: UUID
    kind: str
    verb: str
    actor: str
    object_id: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    version: Version | None = None

    @property
    def key(self) -> tuple[datetime, UUID]:
        """Return what the list is ordered by."""
        return self.at, self.id


@dataclass(frozen=True)
class ActivityFilter:
    """Which lines: of these kinds (none given: all), by this person, before this one."""

    kinds: tuple[str, ...] = ()
    actor: str = ""
    before: tuple[datetime, UUID] | None = None


def activity(dataset: Dataset, wanted: ActivityFilter, limit: int) -> list[Happening]:
    """Return the newest lines that are wanted; each source is read no further than that."""
    found = merge(
        _versions(dataset, wanted, limit), _events(dataset, wanted, limit), key=_age, reverse=True
    )
    return list(islice(found, limit))


def _age(line: Happening) -> tuple[datetime, UUID]:
    return line.key


def _versions(dataset: Dataset, wanted: ActivityFilter, limit: int) -> Iterator[Happening]:
    if wanted.kinds and VERSIONS not in wanted.kinds:
        return
    # Staged versions are no news for anybody before the writer commits them.
    staged = CommitRequest.objects.filter(
        dataset=dataset, operation="push", writer__isnull=False, version__isnull=False
    )
    rows = dataset.versions.exclude(pk__in=staged.values("version_id")).select_related("author")
    if wanted.actor:
        rows = rows.filter(
            Q(author__username=wanted.actor) | Q(author=None, author_name=wanted.actor)
        )
    page = list(_before(rows, "created_at", wanted)[:limit])
    operations = _operations(page)
    for version in page:
        version.dataset = dataset
        actor = version.author.username if version.author else version.author_name
        verb = f"version.{operations.get(version.pk) or _made_by(version)}"
        yield Happening(
            version.created_at, version.pk, VERSIONS, verb, actor, str(version.pk), {}, version
        )


def _operations(versions: Iterable[Version]) -> dict[UUID, str]:
    """Return what made each version, where a request of somebody did."""
    made = CommitRequest.objects.filter(version__in=list(versions), unchanged=False)
    return {pk: name for pk, name in made.values_list("version_id", "operation") if pk}


def _made_by(version: Version) -> str:
    """Layers and scans make versions without a request."""
    given = version.provenance
    if "label_task" in given:
        return "labels"
    return "scan" if given.get("operation") == "scan" else "push"


def _events(dataset: Dataset, wanted: ActivityFilter, limit: int) -> Iterator[Happening]:
    kinds = [kind for kind in wanted.kinds or KINDS if kind != VERSIONS]
    begins = [begin for kind in kinds for begin in _VERBS[kind]]
    if not begins:
        return
    condition = Q()
    for begin in begins:
        condition |= Q(verb__startswith=begin)
    rows = AuditEvent.objects.filter(condition, subject_id=dataset.pk)
    if wanted.actor:
        rows = rows.filter(actor_name=wanted.actor)
    for event in _before(rows, "at", wanted)[:limit]:
        told = {name: event.data[name] for name in _TOLD if name in event.data}
        kind = _kind_of(event.verb)
        yield Happening(
            event.at, event.pk, kind, event.verb, event.actor_name, event.object_id, told
        )


def _kind_of(verb: str) -> str:
    return next(kind for kind, begins in _VERBS.items() if verb.startswith(begins))


def _before(rows: QuerySet[Any], at: str, wanted: ActivityFilter) -> QuerySet[Any]:
    if wanted.before is not None:
        when, pk = wanted.before
        rows = rows.filter(Q(**{f"{at}__lt": when}) | Q(**{at: when, "id__lt": pk}))
    return rows.order_by(f"-{at}", "-id")
