"""One's sessions and password; what administrators of the installation may do with a person."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.core import mail
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from atom.accounts import actions
from atom.accounts.actions.passwords import mail_reset, reset_link
from atom.accounts.engines.user_agents import describe
from atom.accounts.models import ApiToken, AuditEvent, Session, User
from atom.accounts.routing import websocket_urlpatterns
from tests.factories.accounts import PASSWORD, make_member, make_project, make_unit, make_user
from tests.websockets import WebSocketClient

pytestmark = pytest.mark.django_db
JSON = "application/json"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
NEW = "a lamp in the fog 9"


def browser(user: User, agent: str = FIREFOX) -> Client:
    client = Client(headers={"User-Agent": agent})
    body = {"username": user.username, "password": PASSWORD}
    assert client.post("/api/v1/auth/login/", body, content_type=JSON).status_code == 200
    return client


def is_in(client: Client) -> bool:
    return bool(client.get("/api/v1/auth/session/").json()["authenticated"])


def root() -> APIClient:
    client = APIClient()
    client.force_authenticate(User.objects.create_superuser("root", password="x"))
    return client


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, ("Firefox", "Linux")),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/1 Safari/1 Edg/1", ("Edge", "Windows")),
        ("Mozilla/5.0 (iPhone; like Mac OS X) Version/1 Safari/1", ("Safari", "iPhone")),
        ("something else", ("", "")),
    ],
)
def test_a_browser_is_named_in_plain_words(agent: str, words: tuple[str, str]) -> None:
    assert describe(agent) == words


def test_one_sees_ones_own_sessions_and_ends_them(client: Client) -> None:
    user = make_user()
    here, there, third = browser(user), browser(user, "curl/8"), browser(user)
    stranger = browser(make_user())
    rows = here.get("/api/v1/sessions/").json()["results"]
    assert [row["is_current"] for row in rows] == [False, False, True]
    assert (rows[2]["browser"], rows[2]["system"]) == ("Firefox", "Linux")
    assert rows[2]["ip_address"] == "127.0.0.1"
    assert rows[2]["last_seen_at"] is not None
    keys = set(Session.objects.values_list("session_key", flat=True))
    assert not any(key in str(rows) for key in keys)
    assert stranger.delete(f"/api/v1/sessions/{rows[1]['id']}/").status_code == 404
    assert here.delete(f"/api/v1/sessions/{rows[1]['id']}/").status_code == 204
    assert [is_in(one) for one in (here, there, third)] == [True, False, True]
    assert here.post("/api/v1/sessions/end-others/").status_code == 204
    assert [is_in(one) for one in (here, third, stranger)] == [True, False, True]


def test_programs_do_not_see_sessions() -> None:
    secret = actions.create_token(make_user(), "ci", ["admin"]).secret
    program = APIClient(headers={"Authorization": f"Bearer {secret}"})
    assert program.get("/api/v1/sessions/").status_code == 401


def change(client: Client, current: str, new: str) -> Any:
    body = {"current_password": current, "new_password": new}
    return client.post("/api/v1/auth/password/", body, content_type=JSON)


def test_a_new_password_ends_all_other_sessions() -> None:
    user = make_user()
    here, there = browser(user), browser(user)
    wrong = change(here, "wrong", NEW)
    assert wrong.json()["error_codes"]["current_password"][0]["code"] == "wrong_password"
    weak = change(here, PASSWORD, "short")
    assert weak.json()["error_codes"]["new_password"][0]["code"] == "password_too_short"
    assert change(here, PASSWORD, NEW).status_code == 204
    assert (is_in(here), is_in(there)) == (True, False)
    assert Session.objects.filter(user=user).count() == 1
    user.refresh_from_db()
    assert user.check_password(NEW)
    assert NEW not in str(list(AuditEvent.objects.values()))


def test_the_present_password_cannot_be_guessed_at() -> None:
    here = browser(make_user())
    assert [change(here, "wrong", NEW).status_code for _ in range(11)] == [400] * 10 + [429]


def test_a_forgotten_password_is_set_by_a_link_from_the_mail(client: Client, settings: Any) -> None:
    user = make_user("mia", email="mia@example.org")
    ask = {"email": "MIA@example.org"}
    path = "/api/v1/auth/forgotten/"
    assert client.post(path, ask, content_type=JSON).json()["code"] == "mail_off"
    assert client.get(path).json() == {"sends_mail": False}
    settings.ATOM_SENDS_MAIL = True
    nobody = client.post(path, {"email": "no@example.org"}, content_type=JSON)
    assert (nobody.status_code, nobody.content) == (204, b"")
    # Signing in makes links worthless that were asked for before.
    old = browser(user)
    assert mail_reset(user.pk)
    token = str(mail.outbox[0].body).partition("/reset/")[2].split()[0]
    opened = client.post("/api/v1/auth/reset/open/", {"token": token}, content_type=JSON)
    assert opened.json() == {"username": "mia"}
    body = {"token": token, "password": NEW}
    assert client.post("/api/v1/auth/reset/", body, content_type=JSON).status_code == 204
    assert not is_in(old)
    again = client.post("/api/v1/auth/reset/", body, content_type=JSON)
    assert (again.status_code, again.json()["code"]) == (410, "reset_link_invalid")


@pytest.mark.parametrize("wrong", ["x", "0" * 32 + "-abc-def", "-", "a" * 400])
def test_a_wrong_link_sets_no_password(client: Client, wrong: str) -> None:
    body = {"token": wrong, "password": NEW}
    answer = client.post("/api/v1/auth/reset/", body, content_type=JSON)
    assert (answer.status_code, answer.json()["code"]) == (410, "reset_link_invalid")


def test_an_administrator_hands_over_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    person = make_user("mia")
    answer = root().post(f"/api/v1/people/{person.pk}/reset-link/")
    assert answer.status_code == 201
    token = answer.json()["link"].rsplit("/", 1)[-1]
    assert token not in str(list(AuditEvent.objects.values()))
    assert AuditEvent.objects.filter(verb="user.reset_link_created").exists()
    call_command("reset_link", "mia")
    assert "/reset/" in capsys.readouterr().out


def test_a_deactivated_person_is_out_everywhere_until_let_in_again() -> None:
    person = make_member(make_project())
    here = browser(person)
    token = actions.create_token(person, "ci", ["read"])
    link = reset_link(person).rsplit("/", 1)[-1]
    admin = root()
    one = f"/api/v1/people/{person.pk}/"
    assert admin.patch(one, {"is_active": False}).json()["is_active"] is False
    assert not is_in(here)
    assert Client().post(
        "/api/v1/auth/reset/", {"token": link, "password": NEW}, content_type=JSON
    ).status_code == 410  # fmt: skip
    assert admin.patch(one, {"is_active": True}).json()["role_count"] == 1
    assert ApiToken.objects.get(pk=token.token.pk).revoked_at is not None
    assert not is_in(here)
    verbs = AuditEvent.objects.filter(object_id=str(person.pk)).values_list("verb", flat=True)
    assert {"user.deactivated", "user.reactivated", "session.ended"} <= set(verbs)


def test_nobody_deactivates_themselves_or_becomes_administrator_by_a_field() -> None:
    admin = root()
    me = User.objects.get(username="root")
    refused = admin.patch(f"/api/v1/people/{me.pk}/", {"is_active": False})
    assert (refused.status_code, refused.json()["code"]) == (409, "own_account")
    person = make_user()
    for field in ("is_superuser", "is_admin", "is_staff"):
        body = {"is_active": True, field: True}
        assert admin.patch(f"/api/v1/people/{person.pk}/", body).status_code == 400
    mine = APIClient()
    mine.force_authenticate(person)
    for field in ("is_superuser", "is_admin", "is_active", "email", "username"):
        mine.patch("/api/v1/users/me/", {field: "true"})
    person.refresh_from_db()
    assert (person.is_superuser, person.is_active, person.email) == (False, True, "")


def test_ones_own_name_is_a_line_and_ones_language_one_that_is_spoken() -> None:
    person = make_user()
    mine = APIClient()
    mine.force_authenticate(person)
    me = "/api/v1/users/me/"
    for wrong in (
        {"full_name": "Ada\nYour invitation"},
        {"full_name": "a\u202eb"},
        {"full_name": 7},
    ):
        assert list(mine.patch(me, wrong, format="json").json()["errors"]) == ["full_name"]
    for language in ("xx", "", 7):
        refused = mine.patch(me, {"language": language}, format="json")
        assert list(refused.json()["errors"]) == ["language"], language
    changed = mine.patch(me, {"full_name": "Ada L", "language": "zh"}, format="json")
    assert changed.status_code == 200
    assert mine.patch(me, {"full_name": ""}, format="json").status_code == 200


def test_the_people_of_the_installation_are_for_its_administrators(
    django_assert_max_num_queries: Any,
) -> None:
    project = make_project()
    for _ in range(6):
        make_member(project)
    boss = APIClient()
    boss.force_authenticate(make_member(project, "admin", "boss"))
    assert boss.get("/api/v1/people/").status_code == 404
    admin = root()
    with django_assert_max_num_queries(3):
        rows = admin.get("/api/v1/people/").json()["results"]
    assert {row["username"]: row["role_count"] for row in rows}["boss"] == 1
    assert len(rows) == 8
    found = admin.get("/api/v1/people/", {"q": "BOSS", "state": "active"}).json()["results"]
    assert [row["username"] for row in found] == ["boss"]
    person = User.objects.get(username="boss")
    here = browser(person)
    assert admin.delete(f"/api/v1/people/{person.pk}/sessions/").status_code == 204
    assert not is_in(here)


@pytest.mark.parametrize("change", ["removed", "moved"])
@pytest.mark.django_db(transaction=True)
async def test_an_open_page_hears_nothing_after_its_person_was_removed(change: str) -> None:
    project = await sync_to_async(make_project)()
    member = await sync_to_async(make_user)()
    scope = project if change == "removed" else project.unit
    await sync_to_async(actions.grant_role)(member, "viewer", scope)
    admin = await sync_to_async(make_member)(project, "admin")
    routes = URLRouter(websocket_urlpatterns)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await routes({**scope, "user": member}, receive, send)

    socket = WebSocketClient(application, f"/ws/projects/{project.slug}/")
    assert await socket.connect() is None
    assert await socket.receive_json() == {"type": "hello"}
    if change == "removed":
        await sync_to_async(actions.remove_member)(member, project, admin)
    else:
        elsewhere = await sync_to_async(make_unit)()
        await sync_to_async(actions.move_project)(project, elsewhere, admin)
    with pytest.raises(ConnectionError, match="4404"):
        await socket.receive_json()
