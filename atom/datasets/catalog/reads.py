"""Reads that lead from catalogue rows to the content of a version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from atom.accounts.models import Project, User
from atom.core import storage
from atom.core.errors import NotFound
from atom.core.storage import StoreError
from atom.datasets.catalog.stores import version_store
from atom.datasets.errors import (
    DatasetDeleted,
    ManifestObjectUnknown,
    PackQuarantined,
    PackUnknown,
    VersionExpired,
    VersionGone,
)
from atom.datasets.keys import pack_key
from atom.datasets.models import CommitRequest, Dataset, DismissedOperation, Pack, Version
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.manifests.objects import delta_key, group_key, layer_key, range_key
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence

URL_EXPIRES_S = 3600
# A page shows an operation that made a version, or that failed, for this long.
DONE_SHOWN, FAILED_SHOWN = timedelta(minutes=10), timedelta(days=7)


def find_dataset(project: Project, name: str) -> Dataset:
    """Return the project's dataset of a name. Raises DatasetDeleted or NotFound."""
    found = Dataset.with_deleted.in_project(project).filter(name=name, purged_at=None).first()
    if found is None:
        raise NotFound(
            Sentence(
                "datasets.dataset_unknown",
                "{project} has no dataset {dataset}.",
                project=project.slug,
                dataset=name,
            )
        )
    if found.deleted_at is not None:
        at = f"{found.deleted_at:%Y-%m-%d}"
        raise DatasetDeleted(
            Sentence(
                "datasets.dataset_deleted_on",
                "The dataset {dataset} was deleted on {date}.",
                dataset=name,
                date=at,
            ),
            deleted_id=str(found.pk),
        )
    return found


def require_kept(version: Version) -> None:
    """Raise VersionExpired for a version that has left retention."""
    is_deleted = version.dataset.deleted_at is not None
    if version.state == "kept" and not is_deleted:
        return
    if version.state in {"kept", "expired"} and version.pins.exists():
        return
    if is_deleted and version.dataset.purged_at is None:
        raise DatasetDeleted(
            Sentence(
                "datasets.dataset_deleted",
                "The dataset {dataset} is deleted.",
                dataset=version.dataset.name,
            )
        )
    named = f"{version.dataset.name}@{version.ref}"
    if version.state != "expired":
        raise VersionGone(Sentence("datasets.collected", "{name} was collected.", name=named))
    raise VersionExpired(
        Sentence(
            "datasets.version_fell_out_of_retention",
            "{version} fell out of the dataset's retention; it can be restored.",
            version=named,
        )
    )


class EntryCounts(NamedTuple):
    """How many files and how many symbolic links a version has."""

    files: int
    links: int


def entry_counts(version: Version) -> EntryCounts:
    """Return how many files and links a version has.

    A version from before links were counted apart is looked into once; the row remembers it. Until
    its root can be read, and once it is collected, its row counts both together as files.
    """
    if version.link_count is None and version.state == "collected":
        return EntryCounts(version.file_count, 0)
    if version.link_count is None:
        try:
            root = version_store(version.dataset.project).root(version.root)
        except (SdkError, StoreError):
            return EntryCounts(version.file_count, 0)
        version.file_count, version.link_count = root.files, root.links
        Version.objects.filter(pk=version.pk, link_count=None).update(
            file_count=root.files, link_count=root.links
        )
    return EntryCounts(version.file_count, version.link_count)


def open_root(version: Version) -> Root:
    """Return the root of a version; `version.dataset.project` should be fetched already.

    Raises VersionExpired.
    """
    require_kept(version)
    return version_store(version.dataset.project).root(version.readable_root)


def packs_of(version: Version) -> list[str]:
    """Return the digests of all packs of a version, sorted: the order of its coverage bitmap.

    Raises VersionExpired.
    """
    require_kept(version)
    return packs_named_by(version)


def packs_named_by(version: Version) -> list[str]:
    """Return what `packs_of` does, also of a version that nobody may read any more.

    Raises ObjectNotFoundError once its manifest is collected.
    """
    store = version_store(version.dataset.project)
    packs: set[bytes] = set()
    for part in store.root(version.readable_root).ranges:
        packs.update(store.range(part)["pack"].unique().drop_null().to_pylist())
    return [pack.hex() for pack in sorted(packs)]


