"""People of a running stack: their accounts, projects and API tokens."""

from __future__ import annotations

import json
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

# In one process: each start of Django costs more than all that is done then.
_FILL = """
import json, os
from django.core.management import call_command
from atom.accounts.actions import create_project
from atom.accounts.models import Project, Unit
wanted = json.loads(os.environ["ATOM_TEST_WANTED"])
for slug, name in wanted["projects"].items():
    if not Project.objects.filter(slug=slug).exists():
        create_project(Unit.objects.get(parent=None), slug, name, None)
for username, (role, password) in wanted["members"].items():
    os.environ["ATOM_MEMBER_PASSWORD"] = password
    call_command("add_member", username, project="demo", role=role)
"""


@dataclass(frozen=True)
class Person:
    """Somebody who can sign in."""

    username: str
    password: str


def administrator(stack: Stack) -> Person:
    """The administrator that the stack made."""
    return Person(stack.admin_username, stack.admin_password)


def add_people(stack: Stack, roles: dict[str, str], projects: dict[str, str]) -> list[Person]:
    """Make people with roles in the project `demo`, and projects, by slug, that hold nothing.

    A person's password is new each time the stack is.
    """
    people = [Person(username, _password_of(stack, username)) for username in roles]
    members = {one.username: (roles[one.username], one.password) for one in people}
    wanted = json.dumps({"projects": projects, "members": members})
    _manage(stack, "shell", "--no-imports", "-c", _FILL, ATOM_TEST_WANTED=wanted)
    return people


def _password_of(stack: Stack, username: str) -> str:
    kept = stack.home / f"{username}.password"
    if not kept.exists():
        write_private(kept, secrets.token_urlsafe(9))
    return kept.read_text()


def client_of(stack: Stack, person: Person, project: str = "demo") -> Client:
    """Return a client that acts as the person."""
    return Client(stack.base_url, token_of(stack, person), project)


def token_of(stack: Stack, person: Person, name: str = "tests", scope: str = "write") -> str:
    """Sign in and make an API token, as the portal does."""
    with _signed_in(stack, person) as http:
        headers = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": stack.base_url}
        answer = http.post("/tokens/", json={"name": name, "scopes": [scope]}, headers=headers)
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
