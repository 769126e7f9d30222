"""Shapes of datasets, versions, refs, uploads and commit requests."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.errors import action_of
from atom.datasets.errors import UPLOAD_REFUSED_ACTION
from atom.datasets.models import Branch, CommitRequest, Dataset, Tag, Upload, Version
from atom_sdk.errors import SplitSpecError
from atom_sdk.manifests.split_requests import SplitRequest

_DIGEST = r"^[0-9a-f]{64}$"
MAX_PARTS_PER_CALL = 1000


class LayerSerializer(serializers.Serializer[Any]):
    """Labels or a split, keyed by path and digest."""

    name = serializers.CharField()
    kind = serializers.CharField()
    rows = serializers.IntegerField()
    content = serializers.CharField()


class VersionSerializer(serializers.ModelSerializer[Version]):
    """One version."""

    ref = serializers.CharField(read_only=True)
    author = UserShortSerializer(read_only=True, allow_null=True)
    layers = LayerSerializer(many=True, read_only=True)
    parents = serializers.ListField(child=serializers.CharField(), read_only=True)
    provenance = serializers.DictField(read_only=True)

    class Meta:
        model = Version
        fields = (
            "id",
            "number",
            "ref",
            "commit",
            "content_digest",
            "file_count",
            "size_bytes",
            "added",
            "removed",
            "changed",
            "message",
            "author",
            "author_name",
            "created_at",
            "layers",
            "provenance",
            "parents",
            "state",
            "expired_at",
        )
        read_only_fields = fields


class VersionShortSerializer(serializers.ModelSerializer[Version]):
    """A version beside the thing that points at it."""

    ref = serializers.CharField(read_only=True)
    author = UserShortSerializer(read_only=True, allow_null=True)

    class Meta:
        model = Version
        fields = (
            "id",
            "number",
            "ref",
            "commit",
            "content_digest",
            "file_count",
            "size_bytes",
            "message",
            "author",
            "created_at",
        )
        read_only_fields = fields


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset and the head of its `main`."""

    project = serializers.CharField(source="project.slug", read_only=True)
    latest = serializers.SerializerMethodField()
    versions_count = serializers.IntegerField(read_only=True)
    is_loading = serializers.SerializerMethodField(
        help_text="A client is loading it from an archive; versions appear when all is there."
    )

    class Meta:
        model = Dataset
        fields = (
            "id",
            "name",
            "description",
            "project",
            "latest",
            "versions_count",
            "retention",
            "retention_limit",
            "is_loading",
            "created_at",
            "updated_at",
        )

    def get_is_loading(self, dataset: Dataset) -> bool:
        """Return whether a load has begun and not come to its end."""
        return bool(dataset.loading)

    @extend_schema_field(VersionShortSerializer(allow_null=True))
    def get_latest(self, dataset: Dataset) -> dict[str, Any] | None:
        """Return the head of `main`, fetched with the page."""
        branches: list[Branch] = getattr(dataset, "main_branches", [])
        head = branches[0].head if branches else None
        return dict(VersionShortSerializer(head).data) if head else None


class NewDatasetSerializer(serializers.Serializer[Any]):
    """What makes a dataset."""

    name = SlugField()
    description = serializers.CharField(
        max_length=10_000, allow_blank=True, required=False, default=""
    )


class BranchSerializer(serializers.ModelSerializer[Branch]):
    """A branch and its head."""

    head = VersionShortSerializer(read_only=True, allow_null=True)

    class Meta:
        model = Branch
        fields = ("id", "name", "head", "seq", "created_at", "updated_at")


class TagSerializer(serializers.ModelSerializer[Tag]):
    """A tag and its version."""

    version = VersionShortSerializer(read_only=True)

    class Meta:
        model = Tag
        fields = ("id", "name", "version", "created_at")


class NewRefSerializer(serializers.Serializer[Any]):
    """What makes a branch or a tag."""

    name = SlugField()
    at = serializers.CharField(max_length=64, help_text="A version, branch, tag or commit.")


class ExpectedHeadSerializer(serializers.Serializer[Any]):
    """Where a branch was seen last."""

    expected_head = serializers.RegexField(_DIGEST, help_text="The commit seen last.")


class PartSerializer(serializers.Serializer[Any]):
    """A part that has arrived."""

    n = serializers.IntegerField(source="number")
    etag = serializers.CharField()
    size_bytes = serializers.IntegerField()


class FailureSerializer(serializers.Serializer[Any]):
    """Why a piece of work in the background failed."""

    code = serializers.CharField()
    detail = serializers.CharField()
    action = serializers.CharField(help_text="What to do next.")


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """A resumable upload."""

    parts_done = PartSerializer(many=True, read_only=True)
    error = serializers.SerializerMethodField()

    class Meta:
        model = Upload
        fields = (
            "id",
            "kind",
            "digest",
            "size_bytes",
            "part_size_bytes",
            "state",
            "parts_done",
            "error",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, upload: Upload) -> dict[str, Any] | None:
        """Return why the upload was quarantined."""
        return _error(upload)


