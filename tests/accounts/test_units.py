"""The tree of units and the projects on it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from atom.accounts import actions, permissions
from atom.accounts.actions import create_token
from atom.accounts.actions.units import MAX_DEPTH
from atom.accounts.errors import UnitCycle
from atom.accounts.models import AuditEvent, Project, Unit, User
from tests.factories.accounts import make_member, make_project, make_unit, make_user

pytestmark = pytest.mark.django_db
UNITS, PROJECTS = "/api/v1/units/", "/api/v1/projects/"


def signed_in(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def top() -> Unit:
    return make_unit()


@pytest.fixture
def boss(top: Unit) -> User:
    user = make_user("boss")
    actions.grant_role(user, "admin", top)
    return user


@pytest.fixture
def api(boss: User) -> APIClient:
    return signed_in(boss)


def make(api: APIClient, parent: Unit | str, name: str) -> Any:
    return api.post(UNITS, {"name": name, "parent": str(getattr(parent, "pk", parent))})


def test_a_department_grows_teams_and_projects(api: APIClient, top: Unit) -> None:
    department = make(api, top, "Vision").json()
    team = make(api, department["id"], "Segmentation").json()
    assert (team["depth"], team["role"], team["parent"]) == (2, "admin", department["id"])
    made = api.post(PROJECTS, {"slug": "cells", "name": "Cells", "unit": team["id"]})
    assert (made.status_code, made.json()["unit_name"]) == (201, "Segmentation")
    rows = api.get(UNITS).json()["results"]
    assert [row["name"] for row in rows] == [top.name, "Vision", "Segmentation"]
    assert [row["project_count"] for row in rows] == [0, 0, 1]
    assert [row["slug"] for row in api.get(PROJECTS).json()["results"]] == ["cells"]
    again = make(api, top, "Vision")
    assert (again.status_code, again.json()["code"]) == (409, "already_exists")
    taken = api.post(PROJECTS, {"slug": "cells", "name": "Other", "unit": team["id"]})
    assert (taken.status_code, taken.json()["code"]) == (409, "already_exists")


def test_a_project_needs_no_unit_where_one_is_meant(api: APIClient, top: Unit) -> None:
    make(api, top, "Vision")
    make_unit()
    made = api.post(PROJECTS, {"slug": "cells"})
    assert made.status_code == 201, made.json()
    assert (made.json()["unit"], made.json()["name"]) == (str(top.pk), "cells")


def test_a_project_names_its_unit_where_several_may_be_meant(
    api: APIClient, boss: User, top: Unit
) -> None:
    other = make_unit()
    actions.grant_role(boss, "admin", other)
    answer = api.post(PROJECTS, {"slug": "cells"}).json()
    names = ", ".join(sorted((top.name, other.name)))
    assert answer["errors"] == {
        "unit": [f"You administer several units ({names}): say on which one the project hangs."]
    }
    assert answer["error_codes"]["unit"][0]["code"] == "several_units"
    nobody = signed_in(make_user()).post(PROJECTS, {"slug": "cells"}).json()
    assert nobody["error_codes"]["unit"][0]["code"] == "no_unit"
    bound = create_token(boss, "ci", ["admin"], make_project("vision")).secret
    headers = {"Authorization": f"Bearer {bound}"}
    refused = APIClient().post(PROJECTS, {"slug": "cells"}, headers=headers).json()
    assert refused["error_codes"]["unit"][0]["code"] == "token_of_one_project"
    Project.objects.all().delete()
    assert not Project.objects.exists()


def test_sisters_differ_by_more_than_capitals(api: APIClient, top: Unit) -> None:
    vision, speech = make(api, top, "Vision").json(), make(api, top, "Speech").json()
    below = make(api, speech["id"], "VISION").json()

    def refused(answer: Any) -> bool:
        detail = f"There is a unit Vision in {top.name} already."
        said = answer.json()
        return (answer.status_code, said["code"], said["detail"]) == (409, "already_exists", detail)

    assert refused(make(api, top, "vision"))
    assert refused(api.patch(f"{UNITS}{speech['id']}/", {"name": "vIsion"}))
    assert refused(api.patch(f"{UNITS}{below['id']}/", {"parent": str(top.pk)}))
    own = api.patch(f"{UNITS}{vision['id']}/", {"name": "VISION"})
    assert (own.status_code, own.json()["name"]) == (200, "VISION")


def test_moving_a_unit_takes_all_below_it_along(api: APIClient, top: Unit) -> None:
    left, right = make(api, top, "Left").json(), make(api, top, "Right").json()
    leaf = Unit.objects.get(pk=make(api, left["id"], "Leaf").json()["id"])
    project = make_project(unit=leaf)
    person = make_user()
    actions.grant_role(person, "viewer", Unit.objects.get(pk=left["id"]))
    token = actions.create_token(person, "here", ["read"], project).token
    moved = api.patch(f"{UNITS}{leaf.pk}/", {"parent": right["id"], "name": "Leaf 2"})
    assert (moved.json()["parent"], moved.json()["name"]) == (right["id"], "Leaf 2")
    leaf.refresh_from_db()
    assert leaf.path.startswith(Unit.objects.get(pk=right["id"]).path)
    project.refresh_from_db()
    assert permissions.role_in(person, Project.objects.get(pk=project.pk)) is None
    token.refresh_from_db()
    assert token.revoked_at is not None
    verbs = AuditEvent.objects.filter(object_id=str(leaf.pk)).values_list("verb", flat=True)
    assert {"unit.created", "unit.moved", "unit.renamed"} == set(verbs)
    whole = api.patch(f"{UNITS}{right['id']}/", {"parent": left["id"]})
    assert whole.status_code == 200
    leaf.refresh_from_db()
    assert leaf.lineage_ids[1] == Unit.objects.get(pk=left["id"]).pk.hex


def test_a_unit_does_not_hang_below_itself(api: APIClient, top: Unit) -> None:
    outer = make(api, top, "Outer").json()
    inner = make(api, outer["id"], "Inner").json()
    for target in (outer["id"], inner["id"]):
        refused = api.patch(f"{UNITS}{outer['id']}/", {"parent": target})
        assert (refused.status_code, refused.json()["code"]) == (409, "unit_cycle")


@pytest.mark.django_db(transaction=True)
def test_two_moves_at_once_make_no_cycle() -> None:
    top = make_unit()
    a, b = make_unit(top), make_unit(top)
    root = User.objects.create_superuser("root", password="x")
    outcomes: list[str] = []

    def move(what: Unit, below: Unit) -> None:
        try:
            actions.move_unit(what, below, root)
            outcomes.append("moved")
        except UnitCycle:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=move, args=pair) for pair in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["moved", "refused"]


def test_a_tree_has_a_greatest_depth(top: Unit) -> None:
    unit = top
    for _ in range(MAX_DEPTH - 1):
        unit = make_unit(unit)
    root = User.objects.create_superuser("root", password="x")
    refused = make(signed_in(root), unit, "Too deep")
    assert (refused.status_code, refused.json()["code"]) == (409, "unit_too_deep")


def test_only_an_empty_unit_is_deleted(api: APIClient, top: Unit) -> None:
    unit = Unit.objects.get(pk=make(api, top, "Vision").json()["id"])
    project = make_project("cells", unit)
    refused = api.delete(f"{UNITS}{unit.pk}/")
    assert (refused.status_code, refused.json()["code"]) == (409, "unit_not_empty")
    assert refused.json()["projects"] == 1
    moved = api.patch(f"{PROJECTS}cells/", {"unit": str(top.pk), "name": "All cells"})
    assert (moved.json()["unit"], moved.json()["name"]) == (str(top.pk), "All cells")
    assert api.delete(f"{UNITS}{unit.pk}/").status_code == 204
    assert not Unit.objects.filter(pk=unit.pk).exists()
    assert AuditEvent.objects.filter(verb="project.moved", project=project).exists()


def test_administrators_of_a_unit_do_not_leave_those_above_them(
    api: APIClient, boss: User, top: Unit
) -> None:
    below = Unit.objects.get(pk=make(api, top, "Below").json()["id"])
    captain = make_user("captain")
    actions.grant_role(captain, "admin", below)
    own = make_unit()
    actions.grant_role(captain, "admin", own)
    client = signed_in(captain)
    for body in ({"parent": str(own.pk)}, {"parent": None}):
        refused = client.patch(f"{UNITS}{below.pk}/", body)
        assert (refused.status_code, refused.json()["code"]) == (403, "role_too_low")
    assert client.delete(f"{UNITS}{below.pk}/").status_code == 403
    assert client.patch(f"{UNITS}{below.pk}/", {"name": "Ours"}).status_code == 200
    assert client.patch(f"{UNITS}{top.pk}/", {"name": "Ours"}).status_code == 404
    assert make(client, top, "Beside").status_code == 400
    # Nor does an administrator of a project take it out of its unit.
    make_project("cells", top)
    lead = make_member(Project.objects.get(slug="cells"), "admin")
    actions.grant_role(lead, "admin", own)
    refused = signed_in(lead).patch(f"{PROJECTS}cells/", {"unit": str(own.pk)})
    assert (refused.status_code, refused.json()["code"]) == (403, "role_too_low")


def test_the_top_belongs_to_the_installation(api: APIClient, top: Unit) -> None:
    body = {"name": "Second", "organisation": str(top.organisation_id)}
    assert api.post(UNITS, body).status_code == 403
    root = signed_in(User.objects.create_superuser("root", password="x"))
    assert root.post(UNITS, body).json()["depth"] == 0
    assert root.post(UNITS, {"name": "Lost"}).status_code == 400
    names = [row["name"] for row in root.get("/api/v1/organisations/").json()["results"]]
    assert top.organisation.name in names
    assert api.get("/api/v1/organisations/").status_code == 404


def test_one_sees_only_the_units_below_ones_roles(api: APIClient, top: Unit) -> None:
    outside = make_unit()
    ids = [row["id"] for row in api.get(UNITS).json()["results"]]
    assert ids == [str(top.pk)]
    assert api.get(f"{UNITS}{outside.pk}/").status_code == 404
    assert api.get(f"{UNITS}{outside.pk}/projects/").status_code == 404
    assert make(api, outside, "Mine").json()["errors"] == {"parent": ["There is no such unit."]}
    viewer = make_user()
    actions.grant_role(viewer, "viewer", top)
    assert signed_in(viewer).get(f"{UNITS}{top.pk}/projects/").status_code == 200
    assert signed_in(viewer).patch(f"{UNITS}{top.pk}/", {"name": "x"}).status_code == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"slug": "Not A Slug", "name": "x"}, "slug"),
        ({"slug": "ok", "name": ""}, "name"),
        ({"slug": "ok", "name": "x", "unit": "seven"}, "unit"),
        ({"slug": 7, "name": "x"}, "slug"),
        ({"slug": "ok", "name": "x", "organisation": "x"}, "organisation"),
    ],
)
def test_a_wrong_project_names_its_field(
    api: APIClient, top: Unit, body: dict[str, Any], field: str
) -> None:
    answer = api.post(PROJECTS, {"unit": str(top.pk), **body})
    assert (answer.status_code, field in answer.json()["errors"]) == (400, True)
    assert not Project.objects.exists()
