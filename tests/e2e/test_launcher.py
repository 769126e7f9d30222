"""The launcher, with real processes: restarts, refusals and an end without orphans."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.e2e.breaking import PATIENCE_S
from tests.e2e.conftest import start_again
from tests.stack import STOP_TIMEOUT_S, Stack

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def running_stack(broken_stack: Stack) -> Stack:
    """The stack that other tests break too, running."""
    start_again(broken_stack)
    return broken_stack


@pytest.fixture
def own_stack() -> Iterator[Stack]:
    """A stack of one test's own, not started; nothing of it is left."""
    stack = Stack.create()
    (stack.home / "logs").mkdir()
    yield stack
    stack.stop()
    stack.remove()


def wait_for(condition: Callable[[], bool], timeout_s: float = PATIENCE_S) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_a_killed_web_process_is_started_again(running_stack: Stack) -> None:
    assert httpx.get(f"{running_stack.base_url}/readyz").status_code == 200
    second = running_stack.command("up")
    assert second.returncode == 1
    assert "already runs" in second.stderr

    before = running_stack.restarts_of("web")
    killed = running_stack.pid_of("web")
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert wait_for(lambda: running_stack.restarts_of("web") == before + 1)
    assert wait_for(lambda: _answers(running_stack))
    assert running_stack.pid_of("web") not in {killed, None}


def test_starting_again_with_a_newer_program_replaces_the_running_one(running_stack: Stack) -> None:
    before = running_stack.pid_of("web")
    same = running_stack.command("start", timeout_s=150)
    assert same.returncode == 0, same.stderr
    assert "already runs" in same.stdout
    assert running_stack.pid_of("web") == before

    state = running_stack.home / "run" / "launcher.json"
    state.write_text(state.read_text().replace('"program": "', '"program": "older'))
    again = running_stack.command("start", timeout_s=150)
    assert "has changed" in again.stdout
    assert running_stack.pid_of("web") not in {before, None}


# In the fast tier: a newer program that replaces the running one.
@pytest.mark.deep
def test_a_killed_or_stopped_launcher_leaves_no_process_and_the_data_stays(
    running_stack: Stack,
) -> None:
    password = running_stack.admin_password
    running_stack.kill_launcher()
    assert wait_for(lambda: running_stack.processes() == []), running_stack.processes()
    assert running_stack.command("status").returncode == 3

    running_stack.start()
    assert running_stack.admin_password == password
    # By itself: after this long it would have been killed. How fast it is, is measured elsewhere.
    assert running_stack.stop() < STOP_TIMEOUT_S
    assert running_stack.processes() == []


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
