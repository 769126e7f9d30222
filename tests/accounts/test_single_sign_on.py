"""Signing in through a provider: who is let in as whom, and that no liar is believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.apps import apps
from django.core import mail
from django.core.management import call_command
from django.test import Client
from joserfc.jwk import ECKey, OctKey
from pydantic import ValidationError

from atom.accounts.actions import create_token
from atom.accounts.actions.invitations import invite
from atom.accounts.actions.members import grant_role
from atom.accounts.actions.passwords import mail_reset, reset_link, set_password_by_link
from atom.accounts.actions.people import deactivate
from atom.accounts.api.oidc_views import safe_next
from atom.accounts.models import AuditEvent, ExternalIdentity, Invitation, Session, User
from atom.accounts.permissions import role_in
from atom.core import clock
from atom.settings.environment import Environment
from atom.settings.oidc import OidcSettings, parse_roles
from tests.accounts.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, serving
from tests.accounts.test_second_factor import code_now, log_in, set_up
from tests.factories.accounts import PASSWORD, make_member, make_project, make_unit, make_user

pytestmark = pytest.mark.django_db
OIDC = "/api/v1/auth/oidc/"
MIA = {
    "sub": "248289761001",
    "name": "Mia Lin",
    "preferred_username": "mia",
    "email": "mia@example.org",
    "email_verified": True,
    "locale": "zh-CN",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    with serving() as found:
        yield found


@pytest.fixture
def provider(server: Provider, settings: Any) -> Iterator[Provider]:
    """An honest provider that knows Mia; everybody whom it knows gets an account."""
    before = vars(server).copy()
    fresh = Provider(issuer=server.issuer, key=server.key, claims=dict(MIA))
    vars(server).update(vars(fresh))
    settings.ATOM_OIDC = OidcSettings(
        issuer=server.issuer,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        label="Example",
        newcomers="everybody",
    )
    yield server
    vars(server).update(before)


def visit(provider: Provider, next_: str = "/", client: Client | None = None) -> tuple[Client, Any]:
    """Go to the provider and come back; returns the browser and the answer to the callback."""
    client = client or Client()
    start = client.get(f"{OIDC}start/", {"next": next_})
    assert start["Location"].startswith(f"{provider.issuer}/authorize?"), start["Location"]
    return client, client.get(provider.authorize(start["Location"]))


def failure(answer: Any) -> str:
    where = urlsplit(answer["Location"])
    assert (answer.status_code, where.path) == (302, "/login")
    return str(parse_qs(where.query)["failed"][0])


def is_in(client: Client) -> bool:
    return bool(client.get("/api/v1/auth/session/").json()["authenticated"])


def test_somebody_new_gets_an_account_without_any_role(provider: Provider) -> None:
    make_user("mia")
    offered = Client().get(OIDC).json()
    assert offered == {"is_on": True, "provider": "Example"}
    client, answer = visit(provider, "/runs?state=done")
    assert (answer.status_code, answer["Location"]) == (302, "/runs?state=done")
    me = client.get("/api/v1/auth/session/").json()["user"]
    # The name was taken; what the provider calls a person is no proof of being that person.
    assert (me["username"], me["full_name"], me["language"]) == ("mia-2", "Mia Lin", "zh")
    assert client.get("/api/v1/projects/").json()["results"] == []
    user = User.objects.get(username="mia-2")
    assert (user.has_usable_password(), user.is_superuser) == (False, False)
    left = Session.objects.get(user=user).expire_date - clock.now()
    assert left.total_seconds() <= 43_200
    assert AuditEvent.objects.filter(verb="user.created", object_id=str(user.pk)).exists()
    # Again: the same person, whatever has changed but the subject.
    provider.claims = {**MIA, "preferred_username": "root", "email": "other@example.org"}
    again, _ = visit(provider)
    assert again.get("/api/v1/auth/session/").json()["user"]["username"] == "mia-2"
    assert User.objects.count() == 2


def test_only_who_was_invited_gets_an_account_and_the_role(
    provider: Provider, settings: Any
) -> None:
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, newcomers="invited")
    project = make_project("vision")
    admin = make_member(project, "admin")
    _, answer = visit(provider)
    assert failure(answer) == "sso_nobody"
    invite(project, admin, "labeler", "MIA@example.org", 7)
    provider.claims["email_verified"] = False
    _, answer = visit(provider)
    assert failure(answer) == "sso_nobody"
    provider.claims["email_verified"] = True
    client, _ = visit(provider)
    assert role_in(User.objects.get(username="mia"), project) == "labeler"
    assert is_in(client)
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, newcomers="nobody")
    provider.claims = {**MIA, "sub": "2", "email": "kim@example.org"}
    invite(project, admin, "viewer", "kim@example.org", 7)
    assert failure(visit(provider)[1]) == "sso_nobody"


def test_an_account_of_the_same_address_is_linked_only_where_that_is_set(
    provider: Provider, settings: Any
) -> None:
    user = make_user("lin", email="Mia@example.org", email_proven_at=clock.now())
    assert failure(visit(provider)[1]) == "sso_address"
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, links_by_email=True)
    provider.claims["email_verified"] = "true"
    client, _ = visit(provider)
    # Not verified, so it is nobody's address.
    assert client.get("/api/v1/auth/session/").json()["user"]["username"] == "mia"
    provider.claims = {**MIA, "sub": "2"}
    client, _ = visit(provider)
    assert client.get("/api/v1/auth/session/").json()["user"]["username"] == "lin"
    event = AuditEvent.objects.get(verb="user.identity_linked")
    assert event.object_id == str(user.pk)


def account_by_link(project: Any, admin: Any, *, email: str = "", says: str = "") -> User:
    """Return the account that somebody made with a link which an administrator handed over."""
    link = invite(project, admin, "viewer", email, 7).link
    body = {"token": link.rsplit("/", 1)[-1], "username": "eve", "password": PASSWORD}
    answer = Client().post(
        "/api/v1/invitations/sign-up/", {**body, "email": says}, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    return User.objects.get(username="eve")


@pytest.mark.parametrize(
    "named", [{"says": "mia@example.org"}, {"email": "mia@example.org"}], ids=str
)
def test_an_address_that_nobody_has_proven_opens_no_account(
    provider: Provider, settings: Any, named: dict[str, str]
) -> None:
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, links_by_email=True)
    # The link is shown also where it is mailed, so that it proves nothing.
    settings.ATOM_SENDS_MAIL = True
    project = make_project("vision")
    user = account_by_link(project, make_member(project, "admin"), **named)
    assert failure(visit(provider)[1]) == "sso_address"
    assert not ExternalIdentity.objects.exists()
    call_command("prove_address", "eve")
    client, _ = visit(provider)
    assert client.get("/api/v1/auth/session/").json()["user"]["id"] == str(user.pk)


def test_who_came_by_the_mailed_link_is_known_by_the_address(
    provider: Provider, settings: Any
) -> None:
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, links_by_email=True)
    settings.ATOM_SENDS_MAIL = True
    project = make_project("vision")
    shown = invite(project, make_member(project, "admin"), "viewer", "mia@example.org", 7).link
    token = str(mail.outbox[0].body).partition("/invite/")[2].split()[0]
    assert token != shown.rsplit("/", 1)[-1]
    body = {"token": token, "username": "lin", "password": PASSWORD}
    path = "/api/v1/invitations/sign-up/"
    assert Client().post(path, body, content_type="application/json").status_code == 200
    client, _ = visit(provider)
    assert client.get("/api/v1/auth/session/").json()["user"]["username"] == "lin"


def test_a_mailed_link_for_the_password_proves_the_address_and_ends_older_keys(
    settings: Any,
) -> None:
    project = make_project("vision")
    user = account_by_link(project, make_member(project, "admin"), says="mia@example.org")
    token = create_token(user, "kept by who named the address", ["read"]).token
    set_password_by_link(reset_link(user).rsplit("/", 1)[-1], f"{PASSWORD} handed over")
    user.refresh_from_db()
    token.refresh_from_db()
    assert (user.email_proven_at, token.revoked_at) == (None, None)
    assert mail_reset(user.pk)
    mailed = str(mail.outbox[-1].body).partition("/reset/")[2].split()[0]
    set_password_by_link(mailed, f"{PASSWORD} of my own")
    user.refresh_from_db()
    token.refresh_from_db()
    assert user.email_proven_at is not None
    assert token.revoked_at is not None
    assert AuditEvent.objects.filter(verb="user.address_confirmed").exists()


def test_addresses_that_were_proven_before_the_upgrade_stay_proven(provider: Provider) -> None:
    project = make_project()
    admin = make_member(project, "admin")
    visit(provider)
    names = ("mailed", "handed", "none")
    for name in names:
        user = make_user(name, email=f"{name}@example.org" if name != "none" else "")
        sent = clock.now() if name == "mailed" else None
        invite(project, admin, "viewer", user.email, 7)
        Invitation.objects.filter(email=user.email).update(
            accepted_by=user, accepted_at=clock.now(), mailed_at=sent
        )
    User.objects.update(email_proven_at=None)
    migration = import_module("atom.accounts.migrations.0013_addresses_proven_before")
    for _ in range(2):
        migration.note_what_was_proven(apps, None)
    proven = User.objects.exclude(email_proven_at=None).values_list("username", flat=True)
    assert set(proven) == {"mia", "mailed"}


def test_a_deactivated_account_stays_out(provider: Provider, settings: Any) -> None:
    client, _ = visit(provider)
    user = User.objects.get(username="mia")
    deactivate(user, User.objects.create_superuser("root", password="x"))
    assert not is_in(client)
    assert failure(visit(provider)[1]) == "sso_deactivated"
    # Nor does another subject of the same address open it.
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, links_by_email=True)
    provider.claims["sub"] = "2"
    assert failure(visit(provider)[1]) == "sso_deactivated"


OTHER_KEY = ECKey.generate_key(parameters={"kid": "k"})


@pytest.mark.parametrize(
    "lie",
    [
        {"lies": {"nonce": "another"}},
        {"lies": {"nonce": None}},
        {"lies": {"iss": "https://evil.example"}},
        {"lies": {"aud": "another"}},
        {"lies": {"aud": [CLIENT_ID, "another"]}},
        {"lies": {"azp": "another"}},
        {"lies": {"exp": 1_000_000_000}},
        {"lies": {"exp": None}},
        {"lies": {"iat": 33_000_000_000}},
        {"lies": {"sub": None}},
        {"lies": {"sub": ""}},
        {"lies": {"sub": 7}},
        {"lies": {"sub": "s" * 256}},
        {"header": {"alg": "none"}},
        # Its public key taken for a shared secret, and the secret that we do share.
        {"header": {"alg": "HS256"}, "signs_with": OctKey.import_key(CLIENT_SECRET * 4)},
        {"header": {"alg": "ES256", "kid": "k"}, "signs_with": OTHER_KEY},
        {"claims": {"sub": "1"}, "userinfo": {"sub": "2", "email": "mia@example.org"}},
    ],
    # Keys have no words of their own, and every process has to name a test alike.
    ids=lambda lie: str({name: value for name, value in lie.items() if name != "signs_with"}),
)
def test_a_liar_lets_nobody_in(provider: Provider, lie: dict[str, Any]) -> None:
    vars(provider).update(lie)
    client, answer = visit(provider)
    assert failure(answer) == "sso_invalid"
    assert not is_in(client)
    assert not User.objects.exists()


def test_the_way_back_counts_once_and_in_the_browser_that_began(provider: Provider) -> None:
    client = Client()
    start = client.get(f"{OIDC}start/")
    back = provider.authorize(start["Location"])
    # Somebody else's browser: nobody is signed in as who sent the link.
    assert failure(Client().get(back)) == "sso_over"
    stranger, _ = visit(provider)
    assert failure(stranger.get(back)) == "sso_over"
    kept = client.cookies["atom_oidc"].value
    assert failure(client.get(back.replace("state=", "state=x"))) == "sso_over"
    client.cookies["atom_oidc"] = kept
    assert client.get(back)["Location"] == "/"
    client.cookies["atom_oidc"] = kept
    assert failure(client.get(back)) == "sso_over"


def test_a_code_of_another_visit_is_refused_by_the_verifier(provider: Provider) -> None:
    """The code of a victim, put into the thief's own visit."""
    victim, thief = Client(), Client()
    stolen = provider.authorize(victim.get(f"{OIDC}start/")["Location"])
    own = provider.authorize(thief.get(f"{OIDC}start/")["Location"])
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    state = parse_qs(urlsplit(own).query)["state"][0]
    answer = thief.get(f"{OIDC}callback/", {"code": code, "state": state})
    assert failure(answer) == "sso_invalid"
    assert not is_in(thief)


