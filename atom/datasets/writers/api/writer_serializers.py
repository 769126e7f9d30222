"""Shapes of writers and write jobs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import NameField, TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.datasets.catalog.api.provenance import ProvenanceField
from atom.datasets.catalog.api.serializers import VersionShortSerializer
from atom.datasets.commits.api.settling_serializers import SettlingSerializer
from atom.datasets.models import WriteJob, Writer
from atom.datasets.operations.engines.operations import WriteArguments
from atom.datasets.states import OPEN_WRITERS
from atom_sdk.sentences import Sentence

_DIGEST = r"^[0-9a-f]{64}$"
_MOST = 2**62


class WriterSerializer(serializers.ModelSerializer[Writer]):
    """A writer; `staging` is the ref under which what is persisted can be read."""

    branch = serializers.CharField(source="target", read_only=True)
    staging = serializers.SerializerMethodField()
    head = serializers.SerializerMethodField(help_text="The staging branch's commit.")
    base = serializers.SerializerMethodField(help_text="The commit that it began with.")
    write_job = serializers.SerializerMethodField()
    is_persisting = serializers.BooleanField(
        read_only=True, help_text="A worker is at what was sent last."
    )
    error = serializers.SerializerMethodField()
    version = VersionShortSerializer(read_only=True, allow_null=True)
    created_by = UserShortSerializer(read_only=True, allow_null=True)
    provenance = serializers.DictField(read_only=True)

    class Meta:
        model = Writer
        fields = (
            "id",
            "state",
            "branch",
            "staging",
            "head",
            "base",
            "message",
            "write_job",
            "task",
            "files_written",
            "files_removed",
            "bytes_written",
            "waiting_files",
            "waiting_bytes",
            "is_persisting",
            "provenance",
            "error",
            "version",
            "created_by",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_staging(self, writer: Writer) -> str | None:
        """Return the staging branch, null once the writer has ended."""
        return writer.staging if writer.branch_id and writer.state in OPEN_WRITERS else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_head(self, writer: Writer) -> str | None:
        """Return the commit that holds what is persisted; null before the first."""
        head = writer.branch.head if writer.branch else None
        return head.commit if head else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_base(self, writer: Writer) -> str | None:
        """Return what the target's head was."""
        return writer.base.commit if writer.base else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_write_job(self, writer: Writer) -> str | None:
        """Return the name of the job that the writer is an attempt of."""
        return writer.job.name if writer.job else None

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, writer: Writer) -> dict[str, Any] | None:
        """Return why the last commit failed."""
        return failure(writer)


class WriteJobSerializer(serializers.ModelSerializer[WriteJob]):
    """A write job, with how many of its tasks are committed."""

    branch = serializers.CharField(source="target", read_only=True)
    tasks_committed = serializers.IntegerField(read_only=True)
    attempts_open = serializers.IntegerField(read_only=True)
    error = serializers.SerializerMethodField()
    version = VersionShortSerializer(read_only=True, allow_null=True)
    created_by = UserShortSerializer(read_only=True, allow_null=True)

    class Meta:
        model = WriteJob
        fields = (
            "id",
            "name",
            "state",
            "branch",
            "message",
            "tasks_committed",
            "attempts_open",
            "error",
            "version",
            "created_by",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, job: WriteJob) -> dict[str, Any] | None:
        """Return why the last commit failed."""
        return failure(job)


def failure(row: Writer | WriteJob) -> dict[str, Any] | None:
    """Return a stored failure with what to do next."""
    otherwise = "Look at the staged files, then commit again."
    return stored_failure(row.error_code, row.error_detail, otherwise)


class NewWriterSerializer(serializers.Serializer[Any]):
    """The fields of a new writer; with a write job, an attempt of one of its tasks."""

    branch = SlugField(default="main")
    message = TextField(max_length=10_000, allow_blank=True, default="")
    provenance = ProvenanceField(
        default=dict, help_text="Where the files come from, for the version: a run, its inputs."
    )
    write_job = serializers.UUIDField(allow_null=True, default=None)
    task = TextField(max_length=100, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a task exactly where there is a job."""
        if (attrs["write_job"] is None) != (attrs["task"] == ""):
            raise serializers.ValidationError(
                {"task": Sentence("datasets.attempt_needs_task", "A job's attempt names its task.")}
            )
        return attrs


class UploadingSerializer(serializers.Serializer[Any]):
    """The amount that a client is about to send."""

    files = serializers.IntegerField(min_value=0, max_value=_MOST)
    size_bytes = serializers.IntegerField(min_value=0, max_value=_MOST)


class NewFlushSerializer(serializers.Serializer[Any]):
    """Uploaded changes for the staging branch."""

    changes_upload = serializers.UUIDField()
    expected_head = serializers.RegexField(
        _DIGEST, allow_null=True, default=None, help_text="The staging branch's commit seen last."
    )


class NewWriteSerializer(SettlingSerializer):
    """The fields of a writer's commit; theirs is the side of the written files."""

    message = TextField(max_length=10_000, allow_blank=True, default="")

    def arguments(self) -> WriteArguments:
        """Return what settles conflicts."""
        given = self.validated_data
        return WriteArguments(given["on_conflict"], given["resolutions"])


class NewWriteJobSerializer(serializers.Serializer[Any]):
    """The fields that open a write job, or find the one of that name."""

    name = NameField(max_length=100)
    branch = SlugField(default="main")
    message = TextField(max_length=10_000, allow_blank=True, default="")
    provenance = ProvenanceField(
        default=dict, help_text="Where the files come from, for the version."
    )


class CommittedTaskSerializer(serializers.Serializer[Any]):
    """Which attempt counts for a task."""

    task = TextField(max_length=100)
    writer = serializers.UUIDField()
