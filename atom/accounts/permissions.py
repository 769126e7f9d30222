"""Rights: roles in projects, scopes of tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db.models import Q

from atom.accounts.models import RANK, SCOPES, ApiToken, Project, RoleBinding, Unit, User
from atom.accounts.reads import Scope
from atom.core.errors import NotFound, PermissionDenied
from atom_sdk.sentences import Sentence


class RoleTooLow(PermissionDenied):
    """The caller is a member, but with a lower role than this needs."""

    code = "role_too_low"


class ScopeMissing(PermissionDenied):
    """The API token was not given the scope that this needs."""

    code = "scope_missing"
    title = "The API token does not have the scope for this."
    action = "Create a token with that scope and use it."


class TokenOfProject(PermissionDenied):
    """The API token is bound to a project, and this is about its owner everywhere."""

    code = "token_of_project"
    title = "A token that is bound to a project does not change its owner's account."
    action = "Use the portal, or a token that is bound to no project."


# Key in sessions for the proof of the second factor: "code" or "provider".
PROOF = "second_factor"


def demands_second_factor(user: User) -> bool:
    """Return whether the installation demands a second factor of this person."""
    demanded = settings.ATOM_SECOND_FACTOR
    return demanded == "everybody" or (demanded == "administrators" and user.is_superuser)


def lacks_second_factor(user: User, session: SessionBase) -> bool:
    """Return whether a second factor is demanded of a person who signed in without one.

    A person with a second factor was asked for it, so a session without proof belongs to a person
    without one.
    """
    return demands_second_factor(user) and not session.get(PROOF)


def role_in(user: User, project: Project) -> str | None:
    """Return the user's highest role in the project, or None for a stranger."""
    if user.is_superuser:
        return "admin"
    bindings = RoleBinding.objects.filter(
        Q(project=project) | Q(unit__in=project.unit.lineage_ids), user=user
    )
    roles = bindings.values_list("role", flat=True)
    return max(roles, key=RANK.__getitem__, default=None)


def require(user: User, project: Project, role: str) -> None:
    """Raise NotFound for a stranger, RoleTooLow for a member whose role is below `role`."""
    found = role_in(user, project)
    if found is None:
        raise NotFound
    if RANK[found] < RANK[role]:
        raise RoleTooLow(
            Sentence(
                "accounts.needs_role",
                "This needs the role {role}; yours in {place} is {own_role}.",
                role=role,
                place=project.slug,
                own_role=found,
            )
        )


def role_on(user: User, unit: Unit) -> str | None:
    """Return the user's highest role on the unit or one above it, or None for a stranger."""
    if user.is_superuser:
        return "admin"
    bindings = RoleBinding.objects.filter(Q(unit__in=unit.lineage_ids), user=user)
    roles = bindings.values_list("role", flat=True)
    return max(roles, key=RANK.__getitem__, default=None)


def require_on(user: User, unit: Unit, role: str) -> None:
    """Raise NotFound for a stranger of the unit, RoleTooLow for a lower role than `role`."""
    found = role_on(user, unit)
    if found is None:
        raise NotFound
    if RANK[found] < RANK[role]:
        raise RoleTooLow(
            Sentence(
                "accounts.needs_role",
                "This needs the role {role}; yours in {place} is {own_role}.",
                role=role,
                place=unit.name,
                own_role=found,
            )
        )


def administers(user: User, scope: Scope) -> bool:
    """Return whether the user administers the project or unit."""
    found = role_in(user, scope) if isinstance(scope, Project) else role_on(user, scope)
    return found == "admin"


def require_scope(token: ApiToken | None, scope: str) -> None:
    """Raise ScopeMissing unless the caller came by session or the token has the scope."""
    if token is None or not set(SCOPES[SCOPES.index(scope) :]).isdisjoint(token.scopes):
        return
    raise ScopeMissing(
        Sentence(
            "accounts.needs_scope",
            "This needs the scope {scope}; the token has {scopes}.",
            scope=scope,
            scopes=", ".join(token.scopes),
        )
    )


def refuse_bound(token: ApiToken | None) -> None:
    """Raise TokenOfProject for a token of one project, where a person as a whole is changed."""
    if token is not None and token.project_id is not None:
        raise TokenOfProject


def require_project(token: ApiToken | None, project: Project) -> None:
    """Raise NotFound when the token is bound to another project."""
    if token is not None and token.project_id not in (None, project.pk):
        raise NotFound
