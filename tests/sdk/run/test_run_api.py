"""The calls of a script to Atom, inside a run and outside."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from atom_sdk import run
from atom_sdk.run import checkpoints, data_wait
from atom_sdk.run.parameters import Parameters


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment that the runner gives to a command."""
    (tmp_path / "parameters.json").write_text('{"epochs": 3, "hidden": "small"}')
    for name, value in {
        "ATOM_RUN_ID": "r1",
        "ATOM_OUTPUT_DIR": tmp_path / "outputs",
        "ATOM_CHECKPOINT_DIR": tmp_path / "outputs" / "checkpoints",
        "ATOM_INPUT_DIR": tmp_path / "inputs",
        "ATOM_METRICS_FILE": tmp_path / "metrics.jsonl",
        "ATOM_PARAMETERS": tmp_path / "parameters.json",
    }.items():
        monkeypatch.setenv(name, str(value))
    return tmp_path


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_points_and_progress_are_lines(inside: Path) -> None:
    run.log({"loss": 0.5, "good": True}, step=3)
    run.progress(1.7, "epoch 2/5")
    point, done = rows(inside)
    assert (point["step"], point["values"]) == (3, {"loss": 0.5, "good": 1.0})
    assert abs(point["ts_ms"] / 1000 - time.time()) < 5
    assert done == {"progress": 1.0, "text": "epoch 2/5"}


def test_threads_never_mix_their_lines(inside: Path) -> None:
    def write(thread: int) -> None:
        for number in range(200):
            run.log({f"key {thread}": number}, step=number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows(inside)) == 800


def test_parameters_by_name_and_as_attributes(inside: Path) -> None:
    params = Parameters()
    assert params["epochs"] == params.epochs == 3
    assert params.get("seed", 7) == 7
    with pytest.raises(AttributeError, match="It has: epochs, hidden"):
        _ = params.batch_size


def test_a_checkpoint_is_complete_or_not_there(inside: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "state.bin").write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run.save_checkpoint(1, fail)
    folder = run.save_checkpoint(2, {"state.bin": b"whole", "sub/more.txt": b"x"})
    visible = [path.name for path in run.checkpoint_dir().iterdir() if path.name[0] != "."]
    assert visible == ["step-00000002"]
    assert (folder / "state.bin").read_bytes() == b"whole"
    assert (folder / checkpoints.COMPLETE).exists()


def test_only_the_newest_checkpoints_stay(inside: Path) -> None:
    for step in (1, 2, 10):
        run.save_checkpoint(step, {"state": b"x"})
    names = sorted(path.name for path in run.checkpoint_dir().iterdir())
    assert names == ["step-00000002", "step-00000010"]


def test_a_checkpoint_of_the_same_step_is_replaced(inside: Path) -> None:
    run.save_checkpoint(1, {"old": b"x"})
    folder = run.save_checkpoint(1, {"new": b"y"})
    assert sorted(path.name for path in folder.iterdir()) == [".complete", "new"]


def test_a_file_name_must_stay_in_the_folder(inside: Path) -> None:
    for name in ("../escape", "/tmp/escape"):
        with pytest.raises(ValueError, match="would leave its folder"):
            run.save_checkpoint(1, {name: b"x"})


def test_resume_gives_the_step_and_the_files(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run.resume() is None
    monkeypatch.setenv("ATOM_RESUME_DIR", str(inside))
    monkeypatch.setenv("ATOM_RESUME_STEP", "4")
    found = run.resume()
    assert found == run.Checkpoint(4, inside)
    assert found.file("a") == inside / "a"


def test_a_model_is_a_folder_with_a_description(inside: Path) -> None:
    (inside / "weights.bin").write_bytes(b"w")
    run.save_model({"old.bin": b"x"})
    folder = run.save_model(inside / "weights.bin", framework="numpy", metrics={"accuracy": 0.5})
    assert sorted(path.name for path in folder.iterdir()) == ["atom.json", "weights.bin"]
    described = json.loads((folder / "atom.json").read_text())
    assert described == {"framework": "numpy", "metrics": {"accuracy": 0.5}, "signature": {}}


def test_waiting_for_data_is_reported(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_wait, "REPORT_EVERY_S", 0.0)

    def slow() -> Any:
        for number in range(3):
            time.sleep(0.03)
            yield number

    seen = []
    for batch in run.track(slow()):
        seen.append(batch)
        time.sleep(0.01)
    assert seen == [0, 1, 2]
    shares = [row["values"]["system/data_wait_percent"] for row in rows(inside)]
    assert len(shares) >= 3
    assert all(0 <= share <= 100 for share in shares)
    assert max(shares) > 40


def test_the_batches_of_all_loops_are_counted(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_wait, "_batches", itertools.count(1))
    for _ in range(2):
        assert len(list(run.track(range(3)))) == 3
    counts = [row["values"]["system/data_batches"] for row in rows(inside)]
    assert counts == [3, 6]


def test_outside_a_run_everything_is_said_instead(
    outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run.log({"loss": 0.25}, step=2)
    run.progress(0.4, "epoch 2/5")
    run.save_model({"w": b"x"})
    run.save_checkpoint(1, {"w": b"x"})
    assert run.resume() is None
    assert not run.is_in_run()
    said = capsys.readouterr().out
    assert "[atom] step 2: loss=0.25" in said
    assert "[atom] 40% epoch 2/5" in said
    assert (outside / "atom-outputs" / "model" / "w").exists()


def test_data_outside_a_run_is_a_plain_sentence(outside: Path) -> None:
    with pytest.raises(run.NotInRunError, match="no datasets by alias outside a run"):
        run.dataset("digits")
    with pytest.raises(run.NotInRunError):
        run.input_dir()


def test_importing_is_cheap() -> None:
    script = "import sys; from atom_sdk import run; print('pyarrow' in sys.modules,"
    script += " 'httpx' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"] * 3
