"""Sessions that somebody else chose, names that would write headers, hosts that are not ours."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.core import mail
from django.test import Client

from atom.accounts.models import Session
from atom.core.storage import objects
from atom.gateway.links import MediaLink
from tests.accounts.test_second_factor import code_now, set_up
from tests.factories.accounts import PASSWORD, make_member, make_project, make_user

AUTH = "/api/v1/auth/"
COOKIE = "atom_session"
CHOSEN = "a" * 32
NEW = "another correct horse battery"
HOSTILE = (
    'a"; filename="b.html',
    "a\r\nSet-Cookie: atom_session=x",
    "a\r\n\r\n<script>",
    "a\0b",
    "a\u2028b",
    "gnp.\u202eexe.png",
    "größe 空白.png",
    "../../etc/passwd",
    "%0d%0aX: y",
)


def _key(client: Client) -> str:
    return client.cookies[COOKIE].value


def _is_in(key: str) -> bool:
    """Return whether whoever knows the key is signed in by it."""
    other = Client()
    other.cookies[COOKIE] = key
    return bool(other.get(f"{AUTH}session/").json()["authenticated"])


def _post(client: Client, path: str, **body: Any) -> Any:
    return client.post(AUTH + path, body, content_type="application/json")


@pytest.mark.django_db
def test_a_key_that_was_known_before_opens_nothing_after() -> None:
    make_user("mia")
    client = Client()
    client.cookies[COOKIE] = CHOSEN
    _post(client, "login/", username="mia", password=PASSWORD)
    keys = [CHOSEN, _key(client)]
    secret, _ = set_up(client)
    keys.append(_key(client))
    _post(client, "password/", current_password=PASSWORD, new_password=NEW)
    keys.append(_key(client))
    assert len(set(keys)) == 4
    assert [_is_in(key) for key in keys] == [False, False, False, True]
    # The first of two steps makes no session, whatever key came with it.
    again = Client()
    again.cookies[COOKIE] = keys[-1]
    assert _post(again, "login/", username="mia", password=NEW).status_code == 401
    assert _post(again, "login/code/", code=code_now(secret)).status_code == 200
    assert _key(again) not in keys
    _post(again, "logout/")
    assert Session.objects.filter(session_key=_key(again)).count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_mail_leads_to_the_configured_address_whatever_host_was_asked(settings: Any) -> None:
    settings.ATOM_SENDS_MAIL, settings.ATOM_PUBLIC_URL = True, "https://atom.example"
    user = make_member(make_project("vision"), "admin", "owner")
    user.email = "owner@example.test"
    user.save()
    body, path = {"email": user.email}, f"{AUTH}forgotten/"
    for host in ("evil.example", "testserver:80@evil.example", "testserver.evil.example", ""):
        answer = Client(headers={"Host": host}).post(path, body, content_type="application/json")
        assert answer.status_code == 400, host
    assert mail.outbox == []
    forwarded = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    answer = Client(headers=forwarded).post(path, body, content_type="application/json")
    assert answer.status_code < 300
    (sent,) = mail.outbox
    assert "https://atom.example/reset/" in sent.body
    assert "evil" not in str(sent.message())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_more_than_a_name(name: str) -> None:
    """The name of a downloaded file, from the gateway or from the store itself."""
    link = MediaLink("k", 0, 1, "image/png", "d", 0, download=True, name=name, pin=None)
    stored = httpx.URL(objects().presign_get("k", filename=name))
    for said in (link.disposition, stored.params["response-content-disposition"]):
        kind, _, rest = said.partition("; ")
        assert (kind, rest[: len("filename*=UTF-8''")]) == ("attachment", "filename*=UTF-8''")
        assert said.isascii()
        assert not set(said) & set('\r\n\0"\\<>')
        assert said.count(";") == 1


@pytest.mark.django_db
@pytest.mark.parametrize("target", ["//evil.example", "/\\evil.example", "https://evil.example/"])
def test_the_administration_sends_nobody_elsewhere(client: Client, target: str) -> None:
    for signed_in in (False, True):
        if signed_in:
            client.force_login(make_user(f"root{len(target)}", is_superuser=True, is_staff=True))
        answer = client.get("/admin/login/", {"next": target})
        assert answer["Location"].startswith(("/login?", "/admin/"))
