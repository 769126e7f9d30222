"""Datasets, their versions and refs. PostgreSQL is an index: a row per version, never per file."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from atom.accounts.models import Project, slug_validator
from atom.core import states
from atom.core.models import TimestampedModel
from atom.datasets.states import PACK_STATES, RETENTION_KINDS, VERSION_STATES


class DatasetQuerySet(models.QuerySet["Dataset"]):
    """Reads of datasets."""

    def deleted_in(self, project: Project) -> DatasetQuerySet:
        """Return what is deleted and can be restored, the latest first."""
        deleted = self.filter(project=project, deleted_at__isnull=False, purged_at__isnull=True)
        return deleted.select_related("project", "deleted_by").order_by("-deleted_at", "-id")

    def in_project(self, project: Project) -> DatasetQuerySet:
        """Return the datasets of one project; the caller has been let into it."""
        return self.filter(project=project).select_related("project")

    def with_summary(self) -> DatasetQuerySet:
        """Add `versions_count`, and the head of `main` as `main_branches[0].head`."""
        main = Branch.objects.filter(name="main").select_related("head__author")
        return self.with_versions_count().prefetch_related(
            models.Prefetch("branches", queryset=main, to_attr="main_branches")
        )

    def with_versions_count(self) -> DatasetQuerySet:
        """Add `versions_count`, how many versions have a number.

        Numbers are given from 1 on without a gap and their rows stay, so that the last one is the
        count: an index gives it, where counting reads every row.
        """
        numbered = Version.objects.filter(dataset=OuterRef("pk"), number__isnull=False)
        last = numbered.order_by("-number").values("number")[:1]
        return self.annotate(versions_count=Coalesce(Subquery(last), 0))


class LiveManager(models.Manager["Dataset"]):
    """Finds datasets that are not deleted; what points at a deleted one still reaches it."""

    def get_queryset(self) -> models.QuerySet[Dataset]:
        """Return the datasets that are not deleted."""
        return super().get_queryset().filter(deleted_at__isnull=True)


LiveDatasets = LiveManager.from_queryset(DatasetQuerySet)


class Dataset(TimestampedModel):
    """A named history of versions.

    A deleted one keeps its name until it is purged, and can be restored until then; purged, it is
    the name and the history of what runs once read.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="datasets")
    name = models.CharField(max_length=63, validators=[slug_validator])
    description = models.TextField(blank=True, max_length=10_000)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    # Which versions of `main` stay by themselves: all, the `last` so many, or those of so many
    # `days`. Heads, tagged, pinned and held versions stay in any case.
    retention = models.CharField(
        max_length=10, choices=[(kind, kind) for kind in RETENTION_KINDS], default="all"
    )
    retention_limit = models.PositiveIntegerField(null=True)
    # The history (digest) that a client is loading from an archive; "" when it is complete.
    loading = models.CharField(max_length=64, blank=True)
    # Counts the documents about this row in the bucket; the last one is the present state.
    revision = models.PositiveIntegerField(default=0)
    deleted_at = models.DateTimeField(null=True)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    purged_at = models.DateTimeField(null=True)

    objects = LiveDatasets()
    with_deleted = DatasetQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=Q(purged_at__isnull=True),
                name="dataset_name",
            ),
            models.CheckConstraint(
                condition=Q(purged_at__isnull=True) | Q(deleted_at__isnull=False),
                name="dataset_purged_after_deletion",
            ),
            models.CheckConstraint(
                condition=Q(retention="all", retention_limit__isnull=True)
                | Q(retention__in=["last", "days"], retention_limit__gte=1),
                name="dataset_retention",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Version(TimestampedModel):
    """One commit. On `main` it carries an immutable number and is written `v3`."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(null=True)
    commit = models.CharField(max_length=64)
    root = models.CharField(max_length=64)
    # The root of the same content, written without deltas or with good packs for corrupt ones; ""
    # until there is one.
    layout = models.CharField(max_length=64, blank=True)
    # The layout names other packs than the root does, and those of the root may be gone.
    is_repacked = models.BooleanField(default=False)
    content_digest = models.CharField(max_length=64)
    parents = models.JSONField(default=list)
    # Without the links. Null links: made before they were counted apart, so the files include them;
    # `reads.entry_counts` separates them.
    file_count = models.BigIntegerField()
    link_count = models.BigIntegerField(null=True)
    size_bytes = models.BigIntegerField()
    added = models.BigIntegerField(default=0)
    removed = models.BigIntegerField(default=0)
    changed = models.BigIntegerField(default=0)
    # Files that have other labels and are the same otherwise. Null: made before they were counted.
    labels_changed = models.BigIntegerField(null=True)
    message = models.TextField(blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The name in the commit of a version that came from an archive: it is no user of ours.
    author_name = models.CharField(max_length=1000, blank=True)
    provenance = models.JSONField(default=dict)
    # A copy of the root's layers for lists: [{name, kind, rows, content}]; the root is the truth.
    layers = models.JSONField(default=list)
    state = models.CharField(max_length=20, choices=states.choices(VERSION_STATES), default="kept")
    expired_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            states.constraint("version_state", VERSION_STATES),
            models.CheckConstraint(
                condition=Q(state="kept", expired_at__isnull=True)
                | Q(state__in=["expired", "collected"], expired_at__isnull=False),
                name="version_expired_at",
            ),
            models.UniqueConstraint(fields=["dataset", "commit"], name="version_commit"),
            models.UniqueConstraint(
                fields=["dataset", "number"],
                condition=Q(number__isnull=False),
                name="version_number",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["dataset", "-created_at", "-id"])]

    @property
    def readable_root(self) -> str:
        """Return the root from which the version is read best."""
        return self.layout or self.root

    @property
    def ref(self) -> str:
        """Return `v3`, or the commit's first characters off `main`."""
        return f"v{self.number}" if self.number is not None else self.commit[:12]


class Branch(TimestampedModel):
    """A moving ref. It moves by compare-and-swap under this row's lock."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="branches")
    name = models.CharField(max_length=63, validators=[slug_validator])
    head = models.ForeignKey(Version, null=True, on_delete=models.PROTECT, related_name="+")
    seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["dataset", "name"], name="branch_name"),
        ]


class Tag(TimestampedModel):
    """An immutable name of a version."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=63, validators=[slug_validator])
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="tags")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["dataset", "name"], name="tag_name"),
        ]


class Pack(TimestampedModel):
    """One content-addressed pack of a project. Only VERIFIED packs can be read."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="packs")
    digest = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    state = models.CharField(
        max_length=20, choices=states.choices(PACK_STATES), default="uploading"
    )
    reason = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "digest"], name="pack_digest"),
            states.constraint("pack_state", PACK_STATES),
        ]


class VersionPin(TimestampedModel):
    """Somebody above needs this version: it may not be collected or evicted."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="pins")
    holder_type = models.CharField(max_length=40)
    holder_id = models.CharField(max_length=100)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["version", "holder_type", "holder_id"], name="pin_once"
            ),
        ]


class LegalHold(TimestampedModel):
    """Nothing of a dataset, or of one version, is expired or collected until it is released."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="holds")
    version = models.ForeignKey(Version, null=True, on_delete=models.PROTECT, related_name="holds")
    reason = models.TextField(max_length=2000)
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    released_at = models.DateTimeField(null=True)
    released_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
