"""Every endpoint, asked as nobody and as a member of another project.

The addresses come from the URL table itself, so a new endpoint is covered on the day it is
added; one whose parameter is unknown here fails the test until somebody thinks about it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from atom.accounts import actions
from atom.accounts.models import Project, User
from atom.mlflow_api import urls as mlflow_urls
from atom.settings.rates import parse_rate
from tests.factories.accounts import make_member, make_project
from tests.factories.everything import one_of_everything

pytestmark = pytest.mark.django_db

SECRET_WORD = "zirconium"
METHODS = ("get", "post", "put", "patch", "delete")
# Anybody may ask these; what they answer is nobody's secret.
PUBLIC = {
    "auth/session/",
    "auth/login/",
    "auth/login/code/",
    "auth/oidc/",
    "auth/oidc/start/",
    "auth/oidc/callback/",
    "auth/forgotten/",
    "auth/reset/",
    "auth/reset/open/",
    "invitations/open/",
    "invitations/sign-up/",
    # The link is the proof; a wrong one is nobody's.
    "notifications/unsubscribe/<str:link>/",
    # The token of a link is the proof, and it opens one run:
    # tests/jobs/sharing/test_shared_run.py.
    "shared-run/",
    "shared-run/metrics/",
    "shared-run/metrics/series/",
    "shared-run/log/",
    "state/",
    "schema/",
    "docs/",
}
# Every signed-in person may ask these: they answer with the caller's own things, or with what
# belongs to the installation. That they show nothing of others is asserted below.
OWN = {
    "auth/logout/",
    "auth/password/",
    "auth/second-factor/",
    "auth/second-factor/confirm/",
    "auth/second-factor/off/",
    "auth/second-factor/recovery-codes/",
    "invitations/accept/",
    "notifications/",
    "notifications/count/",
    "notifications/preferences/",
    "notifications/read/",
    "notifications/unread/",
    "sessions/",
    "sessions/end-others/",
    "users/me/",
    "projects/",
    "units/",
    "tokens/",
    "s3-keys/",
    "clusters/",
    "machines/",
    "workflows/",
    "workflows/<slug:slug>/",
    "labelx/audits/",
}
# Events of what the caller administers.
AUDIT = {"audit/", "audit/export/"}
# A runner authenticates with its attempt's token, which names no other thing.
RUNNER_ONLY = "runner/"


def api_routes() -> Iterator[str]:
    """Routes below `/api/v1/`, with their parameters still in them."""
    yield from (route for route, _ in _routes(get_resolver().url_patterns, "") if route)


@cache
def methods_by_route() -> dict[str, list[str]]:
    """The methods that each route's view has, and one that it lacks, which must tell nothing.

    All others that it lacks pass the same lines; test_nobody_gets_nothing asks each of them.
    """
    found = {}
    for route, view in _routes(get_resolver().url_patterns, ""):
        offered = [method for method in METHODS if hasattr(view, method)]
        found[route] = offered + [method for method in METHODS if method not in offered][:1]
    return found


def mlflow_routes() -> Iterator[tuple[str, type[Any]]]:
    """Addresses below `/api/mlflow/<project>/` and the views that answer them."""
    for pattern in mlflow_urls.urlpatterns:
        route = str(pattern.pattern)
        view = getattr(pattern.callback, "view_class", None)
        if view is not None:
            yield route, view


def _routes(patterns: list[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and route.startswith("api/v1/"):
            view = pattern.callback.cls  # type: ignore[attr-defined]  # DRF's views have it
            yield route.removeprefix("api/v1/"), view


@pytest.fixture(autouse=True)
def without_limits(settings: Any) -> None:
    """Let a walk over all routes ask more often than one may."""
    settings.ATOM_RATE_SIGNED_IN = settings.ATOM_RATE_ANONYMOUS = parse_rate("off")


@pytest.fixture
def foreign() -> dict[str, Any]:
    """One of everything in a project that the caller is not a member of."""
    project = make_project(f"{SECRET_WORD}-project")
    owner = make_member(project, "admin", f"{SECRET_WORD}-owner")
    return one_of_everything(project, owner, SECRET_WORD)


@pytest.fixture
def stranger() -> User:
    """An administrator of a project of their own."""
    return make_member(make_project("own"), "admin", "stranger")


def fill(route: str, values: dict[str, Any]) -> str:
    """Return the route's address with the foreign things in it."""
    return "/api/v1/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values[found[1]]), route)


def test_every_route_takes_known_parameters(foreign: dict[str, Any]) -> None:
    names = {name for route in api_routes() for name in re.findall(r"<(?:\w+:)?(\w+)>", route)}
    assert names - set(foreign) == set()


