"""Names that move from version to version, with their history."""

from __future__ import annotations

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import outbox
from atom.models_registry.engines.references import reads_like_version
from atom.models_registry.errors import AliasNotFound, AliasReserved
from atom.models_registry.models import Alias, AliasChange, Model, ModelVersion
from atom_sdk.sentences import Sentence

_RESERVED = frozenset({"history", "latest", "main"})


@transaction.atomic
def set_alias(model: Model, name: str, version: ModelVersion, user: User | None) -> Alias:
    """Point `name` at the version; pointing it there again changes nothing.

    Raises AliasReserved.
    """
    if name in _RESERVED or reads_like_version(name):
        raise AliasReserved(
            errors={
                "alias": [
                    Sentence(
                        "models.alias_invalid", "{alias} cannot be an alias.", alias=repr(name)
                    )
                ]
            }
        )
    # Lock first: two moves of one alias must not both note the same old version.
    Model.objects.select_for_update().get(pk=model.pk)
    alias = Alias.objects.select_related("version").filter(model=model, name=name).first()
    old = alias.version if alias else None
    if alias is not None and old == version:
        return alias
    alias, _ = Alias.objects.update_or_create(model=model, name=name, defaults={"version": version})
    _note(model, name, old, version, user)
    return alias


@transaction.atomic
def remove_alias(model: Model, name: str, user: User | None) -> None:
    """Take the name away; its history stays. Raises AliasNotFound."""
    Model.objects.select_for_update().get(pk=model.pk)
    alias = Alias.objects.select_related("version").filter(model=model, name=name).first()
    if alias is None:
        raise AliasNotFound(
            Sentence(
                "models.alias_unknown",
                "{model} has no alias {alias}.",
                model=model.name,
                alias=name,
            )
        )
    old = alias.version
    alias.delete()
    _note(model, name, old, None, user)


def _note(
    model: Model,
    name: str,
    old: ModelVersion | None,
    new: ModelVersion | None,
    user: User | None,
) -> None:
    AliasChange.objects.create(model=model, name=name, old=old, new=new, actor=user)
    model.save(update_fields=["updated_at"])
    numbers = {"old": old.number if old else None, "new": new.number if new else None}
    audit.record(
        user, "model.alias_moved", model, model.project, name=model.name, alias=name, **numbers
    )
    outbox.emit(
        model.project_id,
        "alias.moved",
        model=model.name,
        alias=name,
        old=numbers["old"],
        new=numbers["new"],
    )
