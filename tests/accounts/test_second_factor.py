"""A second factor: set up, asked for at the door, lost, and demanded by the installation."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.engines.one_time_codes import STEP_S, code_at, matching_step
from atom.accounts.models import AuditEvent, RecoveryCode, SecondFactor, Session, User
from atom.accounts.permissions import PROOF
from atom.core import clock
from atom.settings.rates import parse_rate
from tests.factories.accounts import PASSWORD, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
JSON = "application/json"
AUTH = "/api/v1/auth/"
MINE = "/api/v1/auth/second-factor/"
# Until a request that was begun now is looked at, on a busy machine.
ENOUGH_S = 3
# RFC 6238, appendix B.
RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(path, body, content_type=JSON)


def log_in(user: User, client: Client | None = None) -> tuple[Client, Any]:
    client = client or Client()
    return client, post(client, f"{AUTH}login/", username=user.username, password=PASSWORD)


def set_up(client: Client) -> tuple[str, list[str]]:
    """Set up a second factor. Its last step is the one before now, so that now's code counts."""
    secret = post(client, MINE, password=PASSWORD).json()["secret"]
    # The step before now is no more near to now once the present one has ended.
    if (left_s := STEP_S - clock.now().timestamp() % STEP_S) < ENOUGH_S:
        time.sleep(left_s)
    done = post(client, f"{MINE}confirm/", code=code_at(secret, earlier()))
    assert done.status_code == 200, done.content
    return secret, done.json()["recovery_codes"]


def earlier() -> float:
    return clock.now().timestamp() - STEP_S


def code_now(secret: str) -> str:
    return code_at(secret, clock.now().timestamp())


def is_in(client: Client) -> bool:
    return bool(client.get(f"{AUTH}session/").json()["authenticated"])


@pytest.mark.parametrize(("at_s", "code"), [(1111111109, "081804"), (1234567890, "005924")])
def test_codes_are_those_of_the_standard(at_s: int, code: str) -> None:
    assert code_at(RFC_SECRET, at_s) == code
    for off_s in (-STEP_S, 0, STEP_S):
        assert matching_step(RFC_SECRET, code, at_s + off_s) == at_s // STEP_S
    assert matching_step(RFC_SECRET, code, at_s + 2 * STEP_S) is None


def test_a_second_factor_is_set_up_and_asked_for() -> None:
    user = make_user("mia")
    there, _ = log_in(user)
    here, _ = log_in(user)
    wrong = post(here, MINE, password="wrong")
    assert wrong.json()["error_codes"]["password"][0]["code"] == "wrong_password"
    assert post(here, MINE).json()["error_codes"]["password"][0]["code"] == "required"
    offer = post(here, MINE, password=PASSWORD).json()
    assert re.fullmatch("[A-Z2-7]{32}", offer["secret"])
    assert f"secret={offer['secret']}" in offer["uri"]
    assert offer["picture"].startswith("data:image/svg+xml")
    # Nothing is asked for before a code has confirmed that the authenticator knows the secret.
    assert log_in(user)[1].status_code == 200
    refused = post(here, f"{MINE}confirm/", code="000000x")
    assert refused.json()["error_codes"]["code"][0]["code"] == "wrong_code"
    done = post(here, f"{MINE}confirm/", code=code_at(offer["secret"], earlier()))
    assert len(set(done.json()["recovery_codes"])) == 10
    assert (is_in(here), is_in(there)) == (True, False)
    stored = str(list(SecondFactor.objects.values())) + str(list(RecoveryCode.objects.values()))
    assert not any(one in stored for one in (offer["secret"], *done.json()["recovery_codes"]))
    assert offer["secret"] not in str(list(AuditEvent.objects.values()))
    state = here.get(MINE).json()
    assert (state["is_on"], state["recovery_codes_left"]) == (True, 10)

    door, answer = log_in(user)
    assert (answer.status_code, answer.json()["code"]) == (401, "second_factor_required")
    assert not is_in(door)
    assert not Session.objects.filter(user=None).exists()
    assert post(door, f"{AUTH}login/code/", code=code_now(offer["secret"])).status_code == 200
    assert is_in(door)
    assert door.session[PROOF] == "code"


def test_a_code_counts_once_and_not_without_the_password() -> None:
    user = make_user()
    here, _ = log_in(user)
    secret, (recovery, *_) = set_up(here)
    code = code_now(secret)
    stranger = Client()
    over = post(stranger, f"{AUTH}login/code/", code=code)
    assert (over.status_code, over.json()["code"]) == (410, "sign_in_over")
    door, _ = log_in(user)
    for right, again in ((code, code), (f" {recovery.upper()} ".replace("-", " "), recovery)):
        door, _ = log_in(user, door)
        assert post(door, f"{AUTH}login/code/", code=right).status_code == 200
        assert post(door, f"{AUTH}login/code/", code=again).status_code == 410
        log_in(user, door)
        refused = post(door, f"{AUTH}login/code/", code=again)
        assert refused.json()["error_codes"]["code"][0]["code"] == "wrong_code"
    assert here.get(MINE).json()["recovery_codes_left"] == 9
    assert AuditEvent.objects.filter(verb="user.recovery_code_used").count() == 1


def test_what_a_browser_keeps_between_the_steps_ends_with_the_password() -> None:
    user = make_user()
    here, _ = log_in(user)
    secret, _ = set_up(here)
    door, _ = log_in(user)
    kept = door.cookies["atom_sign_in"]
    assert (kept["httponly"], kept["samesite"], kept["path"]) == (True, "Lax", f"{AUTH}login/")
    assert str(user.pk) not in kept.value
    user.set_password("another lamp in the fog")
    user.save()
    assert post(door, f"{AUTH}login/code/", code=code_now(secret)).status_code == 410
    door.cookies["atom_sign_in"] = kept.value[:-4] + "AAAA"
    assert post(door, f"{AUTH}login/code/", code=code_now(secret)).status_code == 410


