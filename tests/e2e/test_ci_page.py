"""docs/ci.md: its commands run as they are printed, and the command line ends like the run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.timeout(600)


def block(language: str) -> str:
    (found,) = re.findall(
        rf"```{language}\n(.*?)```", (BASE_DIR / "docs" / "ci.md").read_text(), re.S
    )
    return str(found)


def test_the_workflow_of_the_page_pushes_trains_gates_and_promotes(
    images: Path, environment: dict[str, str], tmp_path: Path, atom: Client
) -> None:
    (tmp_path / "train.py").write_text(block("python"))
    steps = yaml.safe_load(block("yaml"))["jobs"]["train"]["steps"]
    # It is installed here: the checkout is not in the folder that the others run in.
    commands = {
        step["name"]: step["run"] for step in steps if step.get("name", "Install") != "Install"
    }
    assert len(commands) == 4
    programs = f"{Path(sys.executable).parent}:{environment['PATH']}"
    for name, command in commands.items():
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", command],
            cwd=tmp_path,
            env={**environment, "PATH": programs, "GITHUB_SHA": "0123abcd"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, (name, done.stdout, done.stderr)
    (version,) = atom.models.versions("ci-pets")
    assert version["aliases"] == ["production"]
    assert version["description"] == "commit 0123abcd"


@pytest.mark.parametrize(("last", "shown"), [("nan", "nan"), ("inf", "inf")])
def test_the_gate_of_the_page_reads_a_diverged_metric(
    shell: Shell, tmp_path: Path, environment: dict[str, str], last: str, shown: str
) -> None:
    (tmp_path / "code").mkdir()
    log = f"import atom_sdk.run as run; run.log({{'accuracy': float('{last}')}})"
    command = ("--wait", "--json", "--code", "code", "--", "python", "-c", log)
    (tmp_path / "run.json").write_text(shell("run", *command).stdout)
    steps = yaml.safe_load(block("yaml"))["jobs"]["train"]["steps"]
    gate = next(step["run"] for step in steps if step.get("name", "").startswith("Gate"))
    programs = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", gate],
        cwd=tmp_path,
        env={**environment, "PATH": programs},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert f"accuracy {shown}" in done.stdout, done.stderr
    assert done.returncode == (1 if last == "nan" else 0)


def test_waiting_ends_like_the_run(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    sleeping = ("python", "-c", "import time; time.sleep(600)")
    waiting = ("--wait", "--wait-timeout", "0", "--code", "empty", "--name", "sleeps")
    given_up = shell("run", *waiting, "--", *sleeping, check=False)
    assert given_up.returncode == 124
    assert "it goes on" in given_up.stderr
    shell("cancel", "sleeps")
    assert shell("wait", "sleeps", check=False).returncode == 6
