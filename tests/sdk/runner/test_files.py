"""Files that the command gets, and files that it leaves."""

from __future__ import annotations

import errno
import io
import os
import tarfile
from collections.abc import Callable
from typing import Any

import pytest

from atom_sdk.runner.api import Api
from atom_sdk.runner.config import AttemptPaths
from atom_sdk.runner.uploads import OutputSync
from tests.sdk.runner.conftest import Attempt
from tests.sdk.runner.server import TOKEN, RunnerServer

Eventually = Callable[[Callable[[], Any]], Any]


def snapshot(**files: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"{name}.py")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_code_inputs_and_checkpoint_are_there_before_the_command(
    attempt: Attempt, server: RunnerServer
) -> None:
    code = server.put("code.tar.gz", snapshot(train="import helper", helper="print('helped')"))
    model = server.put("model/weights.bin", b"weights")
    state = server.put("checkpoints/step-00000003/state.bin", b"state")
    attempt.start(
        [
            "sh",
            "-c",
            'python3 train.py; cat "$ATOM_INPUT_DIR/model/weights.bin"; echo; '
            'cat "$ATOM_RESUME_DIR/state.bin"; echo " $ATOM_RESUME_STEP"',
        ],
        code=code,
        inputs=[model],
        resume={"files": [state], "step": 3},
    )
    assert attempt.exit_report()["evidence"]["message"] == "The command ended normally."
    assert server.lines() == ["helped", "weights", "state 3"]


def test_code_with_the_wrong_digest_never_runs(attempt: Attempt, server: RunnerServer) -> None:
    code = server.put("code.tar.gz", snapshot(train="print('ran')"))
    attempt.start(["python3", "train.py"], code={**code, "sha256": "0" * 64})
    report = attempt.exit_report()
    assert (report["reason"], report["exit_code"]) == ("exited", 1)
    assert report["evidence"]["stage"] == "preparation"
    assert "does not match its digest" in report["evidence"]["message"]
    assert server.lines() == []


def test_code_from_a_folder_of_this_machine(attempt: Attempt, server: RunnerServer) -> None:
    folder = attempt.root.parent / "workflow"
    folder.mkdir()
    (folder / "train.py").write_text("print('from a folder')")
    attempt.start(["python3", "train.py"], code={"path": str(folder)})
    attempt.exit_report()
    assert server.lines() == ["from a folder"]


def test_a_file_name_that_leaves_the_folder_is_refused(
    attempt: Attempt, server: RunnerServer
) -> None:
    file = server.put("x", b"x")
    attempt.start(["true"], inputs=[{**file, "path": "../../escape"}])
    assert "would leave its folder" in attempt.exit_report()["evidence"]["message"]
    assert not (attempt.root.parent / "escape").exists()


def test_a_working_folder_that_is_not_there(attempt: Attempt) -> None:
    attempt.start(["true"], workdir="src/missing")
    assert "'src/missing' is not in the code" in attempt.exit_report()["evidence"]["message"]


def test_small_outputs_come_while_the_command_runs(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(
        "import os, time\nopen(os.environ['ATOM_OUTPUT_DIR'] + '/a.txt', 'w').write('a')\n"
        "time.sleep(60)"
    )
    eventually(lambda: "a.txt" in server.state.completed)
    assert server.state.exits == []


def test_outputs_are_classed_and_unfinished_or_linked_ones_left_out(
    attempt: Attempt, server: RunnerServer
) -> None:
    attempt.start(
        [
            "sh",
            "-c",
            'cd "$ATOM_OUTPUT_DIR"; mkdir model checkpoints/step-00000001 '
            "checkpoints/step-00000002 checkpoints/.tmp-3; echo w > model/weights;"
            "echo e > eval.json;"
            "echo 1 > checkpoints/step-00000001/state; touch checkpoints/step-00000001/.complete;"
            "echo 2 > checkpoints/step-00000002/state; echo 3 > checkpoints/.tmp-3/state;"
            "ln -s /etc/passwd stolen; truncate -s 3M large.bin",
        ],
    )
    report = attempt.exit_report()
    artifacts = server.state.artifacts
    kinds = {path: artifacts[path]["kind"] for path in server.state.completed}
    assert kinds == {
        "eval.json": "output",
        "model/weights": "model",
        "large.bin": "output",
        "checkpoints/step-00000001/state": "checkpoint",
    }
    assert artifacts["checkpoints/step-00000001/state"]["step"] == 1
    assert len(server.state.storage["out/large.bin"]) == 3 * 1024 * 1024
    assert server.state.completed[0] == "eval.json"
    assert report["counters"]["files_sent"] == 4


@pytest.fixture
def outputs(attempt: Attempt, server: RunnerServer) -> OutputSync:
    """The outputs of a command that has ended, in this process."""
    paths = AttemptPaths(attempt.root)
    for folder in (paths.outputs, paths.spool):
        folder.mkdir()
    (paths.outputs / "a.txt").write_text("a")
    (paths.outputs / "b.txt").write_text("b")
    return OutputSync(Api(server.url, TOKEN), paths)


def test_an_output_that_cannot_be_opened_is_told(
    outputs: OutputSync, server: RunnerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def broken(path: str, *rest: Any) -> int:
        if path.endswith("b.txt"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", broken)
    outputs.start()
    assert not outputs.finish(20)
    assert server.state.completed == ["a.txt"]
    assert outputs.failed == {"b.txt": "b.txt: Permission denied"}


def test_an_output_that_never_stands_still_is_told(
    outputs: OutputSync, attempt: Attempt, server: RunnerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def growing(path: str, *rest: Any) -> int:
        if path.endswith("b.txt"):
            with open(path, "a") as file:
                file.write("b")
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", growing)
    outputs.start()
    assert not outputs.finish(20)
    assert server.state.completed == ["a.txt"]
    assert outputs.failed == {"b.txt": "It kept changing while it was sent."}
