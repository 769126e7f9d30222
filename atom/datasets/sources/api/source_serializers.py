"""Shapes of sources and scans. Credentials go in and never come out."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.core.errors import action_of
from atom.core.names import TextField
from atom.datasets.models import Source, SourceScan
from atom.datasets.source_spec import KINDS, Credentials
from atom_sdk.sentences import Sentence

MIN_EVERY_S = 300
_CREDENTIALS = tuple(one.name for one in fields(Credentials))


class _FailureFields(serializers.Serializer[Any]):
    """The fields that stand beside `error_code` and `error_detail`."""

    error_detail_code = serializers.SerializerMethodField()
    error_detail_params = serializers.SerializerMethodField()
    error_action = serializers.SerializerMethodField()

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_error_detail_code(self, row: Source | SourceScan) -> str | None:
        """Return the code of the detail's sentence, null where it has none."""
        return row.error_detail.code if isinstance(row.error_detail, Sentence) else None

    @extend_schema_field(serializers.DictField(allow_null=True))
    def get_error_detail_params(self, row: Source | SourceScan) -> dict[str, Any] | None:
        """Return the values that the detail names, by name."""
        if not isinstance(row.error_detail, Sentence):
            return None
        params: dict[str, Any] = row.error_detail.as_code()["params"]
        return params

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_error_action(self, row: Source | SourceScan) -> str | None:
        """Return what to do about the error."""
        return action_of(row.error_code) if row.error_code else None


class ScanSerializer(_FailureFields, serializers.ModelSerializer[SourceScan]):
    """One scan of a source."""

    version = serializers.SerializerMethodField()

    class Meta:
        model = SourceScan
        fields = (
            "id",
            "state",
            "objects_count",
            "size_bytes",
            "skipped",
            "shards_done",
            "shards_total",
            "objects_per_s",
            "unchanged",
            "version",
            "error_code",
            "error_detail",
            "error_detail_code",
            "error_detail_params",
            "error_action",
            "created_at",
            "finished_at",
        )
        read_only_fields = fields

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_version(self, scan: SourceScan) -> str | None:
        """Return the ref of the version that the scan made or found unchanged."""
        return scan.version.ref if scan.version else None


class SourceSerializer(_FailureFields, serializers.ModelSerializer[Source]):
    """A place that a dataset's branch follows."""

    kind = serializers.SerializerMethodField()
    dataset = serializers.CharField(source="dataset.name", read_only=True)
    has_credentials = serializers.SerializerMethodField()
    last_scan = serializers.SerializerMethodField()

    class Meta:
        model = Source
        fields = (
            "id",
            "name",
            "kind",
            "url",
            "endpoint",
            "region",
            "has_credentials",
            "dataset",
            "branch",
            "include",
            "exclude",
            "labels_from",
            "every_s",
            "next_scan_at",
            "state",
            "error_code",
            "error_detail",
            "error_detail_code",
            "error_detail_params",
            "error_action",
            "last_scan",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=list(KINDS)))
    def get_kind(self, source: Source) -> str:
        """Return the kind that the address means."""
        return source.spec.kind

    @extend_schema_field(serializers.BooleanField())
    def get_has_credentials(self, source: Source) -> bool:
        """Return whether keys are stored."""
        return bool(source.credentials)

    @extend_schema_field(ScanSerializer(allow_null=True))
    def get_last_scan(self, source: Source) -> dict[str, Any] | None:
        """Return the newest scan, fetched with the page."""
        scans: list[SourceScan] = getattr(source, "last_scans", [])
        return dict(ScanSerializer(scans[0]).data) if scans else None


class _Globs(serializers.ListField):
    child = TextField(max_length=500)


def _secret(max_length: int, of: str) -> serializers.CharField:
    return TextField(
        max_length=max_length, required=False, allow_blank=True, write_only=True, help_text=of
    )


class _CredentialFields(serializers.Serializer[Any]):
    access_key_id = _secret(200, "S3")
    secret_access_key = _secret(500, "S3")
    session_token = _secret(4000, "S3")
    account_key = _secret(500, "Azure: the key of the storage account.")
    sas_token = _secret(4000, "Azure: a shared access signature, instead of the key.")
    service_account = _secret(20_000, "GCS: the JSON of a service account's key.")
    hdfs_user = _secret(200, "HDFS without Kerberos: the user to be.")
    delegation_token = _secret(4000, "HDFS with Kerberos: a delegation token.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Make one thing of the keys."""
        given = {name: attrs.pop(name) for name in _CREDENTIALS if name in attrs}
        if given:
            attrs["credentials"] = Credentials(**given)
        return attrs


class _Choices(_CredentialFields):
    include = _Globs(required=False, max_length=50)
    exclude = _Globs(required=False, max_length=50)
    labels_from = serializers.ChoiceField(choices=["folder"], required=False, allow_blank=True)
    every_s = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=MIN_EVERY_S,
        max_value=366 * 86_400,
        help_text="Scan again so many seconds after a scan has ended; null: when asked.",
    )


class SourceProbeSerializer(_CredentialFields):
    """The fields that try a connection."""

    url = TextField(max_length=2000)
    endpoint = TextField(max_length=500, required=False, allow_blank=True, default="")
    region = TextField(max_length=40, required=False, allow_blank=True, default="")


class NewSourceSerializer(_Choices, SourceProbeSerializer):
    """The fields of a new source."""

    name = SlugField()
    dataset = SlugField()
    branch = TextField(max_length=63, required=False, default="main")


class SourceChangesSerializer(_Choices):
    """The fields of a source that may change. Its place may not: add another source for that."""


class ProbeSerializer(serializers.Serializer[Any]):
    """The result of a test of the connection."""

    keys = serializers.ListField(child=serializers.CharField(), help_text="The first few.")  # type: ignore[assignment]  # a column
    has_more = serializers.BooleanField()
