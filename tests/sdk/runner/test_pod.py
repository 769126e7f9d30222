"""The verb `pod`: joining, the exit codes that Kubernetes counts, and preemption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.runner import join
from atom_sdk.runner.api import Api
from atom_sdk.runner.config import AttemptPaths
from atom_sdk.runner.preemption import Preemption
from atom_sdk.runner.uploads import OutputSync
from tests.sdk.runner.server import TOKEN, RunnerServer

Eventually = Callable[[Callable[[], Any]], Any]
READY = "open(os.environ['ATOM_RUN_DIR'] + '/ready', 'w').close()\n"
ON_TERM = "import os, signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: %s)\n" + READY
WAIT = "while True: time.sleep(0.05)"


class Pod:
    """One pod's process with its environment."""

    def __init__(self, folder: Path, pyz: Path, server: RunnerServer) -> None:
        self.server, self._pyz = server, pyz
        self._token_file = folder / "sa-token"
        self._token_file.write_text("sa-1\n")
        self._work = folder / "work"
        self._work.mkdir()
        self.process: subprocess.Popen[bytes] | None = None
        self._log = folder / "pod.log"
        self.root = self._work / "attempt-a1"

    def starts(self, script: str, **limits: float) -> tuple[int, dict[str, Any]]:
        """Return the answer that starts a program of Python."""
        job = {
            "attempt": "a1",
            "run": "r1",
            "command": [sys.executable, "-c", script],
            "limits": {"grace_s": 5, "heartbeat_s": 0.2, **limits},
        }
        return 200, {"answer": "start", "token": TOKEN, "job": job}

    def start(self, *joins: tuple[int, dict[str, Any]], **env: str) -> None:
        self.server.state.joins = list(joins)
        ours = {
            "PATH": os.environ["PATH"],
            "ATOM_API_URL": self.server.url,
            "ATOM_PLACEMENT": "0197-placement",
            "JOB_COMPLETION_INDEX": "3",
            "ATOM_POD_NAME": "pod-3",
            "ATOM_POD_UID": "uid-3",
            "ATOM_POD_TOKEN_FILE": str(self._token_file),
            "ATOM_WORK_DIR": str(self._work),
            "ATOM_GRACE_S": "20",
        }
        program = [sys.executable, str(self._pyz), "pod"]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                program, env={**ours, **env}, stderr=log, start_new_session=True
            )

    def terminate(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        assert self.process
        return self.process.wait(30)

    def said(self) -> str:
        return self._log.read_text()

    def is_ready(self) -> bool:
        return (self.root / "ready").exists()

    def report(self) -> dict[str, Any]:
        assert len(self.server.state.exits) == 1
        return self.server.state.exits[0]

    def clean_up(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def pod(tmp_path: Path, runner_pyz: Path, server: RunnerServer) -> Iterator[Pod]:
    pod = Pod(tmp_path, runner_pyz, server)
    yield pod
    pod.clean_up()


AGAIN = (200, {"answer": "again", "after_s": 1, "reason": "Rank 0 is not here yet."})


def test_a_pod_joins_after_again_and_reports(pod: Pod, server: RunnerServer) -> None:
    pod.start(AGAIN, pod.starts("print('hello')"))
    assert pod.wait() == 0
    assert (
        server.state.join_requests
        == [{"placement": "0197-placement", "rank": 3, "pod": "pod-3", "pod_uid": "uid-3"}] * 2
    )
    assert server.state.join_tokens == ["Bearer sa-1"] * 2
    assert server.lines() == ["hello"]
    assert (pod.report()["reason"], pod.report()["exit_code"]) == ("exited", 0)
    assert "[atom] Rank 0 is not here yet." in pod.said()
    assert (pod.root / "token").stat().st_mode & 0o777 == 0o600


def test_stop_and_refusal_end_the_pod(pod: Pod) -> None:
    pod.start((200, {"answer": "stop", "reason": "The run was cancelled."}))
    assert pod.wait() == 79
    assert "[atom] The run was cancelled." in pod.said()
    pod.start((403, {"code": "forbidden", "detail": "Not a pod of this placement."}))
    assert pod.wait() == 78
    assert "Not a pod of this placement." in pod.said()
    pod.start(pod.starts("pass"), ATOM_PLACEMENT="")
    assert pod.wait() == 78
    assert "ATOM_PLACEMENT is not set" in pod.said()


def test_a_pod_waits_for_a_server_that_is_away(
    pod: Pod, server: RunnerServer, eventually: Eventually
) -> None:
    server.stop()
    pod.start((503, {}), (429, {}), pod.starts("pass"))
    eventually(lambda: "Waiting for the server" in pod.said())
    server.start()
    assert pod.wait() == 0
    assert len(server.state.join_requests) == 3


def test_sigterm_while_the_pod_waits(
    pod: Pod, server: RunnerServer, eventually: Eventually
) -> None:
    pod.start((200, {"answer": "again", "after_s": 60, "reason": "Wait."}))
    eventually(lambda: "Wait." in pod.said())
    pod.terminate()
    assert pod.wait() == 143
    assert server.state.exits == []


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(0)", 0), ("sys.exit(143)", 143), ("None", None)],
    ids=["returns 0", "returns 143", "ignores it"],
)
def test_sigterm_while_the_program_runs(
    pod: Pod, eventually: Eventually, end: str, code: int | None
) -> None:
    grace_s = 0.5 if code is None else 10
    pod.start(pod.starts(ON_TERM % end + WAIT, grace_s=grace_s))
    eventually(pod.is_ready)
    pod.terminate()
    assert pod.wait() == 143
    assert (pod.report()["reason"], pod.report()["exit_code"]) == ("preempted", code)
    assert pod.report()["signal"] == (signal.SIGKILL if code is None else None)


def test_sigterm_of_a_cancelled_run_reports_the_cancel(
    pod: Pod, server: RunnerServer, eventually: Eventually
) -> None:
    pod.start(pod.starts(ON_TERM % "sys.exit(0)" + WAIT, heartbeat_s=60))
    eventually(pod.is_ready)
    server.state.cancel = True
    pod.terminate()
    assert pod.wait() == 143
    assert pod.report()["reason"] == "cancelled"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit(137)", 1),
        ("import sys; sys.exit(143)", 1),
        ("import os; os.kill(os.getpid(), 9)", 1),
        ("import os; os.kill(os.getpid(), 15)", 1),
        ("import os; os.kill(os.getpid(), 10)", 138),
    ],
)
def test_codes_of_the_program_itself(pod: Pod, script: str, code: int) -> None:
    pod.start(pod.starts(script))
    assert pod.wait() == code
    assert pod.report()["reason"] == "exited"


