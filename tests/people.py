"""People of a running stack: their accounts, projects and API tokens."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from atom.dev.secret_store import write_private
from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client
from tests.stack import Stack

_ADD_PROJECT = """
from atom.accounts.actions import create_project
from atom.accounts.models import Project, Unit
if not Project.objects.filter(slug={slug!r}).exists():
    create_project(Unit.objects.get(parent=None), {slug!r}, {name!r}, None)
"""


@dataclass(frozen=True)
class Person:
    """Somebody who can sign in."""

    username: str
    password: str


def administrator(stack: Stack) -> Person:
    """The administrator that the stack made."""
    return Person(stack.admin_username, stack.admin_password)


def add_member(stack: Stack, username: str, role: str, project: str = "demo") -> Person:
    """Make a person with a role in a project; the password is new each time the stack is."""
    kept = stack.home / f"{username}.password"
    if not kept.exists():
        write_private(kept, secrets.token_urlsafe(9))
    person = Person(username, kept.read_text())
    arguments = ("add_member", username, "--project", project, "--role", role)
    _manage(stack, *arguments, ATOM_MEMBER_PASSWORD=person.password)
    return person


def add_project(stack: Stack, slug: str, name: str) -> None:
    """Make a project that holds nothing."""
    _manage(stack, "shell", "--no-imports", "-c", _ADD_PROJECT.format(slug=slug, name=name))


def client_of(stack: Stack, person: Person, project: str = "demo") -> Client:
    """Return a client that acts as the person."""
    return Client(stack.base_url, token_of(stack, person), project)


def token_of(stack: Stack, person: Person, name: str = "tests") -> str:
    """Sign in and make an API token, as the portal does."""
    with _signed_in(stack, person) as http:
        headers = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": stack.base_url}
        answer = http.post("/tokens/", json={"name": name, "scopes": ["write"]}, headers=headers)
        answer.raise_for_status()
        return str(answer.json()["secret"])


def session_of(stack: Stack, person: Person) -> dict[str, str]:
    """Sign in and return the cookies that a browser would have then."""
    with _signed_in(stack, person) as http:
        return dict(http.cookies)


@contextmanager
def _signed_in(stack: Stack, person: Person) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{stack.base_url}/api/v1", timeout=30) as http:
        http.get("/auth/session/")
        headers = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": stack.base_url}
        body = {"username": person.username, "password": person.password}
        http.post("/auth/login/", json=body, headers=headers).raise_for_status()
        yield http


def _manage(stack: Stack, *arguments: str, **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, str(BASE_DIR / "manage.py"), *arguments],
        cwd=BASE_DIR,
        env={**stack.environment, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
