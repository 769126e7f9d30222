"""Starting, changing and removing replicas, and the price of one before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import clock, live
from atom.core.background import enqueue
from atom.core.states import check_transition
from atom.datasets.catalog.reads import URL_EXPIRES_S, packs_of, require_kept, require_readable
from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Pack, Replica, Store, StoredPack, Version
from atom.datasets.replicas.engines.costs import Cost, Fees, cost_of
from atom.datasets.replicas.errors import ReplicaEnding, ReplicaPresent, ReplicaUnsuitable
from atom.datasets.states import REPLICA_STATES
from atom_sdk.sentences import Sentence

_WORK_TASK: Final = "atom.datasets.tasks.work_on_replicas"
# Readers may hold an address until it expires; a long request may then still be under way.
READ_GRACE: Final = timedelta(seconds=URL_EXPIRES_S + 600)


@dataclass(frozen=True, slots=True)
class ReplicaTerms:
    """How long a replica stays, and how fast it comes: pinned, or until `ends_at`."""

    pinned: bool = False
    ends_at: datetime | None = None
    rate_bytes_s: int | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """The bytes and packs of a version, those that the store lacks, and the price."""

    packs_total: int
    bytes_total: int
    packs_to_copy: int
    bytes_to_copy: int
    cost: Cost


def pack_sizes(version: Version) -> dict[str, int]:
    """Return the bytes of each pack (hex) of a version.

    Raises VersionExpired, VersionGone, DatasetDeleted, PackQuarantined, PackUnknown.
    """
    digests = packs_of(version)
    project = version.dataset.project
    require_readable(project, digests)
    rows = Pack.objects.filter(project=project, digest__in=digests)
    return dict(rows.order_by("digest").values_list("digest", "size_bytes"))


def preview(version: Version, store: Store) -> Preview:
    """Return what a replica would copy and cost. Raises ReplicaUnsuitable, as `pack_sizes` does."""
    _require_packed(version)
    sizes = pack_sizes(version)
    rows = StoredPack.objects.filter(
        store=store, project=version.dataset.project, state="there", digest__in=sizes
    )
    there = set(rows.values_list("digest", flat=True))
    lacking = {digest: size for digest, size in sizes.items() if digest not in there}
    bytes_total, bytes_to_copy = sum(sizes.values()), sum(lacking.values())
    cost = cost_of(fees_of(store), bytes_to_copy, bytes_total)
    return Preview(len(sizes), bytes_total, len(lacking), bytes_to_copy, cost)


def fees_of(store: Store) -> Fees:
    """Return the fees of a store."""
    return Fees(store.egress_per_gib, store.write_per_gib, store.keep_per_gib_month, store.currency)


def _require_packed(version: Version) -> None:
    require_kept(version)
    store = version_store(version.dataset.project)
    for part in store.root(version.readable_root).ranges:
        if store.range(part)["source"].null_count < part.count:
            raise ReplicaUnsuitable(
                Sentence(
                    "datasets.replica_of_registered",
                    "Files of {dataset}@{ref} stay at their source.",
                    dataset=version.dataset.name,
                    ref=version.ref,
                )
            )


def start_replica(version: Version, store: Store, terms: ReplicaTerms, actor: User) -> Replica:
    """Have a version copied into a store; the replica of a failed try starts again.

    Raises ReplicaPresent, ReplicaEnding, ReplicaUnsuitable, VersionExpired, PackQuarantined.
    """
    expected = preview(version, store)
    values = {
        "pinned": terms.pinned,
        "ends_at": terms.ends_at,
        "rate_bytes_s": terms.rate_bytes_s,
        "packs_total": expected.packs_total,
        "bytes_total": expected.bytes_total,
        "bytes_to_copy": expected.bytes_to_copy,
        "cost": expected.cost.once,
        "currency": expected.cost.currency,
        "created_by": actor,
    }
    try:
        with transaction.atomic():
            replica = _failed(version, store)
            if replica is None:
                replica = Replica(version=version, store=store, **values)
            else:
                set_state(replica, "waiting")
                replica.failures, replica.retry_at = 0, None
                replica.error_code, replica.error_detail = "", ""
                for name, value in values.items():
                    setattr(replica, name, value)
            replica.save()
            _record(actor, "replica.started", replica)
            ask_work(store.pk, version.dataset.project_id)
    except IntegrityError as present:
        raise ReplicaPresent from present
    return replica


def _failed(version: Version, store: Store) -> Replica | None:
    """Return the locked replica of a failed try, None without one. Raises as `start_replica`."""
    rows = Replica.objects.select_for_update().filter(version=version, store=store)
    replica = rows.first()
    if replica is None:
        return None
    if replica.state == "removing":
        raise ReplicaEnding
    if replica.state != "failed":
        raise ReplicaPresent
    return replica


def change_replica(
    replica: Replica, actor: User, *, pinned: bool, ends_at: datetime | None
) -> Replica:
    """Pin a replica or give it another end. Raises ReplicaEnding."""
    with transaction.atomic():
        locked = _locked(replica.pk)
        if locked.state == "removing":
            raise ReplicaEnding
        locked.pinned, locked.ends_at = pinned, None if pinned else ends_at
        locked.save(update_fields=["pinned", "ends_at", "updated_at"])
        _record(actor, "replica.changed", locked)
    return locked


def remove_replica(replica: Replica, actor: User | None) -> Replica:
    """Stop a copy and have the replica removed; repeatable.

    Readers get no address of it from now on. Its objects stay until the last address has expired,
    if readers had any.
    """
    with transaction.atomic():
        locked = _locked(replica.pk)
        if locked.state != "removing":
            was_readable = locked.verified_at is not None
            set_state(locked, "removing")
            locked.removes_at = clock.now() + (READ_GRACE if was_readable else timedelta())
            locked.save(update_fields=["state", "removes_at", "updated_at"])
            _record(actor, "replica.removed", locked)
        ask_work(locked.store_id, locked.version.dataset.project_id)
    return locked


def _locked(replica_id: UUID) -> Replica:
    rows = Replica.objects.select_for_update(of=("self",))
    return rows.select_related("store", "version__dataset__project").get(pk=replica_id)


def set_state(replica: Replica, state: str) -> None:
    """Give a replica another state, which the caller saves. Raises IllegalTransition."""
    check_transition(REPLICA_STATES, replica.state, state)
    replica.state = state


def ask_work(store_id: UUID, project_id: UUID) -> None:
    """Send a worker to the replicas of a project in a store."""
    enqueue(_WORK_TASK, str(store_id), str(project_id))


def notify(replica: Replica) -> None:
    """Tell pages that the replica has changed."""
    project_id = replica.version.dataset.project_id
    live.publish(f"project.{project_id}", {"type": "replica", "id": str(replica.pk)})


def _record(actor: User | None, action: str, replica: Replica) -> None:
    version = replica.version
    dataset = version.dataset
    named = {"dataset": dataset.name, "ref": version.ref, "store": replica.store.name}
    audit.record(actor, action, replica, dataset.project, dataset, **named)
    notify(replica)
