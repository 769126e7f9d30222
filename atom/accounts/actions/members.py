"""Give, change and take away roles in projects and units."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.actions.keys import revoke_lost_keys
from atom.accounts.actions.units import lock_tree
from atom.accounts.errors import AlreadyMember, LastAdministrator, RoleInherited
from atom.accounts.events import notify_access_changed
from atom.accounts.models import Invitation, Project, RoleBinding, Unit, User
from atom.accounts.permissions import administers
from atom.accounts.reads import (
    Scope,
    bindings_reaching,
    direct_binding,
    has_other_administrator,
    scope_fields,
    unit_of,
)
from atom.core import outbox
from atom.core.errors import NotFound
from atom_sdk.sentences import Sentence


@transaction.atomic
def grant_role(user: User, role: str, scope: Scope, actor: User | None = None) -> RoleBinding:
    """Give `user` a role on a project or on everything under a unit; replaces the old role."""
    binding, _ = RoleBinding.objects.update_or_create(
        user=user, **scope_fields(scope), defaults={"role": role}
    )
    audit.record(
        actor, "role.granted", binding, _project_of(scope), **_audit_details(user, role, scope)
    )
    _notify("role.granted", user, role, scope, actor)
    return binding


@transaction.atomic
def add_member(user: User, role: str, scope: Scope, actor: User) -> RoleBinding:
    """Give a role to somebody who has none of their own here. Raises AlreadyMember."""
    lock_tree(unit_of(scope).organisation_id)
    if direct_binding(scope, user.pk):
        raise AlreadyMember(
            Sentence(
                "accounts.member_exists", "{user} has a role here already.", user=user.username
            )
        )
    return grant_role(user, role, scope, actor)


@transaction.atomic
def change_role(user: User, role: str, scope: Scope, actor: User) -> RoleBinding:
    """Change a role that was given here. Raises LastAdministrator, RoleInherited and NotFound."""
    binding = _direct_locked(user, scope)
    if binding.role == role:
        return binding
    if binding.role == "admin":
        _refuse_last(user, scope)
    before, binding.role = binding.role, role
    binding.save(update_fields=["role", "updated_at"])
    said = _audit_details(user, role, scope)
    audit.record(actor, "role.changed", binding, _project_of(scope), before=before, **said)
    _notify("role.changed", user, role, scope, actor)
    _take_back_invitations(user, scope)
    notify_access_changed(user.pk)
    return binding


@transaction.atomic
def remove_member(user: User, scope: Scope, actor: User) -> None:
    """Take the role away that was given here, and what was made with it: keys, open pages.

    Raises LastAdministrator, RoleInherited and NotFound.
    """
    binding = _direct_locked(user, scope)
    if binding.role == "admin":
        _refuse_last(user, scope)
    said = _audit_details(user, binding.role, scope)
    audit.record(actor, "role.removed", binding, _project_of(scope), **said)
    _notify("role.removed", user, binding.role, scope, actor)
    binding.delete()
    _take_back_invitations(user, scope)
    revoke_lost_keys(_projects_of(scope), actor)
    notify_access_changed(user.pk)


def _direct_locked(user: User, scope: Scope) -> RoleBinding:
    lock_tree(unit_of(scope).organisation_id)
    if found := direct_binding(scope, user.pk):
        return found
    inherited = bindings_reaching(scope).filter(user=user).select_related("unit").first()
    if inherited is None or inherited.unit is None:
        raise NotFound
    raise RoleInherited(
        Sentence(
            "accounts.role_is_inherited",
            "{user} is {role} through {unit}.",
            user=user.username,
            role=inherited.role,
            unit=inherited.unit.name,
        )
    )


def _refuse_last(user: User, scope: Scope) -> None:
    if not has_other_administrator(scope, user.pk):
        raise LastAdministrator(
            Sentence(
                "accounts.last_administrator",
                "{user} is the only administrator.",
                user=user.username,
            )
        )


def _take_back_invitations(user: User, scope: Scope) -> None:
    """End open invitations of a person who may no longer invite here."""
    if not administers(user, scope):
        mine = Invitation.objects.pending().filter(invited_by=user, **scope_fields(scope))
        mine.update(revoked_at=Now(), updated_at=Now())


def _projects_of(scope: Scope) -> QuerySet[Project]:
    if isinstance(scope, Project):
        return Project.objects.filter(pk=scope.pk)
    return Project.objects.filter(unit__path__startswith=scope.path)


def _project_of(scope: Scope) -> Project | None:
    return scope if isinstance(scope, Project) else None


def _audit_details(user: User, role: str, scope: Scope) -> dict[str, str]:
    where = {"unit": scope.name} if isinstance(scope, Unit) else {}
    return {"user": user.username, "role": role, **where}


def _notify(kind: str, user: User, role: str, scope: Scope, actor: User | None) -> None:
    """Notify the person, outside of the project: a person who has left it must read this too."""
    if actor is None or actor.pk == user.pk:
        return
    outbox.emit(
        None,
        kind,
        people=[user.pk],
        subject=scope.pk,
        role=role,
        place=scope.name,
        by=actor.get_full_name(),
    )