def test_codes_are_not_guessed_at_whatever_the_address(settings: Any) -> None:
    settings.ATOM_RATE_SECOND_FACTOR = parse_rate("3/h")
    user = make_user()
    secret, _ = set_up(log_in(user)[0])
    door, _ = log_in(user)
    guesses = [
        door.post(
            f"{AUTH}login/code/", {"code": "000000"}, content_type=JSON, REMOTE_ADDR=f"10.0.0.{n}"
        ).status_code
        for n in range(4)
    ]
    assert guesses == [400, 400, 400, 429]
    assert post(door, f"{AUTH}login/code/", code=code_now(secret)).status_code == 429


@pytest.mark.parametrize("proof", ["password", "code"])
def test_recovery_codes_are_made_anew_and_the_factor_is_turned_off(proof: str) -> None:
    user = make_user()
    here, _ = log_in(user)
    assert post(here, f"{MINE}off/", password=PASSWORD).json()["code"] == "second_factor_off"
    _, (old, spare, *_) = set_up(here)

    def shown(code: str) -> dict[str, str]:
        return {"password": PASSWORD} if proof == "password" else {"code": code}

    made = post(here, f"{MINE}recovery-codes/", **shown(old)).json()["recovery_codes"]
    assert len(made) == 10
    assert post(here, f"{MINE}off/", code=spare).status_code == 400
    assert post(here, f"{MINE}off/", password="wrong").status_code == 400
    assert post(here, f"{MINE}off/", **shown(made[0])).status_code == 204
    assert log_in(user)[1].status_code == 200
    assert not RecoveryCode.objects.exists()


def test_a_new_authenticator_takes_the_place_of_the_old_one() -> None:
    user = make_user()
    here, _ = log_in(user)
    old, _ = set_up(here)
    new, _ = set_up(here)
    door, _ = log_in(user)
    assert post(door, f"{AUTH}login/code/", code=code_now(old)).status_code == 400
    assert post(door, f"{AUTH}login/code/", code=code_now(new)).status_code == 200


def test_an_administrator_resets_a_lost_one(capsys: pytest.CaptureFixture[str]) -> None:
    person = make_user("mia")
    here, _ = log_in(person)
    set_up(here)
    root = APIClient()
    root.force_authenticate(User.objects.create_superuser("root", password="x"))
    other = APIClient()
    other.force_authenticate(make_member(make_project(), "admin"))
    path = f"/api/v1/people/{person.pk}/second-factor/"
    rows = root.get("/api/v1/people/").json()["results"]
    assert {row["username"]: row["has_second_factor"] for row in rows}["mia"] is True
    assert other.delete(path).status_code == 404
    assert root.delete(path).status_code == 204
    assert root.delete(path).status_code == 404
    assert not is_in(here)
    event = AuditEvent.objects.get(verb="user.second_factor_removed")
    assert (event.actor_name, event.object_id) == ("root", str(person.pk))
    here, answer = log_in(person)
    assert answer.status_code == 200
    set_up(here)
    call_command("reset_second_factor", "mia")
    assert "mia signs in without" in capsys.readouterr().out
    assert log_in(person)[1].status_code == 200


@pytest.mark.parametrize("whom", ["administrators", "everybody"])
def test_where_it_is_demanded_nothing_else_is_allowed_first(settings: Any, whom: str) -> None:
    settings.ATOM_SECOND_FACTOR = whom
    boss = User.objects.create_superuser("boss", password=PASSWORD)
    member = make_member(make_project("vision"))
    program = APIClient()
    secret = create_token(boss, "ci", ["read"]).secret
    program.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert program.get("/api/v1/projects/").status_code == 200
    theirs, _ = log_in(member)
    assert theirs.get("/api/v1/projects/").status_code == (200 if whom == "administrators" else 403)
    here, _ = log_in(boss)
    assert here.get(f"{AUTH}session/").json()["lacks_second_factor"] is True
    for path in ("/api/v1/projects/", "/api/v1/people/", "/api/v1/tokens/", "/api/v1/sessions/"):
        refused = here.get(path)
        assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_missing")
        # A wrong token beside the session opens nothing.
        junk = here.get(path, headers={"Authorization": "Bearer atom_x_y"})
        assert junk.status_code in (401, 403)
    assert here.get(MINE).json()["is_demanded"] is True
    set_up(here)
    assert here.get("/api/v1/projects/").status_code == 200
    assert here.get(f"{AUTH}session/").json()["lacks_second_factor"] is False
    assert post(here, f"{MINE}off/", password=PASSWORD).json()["code"] == "second_factor_kept"


def test_programs_have_no_second_factor() -> None:
    secret = create_token(make_user(), "ci", ["admin"]).secret
    program = APIClient(headers={"Authorization": f"Bearer {secret}"})
    assert program.get(MINE).status_code == 401
    assert program.post(MINE, {}).status_code == 401


@pytest.mark.parametrize(
    "body", [{}, {"code": 5 * "0" * 20}, {"code": None}, {"code": "\u0664" * 6}]
)
def test_what_is_no_code_is_refused_in_words(body: dict[str, Any]) -> None:
    user = make_user()
    here, _ = log_in(user)
    set_up(here)
    door, _ = log_in(user)
    refused = post(door, f"{AUTH}login/code/", **body)
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["code"])
