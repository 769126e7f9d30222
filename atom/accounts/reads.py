"""Queries over the tree of units: roles of people, and the units that they may see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import (
    CharField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
)

from atom.accounts.models import RANK, ROLES, Project, RoleBinding, ServiceAccount, Unit, User

Scope = Project | Unit
# A suggestion must not become a directory of all people.
CANDIDATES = 10


def reaching_binding(project: str = "project", roles: Sequence[str] = ROLES) -> Exists:
    """Return whether the row's user has one of `roles` in the row's project, as a condition."""
    bindings = RoleBinding.objects.filter(user=OuterRef("user"), role__in=roles)
    path = ExpressionWrapper(OuterRef(f"{project}__unit__path"), output_field=CharField())
    direct = Q(project=OuterRef(project))
    through = Q(unit__isnull=False, project_path__startswith=F("unit__path"))
    return Exists(bindings.annotate(project_path=path).filter(direct | through))


def people() -> QuerySet[User]:
    """Return the users who are persons."""
    return User.objects.filter(service_account__isnull=True)


def unit_of(scope: Scope) -> Unit:
    """Return the unit on which a project hangs, or the unit itself."""
    return scope.unit if isinstance(scope, Project) else scope


def bindings_reaching(scope: Scope) -> QuerySet[RoleBinding]:
    """Return the roles that count in a project or unit: its own and those of the units above."""
    above = Q(unit__in=unit_of(scope).lineage_ids)
    own = Q(project=scope) if isinstance(scope, Project) else Q()
    return RoleBinding.objects.filter(above | own if own else above)


def direct_binding(scope: Scope, user_id: UUID) -> RoleBinding | None:
    """Return the role that was given to a person on this very project or unit."""
    return RoleBinding.objects.filter(**scope_fields(scope), user=user_id).first()


def scope_fields(scope: Scope) -> dict[str, Any]:
    """Return the one of `project` and `unit` that a binding, invitation or account has."""
    return {"project": scope} if isinstance(scope, Project) else {"unit": scope}


def members_of(scope: Scope, q: str = "") -> QuerySet[User]:
    """Return the people with a role in a project or unit, their bindings as `reaching`."""
    bindings = bindings_reaching(scope)
    found = people().filter(Exists(bindings.filter(user=OuterRef("pk"))))
    reaching = bindings.select_related("unit").order_by("pk")
    return named(found, q).prefetch_related(
        Prefetch("role_bindings", queryset=reaching, to_attr="reaching")
    )


def named(users: QuerySet[User], q: str) -> QuerySet[User]:
    """Keep those whose name or address holds `q`."""
    if not q:
        return users
    found = Q(username__icontains=q) | Q(full_name__icontains=q) | Q(email__icontains=q)
    return users.filter(found)


def candidates_for(scope: Scope, user: User, q: str) -> QuerySet[User]:
    """Return people of the same organisation who have no role of their own on `scope` yet.

    Others can be added by their exact name: an organisation's people are not another's business.
    """
    organisation = unit_of(scope).organisation_id
    theirs = RoleBinding.objects.filter(user=OuterRef("pk"))
    found = people().filter(is_active=True)
    found = found.filter(~Exists(theirs.filter(**scope_fields(scope))))
    if not user.is_superuser:
        near = Q(unit__organisation=organisation) | Q(project__unit__organisation=organisation)
        found = found.filter(Exists(theirs.filter(near)))
    starts = Q(username__istartswith=q) | Q(full_name__icontains=q)
    return found.filter(starts).order_by("username")[:CANDIDATES]


def has_other_administrator(scope: Scope, user_id: UUID) -> bool:
    """Return whether somebody else, who can sign in, administers the project or unit."""
    others = bindings_reaching(scope).filter(role="admin", user__is_active=True)
    others = others.exclude(user__in=ServiceAccount.objects.values("user"))
    return others.exclude(user=user_id).exists()


@dataclass(frozen=True)
class UnitRoles:
    """The roles of one person on units; the highest above a unit counts on it."""

    is_superuser: bool
    by_path: dict[str, str]

    @classmethod
    def of(cls, user: User) -> UnitRoles:
        """Read them once."""
        bound = RoleBinding.objects.filter(user=user, unit__isnull=False)
        rows = bound.values_list("unit__path", "role")
        return cls(user.is_superuser, {str(path): role for path, role in rows})

    def on(self, path: str) -> str | None:
        """Return the role on the unit at `path`; None for a stranger."""
        if self.is_superuser:
            return "admin"
        roles = [role for above, role in self.by_path.items() if path.startswith(above)]
        return max(roles, key=RANK.__getitem__, default=None)


def visible_units(user: User) -> QuerySet[Unit]:
    """Return the units on which the person has any role, their own or from above."""
    if user.is_superuser:
        return Unit.objects.all()
    bound = RoleBinding.objects.filter(user=user, unit__isnull=False)
    here = ExpressionWrapper(OuterRef("path"), output_field=CharField())
    above = bound.annotate(here=here).filter(here__startswith=F("unit__path"))
    return Unit.objects.filter(Exists(above))


def administered_units(user: User) -> QuerySet[Unit]:
    """Return the units that the person administers."""
    if user.is_superuser:
        return Unit.objects.all()
    bound = RoleBinding.objects.filter(user=user, unit__isnull=False, role="admin")
    here = ExpressionWrapper(OuterRef("path"), output_field=CharField())
    above = bound.annotate(here=here).filter(here__startswith=F("unit__path"))
    return Unit.objects.filter(Exists(above))


def top_administered_units(user: User) -> QuerySet[Unit]:
    """Return the units that the person administers and that lie below no other such unit."""
    units = administered_units(user)
    return units.exclude(parent__in=units)


def highest(roles: Iterable[str]) -> str | None:
    """Return the highest of several roles."""
    return max(roles, key=RANK.__getitem__, default=None)


def roles_of(user: User) -> dict[UUID, str]:
    """Return the person's highest role in every project that they see, by its id."""
    projects = Project.objects.visible_to(user).select_related("unit")
    bindings = list(user.role_bindings.select_related("unit"))
    roles: dict[UUID, str] = {}
    for project in projects:
        found = [
            binding.role
            for binding in bindings
            if binding.project_id == project.pk
            or (binding.unit is not None and project.unit.path.startswith(binding.unit.path))
        ]
        roles[project.pk] = "admin" if user.is_superuser else highest(found) or "viewer"
    return roles


def find_project(slug: str) -> Project | None:
    """Return the project with its unit."""
    return Project.objects.select_related("unit").filter(slug=slug).first()
