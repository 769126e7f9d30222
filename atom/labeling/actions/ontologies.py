"""Making label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Now
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.labeling.actions.guideline_pictures import hold_pictures
from atom.labeling.engines.checking import ontology_problems
from atom.labeling.engines.ontologies import complete_labels, full_schema, problems_of
from atom.labeling.engines.ontology_ids import KnownIds, complete_ids, known_ids, meaning_problems
from atom.labeling.errors import InvalidLabels, OntologyLocked, OntologyNameTaken
from atom.labeling.models import Ontology, OntologyVersion

LabelInput = Mapping[str, Any]


@dataclass(frozen=True)
class OntologyContent:
    """The labels, schema and guideline that a version is asked to have."""

    labels: Sequence[LabelInput]
    guideline: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)

    def columns(self, known: KnownIds) -> dict[str, Any]:
        """Return the columns with every id filled in. Raises InvalidLabels."""
        completed = complete_labels(self.labels, known.label_ids, known.labels)
        problems = problems_of(completed)
        if problems:
            raise InvalidLabels(errors={"labels": problems})
        labels = [label.as_json() for label in completed]
        schema = full_schema(self.schema)
        complete_ids(labels, schema, known)
        errors = ontology_problems(labels, schema) or meaning_problems(labels, schema, known)
        if errors:
            raise InvalidLabels(errors=errors)
        return {"labels": labels, "schema": schema, "guideline": self.guideline}


@transaction.atomic
def create_ontology(
    project: Project, user: User, name: str, content: OntologyContent
) -> OntologyVersion:
    """Make an ontology with its first version. Raises OntologyNameTaken, InvalidLabels."""
    columns = content.columns(KnownIds())
    hold_pictures(project, content.guideline)
    try:
        with transaction.atomic():
            ontology = Ontology.objects.create(project=project, name=name, created_by=user)
    except IntegrityError as exc:
        raise OntologyNameTaken(
            errors={"name": [ErrorDetail("This name is taken.", code="unique")]}
        ) from exc
    audit.record(user, "ontology.created", ontology, project, name=name)
    return ontology.versions.create(number=1, **columns)


@transaction.atomic
def add_version(ontology: Ontology, user: User, content: OntologyContent) -> OntologyVersion:
    """Add the next version; labels, attributes and choices keep their ids by name.

    Raises InvalidLabels, also where an id would mean something else than before.
    """
    # Lock first: two people may add a version at once.
    locked = Ontology.objects.select_for_update().get(pk=ontology.pk)
    last = locked.versions.aggregate(last=Max("number"))["last"] or 0
    hold_pictures(locked.project, content.guideline)
    made = locked.versions.create(number=last + 1, **content.columns(_known(locked, last)))
    named = {"name": locked.name, "number": made.number}
    audit.record(user, "ontology.version_added", locked, locked.project, **named)
    return made


@transaction.atomic
def edit_version(version: OntologyVersion, user: User, content: OntologyContent) -> OntologyVersion:
    """Change a version that nobody works with yet. Raises OntologyLocked, InvalidLabels."""
    locked = OntologyVersion.objects.select_for_update().get(pk=version.pk)
    if locked.locked_at is not None:
        raise OntologyLocked
    columns = content.columns(_known(locked.ontology, locked.number - 1))
    hold_pictures(locked.ontology.project, content.guideline)
    for name, value in columns.items():
        setattr(locked, name, value)
    locked.save(update_fields=[*columns, "updated_at"])
    named = {"name": locked.ontology.name, "number": locked.number}
    audit.record(
        user, "ontology.version_changed", locked.ontology, locked.ontology.project, **named
    )
    return locked


def lock_version(version_id: Any) -> None:
    """Fix a version for ever; doing it again keeps the first time."""
    OntologyVersion.objects.filter(pk=version_id, locked_at=None).update(locked_at=Now())


def _known(ontology: Ontology, until: int) -> KnownIds:
    """Return the ids of the versions up to that number."""
    earlier = ontology.versions.filter(number__lte=until).order_by("number")
    return known_ids((version.full_labels, version.full_schema) for version in earlier)