def test_what_the_provider_says_instead_of_a_code(provider: Provider, settings: Any) -> None:
    for error, reason in (("access_denied", "sso_denied"), ("server_error", "sso_provider")):
        client = Client()
        asked = parse_qs(urlsplit(client.get(f"{OIDC}start/")["Location"]).query)
        answer = client.get(f"{OIDC}callback/", {"error": error, "state": asked["state"][0]})
        assert failure(answer) == reason
    provider.metadata = {"issuer": "https://evil.example"}
    assert failure(Client().get(f"{OIDC}start/")) == "sso_provider"
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, issuer="http://127.0.0.1:1")
    assert failure(Client().get(f"{OIDC}start/")) == "sso_provider"
    settings.ATOM_OIDC = OidcSettings()
    assert Client().get(OIDC).json() == {"is_on": False, "provider": ""}
    assert Client().get(f"{OIDC}start/").status_code == 404
    assert Client().get(f"{OIDC}callback/").status_code == 404


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/runs/1?tab=log", "/runs/1?tab=log"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("/\t/evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
        ("/" + "a" * 3000, "/"),
    ],
)
def test_it_leads_nowhere_but_to_this_site(path: str, target: str) -> None:
    assert safe_next(path) == target


def test_a_second_factor_is_asked_for_unless_the_provider_did(provider: Provider) -> None:
    client, _ = visit(provider)
    user = User.objects.get(username="mia")
    user.set_password("correct horse battery staple")
    user.save()
    here, _ = log_in(user)
    secret, _ = set_up(here)
    client, answer = visit(provider, "/models")
    assert answer["Location"] == "/login?step=code&next=%2Fmodels"
    assert not is_in(client)
    path = "/api/v1/auth/login/code/"
    body = {"code": code_now(secret)}
    assert client.post(path, body, content_type="application/json").status_code == 200
    assert is_in(client)
    provider.claims["amr"] = ["pwd", "mfa"]
    client, answer = visit(provider)
    assert is_in(client)


