"""Making label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Now
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.labeling.engines.ontologies import complete_labels, problems_of
from atom.labeling.errors import InvalidLabels, OntologyLocked, OntologyNameTaken
from atom.labeling.models import Ontology, OntologyVersion

LabelInput = Mapping[str, Any]


@transaction.atomic
def create_ontology(
    project: Project, user: User, name: str, labels: Sequence[LabelInput], guideline: str = ""
) -> OntologyVersion:
    """Make an ontology with its first version. Raises OntologyNameTaken, InvalidLabels."""
    checked = _check(labels)
    try:
        with transaction.atomic():
            ontology = Ontology.objects.create(project=project, name=name, created_by=user)
    except IntegrityError as exc:
        raise OntologyNameTaken(
            errors={"name": [ErrorDetail("This name is taken.", code="unique")]}
        ) from exc
    audit.record(user, "ontology.created", ontology, project, name=name)
    return ontology.versions.create(number=1, labels=checked, guideline=guideline)


@transaction.atomic
def add_version(
    ontology: Ontology, labels: Sequence[LabelInput], guideline: str
) -> OntologyVersion:
    """Add the next version. Raises InvalidLabels."""
    checked = _check(labels)
    # Lock first: two people may add a version at once.
    Ontology.objects.select_for_update().get(pk=ontology.pk)
    last = ontology.versions.aggregate(last=Max("number"))["last"] or 0
    return ontology.versions.create(number=last + 1, labels=checked, guideline=guideline)


@transaction.atomic
def edit_version(
    version: OntologyVersion, labels: Sequence[LabelInput], guideline: str
) -> OntologyVersion:
    """Change a version that nobody works with yet. Raises OntologyLocked, InvalidLabels."""
    locked = OntologyVersion.objects.select_for_update().get(pk=version.pk)
    if locked.locked_at is not None:
        raise OntologyLocked
    locked.labels, locked.guideline = _check(labels), guideline
    locked.save(update_fields=["labels", "guideline", "updated_at"])
    return locked


def lock_version(version_id: Any) -> None:
    """Fix a version for ever; doing it again keeps the first time."""
    OntologyVersion.objects.filter(pk=version_id, locked_at=None).update(locked_at=Now())


def _check(labels: Sequence[LabelInput]) -> list[dict[str, Any]]:
    completed = complete_labels(labels)
    problems = problems_of(completed)
    if problems:
        raise InvalidLabels(errors={"labels": problems})
    return [label.as_json() for label in completed]
