"""Invitations: one link, one account, one role."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from atom.accounts import actions
from atom.accounts.actions.invitations import invite
from atom.accounts.actions.people import deactivate
from atom.accounts.models import AuditEvent, Invitation, Project, RoleBinding, User
from atom.core import clock
from atom.core.crypto import sign
from tests.factories.accounts import make_member, make_project, make_user

pytestmark = pytest.mark.django_db

AT = "/api/v1/projects/vision/invitations/"
OPEN, SIGN_UP, ACCEPT = (f"/api/v1/invitations/{name}/" for name in ("open", "sign-up", "accept"))
JSON = "application/json"
NEW = {"username": "mia", "full_name": "Mia", "password": "a lamp in the fog 9"}


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def admin(project: Project) -> User:
    return make_member(project, "admin", "ada")


@pytest.fixture
def api(admin: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin)
    return client


def invited(api: APIClient, **body: Any) -> tuple[dict[str, Any], str]:
    answer = api.post(AT, {"role": "labeler", **body})
    assert answer.status_code == 201, answer.content
    made = answer.json()
    return made, made["link"].rsplit("/", 1)[-1]


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(path, body, content_type=JSON)


def test_a_link_makes_one_account_with_its_role(
    api: APIClient, client: Client, project: Project
) -> None:
    made, token = invited(api, email="Mia@example.org")
    assert made["mail"] == "off"
    offer = post(client, OPEN, token=token).json()
    assert (offer["place"], offer["role"], offer["invited_by"]) == (project.name, "labeler", "ada")
    done = post(client, SIGN_UP, token=token, **NEW)
    assert (done.status_code, done.json()["project"]) == (200, "vision")
    user = User.objects.get(username="mia")
    assert (user.email, user.is_superuser, user.check_password(NEW["password"])) == (
        "Mia@example.org", False, True,
    )  # fmt: skip
    assert client.get("/api/v1/auth/session/").json()["user"]["username"] == "mia"
    assert RoleBinding.objects.get(user=user).role == "labeler"
    used = post(Client(), SIGN_UP, token=token, **{**NEW, "username": "eve"})
    assert (used.status_code, used.json()["code"]) == (410, "invitation_used")
    assert api.get(AT).json()["results"] == []
    verbs = set(AuditEvent.objects.filter(project=project).values_list("verb", flat=True))
    assert {"invitation.created", "invitation.accepted", "role.granted"} <= verbs


def test_the_link_is_stored_nowhere(api: APIClient) -> None:
    made, token = invited(api)
    row = str(Invitation.objects.values().get()) + str(list(AuditEvent.objects.values()))
    assert token not in row
    assert token.split(".")[-1] not in row
    listed = api.get(AT).json()["results"][0]
    assert set(made) - set(listed) == {"link", "mail"}


def test_who_is_signed_in_accepts_and_keeps_a_higher_role(
    api: APIClient, client: Client, project: Project
) -> None:
    person, high = make_user(), make_member(project, "researcher")
    for user, role in ((person, "labeler"), (high, "researcher")):
        _, token = invited(api)
        client.force_login(user)
        assert post(client, ACCEPT, token=token).json()["project"] == "vision"
        assert RoleBinding.objects.get(user=user).role == role
    secret = actions.create_token(person, "ci", ["admin"]).secret
    _, token = invited(api, role="admin")
    program = APIClient(headers={"Authorization": f"Bearer {secret}"})
    assert program.post(ACCEPT, {"token": token}).status_code == 401


@pytest.mark.parametrize("end", ["expired", "revoked", "renewed", "demoted", "deactivated"])
def test_a_link_that_is_over_says_so(
    api: APIClient, client: Client, admin: User, project: Project, end: str
) -> None:
    made, token = invited(api)
    one = f"{AT}{made['id']}/"
    if end == "expired":
        past = clock.now() - timedelta(seconds=1)
        Invitation.objects.update(expires_at=past)
    elif end == "revoked":
        assert [api.delete(one).status_code for _ in range(2)] == [204, 204]
    elif end == "renewed":
        again = api.post(f"{one}renewals/").json()
        assert post(client, OPEN, token=again["link"].rsplit("/", 1)[-1]).status_code == 200
    elif end == "demoted":
        root = make_member(project, "admin")
        actions.change_role(admin, "viewer", project, root)
        actions.change_role(admin, "admin", project, root)
    else:
        deactivate(admin, User.objects.create_superuser("root", password="x"))
    code = "invitation_expired" if end == "expired" else "invitation_revoked"
    for path, body in ((OPEN, {}), (SIGN_UP, NEW)):
        answer = post(client, path, token=token, **body)
        assert (answer.status_code, answer.json()["code"]) == (410, code)
        assert project.name not in answer.content.decode()
    assert not User.objects.filter(username="mia").exists()


def test_guessing_links_is_slowed_down(api: APIClient, client: Client) -> None:
    _, token = invited(api)
    forged = [sign({"id": "x"}, "other"), token[:-2] + "AA", "nonsense", "a.b"]
    for wrong in forged:
        answer = post(client, OPEN, token=wrong)
        assert (answer.status_code, answer.json()["code"]) == (404, "invitation_unknown")
    for _ in range(30 - len(forged)):
        post(client, OPEN, token="x")
    answer = post(client, OPEN, token=token)
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_guesses")


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"password": "short"}, "password", "password_too_short"),
        ({"password": "1234567890123"}, "password", "password_entirely_numeric"),
        ({"username": "miamiamia", "password": "miamiamia1"}, "password", "password_too_similar"),
        ({"password": " " * 12}, "password", "password_too_uniform"),
        ({"username": "a b"}, "username", "username_characters"),
        ({"username": "ci@vision"}, "username", "programs_name"),
        ({"username": "Ci@unit-1a2b3c"}, "username", "programs_name"),
        ({"username": 7}, "username", None),
        ({"email": "nowhere"}, "email", None),
        ({"is_superuser": True}, "is_superuser", "unknown_field"),
        ({"role": "admin"}, "role", "unknown_field"),
    ],
)
def test_a_wrong_account_names_its_field(
    api: APIClient, client: Client, body: dict[str, Any], field: str, code: str | None
) -> None:
    _, token = invited(api)
    answer = post(client, SIGN_UP, token=token, **{**NEW, **body})
    assert answer.status_code == 400
    codes = [one["code"] for one in answer.json()["error_codes"][field]]
    assert code is None or code in codes
    assert Invitation.objects.get().accepted_at is None


def test_an_address_may_be_a_name(api: APIClient, client: Client) -> None:
    _, token = invited(api)
    assert (
        post(client, SIGN_UP, token=token, **{**NEW, "username": "mia@corp.org"}).status_code == 200
    )


def test_one_address_is_one_account(api: APIClient, client: Client, admin: User) -> None:
    make_user("first", email="mia@example.org")
    _, token = invited(api, email="MIA@example.org")
    answer = post(client, SIGN_UP, token=token, **NEW)
    assert (answer.status_code, answer.json()["code"]) == (409, "account_exists")
    _, free = invited(api)
    answer = post(client, SIGN_UP, token=free, **{**NEW, "username": "FIRST"})
    assert (answer.status_code, answer.json()["code"]) == (409, "already_exists")
    User.objects.filter(pk=admin.pk).update(email="ada@example.org")
    answer = api.post(AT, {"role": "viewer", "email": "ada@EXAMPLE.org"})
    assert (answer.status_code, answer.json()["code"]) == (409, "already_member")


def test_with_a_mail_server_the_link_is_mailed(
    api: APIClient, client: Client, settings: Any
) -> None:
    settings.ATOM_SENDS_MAIL = True
    made, token = invited(api, email="mia@example.org")
    assert made["mail"] == "sent"
    (sent,) = mail.outbox
    assert sent.to == ["mia@example.org"]
    mailed = str(sent.body).partition("/invite/")[2].split()[0]
    # Another one than is shown: only who reads the mail has it.
    assert mailed != token
    for either in (mailed, token):
        assert post(client, OPEN, token=either).json()["email"] == "mia@example.org"
    again, other = invited(api, email="MIA@example.org", role="viewer")
    assert (again["id"], again["role"], other == token) == (made["id"], "viewer", False)
    assert post(client, OPEN, token=mailed).status_code == 410
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    failed, _ = invited(api, email="bo@example.org")
    assert (failed["mail"], failed["mailed_at"]) == ("failed", None)


@pytest.mark.parametrize("body", [{"role": "owner"}, {"email": "x"}, {"days": 0}, {"days": 365}])
def test_a_wrong_invitation_is_refused(api: APIClient, body: dict[str, Any]) -> None:
    assert api.post(AT, {"role": "viewer", **body}).status_code == 400


def test_an_invitation_of_one_project_is_not_anothers(api: APIClient, admin: User) -> None:
    other = make_project("other")
    boss = make_member(other, "admin")
    client = APIClient()
    client.force_authenticate(boss)
    made, _ = invited(api)
    path = f"/api/v1/projects/other/invitations/{made['id']}/"
    assert client.delete(path).status_code == 404
    assert client.post(f"{path}renewals/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_invitations_of_one_address_at_once_leave_one_link(
    project: Project, admin: User
) -> None:
    start = threading.Barrier(4)

    def ask() -> None:
        try:
            start.wait()
            invite(project, admin, "viewer", "mia@example.org", 7)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(start.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Invitation.objects.pending().filter(project=project).count() == 1
