"""Every writing route: only our own pages write with a session, and nobody writes other fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.db import transaction
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from atom.settings.environment import BASE_DIR
from atom.settings.rates import parse_rate
from tests.architecture.test_access import PUBLIC, RUNNER_ONLY, fill
from tests.fuzzing.world import World, make_world

pytestmark = pytest.mark.django_db

UNSAFE = ("post", "put", "patch", "delete")
NO_LIMITS = parse_rate("100000/s:1000000")
# The runner of an older or newer installation may send fields that this server does not know: it
# keeps none of them. A missing object is reported before the body is read.
TOLERANT = "/api/v1/runner/"
NOT_THERE = 404
# Fields that models have and no caller may set; the first is of no model at all.
FORBIDDEN = {"zirconium": 1, "created_by": "me", "is_superuser": True, "project_id": "x"}


def writing_routes() -> Iterator[tuple[str, str]]:
    """Each route below `/api/v1/` with each unsafe method that its view has."""
    yield from _routes_below(get_resolver().url_patterns, "")


def _routes_below(patterns: list[Any], prefix: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes_below(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and route.startswith("api/v1/"):
            view = pattern.callback.cls  # type: ignore[attr-defined]  # DRF's views have it
            for method in UNSAFE:
                if hasattr(view, method):
                    yield route.removeprefix("api/v1/"), method


@pytest.fixture
def world() -> Iterator[World]:
    with override_settings(ATOM_RATE_SIGNED_IN=NO_LIMITS, ATOM_RATE_ANONYMOUS=NO_LIMITS):
        yield make_world()


def test_no_route_writes_with_a_session_alone(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.user)
    passed = []
    for route, method in writing_routes():
        if route in PUBLIC or route.startswith(RUNNER_ONLY):
            continue
        with transaction.atomic():
            ask = getattr(client, method)
            answer = ask(fill(route, world.values), {}, content_type="application/json")
            transaction.set_rollback(True)
        if answer.status_code != 403 or answer.json()["code"] != "csrf_failed":
            passed.append((method, route, answer.status_code))
    assert passed == []


@pytest.mark.parametrize("route", ["auth/login/", "auth/reset/", "invitations/sign-up/"])
def test_nobody_is_signed_in_from_another_site(route: str) -> None:
    client = Client(enforce_csrf_checks=True)
    answer = client.post(f"/api/v1/{route}", {}, content_type="application/json")
    assert answer.status_code == 403
    assert answer.json()["code"] == "csrf_failed"


def described_bodies() -> Iterator[tuple[str, str]]:
    """Each operation of the description that takes a JSON object."""
    with (BASE_DIR / "docs" / "openapi.yaml").open() as file:
        described = yaml.load(file, yaml.CSafeLoader)
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if "application/json" in operation.get("requestBody", {}).get("content", {}):
                yield path, method


def test_no_route_takes_a_field_that_nobody_reads(world: World) -> None:
    client = Client()
    taken: list[Any] = []
    for path, method in described_bodies():
        with transaction.atomic():
            answer = getattr(client, method)(
                path.format(**world.values),
                FORBIDDEN,
                content_type="application/json",
                headers=world.headers_for(path),
            )
            transaction.set_rollback(True)
        errors = answer.json().get("errors", {}) if answer.status_code == 400 else {}
        if path.startswith(TOLERANT) or answer.status_code == NOT_THERE:
            continue
        if set(FORBIDDEN) - set(errors):
            taken.append((method, path, answer.status_code, sorted(errors)))
    assert not taken, "\n".join(map(str, taken))
