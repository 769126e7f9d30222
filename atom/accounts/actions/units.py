"""The tree of units, and the projects that hang on it.

Whoever changes the tree, or takes a role away, holds the organisation's row: paths are then as
they were read, and no two administrators remove each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import CharField, F, Value
from django.db.models.functions import Concat, Left, Now, Substr

from atom.accounts import audit
from atom.accounts.actions.keys import revoke_lost_keys
from atom.accounts.errors import UnitCycle, UnitNotEmpty, UnitTooDeep
from atom.accounts.events import notify_all_access_changed
from atom.accounts.models import Organisation, Project, Unit, User
from atom.core.errors import AlreadyExists, NotFound
from atom_sdk.sentences import Sentence

# 33 characters of a path each.
MAX_DEPTH = 20


def lock_tree(*organisation_ids: UUID) -> None:
    """Hold the organisations until the transaction ends, always in the same order."""
    wanted = Organisation.objects.filter(pk__in=organisation_ids).order_by("pk")
    list(wanted.select_for_update().values_list("pk", flat=True))


@transaction.atomic
def create_unit(
    organisation: Organisation, parent: Unit | None, name: str, actor: User | None = None
) -> Unit:
    """Add a unit to the tree. Raises AlreadyExists and UnitTooDeep."""
    lock_tree(organisation.pk)
    above = _again(parent) if parent else None
    _refuse_same_name(organisation.pk, above, name)
    unit = Unit(organisation=organisation, parent=above, name=name)
    unit.path = f"{above.path if above else '/'}{unit.pk.hex}/"
    _refuse_depth([unit.path])
    unit.save(force_insert=True)
    audit.record(actor, "unit.created", unit, name=name, parent=above.name if above else None)
    return unit


@transaction.atomic
def rename_unit(unit: Unit, name: str, actor: User) -> Unit:
    """Give the unit another name. Raises AlreadyExists when a sister has it."""
    lock_tree(unit.organisation_id)
    found = _again(unit)
    if found.name == name:
        return found
    _refuse_same_name(found.organisation_id, found.parent, name, but=found)
    before, found.name = found.name, name
    found.save(update_fields=["name", "updated_at"])
    audit.record(actor, "unit.renamed", found, name=name, before=before)
    return found


@transaction.atomic
def move_unit(unit: Unit, parent: Unit | None, actor: User) -> Unit:
    """Hang the unit, with all below it, on another one; None makes it the top of its organisation.

    Raises UnitCycle, UnitTooDeep and AlreadyExists.
    """
    lock_tree(unit.organisation_id, *([parent.organisation_id] if parent else []))
    moved, above = _again(unit), _again(parent) if parent else None
    if moved.parent_id == (above.pk if above else None):
        return moved
    if above and above.path.startswith(moved.path):
        raise UnitCycle(
            Sentence(
                "accounts.unit_below_itself",
                "{parent} is {unit} itself, or lies below it.",
                parent=above.name,
                unit=moved.name,
            )
        )
    organisation_id = above.organisation_id if above else moved.organisation_id
    _refuse_same_name(organisation_id, above, moved.name)
    old = moved.path
    new = f"{above.path if above else '/'}{moved.pk.hex}/"
    subtree = Unit.objects.filter(path__startswith=old)
    _refuse_depth(new + path[len(old) :] for path in subtree.values_list("path", flat=True))
    before = moved.parent.name if moved.parent else None
    Unit.objects.filter(pk=moved.pk).update(parent=above)
    tail = Substr("path", len(old) + 1, output_field=CharField())
    subtree.update(path=Concat(Value(new), tail), organisation=organisation_id, updated_at=Now())
    said: dict[str, Any] = {"before": before, "parent": above.name if above else None}
    audit.record(actor, "unit.moved", moved, name=moved.name, **said)
    revoke_lost_keys(Project.objects.filter(unit__path__startswith=new), actor)
    notify_all_access_changed()
    return _again(moved)


@transaction.atomic
def delete_unit(unit: Unit, actor: User) -> None:
    """Delete an empty unit, and the roles on it. Raises UnitNotEmpty."""
    lock_tree(unit.organisation_id)
    found = _again(unit)
    gone = found.service_accounts.filter(user__is_active=False)
    held: dict[str, Any] = {
        "units": found.children.count(),
        "projects": found.projects.count(),
        "service_accounts": found.service_accounts.count() - (gone.count() if found.parent else 0),
    }
    if any(held.values()):
        raise UnitNotEmpty(
            Sentence(
                "accounts.unit_not_empty",
                "{unit} holds units: {units}, projects: {projects}, service accounts: "
                "{service_accounts}.",
                unit=found.name,
                **held,
            ),
            **held,
        )
    # Deactivated accounts are kept for the audit trail's sake, under a name that is free there.
    tail = Concat(F("name"), Value(f"-{found.pk.hex[-6:]}"), output_field=CharField())
    gone.update(unit=found.parent, name=Left(tail, 63))
    audit.record(actor, "unit.deleted", found, name=found.name)
    found.delete()


@transaction.atomic
def create_project(unit: Unit, slug: str, name: str, actor: User | None) -> Project:
    """Add a project under a unit. Raises AlreadyExists: slugs are unique per installation."""
    lock_tree(unit.organisation_id)
    try:
        with transaction.atomic():
            project = Project.objects.create(unit=_again(unit), slug=slug, name=name)
    except IntegrityError as taken:
        raise AlreadyExists(
            Sentence(
                "accounts.project_exists", "There is a project {project} already.", project=slug
            )
        ) from taken
    audit.record(actor, "project.created", project, project, slug=slug)
    return project


@transaction.atomic
def rename_project(project: Project, name: str, actor: User) -> Project:
    """Give the project another name; its slug is in addresses and stays."""
    found = Project.objects.select_for_update().get(pk=project.pk)
    if found.name != name:
        before, found.name = found.name, name
        found.save(update_fields=["name", "updated_at"])
        audit.record(actor, "project.renamed", found, found, name=name, before=before)
    return found


@transaction.atomic
def move_project(project: Project, unit: Unit, actor: User) -> Project:
    """Hang the project on another unit; keys of people who thereby lose their role end."""
    lock_tree(project.unit.organisation_id, unit.organisation_id)
    target = _again(unit)
    found = (
        Project.objects.select_related("unit").select_for_update(of=("self",)).get(pk=project.pk)
    )
    if found.unit_id != target.pk:
        before, found.unit = found.unit.name, target
        found.save(update_fields=["unit", "updated_at"])
        said = {"name": found.slug, "unit": target.name, "before": before}
        audit.record(actor, "project.moved", found, found, **said)
        revoke_lost_keys(Project.objects.filter(pk=found.pk), actor)
        notify_all_access_changed()
    return found


def _again(unit: Unit) -> Unit:
    """Return the unit as it is under the lock. Raises NotFound if it was deleted meanwhile."""
    found = Unit.objects.select_related("parent").filter(pk=unit.pk).first()
    if found is None:
        raise NotFound
    return found


def _refuse_same_name(
    organisation_id: UUID, parent: Unit | None, name: str, but: Unit | None = None
) -> None:
    """Raise AlreadyExists if a sister has the name, in whatever capitals."""
    sisters = Unit.objects.filter(organisation=organisation_id, parent=parent, name__iexact=name)
    if taken := (sisters.exclude(pk=but.pk) if but else sisters).first():
        raise AlreadyExists(
            Sentence(
                "accounts.unit_exists",
                "There is a unit {unit} in {parent} already.",
                unit=taken.name,
                parent=parent.name,
            )
            if parent
            else Sentence(
                "accounts.top_unit_exists",
                "There is a unit {unit} at the top already.",
                unit=taken.name,
            )
        )


def _refuse_depth(paths: Iterable[str]) -> None:
    if any(path.count("/") - 1 > MAX_DEPTH for path in paths):
        raise UnitTooDeep(
            Sentence(
                "accounts.tree_too_deep",
                "A tree has at most {max_depth} levels.",
                max_depth=MAX_DEPTH,
            )
        )
