"""Models, their versions, the names that point at them and how good they are."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project, slug_validator
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.core.sentence_field import SentenceField
from atom.datasets.models import Version
from atom.jobs.models import Artifact, Run
from atom.models_registry import states


class Model(TimestampedModel):
    """A named sequence of model versions."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="models")
    name = models.CharField(max_length=63, validators=[slug_validator])
    description = models.TextField(blank=True, max_length=10_000)
    # Tags with values, opaque to Atom.
    labels = models.JSONField(default=dict)
    # The highest number that a deleted version had: `digits@v3` never comes to mean another.
    numbers_used = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="model_name"),
        ]

    def __str__(self) -> str:
        return self.name


class ModelVersion(TimestampedModel):
    """One immutable model: the persisted files of a run at or below `artifact_path`.

    `digest` (BLAKE3) and `sha256` name all files together; of a single file they are its own.
    """

    model = models.ForeignKey(Model, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="model_versions")
    artifact_path = models.CharField(max_length=1000)
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    framework = models.CharField(max_length=60, blank=True)
    # The run's own description of itself and of its inputs and outputs; for display only.
    metrics = models.JSONField(default=dict)
    signature = models.JSONField(default=dict)
    labels = models.JSONField(default=dict)
    description = models.TextField(blank=True, max_length=10_000)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["model", "number"], name="model_version_number"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["model", "run", "artifact_path"], name="model_version_files"),
        ]

    def __str__(self) -> str:
        return f"{self.model.name} {self.number}"


class ModelFile(models.Model):
    """One file of a version; `path` is relative to the version, its bytes are the artifact's."""

    id = models.BigAutoField(primary_key=True)
    version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="files")
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="+")
    path = models.CharField(max_length=1000)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "path"], name="model_file_path"),
        ]

    def __str__(self) -> str:
        return self.path


class Alias(TimestampedModel):
    """A movable name of a version, such as `candidate` or `production`."""

    model = models.ForeignKey(Model, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=63, validators=[slug_validator])
    version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="aliases")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["model", "name"], name="alias_name"),
        ]

    def __str__(self) -> str:
        return self.name


class AliasChange(TimestampedModel):
    """One step in the history of an alias; `new` is null where it was removed."""

    model = models.ForeignKey(Model, on_delete=models.CASCADE, related_name="alias_changes")
    name = models.CharField(max_length=63)
    old = models.ForeignKey(ModelVersion, null=True, on_delete=models.PROTECT, related_name="+")
    new = models.ForeignKey(ModelVersion, null=True, on_delete=models.PROTECT, related_name="+")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        indexes: ClassVar = [models.Index(fields=["model", "-created_at", "-id"])]

    def __str__(self) -> str:
        return self.name


class Evaluation(TimestampedModel):
    """How a model version did on one split of one dataset version.

    `confusion` is `{labels, matrix}`: rows are the truth, columns the prediction.
    """

    model_version = models.ForeignKey(
        ModelVersion, on_delete=models.CASCADE, related_name="evaluations"
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="evaluations")
    dataset_version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="+")
    split = models.CharField(max_length=60)
    n = models.PositiveIntegerField()
    accuracy = models.FloatField()
    metrics = models.JSONField(default=dict)
    confusion = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["model_version", "run", "split"], name="evaluation_once"
            ),
            models.CheckConstraint(
                condition=Q(accuracy__gte=0, accuracy__lte=1), name="evaluation_accuracy"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.split} {self.accuracy:.4f}"


class RunIntake(TimestampedModel):
    """Whether a succeeded run has been looked at for models and evaluations to record."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="intake")
    state = models.CharField(
        max_length=10,
        choices=core_states.choices(states.INTAKE_STATES),
        default=states.PENDING,
    )
    tries = models.PositiveSmallIntegerField(default=0)
    # After a failure: not before.
    next_try_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = SentenceField(blank=True)

    class Meta:
        constraints: ClassVar = [core_states.constraint("intake_state", states.INTAKE_STATES)]

    def __str__(self) -> str:
        return self.state
