"""Changes to a model: rename, describe, label, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import live, outbox
from atom.models_registry.errors import ModelNameTaken
from atom.models_registry.models import Model, ModelVersion

Labelled = TypeVar("Labelled", Model, ModelVersion)


def rename_model(model: Model, user: User, name: str) -> None:
    """Give the model another name; its versions keep their numbers. Raises ModelNameTaken."""
    old = model.name
    try:
        with transaction.atomic():
            model.name = name
            model.save(update_fields=["name", "updated_at"])
            audit.record(user, "model.renamed", model, model.project, name=name, old=old)
            _notify(model)
    except IntegrityError as error:
        model.name = old
        raise ModelNameTaken(
            errors={"name": [ErrorDetail("This name is taken.", code="unique")]}
        ) from error


@transaction.atomic
def describe(thing: Model | ModelVersion, user: User, description: str) -> None:
    """Write what people read of a model or of a version."""
    thing.description = description
    thing.save(update_fields=["description", "updated_at"])
    model = thing if isinstance(thing, Model) else thing.model
    audit.record(user, "model.described", thing, model.project, name=str(thing))
    _notify(model)


@transaction.atomic
def label(thing: Labelled, set_: Mapping[str, str], without: str = "") -> bool:
    """Set labels and take one away; return whether the one to take away was there."""
    locked = type(thing).objects.select_for_update(of=("self",)).get(pk=thing.pk)
    labels = {**locked.labels, **set_}
    had = labels.pop(without, None) is not None
    locked.labels = thing.labels = labels
    locked.save(update_fields=["labels", "updated_at"])
    return had


@transaction.atomic
def delete_version(version: ModelVersion, user: User) -> None:
    """Take a version out of the registry, with its aliases; the run keeps the files."""
    model = Model.objects.select_for_update().get(pk=version.model_id)
    named = {"name": model.name, "number": version.number}
    _take_away_aliases(model, Q(version=version))
    # The steps of its aliases would name a version that is not there; the audit trail has them.
    model.alias_changes.filter(Q(old=version) | Q(new=version)).delete()
    model.numbers_used = max(model.numbers_used, version.number)
    model.save(update_fields=["numbers_used", "updated_at"])
    audit.record(user, "model.version_deleted", version, model.project, **named)
    version.delete()
    _notify(model)


@transaction.atomic
def delete_model(model: Model, user: User) -> None:
    """Take a model with all its versions out of the registry; the runs keep the files."""
    locked = Model.objects.select_for_update().get(pk=model.pk)
    last = locked.versions.aggregate(last=Max("number"))["last"] or 0
    audit.record(user, "model.deleted", locked, locked.project, name=locked.name, versions=last)
    locked.alias_changes.all().delete()
    _take_away_aliases(locked, Q())
    _notify(locked)
    locked.delete()


def _take_away_aliases(model: Model, which: Q) -> None:
    """Remove aliases, and emit events for programs that serve their versions."""
    gone = model.aliases.filter(which).select_related("version").order_by("name")
    for alias in gone:
        outbox.emit(
            model.project_id,
            "alias.moved",
            model=model.name,
            alias=alias.name,
            old=alias.version.number,
            new=None,
        )
    gone.delete()


def _notify(model: Model) -> None:
    live.publish(f"project.{model.project_id}", {"type": "model", "id": str(model.pk)})
