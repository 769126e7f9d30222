"""Ontologies, which list the labels of a sample, and their immutable versions."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from atom.accounts.models import Project
from atom.core.models import TimestampedModel
from atom.labeling.engines.ontologies import full_labels, full_schema


class Ontology(TimestampedModel):
    """A named family of label sets."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="ontologies")
    name = models.CharField(max_length=200)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="ontology_project_name"),
        ]

    def __str__(self) -> str:
        """Return the name."""
        return self.name


class OntologyVersion(TimestampedModel):
    """One label set with its guideline; fixed from the moment a task starts with it.

    `labels` and `schema` are an ontology's JSON as `atom_sdk.annotations` reads it. Ids are small
    and stable, and rows of classifications before objects hold `{id, name, color, hotkey}` only.
    """

    ontology = models.ForeignKey(Ontology, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    labels = models.JSONField()
    schema = models.JSONField(default=dict, blank=True)
    guideline = models.TextField(blank=True)
    locked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["ontology", "number"], name="ontology_version_number"),
        ]

    def __str__(self) -> str:
        """Return `name v1`."""
        return f"{self.ontology.name} v{self.number}"

    @property
    def full_labels(self) -> list[dict[str, Any]]:
        """The labels with every field, also those of rows that have only the older ones."""
        return full_labels(self.labels)

    @property
    def full_schema(self) -> dict[str, Any]:
        """The schema with every field."""
        return full_schema(self.schema)

    @property
    def names_by_id(self) -> dict[int, str]:
        """The label names by label id."""
        return {label["id"]: label["name"] for label in self.labels}