def test_a_revoked_token_is_no_success(
    pod: Pod, server: RunnerServer, eventually: Eventually
) -> None:
    pod.start(pod.starts(ON_TERM % "sys.exit(0)" + WAIT))
    eventually(pod.is_ready)
    server.state.revoked = True
    assert pod.wait() == 79
    assert server.state.exits == []


def test_a_success_that_was_not_reported_is_no_success(pod: Pod, server: RunnerServer) -> None:
    server.faults.only, server.faults.status_500 = "exit", 10_000
    pod.start(pod.starts("pass", report_s=0.2))
    assert pod.wait() == 80
    assert server.state.exits == []


SAVE = """
def save(*_):
    folder = os.environ['ATOM_CHECKPOINT_DIR'] + '/step-7/'
    os.mkdir(folder)
    open(folder + 'weights', 'w').write('seven')
    open(folder + '.complete', 'w').close()
    open(os.environ['ATOM_OUTPUT_DIR'] + '/notes.txt', 'w').write('n')
    sys.exit(0)
"""


def test_a_checkpoint_of_the_grace_is_reported_first(
    pod: Pod, server: RunnerServer, eventually: Eventually
) -> None:
    handler = "import os, signal, sys, time\n" + SAVE + "signal.signal(signal.SIGTERM, save)\n"
    pod.start(pod.starts(handler + READY + WAIT))
    eventually(pod.is_ready)
    pod.terminate()
    assert pod.wait() == 143
    assert server.state.completed == ["checkpoints/step-7/weights", "notes.txt"]
    assert server.state.storage["out/checkpoints/step-7/weights"] == b"seven"
    assert pod.report()["reason"] == "preempted"


def test_the_program_gets_three_quarters_of_the_grace_and_no_more(
    pod: Pod, server: RunnerServer, eventually: Eventually
) -> None:
    ignoring = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    pod.start(pod.starts(ignoring + READY + WAIT, grace_s=60), ATOM_GRACE_S="4")
    eventually(pod.is_ready)
    pod.terminate()
    assert pod.wait() == 143
    assert "it has 3 s" in bytes(server.state.log).decode()
    assert (pod.report()["reason"], pod.report()["signal"]) == ("preempted", signal.SIGKILL)


@pytest.mark.parametrize(
    ("wanted_s", "grace_s", "granted_s"), [(10, 60, 10), (60, 60, 45), (5, 0, 0)]
)
def test_the_grace_of_the_program_is_a_part_of_that_of_the_pod(
    wanted_s: float, grace_s: float, granted_s: float
) -> None:
    assert Preemption(grace_s).command_grace_s(wanted_s) == granted_s


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("header", "least_s"), [("7", 7), ("", 0), ("soon", 0), ("9999", 60)])
def test_a_busy_server_says_how_long_a_pod_waits(
    tmp_path: Path,
    server: RunnerServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    header: str,
    least_s: float,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("atom_sdk.runner.join.time.sleep", waits.append)
    (tmp_path / "token").write_text("sa-1")
    config = join.PodConfig(
        server.url, "placement", 0, "pod", "uid", tmp_path / "token", tmp_path, str(tmp_path), 20
    )
    server.state.retry_after = header
    job = {"attempt": "a1"}
    server.state.joins = [(status, {}), (200, {"answer": "start", "token": TOKEN, "job": job})]
    assert join.join(config).job == job
    (wait_s,) = waits
    assert least_s <= wait_s <= max(least_s * 1.1, 1)


def test_an_upload_gives_way_to_a_checkpoint_once_time_is_short(
    tmp_path: Path, server: RunnerServer, eventually: Eventually
) -> None:
    paths = AttemptPaths(tmp_path)
    paths.make_folders()
    large = paths.outputs / "large"
    large.write_bytes(b"l" * (24 << 20))
    # Older than what the scan takes for a file that is still written.
    os.utime(large, (0, 0))
    server.state.held_path = "out/large"
    api = Api(server.url, TOKEN)
    sync = OutputSync(api, paths)
    sync.start()
    try:
        sync.sync_soon()
        assert server.state.held.wait(20)
        folder = paths.outputs / "checkpoints" / "step-7"
        folder.mkdir(parents=True)
        (folder / "weights").write_bytes(b"seven")
        (folder / ".complete").touch()
        sync.hurry()
        server.state.released.set()
        eventually(lambda: len(server.state.completed) == 2)
        assert server.state.completed == ["checkpoints/step-7/weights", "large"]
    finally:
        api.abandon()
        assert sync.finish(20)