def test_who_has_no_password_sets_one_up_after_a_fresh_sign_in(
    provider: Provider, settings: Any
) -> None:
    settings.ATOM_SECOND_FACTOR = "everybody"
    client, _ = visit(provider)
    assert client.get("/api/v1/projects/").json()["code"] == "second_factor_missing"
    path = "/api/v1/auth/second-factor/"
    assert client.get(path).json()["has_password"] is False
    Session.objects.update(created_at="2020-01-01T00:00:00Z")
    old = client.post(path, {}, content_type="application/json")
    assert (old.status_code, old.json()["code"]) == (403, "sign_in_again")
    client, _ = visit(provider)
    assert client.post(path, {}, content_type="application/json").status_code == 200
    # A provider that asked for several factors is enough.
    provider.claims["amr"] = ["mfa"]
    client, _ = visit(provider)
    assert client.get("/api/v1/projects/").status_code == 200


def test_groups_give_and_take_roles_in_the_places_that_are_named(
    provider: Provider, settings: Any
) -> None:
    vision, unit, other = make_project("vision"), make_unit(), make_project("other")
    settings.ATOM_OIDC = replace(
        settings.ATOM_OIDC,
        roles=parse_roles(
            f"ml=viewer@project:vision, leads = admin@project:vision, "
            f"ops=labeler@unit:{unit.pk}, ml=viewer@project:nowhere"
        ),
    )
    provider.claims["groups"] = ["ml", "leads", "ops", "others"]
    visit(provider)
    user = User.objects.get(username="mia")
    grant_role(user, "researcher", other)
    below = make_project(unit=unit)
    assert [role_in(user, one) for one in (vision, below, other)] == [
        "admin", "labeler", "researcher",
    ]  # fmt: skip
    # The last administrator stays one, and can sign in.
    provider.claims["groups"] = "ml"
    client, _ = visit(provider)
    assert is_in(client)
    assert [role_in(user, one) for one in (vision, below)] == ["admin", None]
    make_admin = make_user()
    grant_role(make_admin, "admin", vision)
    visit(provider)
    assert role_in(user, vision) == "viewer"
    provider.claims["groups"] = {"strange": 1}
    visit(provider)
    assert [role_in(user, one) for one in (vision, other)] == [None, "researcher"]


