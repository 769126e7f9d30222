"""A world in which made-up requests meet things that exist: fuzzing 404s finds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.test import Client

from atom.accounts.models import User
from atom.cache.agents.actions.joining import TOKEN_LIFE, TOKEN_PREFIX
from atom.cache.models import NodeAgent
from atom.clusters.models import Cluster, Node
from atom.core import clock
from atom.core.crypto import hash_token
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
    agent: dict[str, str]

    def headers_for(self, path: str) -> dict[str, str]:
        """Return the credentials that an address takes."""
        if path.startswith("/api/v1/runner/"):
            return self.runner
        if path.startswith("/api/v1/agent/"):
            return self.agent
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
    agent = agent_headers(Cluster.objects.get(name=values["cluster"]))
    return World(owner, values, session, runner_headers(attempt), agent)


def agent_headers(cluster: Cluster) -> dict[str, str]:
    """Return the credentials of a node agent in a cluster."""
    node = Node.objects.create(cluster=cluster, name=WORD, cpu_count=1, memory_bytes=1 << 30)
    token, now = f"{TOKEN_PREFIX}{WORD}", clock.now()
    NodeAgent.objects.create(
        **{"node": node, "address": "http://127.0.0.1:7480", "pod": WORD, "pod_uid": WORD},
        **{"token_hash": hash_token(token), "token_expires_at": now + TOKEN_LIFE, "joined_at": now},
    )
    return {"Authorization": f"Bearer {token}"}
