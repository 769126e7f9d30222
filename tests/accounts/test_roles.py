"""Roles come from the project itself or from any unit above it."""

from __future__ import annotations

import pytest

from atom.accounts import actions, permissions
from atom.accounts.models import Project, User
from atom.core.errors import NotFound
from tests.factories.accounts import make_project, make_unit, make_user

pytestmark = pytest.mark.django_db


def test_a_role_on_a_unit_reaches_every_project_below_it() -> None:
    top = make_unit()
    below = make_project(unit=make_unit(parent=make_unit(parent=top)))
    beside = make_project(unit=make_unit())
    user = make_user()
    actions.grant_role(user, "researcher", top)
    assert permissions.role_in(user, below) == "researcher"
    assert permissions.role_in(user, beside) is None
    assert list(Project.objects.visible_to(user)) == [below]


def test_the_highest_of_several_roles_counts() -> None:
    unit = make_unit()
    project = make_project(unit=unit)
    user = make_user()
    actions.grant_role(user, "viewer", project)
    actions.grant_role(user, "admin", unit)
    assert permissions.role_in(user, project) == "admin"


def test_granting_again_replaces_the_role() -> None:
    project, user = make_project(), make_user()
    actions.grant_role(user, "admin", project)
    actions.grant_role(user, "viewer", project)
    assert permissions.role_in(user, project) == "viewer"


def test_a_stranger_is_told_nothing_and_a_viewer_that_the_role_is_too_low() -> None:
    project, user = make_project(), make_user()
    with pytest.raises(NotFound):
        permissions.require(user, project, "viewer")
    actions.grant_role(user, "viewer", project)
    permissions.require(user, project, "viewer")
    with pytest.raises(permissions.RoleTooLow):
        permissions.require(user, project, "researcher")


def test_the_installations_administrator_is_admin_everywhere() -> None:
    admin = User.objects.create_superuser("root", password="x")
    assert permissions.role_in(admin, make_project()) == "admin"


def test_an_installation_is_made_once_and_keeps_the_first_password() -> None:
    first, project, created = actions.ensure_installation("admin", "first")
    again, same, created_again = actions.ensure_installation("admin", "second")
    assert (created, created_again) == (True, False)
    assert (first, project) == (again, same)
    again.refresh_from_db()
    assert again.check_password("first")