def test_signing_out_leads_to_the_provider_where_that_is_set(
    provider: Provider, settings: Any
) -> None:
    client, _ = visit(provider)
    assert client.post("/api/v1/auth/logout/").json() == {"provider_url": None}
    settings.ATOM_OIDC = replace(settings.ATOM_OIDC, ends_provider_session=True)
    client, _ = visit(provider)
    url = client.post("/api/v1/auth/logout/").json()["provider_url"]
    assert url.startswith(f"{provider.issuer}/out?client_id=atom&post_logout_redirect_uri=http")
    assert not is_in(client)


def test_there_is_no_password_to_forget(provider: Provider, settings: Any) -> None:
    settings.ATOM_SENDS_MAIL = True
    visit(provider)
    body = {"email": MIA["email"]}
    asked = Client().post("/api/v1/auth/forgotten/", body, content_type="application/json")
    assert asked.status_code == 204
    assert mail.outbox == []


def test_strange_names_and_userinfo(provider: Provider) -> None:
    provider.claims = {"sub": "3"}
    provider.userinfo = {
        "sub": "3", "email": "no address", "email_verified": True, "name": "n" * 500,
        "preferred_username": "  <b>\0 me@corp ",
    }  # fmt: skip
    client, _ = visit(provider)
    assert is_in(client)
    user = ExternalIdentity.objects.get().user
    assert (user.username, user.email, len(user.full_name)) == ("b-me-corp", "", 200)


@pytest.mark.parametrize(
    "wrong",
    [
        {"atom_oidc_issuer": "http://login.example.org"},
        {"atom_oidc_issuer": "login.example.org"},
        {"atom_oidc_issuer": "https://login.example.org/?x=1"},
        {"atom_oidc_roles": "ml=owner@project:vision"},
        {"atom_oidc_roles": "ml=viewer@vision"},
        {"atom_oidc_roles": "ml=viewer@unit:7"},
    ],
)
def test_settings_that_could_not_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Environment(**wrong)
