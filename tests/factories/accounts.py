"""People, units and projects."""

from __future__ import annotations

from itertools import count
from typing import Any

from atom.accounts import actions
from atom.accounts.models import Organisation, Project, Unit, User

PASSWORD = "correct horse battery staple"

_numbers = count(1)


def make_user(username: str = "", **fields: Any) -> User:
    """Return a person without any role, with `PASSWORD`."""
    name = username or f"user{next(_numbers)}"
    return User.objects.create_user(name, password=PASSWORD, **fields)


def make_unit(parent: Unit | None = None) -> Unit:
    """Return a unit below `parent`, or at the root of a new organisation."""
    number = next(_numbers)
    organisation = (
        parent.organisation
        if parent
        else Organisation.objects.create(name=f"Organisation {number}")
    )
    return actions.create_unit(organisation, parent, f"Unit {number}")


def make_project(slug: str = "", unit: Unit | None = None) -> Project:
    """Return a project, below its own unit unless one is given."""
    slug = slug or f"project{next(_numbers)}"
    return actions.create_project(unit or make_unit(), slug, slug.title(), None)


def make_member(project: Project, role: str = "viewer", username: str = "") -> User:
    """Return a new person with `role` in the project."""
    user = make_user(username)
    actions.grant_role(user, role, project)
    return user
