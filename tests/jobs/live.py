"""The web process on a free port, against the tests' own database, for real runners."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import uvicorn

from atom.jobs import reconcile, states
from atom.jobs.code.actions import code
from atom.jobs.code.pipelines.archive import pack_files
from atom.jobs.executors.local.executor import LocalExecutor
from atom.jobs.logs.actions import logs
from atom.jobs.models import Run
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run

START_TIMEOUT_S = 20.0


@contextmanager
def serve(port: int = 0) -> Iterator[str]:
    """Run the ASGI application in a thread; yield its origin. Port 0 is any free one."""
    config = uvicorn.Config(
        "atom.asgi:application",
        host="127.0.0.1",
        port=port,
        log_config=None,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_for(lambda: server.started, START_TIMEOUT_S)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def wait_for(condition: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Return when the condition holds. Raises AssertionError when it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.05)


def reconcile_until(run: Run, *wanted: str, timeout_s: float = 60.0) -> Run:
    """Tick as beat does, until the run is in one of the states (or over)."""

    def reached() -> bool:
        reconcile.tick()
        run.refresh_from_db()
        return run.state in wanted or run.state in states.TERMINAL

    wait_for(reached, timeout_s)
    assert run.state in wanted, (run.state, run.failure_class, run.failure_reason)
    return run


def wait_until_gone(executor: LocalExecutor, attempt_id: UUID | str, timeout_s: float) -> bool:
    """Return whether the supervisor ended in time."""
    deadline = time.monotonic() + timeout_s
    while executor.is_alive(attempt_id):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def make_script_run(tmp_path: Path, script: str, **fields: Any) -> Run:
    """Return a queued run of a Python script, in the plain interpreter."""
    (tmp_path / "train.py").write_text(script)
    project = fields.pop("project", None) or make_project()
    snapshot = code.store(project, pack_files(tmp_path, ["train.py"]), 1)
    command = fields.pop("command", ["python3", "train.py"])
    return make_run(project, code=snapshot, command=command, **fields)


def log_of(run: Run) -> str:
    """Return the whole log of the run's last attempt."""
    attempt = run.attempts.order_by("-number")[0]
    found = logs.read(attempt, 0, 1 << 24)
    return b"".join(frame.payload for frame in found.frames).decode()