class NewUploadSerializer(serializers.Serializer[Any]):
    """What begins or resumes an upload."""

    kind = serializers.ChoiceField(choices=["pack", "changes"])
    digest = serializers.RegexField(_DIGEST, help_text="BLAKE3 of the whole object, in hex.")
    size_bytes = serializers.IntegerField(min_value=1)


class PartNumbersSerializer(serializers.Serializer[Any]):
    """Parts that a client is about to send."""

    numbers = serializers.ListField(
        child=serializers.IntegerField(min_value=1), min_length=1, max_length=MAX_PARTS_PER_CALL
    )


class PartUrlsSerializer(serializers.Serializer[Any]):
    """Where to PUT each part."""

    urls = serializers.DictField(child=serializers.URLField())


class SentPartSerializer(serializers.Serializer[Any]):
    """A part that a client has sent."""

    n = serializers.IntegerField(min_value=1)
    etag = serializers.CharField(max_length=200)


class CompleteUploadSerializer(serializers.Serializer[Any]):
    """All parts of an upload."""

    parts = SentPartSerializer(many=True)


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}]})
class SplitSizeField(serializers.Field[int | str, Any, int | str, Any]):
    """A number of samples, or a part of them such as "20%"."""

    def to_internal_value(self, data: Any) -> int | str:
        """Return the size as it was given."""
        if isinstance(data, str) and data.isascii() and data.isdigit() and len(data) < 17:
            data = int(data)
        try:
            SplitRequest.from_json({"test": data})
        except SplitSpecError as error:
            raise serializers.ValidationError(
                "Give a number of samples, or a part such as 20%.", code="split_size"
            ) from error
        return data or 0

    def to_representation(self, value: int | str) -> int | str:
        """Return the size as it was given."""
        return value


class SplitSerializer(serializers.Serializer[Any]):
    """A seeded split that stays fixed by path over versions."""

    test = SplitSizeField(default=0)
    val = SplitSizeField(default=0)
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1, default=0)
    stratify = serializers.BooleanField(
        default=True, help_text="Each label has the same share in every split."
    )
    group_by = serializers.CharField(
        max_length=200,
        allow_blank=True,
        default="",
        help_text="Files of one `folder`, or of one `attributes.NAME`, stay in one split.",
    )
    redraw = serializers.BooleanField(
        default=False, help_text="Draw files that have a split again."
    )
    where = serializers.CharField(
        max_length=4000,
        allow_blank=True,
        default="",
        help_text="A query: only files that match it are drawn, others keep their split.",
    )
    view = serializers.CharField(
        max_length=63,
        allow_blank=True,
        default="",
        help_text="A saved view of the dataset: only its files are drawn.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what does not fit together."""
        try:
            # The query is read with the view's, where the dataset is known.
            SplitRequest.from_json({**attrs, "where": ""})
        except SplitSpecError as error:
            raise serializers.ValidationError(str(error)) from error
        return attrs


class NewSplitSerializer(SplitSerializer):
    """What asks for a version with another split."""

    branch = SlugField(default="main")
    message = serializers.CharField(max_length=10_000, allow_blank=True, default="")


class SplitCountSerializer(serializers.Serializer[Any]):
    """How many files a split would get."""

    name = serializers.CharField()
    total = serializers.IntegerField()
    unlabelled = serializers.IntegerField()
    labels = serializers.DictField(child=serializers.IntegerField())


class SplitPreviewSerializer(serializers.Serializer[Any]):
    """What a split would give."""

    splits = SplitCountSerializer(many=True)


class NewCommitSerializer(serializers.Serializer[Any]):
    """What asks for a commit."""

    branch = SlugField(default="main")
    expected_head = serializers.RegexField(
        _DIGEST, allow_null=True, default=None, help_text="The commit seen last; null for none."
    )
    message = serializers.CharField(max_length=10_000, allow_blank=True, default="")
    changes_upload = serializers.UUIDField()
    split = SplitSerializer(allow_null=True, default=None)
    labels_from = serializers.ChoiceField(choices=["folder"], allow_null=True, default=None)
    unlabelled_prefixes = serializers.ListField(
        child=serializers.CharField(max_length=4095), max_length=1000, default=list
    )
    provenance = serializers.DictField(default=dict)


class CommitFailureSerializer(FailureSerializer):
    """Why a commit failed; `head` is the head that it ran into."""

    head = serializers.CharField(allow_null=True)


class MergeConflictSerializer(serializers.Serializer[Any]):
    """What both sides changed, each in its own way."""

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
        help_text="What a worker does at present, with so many rows of how many done.",
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
        error = _error(request)
        return {**error, "head": request.head_seen or None} if error else None


def _error(row: Upload | CommitRequest) -> dict[str, Any] | None:
    if not row.error_code:
        return None
    action = action_of(row.error_code) or UPLOAD_REFUSED_ACTION
    return {"code": row.error_code, "detail": row.error_detail, "action": action}
