"""A world in which made-up requests meet things that exist: fuzzing 404s finds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.test import Client

from atom.accounts.models import User
from atom.jobs.models import Run
from tests.factories.accounts import make_member, make_project
from tests.factories.everything import one_of_everything
from tests.factories.jobs import make_attempt, runner_headers

WORD = "circle"


@dataclass(frozen=True)
class World:
    """One of everything, and somebody who may do everything with it."""

    user: User
    # The parameters of all addresses, by name.
    values: dict[str, Any]
    # A session, not a token: with one, more may be done.
    session: str
    runner: dict[str, str]

    def headers_for(self, path: str) -> dict[str, str]:
        """Return the credentials that an address takes."""
        if path.startswith("/api/v1/runner/"):
            return self.runner
        if path.startswith("/api/v1/shared-run/"):
            return {"Atom-Share": self.values["share_token"]}
        return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={self.session}"}


def make_world() -> World:
    """Make it; its owner is an administrator of the installation too."""
    project = make_project(WORD)
    owner = make_member(project, "admin", WORD)
    owner.is_superuser = True
    owner.save()
    values = one_of_everything(project, owner, WORD)
    attempt = make_attempt(Run.objects.get(pk=values["run_id"]))
    client = Client()
    client.force_login(owner)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    return World(owner, values, session, runner_headers(attempt))
