"""Facts of branches and tags beside their rows: who made them, how far they are from `main`.

Two or three queries for a page, however long it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from atom.accounts.models import AuditEvent
from atom.datasets.catalog.engines.ancestry import distances
from atom.datasets.models import Branch, Dataset, Tag

MAIN = "main"
# The parents of more commits than these are not read for a list.
MAX_COMPARED_VERSIONS = 50_000


def branches_with_facts(dataset: Dataset, branches: Sequence[Branch]) -> list[Branch]:
    """Set `created_by`, and `ahead` and `behind` of `main` where that is cheap to know."""
    makers = _makers(dataset, "branch.created", branches)
    counted = _distances(dataset, branches)
    for branch in branches:
        commit = branch.head.commit if branch.head else ""
        ahead, behind = counted.get(commit, (None, None))
        facts = {"created_by": makers.get(branch.pk, ""), "ahead": ahead, "behind": behind}
        vars(branch).update(facts)
    return list(branches)


def tags_with_facts(dataset: Dataset, tags: Sequence[Tag]) -> list[Tag]:
    """Set `created_by`."""
    makers = _makers(dataset, "tag.created", tags)
    for tag in tags:
        vars(tag)["created_by"] = makers.get(tag.pk, "")
    return list(tags)


def _makers(dataset: Dataset, verb: str, rows: Sequence[Branch | Tag]) -> dict[UUID, str]:
    if not rows:
        return {}
    events = AuditEvent.objects.filter(
        subject_id=dataset.pk, verb=verb, object_id__in=[str(row.pk) for row in rows]
    )
    return {UUID(pk): name for pk, name in events.values_list("object_id", "actor_name")}


def _distances(dataset: Dataset, branches: Sequence[Branch]) -> dict[str, tuple[int, int]]:
    heads = [branch.head.commit for branch in branches if branch.head]
    # Numbers are dense, so one of them shows a long history before its rows are read.
    if not heads or dataset.versions.filter(number__gt=MAX_COMPARED_VERSIONS).exists():
        return {}
    rows = list(
        dataset.versions.values_list("commit", "parents", "number")[: MAX_COMPARED_VERSIONS + 1]
    )
    if len(rows) > MAX_COMPARED_VERSIONS:
        return {}
    numbers = {commit: number for commit, _, number in rows if number is not None}
    trunk = max(numbers, key=lambda commit: numbers[commit], default="")
    return distances({commit: parents for commit, parents, _ in rows}, numbers, trunk, heads)
