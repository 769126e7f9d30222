"""Cleaning reports and their counts; the findings themselves are an object in the bucket."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project
from atom.cleaning import states
from atom.cleaning.engines.findings import Kind
from atom.cleaning.engines.thresholds import MAX_NEAR_DISTANCE, Thresholds
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.models import Dataset, Version
from atom.jobs.models import Artifact, Run

_DEFAULTS = Thresholds()


class CleaningReportQuerySet(models.QuerySet["CleaningReport"]):
    """Reads of reports."""

    def in_project(self, project: Project) -> CleaningReportQuerySet:
        """Return the reports of the project's versions."""
        return self.filter(version__dataset__project=project)

    def for_display(self) -> CleaningReportQuerySet:
        """Load what an answer shows, in a fixed number of queries."""
        related = self.select_related("version__dataset__project", "run", "created_by")
        return related.prefetch_related("counts")

    def measured(self, dataset: Dataset) -> CleaningReportQuerySet:
        """Return the dataset's reports that have features of images, newest first."""
        found = self.filter(version__dataset=dataset, features__isnull=False)
        return found.select_related("features").order_by("-created_at", "-id")


class CleaningReport(TimestampedModel):
    """A report of the findings in one version, under its thresholds (see `Thresholds`)."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="cleaning_reports")
    state = models.CharField(
        max_length=10,
        choices=core_states.choices(states.REPORT_STATES),
        default=states.PENDING,
    )
    near_distance = models.PositiveSmallIntegerField(
        default=_DEFAULTS.near_distance, validators=[MaxValueValidator(MAX_NEAR_DISTANCE)]
    )
    tiny_side_px = models.PositiveIntegerField(default=_DEFAULTS.tiny_side_px)
    dark_bright = models.FloatField(default=_DEFAULTS.dark_bright)
    blur_sharpness = models.FloatField(default=_DEFAULTS.blur_sharpness)
    # The run that measured images for it; None where all were known already.
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    # The measurements of every image of the version, perhaps of an earlier report.
    features = models.ForeignKey(Artifact, null=True, on_delete=models.SET_NULL, related_name="+")
    image_count = models.PositiveIntegerField(default=0)
    # More near pairs than are looked at: some near duplicates are missing.
    is_partial = models.BooleanField(default=False)
    tries = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    finished_at = models.DateTimeField(null=True)

    objects = CleaningReportQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            core_states.constraint("cleaning_report_state", states.REPORT_STATES),
            models.UniqueConstraint(
                fields=["version"], condition=Q(state__in=states.OPEN), name="cleaning_report_open"
            ),
            models.CheckConstraint(
                condition=Q(near_distance__lte=MAX_NEAR_DISTANCE), name="cleaning_near_distance"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["version", "-created_at", "-id"]),
            models.Index(
                fields=["state"], condition=Q(state__in=states.OPEN), name="cleaning_open_reports"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} {self.state}"

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of this report."""
        return Thresholds(
            self.near_distance, self.tiny_side_px, self.dark_bright, self.blur_sharpness
        )

    @property
    def findings_key(self) -> str:
        """The key of its findings, relative to the project."""
        return f"cleaning/{self.pk}/findings.parquet"


class FindingCount(models.Model):
    """How many files of a kind should go, and around how many that stay."""

    id = models.BigAutoField(primary_key=True)
    report = models.ForeignKey(CleaningReport, on_delete=models.CASCADE, related_name="counts")
    kind = models.CharField(max_length=20, choices=[(kind.value, kind.value) for kind in Kind])
    items = models.PositiveIntegerField()
    groups = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["report", "kind"], name="finding_count_kind"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.kind}: {self.items}"
