"""Reads of replicas: which stores hold a version, and where its packs can be read there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from django.db.models import F, Q, QuerySet

from atom.accounts.models import Project
from atom.core import clock
from atom.datasets.catalog.reads import URL_EXPIRES_S
from atom.datasets.keys import pack_key
from atom.datasets.models import Replica, Store, StoredPack, Version
from atom.datasets.replicas.errors import ReplicaNotFound, StoreNotFound
from atom.datasets.replicas.pipelines.second_store import SecondStore
from atom.datasets.states import LIVE_REPLICAS
from atom_sdk.sentences import Sentence


def find_store(name: str) -> Store:
    """Return a store by its name. Raises StoreNotFound."""
    store = Store.objects.filter(name=name).first()
    if store is None:
        raise StoreNotFound(
            Sentence("datasets.store_unknown", "There is no store {store}.", store=name)
        )
    return store


def replicas_in(project: Project) -> QuerySet[Replica]:
    """Return the replicas of a project's versions, newest first."""
    rows = Replica.objects.filter(version__dataset__project=project)
    rows = rows.select_related("store", "version__dataset__project", "created_by")
    return rows.order_by("-created_at", "-id")


def find_replica(version: Version, store_name: str) -> Replica:
    """Return the replica of a version in a store. Raises ReplicaNotFound."""
    rows = replicas_in(version.dataset.project).filter(version=version, store__name=store_name)
    replica = rows.first()
    if replica is None:
        raise ReplicaNotFound(
            Sentence(
                "datasets.replica_unknown",
                "{dataset}@{ref} has no replica in {store}.",
                dataset=version.dataset.name,
                ref=version.ref,
                store=store_name,
            )
        )
    return replica


def stores_holding(versions: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return the names of the second stores that hold each version, sorted, by its id."""
    rows = Replica.objects.filter(
        version__in=versions, state__in=LIVE_REPLICAS, verified_at__isnull=False
    )
    held: dict[UUID, list[str]] = defaultdict(list)
    for version_id, name in rows.order_by("store__name").values_list("version_id", "store__name"):
        held[version_id].append(name)
    return dict(held)


def readable_packs(store: Store, project_id: UUID, digests: Iterable[str]) -> set[str]:
    """Return which packs (hex) a store holds, verified and without trouble of late."""
    rows = StoredPack.objects.filter(
        Q(avoided_until=None) | Q(avoided_until__lte=clock.now()),
        store=store,
        project=project_id,
        digest__in=list(digests),
        state="there",
    )
    return set(rows.values_list("digest", flat=True))


def addresses_in(store: Store, project_id: UUID, digests: Sequence[str]) -> dict[str, str]:
    """Return where to GET packs (hex) in a second store; those that it lacks are left out."""
    there = readable_packs(store, project_id, digests)
    if not there:
        return {}
    bucket = SecondStore(store.spec, project_id)
    return {digest: bucket.address(pack_key(digest), URL_EXPIRES_S) for digest in sorted(there)}


def outdated() -> QuerySet[Replica]:
    """Return replicas of another layout than their version is read from now."""
    rows = Replica.objects.filter(state="there")
    repacked = ~Q(version__layout="") & ~Q(root=F("version__layout"))
    plain = Q(version__layout="") & ~Q(root=F("version__root"))
    return rows.filter(repacked | plain)
