"""Answers of `make` about a stack that does not run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from atom.settings.environment import BASE_DIR


@pytest.mark.parametrize(
    ("command", "code"),
    [(["make", "status"], 0), ([sys.executable, "-m", "atom.dev", "status"], 3)],
    ids=["for people", "for scripts"],
)
def test_that_nothing_runs_is_an_answer_and_no_error(
    tmp_path: Path, command: list[str], code: int
) -> None:
    environment = {**os.environ, "ATOM_HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert "Atom does not run" in done.stdout
