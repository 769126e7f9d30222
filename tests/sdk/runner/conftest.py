"""An attempt's folder, the built zipapp and a server of the protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.runner.build import build_runner
from tests.sdk.runner.server import TOKEN, RunnerServer


@pytest.fixture(scope="session")
def runner_pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_runner(tmp_path_factory.mktemp("runner"))


@pytest.fixture
def server() -> Iterator[RunnerServer]:
    server = RunnerServer()
    yield server
    server.stop()


class Attempt:
    """One attempt's folder and the runner that works on it."""

    def __init__(self, root: Path, pyz: Path, server: RunnerServer) -> None:
        self.root, self.pyz, self.server = root, pyz, server
        self.process: subprocess.Popen[bytes] | None = None
        root.mkdir()
        (root / "token").write_text(TOKEN)
        (root / "token").chmod(0o600)

    def start(self, command: list[str], verb: str = "run", **job: Any) -> None:
        limits = {"grace_s": 0.5, "heartbeat_s": 0.2, **job.pop("limits", {})}
        data = {"api_url": self.server.url, "attempt": "a1", "run": "r1", "command": command}
        (self.root / "job.json").write_text(json.dumps({**data, "limits": limits, **job}))
        program = [sys.executable, str(self.pyz), verb, str(self.root)]
        self.process = subprocess.Popen(program, start_new_session=True)

    def python(self, script: str, verb: str = "run", **job: Any) -> None:
        self.start([sys.executable, "-c", script], verb, **job)

    def wait(self, timeout_s: float = 20) -> int:
        assert self.process
        return self.process.wait(timeout_s)

    def exit_report(self, timeout_s: float = 20) -> dict[str, Any]:
        self.wait(timeout_s)
        assert len(self.server.state.exits) == 1
        return self.server.state.exits[0]

    def clean_up(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def attempt(tmp_path: Path, runner_pyz: Path, server: RunnerServer) -> Iterator[Attempt]:
    attempt = Attempt(tmp_path / "attempt", runner_pyz, server)
    yield attempt
    attempt.clean_up()


@pytest.fixture
def eventually() -> Callable[[Callable[[], Any]], Any]:
    def wait_for(condition: Callable[[], Any], timeout_s: float = 10) -> Any:
        ends_at = time.monotonic() + timeout_s
        while not (found := condition()):
            assert time.monotonic() < ends_at, "it did not happen"
            time.sleep(0.02)
        return found

    return wait_for
