"""Second stores, the versions that are replicated into them, and the packs that they hold."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project
from atom.core import states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.credentials import decrypted
from atom.datasets.source_spec import SourceSpec
from atom.datasets.states import REPLICA_STATES, STORED_PACK_STATES

GIB = 1 << 30


def _fee() -> models.DecimalField[Decimal | None, Decimal | None]:
    return models.DecimalField(max_digits=14, decimal_places=6, null=True)


class Store(TimestampedModel):
    """A bucket beside the installation's own, which an administrator added.

    Fees are per GiB and null where nobody knows them.
    """

    name = models.CharField(max_length=63, unique=True)
    endpoint = models.CharField(max_length=500)
    bucket = models.CharField(max_length=63)
    # Empty, or ending in a slash.
    prefix = models.CharField(max_length=200, blank=True)
    region = models.CharField(max_length=40, blank=True)
    # Encrypted; never leaves the server.
    credentials = models.TextField(blank=True)
    # To bring a GiB out of Atom's own store, to write it there, and to keep it there for a month.
    egress_per_gib = _fee()
    write_per_gib = _fee()
    keep_per_gib_month = _fee()
    currency = models.CharField(max_length=3, blank=True)
    # The last check; without a code it passed.
    checked_at = models.DateTimeField(null=True)
    problem_code = models.CharField(max_length=60, blank=True)
    problem_detail = SentenceField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(egress_per_gib=None, write_per_gib=None, keep_per_gib_month=None)
                | ~Q(currency=""),
                name="store_fee_currency",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def spec(self) -> SourceSpec:
        """Return what a client needs, with the credentials decrypted."""
        return SourceSpec(
            id=str(self.pk),
            url=f"s3://{self.bucket}/{self.prefix}",
            endpoint=self.endpoint,
            region=self.region,
            credentials=decrypted(self.credentials),
        )


class Replica(TimestampedModel):
    """A version in a second store: pinned, or until its end."""

    version = models.ForeignKey(
        "datasets.Version", on_delete=models.PROTECT, related_name="replicas"
    )
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="replicas")
    state = models.CharField(
        max_length=20, choices=states.choices(REPLICA_STATES), default="waiting"
    )
    pinned = models.BooleanField(default=False)
    ends_at = models.DateTimeField(null=True)
    # The most bytes a second that are copied and verified; null: no limit.
    rate_bytes_s = models.BigIntegerField(null=True)
    # The root whose objects and packs are there; "" before the first time.
    root = models.CharField(max_length=64, blank=True)
    packs_total = models.PositiveIntegerField(default=0)
    packs_copied = models.PositiveIntegerField(default=0)
    packs_verified = models.PositiveIntegerField(default=0)
    bytes_total = models.BigIntegerField(default=0)
    bytes_copied = models.BigIntegerField(default=0)
    bytes_verified = models.BigIntegerField(default=0)
    # Bytes that the store lacked at the start, and the price of bringing them; null: unknown.
    bytes_to_copy = models.BigIntegerField(default=0)
    cost = models.DecimalField(max_digits=18, decimal_places=6, null=True)
    currency = models.CharField(max_length=3, blank=True)
    started_at = models.DateTimeField(null=True)
    verified_at = models.DateTimeField(null=True)
    # When a failed try is repeated, and how many have failed in a row.
    retry_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    # Addresses that were given out are good until then; the objects go afterwards.
    removes_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            states.constraint("replica_state", REPLICA_STATES),
            models.UniqueConstraint(fields=["version", "store"], name="replica_once"),
            models.CheckConstraint(
                condition=Q(pinned=True, ends_at=None) | Q(pinned=False, ends_at__isnull=False),
                name="replica_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version_id} in {self.store_id}"


class StoredPack(TimestampedModel):
    """A pack of a project in a second store; only one that is `there` is read."""

    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="packs")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    state = models.CharField(
        max_length=20, choices=states.choices(STORED_PACK_STATES), default="copied"
    )
    verified_at = models.DateTimeField(null=True)
    # A reader had trouble with it: until then it is read from Atom's own store.
    avoided_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["store", "project", "digest"], name="stored_pack_once"),
            states.constraint("stored_pack_state", STORED_PACK_STATES),
        ]

    def __str__(self) -> str:
        return f"{self.digest} in {self.store_id}"