def quarantined_among(project: Project, digests: list[str]) -> list[str]:
    """Return which of the packs are quarantined in the project, sorted."""
    found = Pack.objects.filter(project=project, digest__in=digests, state="quarantined")
    return sorted(found.values_list("digest", flat=True))


def require_readable(project: Project, digests: list[str]) -> None:
    """Raise PackQuarantined or PackUnknown unless the project has every pack, verified."""
    states = dict(
        Pack.objects.filter(project=project, digest__in=digests).values_list("digest", "state")
    )
    for digest in digests:
        state = states.get(digest)
        if state == "quarantined":
            raise PackQuarantined(
                Sentence(
                    "datasets.pack_quarantined", "The pack {pack} is quarantined.", pack=digest
                ),
                pack=digest,
            )
        if state != "verified":
            raise PackUnknown(
                Sentence(
                    "datasets.pack_not_verified",
                    "The project has no verified pack {pack}.",
                    pack=digest,
                ),
                pack=digest,
            )


def manifest_keys(root: Root) -> Iterator[str]:
    """Yield the keys of everything that a root lists; groups of ranges first."""
    yield from (group_key(group.object) for group in root.groups)
    yield from (layer_key(name) for layer in root.layers for name in layer.layout)
    for part in root.ranges:
        yield range_key(part.object)
        yield from map(delta_key, part.deltas)


def manifest_addresses(version: Version, wanted: Sequence[str]) -> dict[str, str]:
    """Return where to GET objects of a version's manifest, good for URL_EXPIRES_S.

    Raises ManifestObjectUnknown for a key that the version's root does not list.
    """
    unseen = set(wanted)
    keys = manifest_keys(open_root(version))
    while unseen and (key := next(keys, None)) is not None:
        unseen.discard(key)
    if unseen:
        raise ManifestObjectUnknown(
            Sentence(
                "datasets.object_not_in_version",
                "The version has no object {digest}.",
                digest=min(unseen),
            ),
            key=min(unseen),
        )
    return presigned(version.dataset.project, wanted)


def presigned(project: Project, keys: Iterable[str]) -> dict[str, str]:
    """Return where to GET objects of a project, by key, good for URL_EXPIRES_S."""
    prefix, objects = storage.project_prefix(project), storage.objects()
    return {key: objects.presign_get(prefix + key, URL_EXPIRES_S) for key in keys}


def pack_addresses(version: Version, wanted: list[str], allowed: set[str]) -> dict[str, str]:
    """Return where to GET packs (hex) of a version, good for URL_EXPIRES_S.

    Raises PackUnknown for a pack that is not among the allowed ones, PackQuarantined.
    """
    strange = sorted(set(wanted) - allowed)
    if strange:
        raise PackUnknown(
            Sentence(
                "datasets.pack_not_in_version", "The version has no pack {pack}.", pack=strange[0]
            ),
            pack=strange[0],
        )
    project = version.dataset.project
    require_readable(project, wanted)
    prefix, objects = storage.project_prefix(project), storage.objects()
    return {
        digest: objects.presign_get(prefix + pack_key(digest), URL_EXPIRES_S) for digest in wanted
    }


def is_operation() -> Q:
    """Return the condition of requests that people make of the server.

    Clients know the state of their own commits (a push, a writer, an archive).
    """
    # A split changes no file.
    split = Q(operation="push", changes_upload=None)
    asked = Q(operation__in=("merge", "revert", "cherry_pick", "edit")) | split
    return asked & Q(writer=None, write_job=None)


def runs() -> Q:
    """Return the condition of requests that are not over."""
    return Q(state__in=("pending", "building"))


def operations_of_now(dataset: Dataset, user: User) -> QuerySet[CommitRequest]:
    """Return what runs, and what ended lately unless this person has dismissed it.

    A cancelled request needs no line: its branch is as it was.
    """
    dismissed = DismissedOperation.objects.filter(request=OuterRef("pk"), user=user)
    tells = (
        runs()
        | Q(state="published", updated_at__gt=Now() - DONE_SHOWN)
        | Q(state__in=("failed", "conflict"), updated_at__gt=Now() - FAILED_SHOWN)
    )
    asked = CommitRequest.objects.filter(is_operation(), tells, dataset=dataset)
    told = asked.filter(runs() | ~Exists(dismissed))
    return told.select_related("version__author", "created_by")
