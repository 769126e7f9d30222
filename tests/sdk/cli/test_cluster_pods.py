"""`atom cluster check --pod` against the real API, a worker, and a cluster of the test's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result
from django.db import connection

from atom.accounts.actions import create_token
from atom.accounts.models import User
from atom.jobs.executors.kubernetes.pod_check import try_pod
from atom_sdk.cli.context import EXIT_FAILED, Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from tests.factories.accounts import make_project
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(settings: Any, live_server: Any) -> Iterator[World]:
    """Return a cluster whose kubelet runs pods, from which they reach Atom."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = live_server.url
    with StandIn(tls=True, kubelet=True) as stand_in:
        stand_in.nodes.add("n1")
        yield World(stand_in)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the messages of a worker, as one does it: beside the request, not within it."""
    threads: list[threading.Thread] = []

    def work(cluster_id: str, asked_at: str) -> None:
        try_pod(UUID(cluster_id), asked_at)
        connection.close()

    def send(task: Any, args: Any = (), **_: Any) -> None:
        assert task.name == "jobs.try_pod"
        threads.append(threading.Thread(target=work, args=args))
        threads[-1].start()

    monkeypatch.setattr("celery.app.task.Task.apply_async", send)
    yield
    for thread in threads:
        thread.join(30)


@pytest.fixture
def check(live_server: Any, world: World, worker: None) -> Callable[..., Result]:
    """Run `atom cluster check east --pod`."""
    make_project("vision")
    boss = User.objects.create_user("boss", is_superuser=True)
    secret = create_token(boss, "cli", ["admin"]).secret

    def run(*options: str) -> Result:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            words = ["cluster", "check", "east", "--pod", *options]
            done = CliRunner().invoke(cli, words, obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return done

    return run


def test_the_command_waits_for_the_pod_and_says_that_it_reaches_atom(
    check: Callable[..., Result], world: World
) -> None:
    done = check("--json")
    (found,) = [
        one for one in json.loads(done.stdout)["findings"] if one["code"] == "pod_reaches_atom"
    ]
    assert (found["level"], found["evidence"]["under_way"]) == ("ok", False)
    # How far it is goes to the error stream, so that programs read the result alone.
    assert "A pod is to be tried" in done.stderr
    wait_for(lambda: not world.stand_in.store.objects("jobs.batch"))


def test_a_pod_that_does_not_reach_atom_is_exit_code_1_and_the_reason(
    check: Callable[..., Result], settings: Any
) -> None:
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    done = check()
    assert done.return_value == EXIT_FAILED
    assert "ATOM_POD_API_URL" in done.stdout
