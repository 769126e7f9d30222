"""`atom move` against the real API, and two clusters of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Run
from atom_sdk.cli.context import EXIT_CONFLICT, EXIT_USAGE, Context, exit_code_of
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db(transaction=True)

Atom = Callable[..., Result]
NEW = "registry.example/team/train:2"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def run(project: Project, settings: Any) -> Iterator[Run]:
    """Return a run that waits for the cluster east; there is also west."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    with StandIn(tls=True) as east, StandIn(tls=True) as west:
        for place in (east, west):
            place.nodes.add("n1")
        cluster = World(east, "east").cluster
        World(west, "west")
        # It waits on: a queued one would start at once, with the message of the move.
        later = clock.now() + timedelta(minutes=4)
        yield make_run(
            project, cluster=cluster, state=states.RETRY_WAIT, retry_at=later, command=["true"]
        )


@pytest.fixture
def atom(live_server: Any, project: Project) -> Atom:
    secret = create_token(make_member(project, "researcher"), "cli", ["write"]).secret

    def run(*words: str) -> Result:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(cli, words, obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return done

    return run


def test_a_run_is_moved_with_another_image_and_says_so(run: Run, atom: Atom) -> None:
    done = atom("--json", "move", str(run.number), "west", "--image", NEW)
    shown = json.loads(done.stdout)
    assert (done.return_value, shown["number"], shown["cluster"]) == (0, run.number, "west")
    run.refresh_from_db()
    assert run.cluster is not None
    assert (run.cluster.name, run.image) == ("west", NEW)
    assert run.events.get(kind="move_requested").data["cluster"] == "west"


def test_people_read_which_run_it_is(run: Run, atom: Atom) -> None:
    assert f"run {run.number}" in atom("move", str(run.number), "west").stdout.lower()


def test_a_move_that_cannot_be_names_the_reason_and_its_exit_code(run: Run, atom: Atom) -> None:
    for cluster, words in (("east", "in east already"), ("local", "registered clusters")):
        with pytest.raises(ApiError) as refused:
            atom("move", str(run.number), cluster)
        assert (refused.value.code, exit_code_of(refused.value)) == ("invalid_run", EXIT_USAGE)
        assert words in str(refused.value.errors)
    Run.objects.update(state=states.SUCCEEDED)
    with pytest.raises(ApiError) as over:
        atom("move", str(run.number), "west")
    assert (over.value.code, exit_code_of(over.value)) == ("not_movable", EXIT_CONFLICT)
    with pytest.raises(click.UsageError):
        atom("move", str(run.number))
