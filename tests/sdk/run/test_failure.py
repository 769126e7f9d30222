"""A program's own reason for its end reaches the exit report, as code and parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atom_sdk import run
from atom_sdk.runner.config import AttemptPaths
from atom_sdk.runner.declared_failure import MAX_BYTES, declared_failure


def fail() -> None:
    raise run.RunFailure("no_labels", "None of 3 images has a label.", dataset="pets@v1", files=3)


def test_the_reason_lies_where_the_runner_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ATOM_RUN_DIR", str(tmp_path))
    assert run.main(fail) == 1
    assert declared_failure(AttemptPaths(tmp_path)) == {
        "code": "no_labels",
        "sentence": "None of 3 images has a label.",
        "params": {"dataset": "pets@v1", "files": 3},
    }
    assert "RunFailure: None of 3 images" in capsys.readouterr().err


def test_outside_a_run_the_traceback_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ATOM_RUN_DIR", raising=False)
    assert run.main(fail) == 1
    assert "Traceback" in capsys.readouterr().err


def test_work_that_ends_well_has_no_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOM_RUN_DIR", str(tmp_path))
    assert (run.main(lambda: None), run.main(lambda: 3)) == (0, 3)
    assert declared_failure(AttemptPaths(tmp_path)) is None


@pytest.mark.parametrize(
    "written",
    ["[]", '"no_labels"', "{", '{"code": 3}', json.dumps({"code": "x" * MAX_BYTES})],
)
def test_a_file_that_is_no_reason_is_left_alone(tmp_path: Path, written: str) -> None:
    paths = AttemptPaths(tmp_path)
    paths.failure.write_text(written)
    assert declared_failure(paths) is None
