"""The administrator's token, and two people who label and audit."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx

from atom.dev.secret_store import write_private
from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client

PROJECT = "demo"
LABELER, AUDITOR = "lena", "otto"


@dataclass(frozen=True)
class Installation:
    """Where the stack answers, and where its state lies."""

    url: str
    home: Path
    admin: str
    password: str


def token_of(installation: Installation, username: str, password: str) -> str:
    """Sign in as the portal does and make an API token; it is kept for the next demo.

    Raises RuntimeError if the password was changed.
    """
    kept = _token_file(installation, username)
    if secret := _kept_token(installation, username):
        return secret
    with httpx.Client(base_url=f"{installation.url}/api/v1", timeout=30) as http:
        http.get("/auth/session/").raise_for_status()
        origin = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": installation.url}
        body = {"username": username, "password": password}
        signed_in = http.post("/auth/login/", json=body, headers=origin)
        if signed_in.status_code == 401:
            raise RuntimeError(
                f"{username} has another password now; put an API token of theirs into {kept}"
            )
        signed_in.raise_for_status()
        headers = {**origin, "X-CSRFToken": http.cookies["csrftoken"]}
        answer = http.post("/tokens/", json={"name": "demo", "scopes": ["write"]}, headers=headers)
        answer.raise_for_status()
        secret = str(answer.json()["secret"])
    kept.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return secret


def client_of(installation: Installation, username: str, password: str) -> Client:
    """Return a client that acts as the person."""
    return Client(installation.url, token_of(installation, username, password), PROJECT)


def labeling_team(installation: Installation) -> tuple[Client, Client]:
    """Return clients of a labeler and of an auditor, made if they are missing."""
    labeler = _member(installation, LABELER, "Lena Labeler", "labeler")
    return labeler, _member(installation, AUDITOR, "Otto Auditor", "researcher")


def _member(installation: Installation, username: str, full_name: str, role: str) -> Client:
    secret = _kept_token(installation, username)
    if secret and _role_of(installation.url, secret) == role:
        # Whom an earlier demo made: to start the command costs seconds.
        return Client(installation.url, secret, PROJECT)
    password_file = _password_file(installation, username)
    password_file.parent.mkdir(parents=True, exist_ok=True)
    if not password_file.exists():
        write_private(password_file, secrets.token_urlsafe(12))
    password = password_file.read_text()
    arguments = ["add_member", username, "--project", PROJECT, "--role", role]
    subprocess.run(  # our own command
        [sys.executable, str(BASE_DIR / "manage.py"), *arguments, "--full-name", full_name],
        env={**os.environ, "ATOM_MEMBER_PASSWORD": password},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return client_of(installation, username, password)


def password_of(installation: Installation, username: str) -> str:
    """Return the password of a person whom the demo made."""
    return _password_file(installation, username).read_text()


def _password_file(installation: Installation, username: str) -> Path:
    return installation.home / "demo" / f"{username}.password"


def _token_file(installation: Installation, username: str) -> Path:
    return installation.home / "demo" / f"{username}.token"


def _kept_token(installation: Installation, username: str) -> str | None:
    """Return the token of an earlier demo, if it still works."""
    kept = _token_file(installation, username)
    secret = kept.read_text().strip() if kept.exists() else ""
    return secret if secret and _works(installation.url, secret) else None


def _works(url: str, token: str) -> bool:
    return _get(f"{url}/api/v1/users/me/", token).status_code == 200


def _role_of(url: str, token: str) -> str | None:
    """Return the role of the token's owner in the demo's project."""
    projects = _get(f"{url}/api/v1/projects/", token).raise_for_status().json()["results"]
    return next((one["role"] for one in projects if one["slug"] == PROJECT), None)


def _get(url: str, token: str) -> httpx.Response:
    return httpx.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=30)
