"""Adding, changing, checking and removing second stores."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import structlog
from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import clock
from atom.core.errors import AtomError, Invalid
from atom.core.ids import uuid7
from atom.datasets.credentials import encrypted
from atom.datasets.models import Replica, Store, StoredPack
from atom.datasets.replicas.errors import StoreCorrupts, StoreInUse, StoreNameTaken
from atom.datasets.replicas.pipelines.second_store import PART_BYTES, SecondStore
from atom.datasets.source_spec import ANONYMOUS, Credentials, SourceSpec, check_spec
from atom.datasets.sources.pipelines.patience import INTERACTIVE
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

_CHECKS: Final = "checks"
_PROBE: Final = b"Atom checks its rights here."
_PLACE: Final = ("endpoint", "bucket", "prefix", "region")


@dataclass(frozen=True)
class NewStore:
    """A store to add. Fees are per GiB; None where nobody knows them."""

    name: str
    endpoint: str
    bucket: str
    prefix: str = ""
    region: str = ""
    credentials: Credentials = ANONYMOUS
    egress_per_gib: Decimal | None = None
    write_per_gib: Decimal | None = None
    keep_per_gib_month: Decimal | None = None
    currency: str = ""

    @property
    def spec(self) -> SourceSpec:
        """Return what a client needs."""
        url = f"s3://{self.bucket}/{self.prefix}"
        return SourceSpec("", url, self.endpoint, self.region, self.credentials)


def check_place(spec: SourceSpec) -> None:
    """Write, list, read and delete a small object, and begin an object in parts.

    Raises Invalid, StoreAddressRefused, StoreAway, StoreDenied, StoreMissing, StoreOdd,
    StoreCorrupts.
    """
    _check_names(spec)
    bucket = SecondStore(spec, _CHECKS, INTERACTIVE)
    bucket.check_address()
    key = f"{uuid7()}"
    bucket.put(key, _PROBE)
    try:
        if key not in bucket.list_keys(key) or bucket.get(key) != _PROBE:
            raise StoreCorrupts(
                Sentence(
                    "datasets.store_lost_probe",
                    "The store did not give back an object that was just written.",
                )
            )
        _check_parts(bucket, f"{key}-parts")
    finally:
        bucket.delete(key)


def _check_names(spec: SourceSpec) -> None:
    try:
        check_spec(spec)
    except Invalid as wrong:
        # A store has a bucket where a source has an address.
        fields = {
            ("bucket" if name == "url" else name): texts for name, texts in wrong.errors.items()
        }
        raise Invalid(errors=fields) from wrong


def _check_parts(bucket: SecondStore, key: str) -> None:
    size_bytes = PART_BYTES + 1
    try:
        bucket.put_parts(key, size_bytes, [bytes(PART_BYTES), b"1"], lambda _: None)
        if bucket.size_of(key) != size_bytes:
            raise StoreCorrupts(
                Sentence(
                    "datasets.store_lost_parts",
                    "The store did not join an object that was sent in two parts.",
                )
            )
    finally:
        bucket.delete(key)


def add_store(new: NewStore, actor: User) -> Store:
    """Add a store that passes its check. Raises StoreNameTaken, and what `check_place` raises."""
    if Store.objects.filter(name=new.name).exists():
        raise StoreNameTaken
    check_place(new.spec)
    values = {name: getattr(new, name) for name in (*_PLACE, *_FEES, "name")}
    try:
        with transaction.atomic():
            store = Store.objects.create(
                **values,
                credentials=encrypted(new.credentials),
                checked_at=clock.now(),
                created_by=actor,
            )
            audit.record(
                actor, "store.added", store, name=store.name, endpoint=store.endpoint,
                bucket=store.bucket,
            )  # fmt: skip
    except IntegrityError as taken:
        raise StoreNameTaken from taken
    return store


_FEES: Final = ("egress_per_gib", "write_per_gib", "keep_per_gib_month", "currency")


def change_store(store: Store, changes: dict[str, Any], actor: User) -> Store:
    """Change fees or credentials. The place stays: replicas say by the store where they are.

    New credentials are checked first. Raises what `check_place` raises.
    """
    credentials: Credentials | None = changes.pop("credentials", None)
    if credentials is not None:
        spec = store.spec
        check_place(SourceSpec(spec.id, spec.url, spec.endpoint, spec.region, credentials))
    with transaction.atomic():
        locked = Store.objects.select_for_update().get(pk=store.pk)
        for name, value in changes.items():
            setattr(locked, name, value)
        if credentials is not None:
            locked.credentials = encrypted(credentials)
            locked.checked_at, locked.problem_code, locked.problem_detail = clock.now(), "", ""
        locked.save()
        fields = sorted([*changes, *(["credentials"] if credentials is not None else [])])
        audit.record(actor, "store.changed", locked, name=locked.name, fields=fields)
    return locked


def check_store(store: Store) -> Store:
    """Check a stored store; the row keeps the result."""
    code, detail = "", ""
    try:
        check_place(store.spec)
    except AtomError as error:
        code, detail = error.code, error.detail or error.title
        log.warning("store_check_failed", store=store.name, code=code)
    Store.objects.filter(pk=store.pk).update(
        checked_at=clock.now(), problem_code=code, problem_detail=detail
    )
    store.refresh_from_db()
    return store


def remove_store(store: Store, actor: User) -> None:
    """Forget a store and its credentials. Raises StoreInUse while it holds replicas."""
    with transaction.atomic():
        locked = Store.objects.select_for_update().get(pk=store.pk)
        count = Replica.objects.filter(store=locked).count()
        if count:
            raise StoreInUse(
                Sentence(
                    "datasets.store_holds_replicas",
                    "{store} holds {count} replicas.",
                    store=locked.name,
                    count=count,
                )
            )
        StoredPack.objects.filter(store=locked).delete()
        audit.record(actor, "store.removed", locked, name=locked.name)
        locked.delete()
