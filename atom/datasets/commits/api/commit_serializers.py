"""Shapes of commit requests."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.core.names import TextField
from atom.core.stored_failures import FailureSerializer
from atom.datasets.catalog.api.provenance import ProvenanceField
from atom.datasets.catalog.api.serializers import VersionSerializer
from atom.datasets.commits.api.split_serializers import SplitSerializer
from atom.datasets.models import CommitRequest
from atom.datasets.packs.api.upload_serializers import error_of

_DIGEST = r"^[0-9a-f]{64}$"


class NewCommitSerializer(serializers.Serializer[Any]):
    """The fields of a new commit."""

    branch = SlugField(default="main")
    expected_head = serializers.RegexField(
        _DIGEST, allow_null=True, default=None, help_text="The commit seen last; null for none."
    )
    message = TextField(max_length=10_000, allow_blank=True, default="")
    changes_upload = serializers.UUIDField()
    split = SplitSerializer(allow_null=True, default=None)
    labels_from = serializers.ChoiceField(choices=["folder"], allow_null=True, default=None)
    unlabelled_prefixes = serializers.ListField(
        child=TextField(max_length=4095), max_length=1000, default=list
    )
    provenance = ProvenanceField(default=dict)


class CommitFailureSerializer(FailureSerializer):
    """Why a commit failed; `head` is the head that it ran into."""

    head = serializers.CharField(allow_null=True)


class MergeConflictSerializer(serializers.Serializer[Any]):
    """A path or column that both sides changed differently."""

    path = serializers.CharField()
    layer = serializers.CharField(help_text="Which labels or split; empty for the file itself.")
    field = serializers.CharField(
        help_text="Which column of the layer; of files with the same bytes what differs: "
        "`attributes` (as JSON, those that differ) or `media_type`."
    )
    ours = serializers.ChoiceField(choices=["added", "changed", "removed"])
    theirs = serializers.ChoiceField(choices=["added", "changed", "removed"])
    our_value = serializers.CharField(help_text="The field, or the file's digest.")
    their_value = serializers.CharField()
    other_path = serializers.CharField(help_text="Our file where theirs is a folder, or reversed.")


class CommitRequestSerializer(serializers.ModelSerializer[CommitRequest]):
    """How far a commit is."""

    version = VersionSerializer(read_only=True, allow_null=True)
    error = serializers.SerializerMethodField()
    conflicts = MergeConflictSerializer(many=True, read_only=True)
    stage = serializers.ChoiceField(
        choices=["", "comparing", "reading", "writing", "labels"],
        read_only=True,
        help_text="The work of the worker at present; the counts of rows belong to it.",
    )
    cancellable = serializers.BooleanField(read_only=True, help_text="Cancelling is not too late.")

    class Meta:
        model = CommitRequest
        fields = (
            "id",
            "operation",
            "branch",
            "expected_head",
            "message",
            "state",
            "progress",
            "stage",
            "rows_done",
            "rows_total",
            "cancellable",
            "unchanged",
            "version",
            "error",
            "conflicts_total",
            "conflicts",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(CommitFailureSerializer(allow_null=True))
    def get_error(self, request: CommitRequest) -> dict[str, Any] | None:
        """Return why the commit failed or was refused."""
        error = error_of(request)
        return {**error, "head": request.head_seen or None} if error else None
