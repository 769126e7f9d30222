"""The roots of collection: versions, live uploads, commits being built, pardoned objects."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from django.db.models import Q, QuerySet

from atom.accounts.models import Project
from atom.core import clock, storage
from atom.core.sentences import named_reason
from atom.core.storage import ObjectMissing
from atom.datasets.models import Branch, CommitRequest, CondemnedObject, Upload, Version
from atom.datasets.packs.pipelines import read_staged_changes
from atom.datasets.retention.engines.pack_use import PackingRules
from atom.datasets.retention.engines.reachable import Reachable
from atom.datasets.retention.errors import ManifestUnreadable
from atom.datasets.states import UPLOADING
from atom.datasets.versions.engines.changes import ChangesError
from atom_sdk.errors import AtomError as SdkError


@dataclass(frozen=True)
class GarbageRules:
    """How old an object must be to be garbage, and how long what is condemned can be undone.

    The packs that `packing` chooses are repacked before.
    """

    grace: timedelta = timedelta(days=7)
    undo_window: timedelta = timedelta(days=30)
    packing: PackingRules = field(default_factory=PackingRules)


@dataclass(frozen=True)
class Marks:
    """The needed objects; `restorable` are those of expired versions that may come back.

    `roots` are the roots that were followed: a later one must be followed before a deletion.
    """

    kept: Reachable
    restorable: Reachable
    roots: frozenset[str]


def mark(project: Project, folder: Path, rules: GarbageRules) -> Marks:
    """Follow everything that is needed in the project. Raises ManifestUnreadable."""
    kept = Reachable(folder / "kept")
    restorable = kept.beside(folder / "restorable")
    roots = readable_roots(project)
    _follow(project, roots - expired_roots(project), kept)
    _follow_replaced(project, kept)
    for kind in ("packs", "quarantine"):
        kept.add(kind, _digests(leased_packs(project, rules.grace)))
    _add_records(project, kept)
    _follow(project, roots, restorable)
    return Marks(kept, restorable, frozenset(roots))


def readable_roots(project: Project) -> set[str]:
    """Return the roots of all versions that are, or may again be, read."""
    versions = Version.objects.filter(dataset__project=project).exclude(state="collected")
    return _roots_of(versions)


def expired_roots(project: Project) -> set[str]:
    """Return the roots that no version needs but expired ones, and those of deleted datasets."""
    versions = Version.objects.filter(dataset__project=project).exclude(state="collected")
    is_live = Q(dataset__deleted_at__isnull=True)
    heads = Branch.objects.filter(dataset__project=project, head__isnull=False).values("head_id")
    named = Q(tags__isnull=False) | Q(pk__in=heads)
    held = Q(pins__isnull=False) | is_live & (Q(state="kept") | named)
    unneeded = versions.filter(Q(state="expired") | ~is_live)
    return _roots_of(unneeded) - _roots_of(versions.filter(held))


def _roots_of(versions: QuerySet[Version]) -> set[str]:
    """Return the roots as committed and, where there is one, the layout's root.

    The root of a repacked version is not among them: the packs that it names may go.
    """
    committed = versions.filter(is_repacked=False).values_list("root", flat=True)
    written_anew = versions.exclude(layout="").values_list("layout", flat=True)
    return {*committed, *written_anew}


def leased_packs(project: Project, grace: timedelta) -> QuerySet[Upload, str]:
    """Return the packs that pushes wait to commit: on their way, or said to be there lately."""
    recently = Q(state="verified", updated_at__gte=clock.now() - grace)
    uploads = Upload.objects.filter(recently | Q(state__in=UPLOADING), kind="pack")
    return uploads.filter(dataset__project=project).values_list("digest", flat=True)


def follow_later(project: Project, marks: Marks, found: Reachable) -> None:
    """Add to `found` what versions need that came after the marks. Raises ManifestUnreadable."""
    _follow(project, readable_roots(project) - marks.roots, found)


def _follow(project: Project, roots: set[str], found: Reachable) -> None:
    store = storage.project_store(project)
    with _told_of(project):
        for root in sorted(roots):
            found.add_root(bytes.fromhex(root), store)


def _follow_replaced(project: Project, found: Reachable) -> None:
    """Add the manifests of repacked versions, as they were committed: comparisons read them."""
    versions = Version.objects.filter(dataset__project=project, is_repacked=True)
    roots = versions.exclude(state="collected").values_list("root", flat=True).distinct()
    store = storage.project_store(project)
    with _told_of(project):
        for root in roots.order_by("root").iterator():
            found.add_manifest(bytes.fromhex(root), store)


@contextmanager
def _told_of(project: Project) -> Iterator[None]:
    try:
        yield
    except SdkError as exc:
        raise ManifestUnreadable(named_reason(project.slug, exc)) from exc


def _add_records(project: Project, kept: Reachable) -> None:
    """The commit and the root of every version stay: they are small, and its history."""
    versions = Version.objects.filter(dataset__project=project)
    kept.add("commits", _digests(versions.values_list("commit", flat=True).iterator()))
    kept.add("roots", _digests(versions.values_list("root", flat=True).iterator()))
    for request in CommitRequest.objects.filter(
        dataset__project=project, state__in=["pending", "building"]
    ).select_related("changes_upload"):
        if request.changes_upload is not None:
            kept.add("packs", _packs_of_changes(request.changes_upload))
    pardoned = CondemnedObject.objects.filter(project=project, state="pardoned")
    for kind, digest in pardoned.values_list("kind", "digest").iterator():
        kept.add(kind, [bytes.fromhex(digest)])


def _packs_of_changes(upload: Upload) -> list[bytes]:
    try:
        with tempfile.TemporaryDirectory(prefix="atom-changes-") as scratch:
            puts = read_staged_changes(storage.objects(), upload.key, Path(scratch)).puts
            packs: list[bytes] = puts["pack"].unique().drop_null().to_pylist()
    except (ChangesError, ObjectMissing):
        # The commit will say so; it needs nothing.
        return []
    return packs


def _digests(found: Iterable[str]) -> Iterator[bytes]:
    return (bytes.fromhex(digest) for digest in found)
