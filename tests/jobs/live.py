"""The web process on a free port, against the tests' own database, for real runners."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from atom.jobs import states
from atom.jobs.actions import reconcile
from atom.jobs.models import Run

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
