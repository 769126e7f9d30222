"""Shapes of datasets, versions and refs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.api.serializers import UserShortSerializer
from atom.core.names import TextField
from atom.datasets.catalog.api.provenance import HELP
from atom.datasets.catalog.reads import entry_counts
from atom.datasets.models import Branch, Dataset, Tag, Version

_DIGEST = r"^[0-9a-f]{64}$"


class LayerSerializer(serializers.Serializer[Any]):
    """Labels or a split, keyed by path and digest."""

    name = serializers.CharField()
    kind = serializers.CharField()
    rows = serializers.IntegerField()
    content = serializers.CharField()


class _EntryCountsSerializer(serializers.ModelSerializer[Version]):
    """How many files and links a version has, each for itself."""

    file_count = serializers.SerializerMethodField(help_text="Files, without symbolic links.")
    link_count = serializers.SerializerMethodField(help_text="Symbolic links.")

    def get_file_count(self, version: Version) -> int:
        """Return the number of files."""
        return entry_counts(version).files

    def get_link_count(self, version: Version) -> int:
        """Return the number of links."""
        return entry_counts(version).links


class VersionSerializer(_EntryCountsSerializer):
    """One version."""

    ref = serializers.CharField(read_only=True)
    author = UserShortSerializer(read_only=True, allow_null=True)
    layers = LayerSerializer(many=True, read_only=True)
    parents = serializers.ListField(child=serializers.CharField(), read_only=True)
    provenance = serializers.DictField(read_only=True, help_text=HELP)

    class Meta:
        model = Version
        fields = (
            "id",
            "number",
            "ref",
            "commit",
            "content_digest",
            "file_count",
            "link_count",
            "size_bytes",
            "added",
            "removed",
            "changed",
            "labels_changed",
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


class VersionShortSerializer(_EntryCountsSerializer):
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
            "link_count",
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
    """The fields of a new dataset."""

    name = SlugField()
    description = TextField(max_length=10_000, allow_blank=True, required=False, default="")


class DatasetChangeSerializer(serializers.Serializer[Any]):
    """The fields of a dataset that a person can change."""

    description = TextField(max_length=10_000, allow_blank=True)


class BranchSerializer(serializers.ModelSerializer[Branch]):
    """A branch and its head, as `with_facts` of `atom.datasets.catalog.refs_listing` found it."""

    head = VersionShortSerializer(read_only=True, allow_null=True)
    ahead = serializers.SerializerMethodField(
        help_text="Versions that it has and `main` has not; null where nobody counted."
    )
    behind = serializers.SerializerMethodField(help_text="Versions of `main` that it has not.")
    created_by = serializers.SerializerMethodField(help_text="A username, or empty.")

    class Meta:
        model = Branch
        fields = (
            "id",
            "name",
            "head",
            "seq",
            "ahead",
            "behind",
            "created_by",
            "created_at",
            "updated_at",
        )

    def get_ahead(self, branch: Branch) -> int | None:
        """Return what only the branch has."""
        return getattr(branch, "ahead", None)

    def get_behind(self, branch: Branch) -> int | None:
        """Return what only `main` has."""
        return getattr(branch, "behind", None)

    def get_created_by(self, branch: Branch) -> str:
        """Return who made the branch."""
        return getattr(branch, "created_by", "")


class TagSerializer(serializers.ModelSerializer[Tag]):
    """A tag and its version."""

    version = VersionShortSerializer(read_only=True)
    created_by = serializers.SerializerMethodField(help_text="A username, or empty.")

    class Meta:
        model = Tag
        fields = ("id", "name", "version", "created_by", "created_at")

    def get_created_by(self, tag: Tag) -> str:
        """Return who gave the tag."""
        return getattr(tag, "created_by", "")


class NewRefSerializer(serializers.Serializer[Any]):
    """The fields of a new branch or tag."""

    name = SlugField()
    at = TextField(max_length=64, help_text="A version, branch, tag or commit.")


class ExpectedHeadSerializer(serializers.Serializer[Any]):
    """Where a branch was seen last."""

    expected_head = serializers.RegexField(_DIGEST, help_text="The commit seen last.")
