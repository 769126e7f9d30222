"""Tables for MLflow beside runs, files and the registry."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from atom.accounts.models import Project
from atom.core import states as core_states
from atom.core.models import TimestampedModel
from atom.jobs.models import Run
from atom.mlflow_api import states
from atom.models_registry.models import Model


class LoggedModel(TimestampedModel):
    """A model that a program logged; its files are the run's, below `path`."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="logged_models")
    name = models.CharField(max_length=500)
    path = models.CharField(max_length=600)
    model_type = models.CharField(max_length=500, blank=True)
    state = models.CharField(
        max_length=10,
        choices=core_states.choices(states.LOGGED_MODEL_STATES),
        default=states.PENDING,
    )
    # As the program named it; a model without a run of the project has a run of its own.
    source_run_id = models.CharField(max_length=500, blank=True)
    # The program's own values, opaque to Atom; metrics keep the last value of each key and dataset.
    parameters = models.JSONField(default=dict)
    labels = models.JSONField(default=dict)
    metrics = models.JSONField(default=list)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "path"], name="logged_model_path"),
            core_states.constraint("logged_model_state", states.LOGGED_MODEL_STATES),
        ]

    def __str__(self) -> str:
        return self.name


class ModelOutput(models.Model):
    """A logged model that a run claims as its output, with the step; any run may claim it."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="model_outputs")
    logged_model = models.ForeignKey(LoggedModel, on_delete=models.CASCADE, related_name="outputs")
    step = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "logged_model"], name="model_output_once"),
        ]

    def __str__(self) -> str:
        return str(self.logged_model)


class ModelUse(models.Model):
    """A run that read a logged model."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="model_uses")
    logged_model = models.ForeignKey(LoggedModel, on_delete=models.CASCADE, related_name="uses")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "logged_model"], name="model_use_once"),
        ]

    def __str__(self) -> str:
        return str(self.logged_model)


class DatasetInput(models.Model):
    """Data that a run read, as its program described them; not a dataset of Atom's."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="mlflow_datasets")
    name = models.CharField(max_length=500)
    digest = models.CharField(max_length=36)
    source_type = models.CharField(max_length=36, blank=True)
    source = models.TextField(blank=True)
    schema = models.TextField(blank=True)
    profile = models.TextField(blank=True)
    labels = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "name", "digest"], name="dataset_input_once"),
        ]

    def __str__(self) -> str:
        return self.name


class RegisteredName(TimestampedModel):
    """MLflow's name of a model, where Atom's rules for names do not allow it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    model = models.OneToOneField(Model, on_delete=models.CASCADE, related_name="mlflow_name")
    name = models.CharField(max_length=256)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="registered_name"),
        ]

    def __str__(self) -> str:
        return self.name
