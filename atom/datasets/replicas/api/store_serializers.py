"""Shapes of second stores. Credentials go in and never come out."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.core.names import TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.datasets.models import Store
from atom.datasets.source_spec import Credentials
from atom_sdk.sentences import Sentence

NAME = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"
# "atom" is the installation's own store among the routes of clusters.
RESERVED = frozenset({"atom", "check"})
_PREFIX = r"^(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]*$"
_CURRENCY = r"^[A-Z]{3}$"
_SECRETS = ("access_key_id", "secret_access_key", "session_token")
_FEES = ("egress_per_gib", "write_per_gib", "keep_per_gib_month")


def _fee(about: str) -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=14, decimal_places=6, min_value=0, required=False, allow_null=True,
        help_text=f"{about}, per GiB; null: unknown.",
    )  # fmt: skip


class StoreSerializer(serializers.ModelSerializer[Store]):
    """A second store; its place is null for all but administrators of the installation."""

    endpoint = serializers.SerializerMethodField()
    bucket = serializers.SerializerMethodField()
    prefix = serializers.SerializerMethodField()
    has_credentials = serializers.SerializerMethodField()
    problem = serializers.SerializerMethodField()
    replica_count = serializers.SerializerMethodField()

    class Meta:
        model = Store
        fields = (
            "id", "name", "region", "endpoint", "bucket", "prefix", "has_credentials",
            "egress_per_gib", "write_per_gib", "keep_per_gib_month", "currency", "checked_at",
            "problem", "replica_count", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields

    def _place(self, value: str) -> str | None:
        return value if self.context.get("administrates") else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_endpoint(self, store: Store) -> str | None:
        """Return the address of its S3 service."""
        return self._place(store.endpoint)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_bucket(self, store: Store) -> str | None:
        """Return the name of its bucket."""
        return self._place(store.bucket)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_prefix(self, store: Store) -> str | None:
        """Return the beginning of the keys of all that Atom keeps there."""
        return self._place(store.prefix)

    @extend_schema_field(serializers.BooleanField())
    def get_has_credentials(self, store: Store) -> bool:
        """Return whether keys are stored."""
        return bool(store.credentials)

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_problem(self, store: Store) -> dict[str, Any] | None:
        """Return why the last check failed, null if it passed."""
        return stored_failure(store.problem_code, store.problem_detail)

    @extend_schema_field(serializers.IntegerField())
    def get_replica_count(self, store: Store) -> int:
        """Return how many versions have a replica there, in all projects."""
        return int(getattr(store, "replica_count", 0))


class StoreChangesSerializer(serializers.Serializer[Any]):
    """The fields of a store that may change. Its place may not: add another store for that."""

    access_key_id = TextField(max_length=200, required=False, write_only=True)
    secret_access_key = TextField(max_length=500, required=False, write_only=True)
    session_token = TextField(max_length=4000, required=False, allow_blank=True, write_only=True)
    egress_per_gib = _fee("Price of bringing data out of Atom's own store")
    write_per_gib = _fee("Price of writing")
    keep_per_gib_month = _fee("Price of keeping for a month")
    currency = serializers.RegexField(
        _CURRENCY, required=False, help_text="Three letters, as in ISO 4217."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Make one thing of the keys; want both of them, and a currency beside fees."""
        values = {name: attrs.pop(name) for name in _SECRETS if name in attrs}
        if values:
            if not (values.get("access_key_id") and values.get("secret_access_key")):
                raise serializers.ValidationError(
                    {
                        "secret_access_key": Sentence(
                            "datasets.store_needs_both_keys", "Give both keys of the store."
                        )
                    }
                )
            attrs["credentials"] = Credentials(**values)
        has_fee = any(attrs.get(name) is not None for name in _FEES)
        if has_fee and not (attrs.get("currency") or self._known_currency()):
            raise serializers.ValidationError(
                {
                    "currency": Sentence(
                        "datasets.store_fee_needs_currency", "Name the currency of the fees."
                    )
                }
            )
        return attrs

    def _known_currency(self) -> str:
        return self.instance.currency if isinstance(self.instance, Store) else ""


class NewStoreSerializer(StoreChangesSerializer):
    """The fields of a new store."""

    name = serializers.RegexField(
        NAME, help_text="As the routes of clusters name it: lower-case letters, digits, hyphens."
    )
    endpoint = TextField(max_length=500, help_text="The address of the S3 service.")
    bucket = TextField(max_length=63)
    prefix = serializers.RegexField(_PREFIX, max_length=200, required=False, allow_blank=True)
    region = TextField(max_length=40, required=False, allow_blank=True)
    access_key_id = TextField(max_length=200, write_only=True)
    secret_access_key = TextField(max_length=500, write_only=True)

    def validate_name(self, value: str) -> str:
        """Refuse names that mean something else."""
        if value in RESERVED:
            raise serializers.ValidationError(
                Sentence("datasets.store_name_reserved", "This name means something else.")
            )
        return value

    def validate_prefix(self, value: str) -> str:
        """End a prefix in a slash; refuse steps that some servers resolve."""
        if any(part in {".", ".."} for part in value.split("/")):
            raise serializers.ValidationError(
                Sentence("datasets.store_prefix_steps", "A prefix has no part '.' or '..'.")
            )
        return value if not value or value.endswith("/") else f"{value}/"
