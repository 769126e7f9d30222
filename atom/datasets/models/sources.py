"""Places that data is registered from, and the scans that look at them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project, slug_validator
from atom.core import clock, states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.credentials import decrypted
from atom.datasets.source_spec import SourceSpec
from atom.datasets.states import ACTIVE_SCANS, SCAN_STATES, SOURCE_STATES

if TYPE_CHECKING:
    from datetime import datetime


class SourceQuerySet(models.QuerySet["Source"]):
    """Reads of sources."""

    def in_project(self, project: Project) -> SourceQuerySet:
        """Return the sources of a project that were not removed."""
        found = self.filter(project=project).exclude(state="removed")
        return found.select_related("project", "dataset")

    def due(self, now: datetime) -> SourceQuerySet:
        """Return the sources whose next scan should have begun."""
        live = self.filter(next_scan_at__lte=now, dataset__deleted_at__isnull=True)
        waiting = live.exclude(state__in=["removed", "scanning"])
        return waiting.select_related("project", "dataset")


class Source(TimestampedModel):
    """A bucket, folder or list that a dataset's branch follows. The bytes stay there."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=63, validators=[slug_validator])
    url = models.CharField(max_length=2000)
    endpoint = models.CharField(max_length=500, blank=True)
    region = models.CharField(max_length=40, blank=True)
    # Encrypted; never leaves the server.
    credentials = models.TextField(blank=True)
    dataset = models.ForeignKey(
        "datasets.Dataset", on_delete=models.CASCADE, related_name="sources"
    )
    branch = models.CharField(max_length=63, default="main")
    include = ArrayField(models.CharField(max_length=500), default=list)
    exclude = ArrayField(models.CharField(max_length=500), default=list)
    labels_from = models.CharField(max_length=20, blank=True)
    every_s = models.PositiveIntegerField(null=True)
    next_scan_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=20, choices=states.choices(SOURCE_STATES), default="new")
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = SourceQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            states.constraint("source_state", SOURCE_STATES),
            models.UniqueConstraint(
                fields=["project", "name"], condition=~Q(state="removed"), name="source_name"
            ),
        ]

    @property
    def spec(self) -> SourceSpec:
        """Return what a reader needs, with the credentials decrypted."""
        return SourceSpec(
            id=str(self.pk),
            url=self.url,
            endpoint=self.endpoint,
            region=self.region,
            credentials=decrypted(self.credentials),
        )

    def next_time(self) -> datetime | None:
        """Return when the next scan is due after one that ends now."""
        return clock.now() + timedelta(seconds=self.every_s) if self.every_s else None


class SourceScan(TimestampedModel):
    """One look at a source, which ends in a version, in "nothing changed" or in an error."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="scans")
    state = models.CharField(max_length=20, choices=states.choices(SCAN_STATES), default="pending")
    objects_count = models.BigIntegerField(default=0)
    size_bytes = models.BigIntegerField(default=0)
    skipped = models.BigIntegerField(default=0)
    shards_done = models.PositiveIntegerField(default=0)
    shards_total = models.PositiveIntegerField(default=0)
    objects_per_s = models.FloatField(default=0)
    unchanged = models.BooleanField(default=False)
    version = models.ForeignKey(
        "datasets.Version", null=True, on_delete=models.PROTECT, related_name="+"
    )
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    finished_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            states.constraint("scan_state", SCAN_STATES),
            models.UniqueConstraint(
                fields=["source"], condition=Q(state__in=ACTIVE_SCANS), name="scan_once"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["source", "-created_at", "-id"])]

    @property
    def provenance(self) -> dict[str, Any]:
        """Return what the commit says of where its objects are."""
        source = self.source
        return {
            "operation": "scan",
            "source": {"id": str(source.pk), "name": source.name, "url": source.url},
            "scanned_at": self.created_at.isoformat(),
            "scan": str(self.pk),
        }
