"""The reason that a program leaves is read from a regular file of the job's folder only."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from atom_sdk.runner.config import AttemptPaths
from atom_sdk.runner.declared_failure import declared_failure

REASON = {"code": "no_labels", "sentence": "No labels.", "params": {"dataset": "digits@v1"}}


@pytest.fixture
def paths(tmp_path: Path) -> AttemptPaths:
    return AttemptPaths(tmp_path)


def test_a_reason_is_read(paths: AttemptPaths) -> None:
    assert declared_failure(paths) is None
    paths.failure.write_text(json.dumps(REASON))
    assert declared_failure(paths) == REASON


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"code": 3}', "\\xff", "[" * 20_000])
def test_what_is_no_reason_is_none(paths: AttemptPaths, text: str) -> None:
    paths.failure.write_text(text)
    assert declared_failure(paths) is None


def test_a_pipe_and_a_link_are_not_read(paths: AttemptPaths, tmp_path: Path) -> None:
    os.mkfifo(paths.failure)
    assert declared_failure(paths) is None
    paths.failure.unlink()
    (tmp_path / "elsewhere").write_text(json.dumps(REASON))
    paths.failure.symlink_to(tmp_path / "elsewhere")
    assert declared_failure(paths) is None
