"""`atom doctor` and `python -m atom.dev doctor` on a real installation, well and broken."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from atom.settings.environment import BASE_DIR
from tests.e2e.breaking import await_all, write_files
from tests.people import administrator, token_of
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(600),
]

_ACTIONS_WITH_MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")


def examine(stack: Stack) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code of the server's doctor and its checks by name."""
    done = stack.command("doctor", "--json", timeout_s=180)
    assert done.stderr == ""
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


@contextmanager
def paused(stack: Stack, name: str) -> Iterator[None]:
    """Have a process of the stack stand still."""
    pid = stack.pid_of(name)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_running_installation_is_well(whole_stack: Stack, tmp_path: Path) -> None:
    code, checks = examine(whole_stack)
    errors = {name: check for name, check in checks.items() if check["level"] == "error"}
    assert (code, errors) == (0, {})
    for name in whole_stack.process_names():
        assert f"pid {whole_stack.pid_of(name)}" in checks[f"process {name}"]["detail"]
    for name in ("portal", "ATOM_HOME", "migrations", "browser uploads", "programs"):
        assert checks[name]["level"] == "ok", checks[name]

    environment = {
        **os.environ,
        "ATOM_URL": whole_stack.base_url,
        "ATOM_TOKEN": token_of(whole_stack, administrator(whole_stack), scope="admin"),
        "ATOM_PROJECT": "demo",
        "ATOM_CACHE": str(tmp_path / "cache"),
        "ATOM_CONFIG": str(tmp_path / "config.json"),
    }
    write_files(tmp_path / "files", 3, 1000, seed=1)
    # With a version there is something to ask the object store for.
    pushed = _atom(environment, "data", "push", str(tmp_path / "files"), "doctor")
    assert pushed.returncode == 0, pushed.stderr
    done = _atom(environment, "doctor", "--json")
    client = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    for name in ("server", "token", "project", "object store", "server health", "version", "clock"):
        assert client[name]["level"] == "ok", client[name]
    assert done.returncode == 0, done.stdout


# In the fast tier: a migration that is missing is the error.
@pytest.mark.deep
def test_a_web_process_that_stands_still_is_an_error_with_its_log(whole_stack: Stack) -> None:
    with paused(whole_stack, "web"):
        code, checks = examine(whole_stack)
    assert code == 1
    assert checks["services"]["level"] == "error"
    assert checks["services"]["action"] == f"See {whole_stack.home / 'logs' / 'web.log'}."
    await_all(whole_stack)


def test_a_missing_migration_is_named(whole_stack: Stack) -> None:
    newest = (
        "FROM django_migrations WHERE app = 'notifications' "
        "AND id = (SELECT max(id) FROM django_migrations WHERE app = 'notifications')"
    )
    with whole_stack.connect() as connection:
        row = connection.execute(f"SELECT id, app, name, applied {newest}").fetchone()
        connection.execute(f"DELETE {newest}")
    assert row is not None
    try:
        code, checks = examine(whole_stack)
    finally:
        with whole_stack.connect() as connection:
            connection.execute("INSERT INTO django_migrations VALUES (%s, %s, %s, %s)", row)
    assert (code, checks["migrations"]["level"]) == (1, "error")
    assert row[2] in checks["migrations"]["detail"]
    assert _unknown_targets(checks) == set()
    assert examine(whole_stack)[1]["migrations"]["level"] == "ok"


# In the fast tier: an installation that was never started.
@pytest.mark.deep
def test_what_does_not_run_is_named_with_the_commands_that_start_it(whole_stack: Stack) -> None:
    whole_stack.stop()
    try:
        port = whole_stack.ports["ATOM_GATEWAY_PORT"]
        with socket.create_server(("127.0.0.1", port)):
            code, busy = examine(whole_stack)
        _, free = examine(whole_stack)
    finally:
        whole_stack.start()
        await_all(whole_stack)
    assert code == 1
    assert busy["processes"]["level"] == "error"
    assert busy["ports"]["level"] == "error"
    assert str(port) in busy["ports"]["detail"]
    assert "ATOM_GATEWAY_PORT" in busy["ports"]["action"]
    # It asks nothing of what does not run.
    assert {"services", "migrations", "browser uploads"} & free.keys() == set()
    assert "make demo" in free["processes"]["action"]
    assert _unknown_targets(busy) | _unknown_targets(free) == set()


def test_an_installation_that_was_never_started_is_told_how(tmp_path: Path) -> None:
    home = tmp_path / "new"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ATOM_", "S3_"))}
    done = subprocess.run(
        [sys.executable, "-m", "atom.dev", "doctor", "--json"],
        cwd=BASE_DIR,
        env={**environment, "ATOM_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert (done.returncode, checks["ATOM_HOME"]["level"]) == (1, "warning")
    assert "make demo" in checks["ATOM_HOME"]["action"]
    assert not home.exists()


def _atom(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).parent / "atom")
    return subprocess.run(
        [program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def _unknown_targets(checks: dict[str, dict[str, Any]]) -> set[str]:
    """Return what the actions ask of make and the Makefile does not have."""
    targets = set(re.findall(r"^([a-z-]+):", (BASE_DIR / "Makefile").read_text(), re.MULTILINE))
    actions = " ".join(check["action"] for check in checks.values())
    return set(_ACTIONS_WITH_MAKE.findall(actions)) - targets
