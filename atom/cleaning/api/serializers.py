"""Shapes of cleaning reports and their findings."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.api.serializers import UserShortSerializer
from atom.cleaning.engines.findings import Kind
from atom.cleaning.engines.thresholds import MAX_NEAR_DISTANCE, Thresholds
from atom.cleaning.models import CleaningReport, FindingCount
from atom.cleaning.reads import MAX_SELECTED
from atom.core.names import TextField
from atom.core.stored_failures import FailureSerializer, stored_failure
from atom.datasets.browsing.api.entry_serializers import EntrySerializer
from atom_sdk.packs.paths import MAX_PATH_BYTES

KINDS = [kind.value for kind in Kind]
_DEFAULTS = Thresholds()


class ThresholdsSerializer(serializers.Serializer[Any]):
    """Limits above or below which an image is a finding; docs/cleaning.md gives the reasons."""

    near_distance = serializers.IntegerField(
        min_value=0,
        max_value=MAX_NEAR_DISTANCE,
        default=_DEFAULTS.near_distance,
        help_text="Bits of 64 in which the perceptual hashes of near duplicates may differ.",
    )
    tiny_side_px = serializers.IntegerField(
        min_value=0,
        max_value=100_000,
        default=_DEFAULTS.tiny_side_px,
        help_text="A shorter side below this, and below half the version's median, is tiny.",
    )
    dark_bright = serializers.FloatField(
        min_value=0,
        max_value=1,
        default=_DEFAULTS.dark_bright,
        help_text="Dark: the 98th percentile of the luminance (0 to 1) is below this.",
    )
    blur_sharpness = serializers.FloatField(
        min_value=0,
        max_value=100_000,
        default=_DEFAULTS.blur_sharpness,
        help_text="Blurred: the variance of the Laplacian at 256 px is below this.",
    )

    def thresholds(self) -> Thresholds:
        """Return what was asked for."""
        return Thresholds(**self.validated_data)


class FindingCountSerializer(serializers.ModelSerializer[FindingCount]):
    """How many files of a kind should go, and around how many that stay."""

    kind = serializers.ChoiceField(choices=KINDS)

    class Meta:
        model = FindingCount
        fields = ("kind", "items", "groups")


class CleaningRunSerializer(serializers.Serializer[Any]):
    """The run that measures the images."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    state = serializers.CharField()
    progress = serializers.FloatField()
    progress_text = serializers.CharField()


class CleaningReportSerializer(serializers.ModelSerializer[CleaningReport]):
    """A report: how far it is, what it looked for, and how much it found."""

    project = serializers.CharField(source="version.dataset.project.slug")
    dataset = serializers.CharField(source="version.dataset.name")
    ref = serializers.CharField(source="version.ref")
    thresholds = serializers.SerializerMethodField()
    counts = FindingCountSerializer(many=True)
    run = CleaningRunSerializer(allow_null=True)
    created_by = UserShortSerializer(allow_null=True)
    error = serializers.SerializerMethodField()

    class Meta:
        model = CleaningReport
        fields = (
            "id", "project", "dataset", "ref", "state", "thresholds", "image_count",
            "is_partial", "counts", "run", "error", "created_by", "created_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(ThresholdsSerializer)
    def get_thresholds(self, report: CleaningReport) -> dict[str, Any]:
        """Return the thresholds."""
        return vars(report.thresholds)

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_error(self, report: CleaningReport) -> dict[str, Any] | None:
        """Return why it failed."""
        return stored_failure(report.error_code, report.error_detail)


class CleaningFindingSerializer(serializers.Serializer[Any]):
    """One finding; findings of one group follow each other, the one that stays first."""

    path = serializers.CharField()
    group = serializers.IntegerField(help_text="-1 for what is found alone.")
    stays = serializers.BooleanField(help_text="The one of its group that is worth keeping.")
    badness = serializers.FloatField(help_text="0 to 1; the list begins with the worst.")
    value = serializers.FloatField(
        help_text="Differing bits, pixels, luminance or sharpness, by the kind."
    )
    reason = serializers.CharField(allow_null=True)
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    sharpness = serializers.FloatField(allow_null=True)
    entry = EntrySerializer(allow_null=True)


class FindingPageSerializer(serializers.Serializer[Any]):
    """One page of a kind."""

    results = CleaningFindingSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class FindingPathsSerializer(serializers.Serializer[Any]):
    """Files of a kind that should go: as many as one removal takes."""

    paths = serializers.ListField(child=serializers.CharField())
    next = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class RemovalSerializer(serializers.Serializer[Any]):
    """Which findings to remove from a branch."""

    branch = SlugField(default="main")
    paths = serializers.ListField(
        child=TextField(max_length=MAX_PATH_BYTES, trim_whitespace=False),
        min_length=1,
        max_length=MAX_SELECTED,
    )
    message = TextField(max_length=10_000, allow_blank=True, default="")
