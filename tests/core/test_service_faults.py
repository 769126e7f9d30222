"""A service that is away or takes no more: 503 in words, and everybody is told meanwhile."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from redis import Redis
from rest_framework.test import APIClient

from atom.celery import note_fault
from atom.core import background, faults, heartbeats, redis, service_state
from atom.core.problems import to_atom_error
from atom.core.storage import StoreError, objects
from atom.dev.valkey import Valkey
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.core.test_problems import problem_of
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_attempt, runner_headers
from tests.services import TestServices

pytestmark = pytest.mark.django_db
STATE = "/api/v1/state/"
HEALTH = "/api/v1/health/"
Anew = Callable[[], Any]


@pytest.fixture(autouse=True)
def nothing_met() -> Iterator[None]:
    faults.forget()
    yield
    faults.forget()


@pytest.fixture
def state() -> Anew:
    """Ask, as a browser without a session, what does not work: `{code: level}`."""
    heartbeats.give_sign(heartbeats.WORKER)
    heartbeats.give_sign(heartbeats.BEAT)

    def ask() -> dict[str, str]:
        service_state.kept.forget()
        answer = APIClient().get(STATE)
        assert answer.status_code == 200
        assert answer["Cache-Control"] == "no-store"
        assert all(one["detail"] and one["action"] for one in answer.json()["faults"])
        return {one["code"]: one["level"] for one in answer.json()["faults"]}

    return ask


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[tuple[Valkey, int]]:
    """A Valkey that may be broken, and its pid."""
    services = TestServices(tmp_path, tmp_path / "runtimes")
    server = services.start_valkey()
    yield server, services.processes[0][1].pid
    services.stop()


@pytest.fixture
def valkey(own_valkey: tuple[Valkey, int], settings: Any) -> Iterator[Redis]:
    """The connection of an administrator to a Valkey that only this test uses."""
    server, _ = own_valkey
    settings.REDIS_URL = server.url
    redis.client.cache_clear()
    with Redis.from_url(server.url) as admin:
        yield admin
    redis.client().close()
    redis.client.cache_clear()


def send_line(attempt: Any, offset: int = 0) -> Any:
    """Send one line of a log, as the runner does."""
    line = frames.encode([Frame(1, 0, 5, 1, b"one\n")])
    headers = {**runner_headers(attempt), "X-Atom-Offset": str(offset)}
    return APIClient().post(
        "/api/v1/runner/logs/", line, content_type="application/octet-stream", headers=headers
    )


def test_nothing_is_told_while_all_is_well(state: Anew) -> None:
    assert state() == {}
    assert APIClient().get(STATE).json() == {"level": "ok", "faults": []}


def test_a_valkey_at_its_memory_limit_takes_the_line_later(valkey: Redis, state: Anew) -> None:
    attempt = make_attempt()
    # Signs of life cannot be written either: that says nothing of workers.
    valkey.delete("heartbeats")
    valkey.config_set("maxmemory", 1)
    problem = problem_of(send_line(attempt), 503, "writes_refused")
    assert (problem["fault"], state()) == ("valkey_full", {"valkey_full": "problem"})
    valkey.config_set("maxmemory", 0)
    assert send_line(attempt).json() == {"next": 4}
    faults.forget()
    assert set(state()) == {"worker_silent", "beat_silent"}


def test_a_valkey_that_cannot_save_takes_the_line_later(
    valkey: Redis, own_valkey: tuple[Valkey, int], state: Anew
) -> None:
    attempt = make_attempt()
    # As a disk that fails: the snapshot cannot be written.
    shutil.rmtree(own_valkey[0].data_dir)
    valkey.config_set("save", "3600 1")
    valkey.bgsave()
    while valkey.info("persistence")["rdb_bgsave_in_progress"]:
        pass
    answer = send_line(attempt)
    problem = problem_of(answer, 503, "writes_refused")
    assert (problem["fault"], answer["Retry-After"]) == ("valkey_cannot_save", "30")
    assert state() == {"valkey_cannot_save": "problem"}
    valkey.config_set("save", "")
    assert send_line(attempt).json() == {"next": 4}


def test_what_is_committed_stands_though_its_task_cannot_be_sent(valkey: Redis) -> None:
    valkey.config_set("maxmemory", 1)

    class Unsendable:
        name = "unsendable"

        def apply_async(self, **_: Any) -> None:
            redis.client().lpush("tasks:celery", "message")

    background._send(Unsendable(), ())  # type: ignore[arg-type]
    assert valkey.llen("tasks:celery") == 0


def test_a_valkey_that_hangs_delays_nobody_who_asks_what_is_wrong(
    valkey: Redis, own_valkey: tuple[Valkey, int], state: Anew, settings: Any
) -> None:
    settings.ATOM_PROBE_WITHIN_S = 0.2
    os.kill(own_valkey[1], signal.SIGSTOP)
    try:
        assert state() == {"valkey_away": "problem"}
    finally:
        os.kill(own_valkey[1], signal.SIGCONT)


def test_a_read_only_database_refuses_in_words_and_is_told(client: Client, state: Anew) -> None:
    client.force_login(make_member(make_project("vision"), "admin"))
    with connection.cursor() as cursor:
        # Check the deferred constraints now, since a read-only transaction may not at its end.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET TRANSACTION READ ONLY")
    answer = client.post(
        "/api/v1/projects/vision/models/", {"name": "m"}, content_type="application/json"
    )
    problem = problem_of(answer, 503, "writes_refused")
    assert (problem["fault"], answer["Retry-After"]) == ("database_read_only", "30")
    assert state()["database_read_only"] == "problem"


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (errno.ENOSPC, "disk_full"),
        (errno.EDQUOT, "disk_full"),
        (errno.EROFS, "disk_read_only"),
    ],
)
def test_a_disk_that_takes_nothing_is_no_defect_of_ours(
    number: int, fault: str, state: Anew
) -> None:
    problem = to_atom_error(OSError(number, os.strerror(number)))
    assert problem is not None
    assert (problem.status, problem.code, problem.extra["fault"]) == (503, "writes_refused", fault)
    assert to_atom_error(OSError(errno.EACCES, "not ours")) is None
    assert state() == {fault: "problem"}


def test_what_workers_met_is_told_too(state: Anew) -> None:
    note_fault(exception=OSError(errno.ENOSPC, "no space"))
    assert state() == {"disk_full": "problem"}
    redis.client().zincrby("faults", -faults.LATELY_S - 1, "disk_full")
    assert state() == {}


@pytest.fixture(params=["http://127.0.0.1:9", "http://store.invalid:9"])
def store_away(request: pytest.FixtureRequest, settings: Any) -> Iterator[None]:
    """No server listens where the object store should be, or its name leads nowhere."""
    settings.S3_ENDPOINT_URL, settings.ATOM_STORE_PATIENCE_S = request.param, 0.1
    objects.cache_clear()
    yield
    objects.cache_clear()


@pytest.mark.usefixtures("store_away")
def test_an_object_store_that_is_away_is_told(state: Anew) -> None:
    assert state() == {"object_store_away": "problem"}
    with pytest.raises(StoreError) as raised:
        objects().get("anything")
    problem = to_atom_error(raised.value)
    assert problem is not None
    assert (problem.code, problem.headers) == ("object_store_away", {"Retry-After": "2"})
    # Also when it answers such questions again.
    assert state()["object_store_failing"] == "warning"


def test_a_silent_worker_is_told_to_everybody_and_details_to_administrators(
    client: Client, state: Anew
) -> None:
    redis.client().delete("heartbeats")
    assert state() == {"worker_silent": "warning", "beat_silent": "warning"}
    client.force_login(make_user(is_superuser=True))
    faults.note(faults.DISK_FULL)
    codes = [one["code"] for one in client.get(HEALTH).json()["findings"]]
    assert "disk_full" in codes
