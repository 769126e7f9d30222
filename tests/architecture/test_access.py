"""Every endpoint, asked as everybody who is outside of a project.

The addresses come from the URL table itself, so a new endpoint is covered on the day it is
added; one whose parameter is unknown here fails the test until somebody thinks about it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
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
    # The cluster of a pod is the proof: tests/jobs/executors/kubernetes/test_joining.py.
    "runner/join/",
    # Likewise: tests/cache/agents/test_agent_api.py.
    "agent/join/",
    # A program without any secret.
    "runner/layers/<str:sha256>/",
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
    "stores/",
    "stores/<str:store>/",
    "machines/",
    "workflows/",
    "workflows/<slug:slug>/",
    "labelx/audits/",
    "labelx/templates/",
}
# Events of what the caller administers.
AUDIT = {"audit/", "audit/export/"}
# A runner authenticates with its attempt's token, a node agent with its node's: each names no
# other thing.
RUNNER_ONLY = ("runner/", "agent/")


def api_routes() -> Iterator[str]:
    """Routes below `/api/v1/`, with their parameters still in them."""
    yield from (route for route, _ in _routes(get_resolver().url_patterns, "") if route)


@cache
def methods_by_route() -> dict[str, list[str]]:
    """The methods that each route's view has, and one that it lacks, which must tell nothing.

    All others that it lacks pass the same lines; the walk as nobody asks each of them.
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
    return "/api/v1/" + re.sub(
        r"<(?:\w+:)?(\w+)>", lambda found: str(values.get(found[1], "none")), route
    )


@dataclass(frozen=True)
class Identity:
    """Somebody who asks every route, and the answers that tell them nothing."""

    name: str
    client: Client
    # The methods that a route is asked by; none where the route is theirs to ask.
    methods: Callable[[str], Iterable[str]]
    allowed: Callable[[str], set[int]]
    headers: dict[str, str] = field(default_factory=dict)

    def leaks(self, route: str, address: str) -> list[Any]:
        """Return each answer that tells them something, or refuses them in another way."""
        found = []
        for method in self.methods(route):
            ask = getattr(self.client, method)
            answer = ask(address, content_type="application/json", headers=self.headers)
            if answer.status_code not in self.allowed(route) or SECRET_WORD in _text_of(answer):
                found.append((self.name, method, route, answer.status_code))
        return found


def nobody() -> Identity:
    """Return a client that is not signed in; it asks each route by all methods."""
    return Identity(
        "nobody",
        Client(),
        lambda route: () if route in PUBLIC else METHODS,
        lambda _: {401, 403},
    )


def member_of_another_project(stranger: User) -> Identity:
    """Return the session of an administrator of another project."""
    client = Client()
    client.force_login(stranger)

    def methods(route: str) -> Iterable[str]:
        theirs = route in PUBLIC | OWN or route.startswith(RUNNER_ONLY)
        return () if theirs else methods_by_route()[route]

    # The audit trail answers an administrator with the events of their own projects.
    return Identity(
        "stranger", client, methods, lambda route: {200, 405} if route in AUDIT else {404, 405}
    )


def token_of_another_project(project: Project) -> Identity:
    """Return a token whose person sees everything: nothing but its project keeps it out."""
    person = make_member(project, "admin", "everywhere")
    User.objects.filter(pk=person.pk).update(is_superuser=True)
    secret = actions.create_token(person, "ci", ["admin"], project).secret

    def methods(route: str) -> Iterable[str]:
        if route in PUBLIC or route.startswith(RUNNER_ONLY):
            return ()
        return ("get",) if route in OWN else methods_by_route()[route]

    # Routes that take a session alone refuse every token.
    return Identity(
        "token",
        Client(),
        methods,
        lambda route: {401, 404, 405} | ({200} if route in OWN | AUDIT else set()),
        {"Authorization": f"Bearer {secret}"},
    )


def token_of_a_run() -> Identity:
    """Return a runner's token that no attempt has."""
    return Identity(
        "run token",
        Client(),
        lambda route: () if route in PUBLIC else ("get",),
        lambda _: {401, 403, 405},
        {"Authorization": f"Bearer atomrun_{uuid.uuid4().hex}"},
    )


def reader_of_own_things(stranger: User) -> Identity:
    """Return a session that reads the lists of its own things."""
    client = Client()
    client.force_login(stranger)
    return Identity(
        "own lists",
        client,
        lambda route: ("get",) if route in OWN - {"auth/logout/"} else (),
        lambda _: {200, 404, 405},
    )


def test_no_route_tells_anything_to_those_outside(foreign: dict[str, Any], stranger: User) -> None:
    """One walk over all routes as each identity, then each thing below one that is not its own."""
    guarded = [route for route in api_routes() if route not in PUBLIC]
    names = {name for route in guarded for name in re.findall(r"<(?:\w+:)?(\w+)>", route)}
    assert names - set(foreign) == set()
    project = Project.objects.get(slug="own")
    identities = (
        nobody(),
        member_of_another_project(stranger),
        token_of_another_project(project),
        token_of_a_run(),
        reader_of_own_things(stranger),
    )
    leaks = []
    for route in api_routes():
        address = fill(route, foreign)
        for identity in identities:
            leaks += identity.leaks(route, address)
    assert leaks == []
    client, own = identities[1].client, one_of_everything(project, stranger, "quartz")
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
