"""Shapes of replicas and of their price."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.core import clock
from atom.core.names import TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.datasets.models import Replica
from atom.datasets.replicas.actions.replicas import fees_of
from atom.datasets.replicas.engines.costs import cost_of
from atom_sdk.sentences import Sentence

# A worker that waits for its turn must hear in time that it is stopped.
MIN_RATE, MAX_RATE = 1_000_000, 1 << 50


class ReplicaSerializer(serializers.ModelSerializer[Replica]):
    """A version in a second store."""

    dataset = serializers.CharField(source="version.dataset.name", read_only=True)
    ref = serializers.CharField(source="version.ref", read_only=True)
    store = serializers.CharField(source="store.name", read_only=True)
    cost = serializers.DecimalField(
        max_digits=18, decimal_places=6, allow_null=True, read_only=True,
        help_text="Price of bringing the bytes that the store lacked; null: unknown.",
    )  # fmt: skip
    cost_per_month = serializers.SerializerMethodField()
    error = serializers.SerializerMethodField()
    created_by = serializers.SerializerMethodField()

    class Meta:
        model = Replica
        fields = (
            "id", "dataset", "ref", "store", "state", "pinned", "ends_at", "rate_bytes_s",
            "packs_total", "packs_copied", "packs_verified", "bytes_total", "bytes_copied",
            "bytes_verified", "bytes_to_copy", "cost", "cost_per_month", "currency", "started_at",
            "verified_at", "removes_at", "retry_at", "error", "created_by", "created_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.DecimalField(max_digits=18, decimal_places=6, allow_null=True))
    def get_cost_per_month(self, replica: Replica) -> str | None:
        """Return the price of a month, null if it is unknown."""
        cost = cost_of(fees_of(replica.store), 0, replica.bytes_total)
        return None if cost.per_month is None else str(cost.per_month)

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, replica: Replica) -> dict[str, Any] | None:
        """Return why the last try failed."""
        return stored_failure(replica.error_code, replica.error_detail)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_created_by(self, replica: Replica) -> str | None:
        """Return who started it, null once the account is gone."""
        return replica.created_by.username if replica.created_by else None


class ReplicaEndSerializer(serializers.Serializer[Any]):
    """How long a replica stays: pinned, or until a time."""

    pinned = serializers.BooleanField(required=False, default=False)
    ends_at = serializers.DateTimeField(required=False, allow_null=True, default=None)

    def validate_ends_at(self, value: datetime | None) -> datetime | None:
        """Refuse a time that has passed."""
        if value is not None and value <= clock.now():
            raise serializers.ValidationError(
                Sentence("datasets.replica_end_passed", "This time has passed.")
            )
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Want exactly one of both."""
        if attrs["pinned"] == (attrs["ends_at"] is not None):
            raise serializers.ValidationError(
                {
                    "ends_at": Sentence(
                        "datasets.replica_needs_end", "Pin the replica, or give its end."
                    )
                }
            )
        return attrs


class NewReplicaSerializer(ReplicaEndSerializer):
    """The fields of a new replica."""

    store = TextField(max_length=63)
    rate_bytes_s = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=MIN_RATE, max_value=MAX_RATE,
        help_text="The most bytes a second that are copied and read back; null: no limit.",
    )  # fmt: skip


class ReplicaPreviewSerializer(serializers.Serializer[Any]):
    """The bytes that a replica would copy, and its price."""

    store = serializers.CharField()
    packs_total = serializers.IntegerField()
    bytes_total = serializers.IntegerField()
    packs_to_copy = serializers.IntegerField(help_text="Packs that the store lacks.")
    bytes_to_copy = serializers.IntegerField()
    cost = serializers.DecimalField(
        max_digits=18, decimal_places=6, allow_null=True,
        help_text="Price of bringing them: egress and writing; null: unknown.",
    )  # fmt: skip
    cost_per_month = serializers.DecimalField(max_digits=18, decimal_places=6, allow_null=True)
    currency = serializers.CharField(help_text="Empty where no fee is known.")
