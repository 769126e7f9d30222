"""Members of a project or unit: seen, added, changed and removed by its administrators."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts import actions
from atom.accounts.models import ApiToken, AuditEvent, Project, RoleBinding, S3KeyPair, Unit, User
from atom.labeling import states
from atom.labeling.actions.leases import lease_labels, open_departed
from atom.labeling.models import WorkSlot
from tests.factories.accounts import make_member, make_project, make_unit, make_user
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def unit() -> Unit:
    return make_unit()


@pytest.fixture
def project(unit: Unit) -> Project:
    return make_project("vision", unit)


@pytest.fixture
def admin(project: Project) -> User:
    return make_member(project, "admin", "ada")


@pytest.fixture
def api(admin: User) -> APIClient:
    return signed_in(admin)


MEMBERS = "/api/v1/projects/vision/members/"


def test_members_say_which_role_they_have_and_from_where(
    api: APIClient, project: Project, unit: Unit
) -> None:
    both = make_member(project, "viewer", "bo")
    actions.grant_role(both, "researcher", unit)
    rows = {row["username"]: row for row in api.get(MEMBERS).json()["results"]}
    assert list(rows) == ["ada", "bo"]
    bo = rows["bo"]
    assert (bo["role"], bo["direct_role"]) == ("researcher", "viewer")
    assert bo["sources"] == [
        {"role": "viewer", "through": None},
        {"role": "researcher", "through": {"id": str(unit.pk), "name": unit.name}},
    ]
    found = api.get(MEMBERS, {"q": "B"}).json()["results"]
    assert [row["username"] for row in found] == ["bo"]
    assert [row["username"] for row in api.get(MEMBERS, {"role": "admin"}).json()["results"]] == [
        "ada"
    ]
    assert api.get(MEMBERS, {"role": "king"}).status_code == 400


def test_a_page_of_members_costs_the_same_for_one_and_for_many(
    api: APIClient, project: Project, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        make_member(project)
    with django_assert_max_num_queries(5):
        page = api.get(MEMBERS, {"limit": 10}).json()
    assert len(page["results"]) == 10
    rest = api.get(MEMBERS, {"limit": 10, "cursor": page["next"]}).json()
    assert len(rest["results"]) == 3


def test_somebody_is_added_by_name_once(api: APIClient) -> None:
    make_user("mia", full_name="Mia M.")
    added = api.post(MEMBERS, {"username": "mia", "role": "labeler"})
    assert (added.status_code, added.json()["direct_role"]) == (201, "labeler")
    again = api.post(MEMBERS, {"username": "mia", "role": "admin"})
    assert (again.status_code, again.json()["code"]) == (409, "already_member")
    assert RoleBinding.objects.get(user__username="mia").role == "labeler"
    assert AuditEvent.objects.filter(verb="role.granted", data__user="mia").count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"username": "nobody", "role": "viewer"}, "username"),
        ({"username": 7, "role": "viewer"}, "username"),
        ({"username": "", "role": "viewer"}, "username"),
        ({"username": "ada", "role": "owner"}, "role"),
        ({"username": "ada"}, "role"),
        ({"username": "ada", "role": "viewer", "is_superuser": True}, "is_superuser"),
    ],
)
def test_a_wrong_body_names_its_field(api: APIClient, body: dict[str, Any], field: str) -> None:
    answer = api.post(MEMBERS, body)
    assert (answer.status_code, field in answer.json()["errors"]) == (400, True)


@pytest.mark.parametrize("role", ["viewer", "labeler", "researcher"])
def test_only_administrators_see_or_change_members(project: Project, role: str) -> None:
    person = make_member(project, role)
    client = signed_in(person)
    one = f"{MEMBERS}{person.pk}/"
    calls = (client.get(MEMBERS), client.patch(one, {"role": "admin"}), client.delete(one))
    assert {answer.status_code for answer in calls} == {403}
    assert client.post(MEMBERS, {"username": person.username, "role": "admin"}).status_code == 403
    assert RoleBinding.objects.get(user=person).role == role


def test_a_token_that_only_writes_changes_no_role(project: Project, admin: User) -> None:
    person = make_member(project, "viewer")
    write = actions.create_token(admin, "ci", ["write"]).secret
    client = APIClient(headers={"Authorization": f"Bearer {write}"})
    assert client.get(MEMBERS).status_code == 200
    refused = client.patch(f"{MEMBERS}{person.pk}/", {"role": "admin"})
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")


def test_the_last_administrator_stays_until_there_is_another(
    api: APIClient, project: Project, admin: User
) -> None:
    one = f"{MEMBERS}{admin.pk}/"
    idle = make_member(project, "admin")
    User.objects.filter(pk=idle.pk).update(is_active=False)
    for answer in (api.delete(one), api.patch(one, {"role": "viewer"})):
        assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")
    other = make_user()
    actions.grant_role(other, "admin", project.unit)
    assert api.patch(one, {"role": "viewer"}).json()["role"] == "viewer"
    event = AuditEvent.objects.get(verb="role.changed")
    assert (event.data["before"], event.data["role"]) == ("admin", "viewer")


def test_a_role_from_above_is_changed_above(api: APIClient, project: Project, unit: Unit) -> None:
    person = make_user("zoe")
    actions.grant_role(person, "viewer", unit)
    refused = api.delete(f"{MEMBERS}{person.pk}/")
    assert (refused.status_code, refused.json()["code"]) == (409, "role_inherited")
    assert unit.name in refused.json()["detail"]
    stranger = make_user()
    assert api.delete(f"{MEMBERS}{stranger.pk}/").status_code == 404


def test_nothing_that_a_member_made_survives_their_removal(
    api: APIClient, project: Project, admin: User
) -> None:
    person, other = make_member(project, "researcher"), make_project()
    actions.grant_role(person, "viewer", other)
    bound = actions.create_token(person, "here", ["write"], project)
    free = actions.create_token(person, "free", ["write"])
    elsewhere = actions.create_token(person, "there", ["read"], other)
    actions.create_s3_key_pair(person, "rclone", project)
    assert api.delete(f"{MEMBERS}{person.pk}/").status_code == 204
    # Given back, the role brings no old key back.
    actions.grant_role(person, "researcher", project)
    kept = ApiToken.objects.filter(user=person, revoked_at=None)
    assert {token.pk for token in kept} == {free.token.pk, elsewhere.token.pk}
    assert bound.token.pk not in {token.pk for token in kept}
    assert S3KeyPair.objects.get().revoked_at is not None
    assert AuditEvent.objects.get(verb="token.revoked").actor == admin


def test_a_role_that_remains_through_a_unit_keeps_its_keys(
    api: APIClient, project: Project, unit: Unit
) -> None:
    person = make_member(project, "researcher")
    actions.grant_role(person, "viewer", unit)
    actions.create_token(person, "here", ["read"], project)
    assert api.delete(f"{MEMBERS}{person.pk}/").status_code == 204
    assert ApiToken.objects.get(user=person).revoked_at is None


@pytest.mark.parametrize("change", ["removed", "demoted", "deactivated"])
def test_what_a_labeler_held_is_anybodys_when_they_are_gone(
    project: Project, admin: User, change: str
) -> None:
    task = make_task(project=project, creator=admin)
    gone, stays = make_member(project, "labeler"), make_member(project, "labeler")
    lease_labels(task, gone, 1)
    lease_labels(task, stays, 1)
    if change == "removed":
        actions.remove_member(gone, project, admin)
    elif change == "demoted":
        actions.change_role(gone, "viewer", project, admin)
    else:
        User.objects.filter(pk=gone.pk).update(is_active=False)
    assert (open_departed(), open_departed()) == (1, 0)
    held = WorkSlot.objects.filter(state=states.LEASED)
    assert {slot.user for slot in held} == {stays}


def test_an_administrator_of_a_unit_names_its_members(unit: Unit) -> None:
    boss, person = make_user("boss"), make_user("mia")
    actions.grant_role(boss, "admin", unit)
    client = signed_in(boss)
    base = f"/api/v1/units/{unit.pk}/members/"
    assert client.post(base, {"username": "mia", "role": "viewer"}).status_code == 201
    assert client.patch(f"{base}{person.pk}/", {"role": "labeler"}).json()["role"] == "labeler"
    assert client.delete(f"{base}{boss.pk}/").json()["code"] == "last_administrator"
    assert client.delete(f"{base}{person.pk}/").status_code == 204


def test_people_of_other_organisations_are_not_suggested(api: APIClient, project: Project) -> None:
    near = make_member(make_project(unit=project.unit), "viewer", "mia-near")
    make_member(make_project(), "viewer", "mia-far")
    path = "/api/v1/projects/vision/candidates/"
    assert [row["username"] for row in api.get(path, {"q": "MIA"}).json()] == [near.username]
    assert api.get(path, {"q": "ada"}).json() == []
