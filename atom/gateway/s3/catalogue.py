"""Keys, datasets and refs from PostgreSQL, read once in some seconds and never per byte.

Here alone the gateway uses the ORM; the module is loaded at the first S3 request.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts.models import S3KeyPair
from atom.accounts.permissions import role_in
from atom.core import crypto
from atom.core.storage import PrefixStore, objects
from atom.datasets.catalog.reads import require_kept
from atom.datasets.catalog.stores import VersionStore
from atom.datasets.errors import BranchEmpty, RefAmbiguous, RefNotFound, VersionExpired
from atom.datasets.models import Dataset, Version
from atom.datasets.refs import resolve_ref
from atom.gateway.s3.errors import BucketUnknown, KeyUnknown, UnknownAccessKey
from atom.gateway.s3.ttl_cache import TtlCache

# A revoked key is refused after this at the latest.
KEY_TTL_S = 60.0
# A branch that has moved is seen after this at the latest.
REF_TTL_S = 5.0
_LIMIT = 4096
# Writing the time of every request would make each read a write.
_NOTED_EVERY_S = 300.0
# A name of a dataset, version, tag, branch or commit.
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
T = TypeVar("T")


@dataclass(frozen=True)
class Credential:
    """A key pair in force; its reads stay in one project."""

    pair_id: UUID
    secret: str
    project_id: UUID


@dataclass(frozen=True)
class Bucket:
    """A dataset."""

    dataset_id: UUID
    project_id: UUID
    name: str
    created_at: datetime

    @property
    def prefix(self) -> str:
        """Return where the objects of the dataset's project begin."""
        return f"p/{self.project_id}/"


@dataclass(frozen=True)
class PinnedRef:
    """A name and the version that it stood for when it was looked up."""

    name: str
    root: str
    created_at: datetime


class Catalogue:
    """Cached look-ups. Blocking; the caller runs them in a thread."""

    def __init__(self) -> None:
        self._credentials: TtlCache[Credential | None] = TtlCache(KEY_TTL_S, _LIMIT)
        self._noted: TtlCache[None] = TtlCache(_NOTED_EVERY_S, _LIMIT)
        self._buckets: TtlCache[Bucket] = TtlCache(REF_TTL_S, _LIMIT)
        self._refs: TtlCache[PinnedRef] = TtlCache(REF_TTL_S, _LIMIT)

    def credential(self, access_key_id: str) -> Credential:
        """Return a key pair in force. Raises UnknownAccessKey."""
        found = self._credentials.get(access_key_id, lambda: _query(_credential, access_key_id))
        if found is None:
            raise UnknownAccessKey
        return found

    def note_use(self, credential: Credential) -> None:
        """Remember that the key was used, to within some minutes."""
        self._noted.get(credential.pair_id, lambda: _query(_note_use, credential.pair_id))

    def bucket(self, project_id: UUID, name: str) -> Bucket:
        """Return a dataset of the project. Raises BucketUnknown."""
        if not _may_be_name(name):
            raise BucketUnknown
        return self._buckets.get((project_id, name), lambda: _query(_bucket, project_id, name))

    def buckets(self, project_id: UUID) -> list[Bucket]:
        """Return all datasets of the project, by name."""
        return _query(_buckets, project_id)

    def ref(self, bucket: Bucket, name: str) -> PinnedRef:
        """Return what a version, tag, branch or commit stands for.

        Raises KeyUnknown, also for a version that has left retention.
        """
        if not _may_be_name(name):
            raise KeyUnknown
        key = (bucket.dataset_id, name)
        return self._refs.get(key, lambda: _query(_ref, bucket.dataset_id, name))

    def refs(self, bucket: Bucket) -> list[PinnedRef]:
        """Return the versions, tags and branches that can be read, in the order of their keys."""
        return _query(_refs, bucket.dataset_id)


def version_store(bucket: Bucket) -> VersionStore:
    """Return the manifests of the bucket's project, cached by digest."""
    return VersionStore(PrefixStore(objects(), bucket.prefix))


def _query(ask: Callable[..., T], *arguments: object) -> T:
    """Ask the database and close the thread's connection: the next question may be far."""
    try:
        return ask(*arguments)
    finally:
        if not connection.in_atomic_block:
            connection.close()


def _may_be_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def _credential(access_key_id: str) -> Credential | None:
    pairs = S3KeyPair.objects.in_force().filter(access_key_id=access_key_id)
    pair = pairs.select_related("user", "project__unit").first()
    if pair is None or role_in(pair.user, pair.project) is None:
        return None
    return Credential(pair.pk, crypto.decrypt(pair.encrypted_secret), pair.project_id)


def _note_use(pair_id: UUID) -> None:
    S3KeyPair.objects.filter(pk=pair_id).update(last_used_at=Now())


def _bucket(project_id: UUID, name: str) -> Bucket:
    found = Dataset.objects.filter(project=project_id, name=name).first()
    if found is None:
        raise BucketUnknown
    return _as_bucket(found)


def _buckets(project_id: UUID) -> list[Bucket]:
    return [_as_bucket(row) for row in Dataset.objects.filter(project=project_id).order_by("name")]


def _as_bucket(dataset: Dataset) -> Bucket:
    return Bucket(dataset.pk, dataset.project_id, dataset.name, dataset.created_at)


def _ref(dataset_id: UUID, name: str) -> PinnedRef:
    dataset = Dataset.objects.filter(pk=dataset_id).first()
    if dataset is None:
        raise BucketUnknown
    try:
        version = resolve_ref(dataset, name)
        require_kept(version)
    except (RefNotFound, BranchEmpty, RefAmbiguous, VersionExpired) as exc:
        raise KeyUnknown(exc.detail) from exc
    return _pinned(name, version)


def _refs(dataset_id: UUID) -> list[PinnedRef]:
    dataset = Dataset.objects.filter(pk=dataset_id).first()
    if dataset is None:
        raise BucketUnknown
    # An expired version can be read while something pins it; see `require_kept`.
    kept = Q(state="kept") | Q(state="expired", pins__isnull=False)
    numbered = dataset.versions.filter(kept, number__isnull=False).distinct()
    tags = dataset.tags.select_related("version")
    branches = dataset.branches.filter(head__isnull=False).select_related("head")
    # A branch wins over a tag of the same name, as everywhere.
    found = {tag.name: _pinned(tag.name, tag.version) for tag in tags}
    found |= {row.name: _pinned(row.name, row.head) for row in branches if row.head}
    found |= {version.ref: _pinned(version.ref, version) for version in numbered}
    return sorted(found.values(), key=lambda ref: f"{ref.name}/")


def _pinned(name: str, version: Version) -> PinnedRef:
    return PinnedRef(name, version.readable_root, version.created_at)
