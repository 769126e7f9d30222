"""Runs and attempts at any point of their life."""

from __future__ import annotations

from itertools import count
from typing import Any

from atom.accounts.models import Project, User
from atom.clusters.actions import ensure_local_node
from atom.jobs import states
from atom.jobs.attempts.actions.attempts import issue_token
from atom.jobs.models import Attempt, Rank, Run
from tests.factories.accounts import make_project

_numbers = count(1)
MIB = 1 << 20


def make_run(project: Project | None = None, user: User | None = None, **fields: Any) -> Run:
    """Return a queued run of `echo`, without a runtime or code."""
    project = project or make_project()
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "name": f"run {number}",
        "command": ["echo", "hello"],
        "state": states.QUEUED,
        "memory_bytes": 64 * MIB,
        "created_by": user,
    }
    return Run.objects.create(project=project, number=number, **{**defaults, **fields})


def make_attempt(run: Run | None = None, state: str = states.RUNNING, **fields: Any) -> Attempt:
    """Return an open attempt; its run is in the same state."""
    run = run or make_run()
    run.state = state
    run.save()
    node = ensure_local_node()
    attempt = Attempt.objects.create(
        run=run,
        number=run.attempts.count() + 1,
        state=state,
        cluster=node.cluster,
        node=node,
        **fields,
    )
    Rank.objects.create(attempt=attempt, node=node)
    return attempt


def runner_headers(attempt: Attempt) -> dict[str, str]:
    """Return the headers of a request by the attempt's runner."""
    return {"Authorization": f"Bearer {issue_token(attempt)}"}
