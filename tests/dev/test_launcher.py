"""The launcher, with real processes: restarts, refusals and an end without orphans."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator

import httpx
import psycopg
import pytest

from tests.stack import Stack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def own_stack() -> Iterator[Stack]:
    """A stack that the test may break."""
    stack = Stack.create()
    (stack.home / "logs").mkdir()
    yield stack
    stack.stop()
    stack.remove()


def wait_for(condition: Callable[[], bool], timeout_s: float = 20) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_stack_survives_a_killed_web_process_and_stops_without_orphans(own_stack: Stack) -> None:
    own_stack.start()
    assert httpx.get(f"{own_stack.base_url}/readyz").status_code == 200

    second = own_stack.command("up")
    assert second.returncode == 1
    assert "already runs" in second.stderr

    killed = own_stack.pid_of("web")
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert wait_for(lambda: own_stack.restarts_of("web") == 1)
    assert wait_for(lambda: _answers(own_stack))
    assert own_stack.pid_of("web") not in {killed, None}

    assert own_stack.stop() < 5.5
    assert own_stack.processes() == []


def test_starting_again_with_a_newer_program_replaces_the_running_one(own_stack: Stack) -> None:
    first = own_stack.command("start", timeout_s=150)
    assert first.returncode == 0, first.stderr
    before = own_stack.pid_of("web")
    assert "already runs" in own_stack.command("start").stdout
    assert own_stack.pid_of("web") == before

    state = own_stack.home / "run" / "launcher.json"
    state.write_text(state.read_text().replace('"program": "', '"program": "older'))
    again = own_stack.command("start", timeout_s=150)
    assert "has changed" in again.stdout
    assert own_stack.pid_of("web") not in {before, None}
    assert own_stack.command("down").returncode == 0
    assert own_stack.processes() == []


def test_killing_the_launcher_leaves_no_process_and_the_data_stays(own_stack: Stack) -> None:
    own_stack.start()
    password = own_stack.admin_password
    assert own_stack.process is not None
    own_stack.process.kill()
    own_stack.process.wait()
    assert wait_for(lambda: own_stack.processes() == []), own_stack.processes()
    assert own_stack.command("status").returncode == 3

    own_stack.start()
    assert own_stack.admin_password == password
    assert own_stack.command("down").returncode == 0
    assert own_stack.processes() == []


def test_a_busy_port_is_named_with_its_variable(own_stack: Stack) -> None:
    port = own_stack.ports["ATOM_GATEWAY_PORT"]
    with socket.create_server(("127.0.0.1", port)):
        result = own_stack.command("up")
    assert result.returncode == 1
    assert str(port) in result.stderr
    assert "ATOM_GATEWAY_PORT" in result.stderr
    assert own_stack.processes() == []


def test_stopping_when_nothing_runs_is_fine(own_stack: Stack) -> None:
    result = own_stack.command("down")
    assert result.returncode == 0
    assert "not running" in result.stdout


def _answers(stack: Stack) -> bool:
    try:
        return httpx.get(f"{stack.base_url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_services_of_others_are_used_and_not_started(own_stack: Stack) -> None:
    """The stack stands on the services of the test run, in a database and bucket of its own."""
    own_stack.external = {
        "DATABASE_URL": _fresh_database(),
        "REDIS_URL": os.environ["REDIS_URL"],
        "S3_ENDPOINT_URL": os.environ["S3_ENDPOINT_URL"],
        "S3_ACCESS_KEY_ID": os.environ["S3_ACCESS_KEY_ID"],
        "S3_SECRET_ACCESS_KEY": os.environ["S3_SECRET_ACCESS_KEY"],
        "S3_BUCKET": "launcher-test",
    }
    own_stack.start()
    assert own_stack.process_names() == {"web", "gateway", "worker", "beat"}
    assert httpx.get(f"{own_stack.base_url}/readyz").status_code == 200


def _fresh_database() -> str:
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS launcher_test WITH (FORCE)")
        connection.execute("CREATE DATABASE launcher_test")
    return f"{server}/launcher_test"