def test_nobody_gets_nothing(client: Client, foreign: dict[str, Any]) -> None:
    leaks = []
    for route in api_routes():
        if route in PUBLIC:
            continue
        for method in METHODS:
            answer = getattr(client, method)(fill(route, foreign), content_type="application/json")
            if answer.status_code not in {401, 403} or SECRET_WORD in answer.content.decode():
                leaks.append((method, route, answer.status_code))
    assert leaks == []


def test_a_member_of_another_project_learns_nothing(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    client.force_login(stranger)
    leaks = []
    for route in api_routes():
        if route in PUBLIC | OWN or route.startswith(RUNNER_ONLY):
            continue
        for method in methods_by_route()[route]:
            answer = getattr(client, method)(fill(route, foreign), content_type="application/json")
            # The audit trail answers an administrator with the events of their own projects.
            allowed = {200, 405} if route in AUDIT else {404, 405}
            if answer.status_code not in allowed or SECRET_WORD in _text_of(answer):
                leaks.append((method, route, answer.status_code))
    assert leaks == []


def test_the_token_of_one_project_opens_no_other(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    """Whose person sees everything: nothing but the token's project keeps it out."""
    User.objects.filter(pk=stranger.pk).update(is_superuser=True)
    project = Project.objects.get(slug="own")
    secret = actions.create_token(stranger, "ci", ["admin"], project).secret
    bearer = {"Authorization": f"Bearer {secret}"}
    leaks = []
    for route in api_routes():
        if route in PUBLIC or route.startswith(RUNNER_ONLY):
            continue
        for method in ("get",) if route in OWN else methods_by_route()[route]:
            ask = getattr(client, method)
            answer = ask(fill(route, foreign), content_type="application/json", headers=bearer)
            # Routes that only a session may ask refuse every token.
            allowed = {401, 404, 405} | ({200} if route in OWN | AUDIT else set())
            if answer.status_code not in allowed or SECRET_WORD in _text_of(answer):
                leaks.append((method, route, answer.status_code))
    assert leaks == []


def test_a_thing_is_found_only_below_what_it_belongs_to(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    own = one_of_everything(Project.objects.get(slug="own"), stranger, "quartz")
    client.force_login(stranger)
    leaks = []
    for route, name in _below(own, foreign):
        address = fill(route, own | {name: foreign[name]})
        for method in methods_by_route()[route]:
            answer = getattr(client, method)(address, content_type="application/json")
            said = _text_of(answer).replace(str(foreign[name]), "")
            # An empty body may be refused before anything is looked up.
            if answer.status_code not in {400, 404, 405} or SECRET_WORD in said:
                leaks.append((method, route, name, answer.status_code))
    assert leaks == []


def _below(own: dict[str, Any], foreign: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each route and one of its parameters that stands below another."""
    for route in api_routes():
        for name in re.findall(r"<(?:\w+:)?(\w+)>", route)[1:]:
            if own[name] != foreign[name]:
                yield route, name


def _text_of(answer: Any) -> str:
    return str(answer if answer.streaming else answer.content.decode())


def test_lists_of_ones_own_things_hold_nothing_of_others(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    client.force_login(stranger)
    for route in sorted(OWN - {"auth/logout/"}):
        answer = client.get(fill(route, foreign))
        assert answer.status_code in {200, 404, 405}, route
        assert SECRET_WORD not in answer.content.decode(), route


def test_a_run_token_opens_no_door_but_its_own(client: Client, foreign: dict[str, Any]) -> None:
    bearer = {"Authorization": f"Bearer atomrun_{uuid.uuid4().hex}"}
    for route in api_routes():
        if route in PUBLIC:
            continue
        assert client.get(fill(route, foreign), headers=bearer).status_code in {401, 403, 405}, (
            route
        )


def test_the_mlflow_addresses_answer_nobody_and_no_stranger(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    secret = actions.create_token(stranger, "mlflow", ["write"]).secret
    token = {"Authorization": f"Bearer {secret}"}
    ids = {"model_id": uuid.uuid4().hex, "path": "a/b.txt", "key": "k", "rest": "nothing/here"}
    leaks = []
    for route, view in mlflow_routes():
        address = "/api/mlflow/" + re.sub(
            r"<(?:\w+:)?(\w+)>", lambda found: str((foreign | ids)[found[1]]), route
        )
        for method in (one for one in METHODS if hasattr(view, one)):
            ask = getattr(client, method)
            nobody = ask(address, content_type="application/json")
            other = ask(address, content_type="application/json", headers=token)
            said = nobody.content.decode() + other.content.decode()
            wrong = nobody.status_code != 401 or other.status_code != 404
            # The address repeats the name that was asked for.
            if wrong or SECRET_WORD in said.replace(foreign["project"], ""):
                leaks.append((method, route, nobody.status_code, other.status_code))
    assert leaks == []
