"""Answers of `make status` for programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from atom.dev import commands
from atom.dev.config import Installation
from atom.dev.identity import ProcessIdentity
from atom.dev.state import READY, STARTING, ProcessState, StackState, own_identity


@pytest.mark.parametrize(("phase", "code"), [(READY, 0), (STARTING, 3)])
def test_a_process_that_is_being_started_again_is_not_ready(
    tmp_path: Path, phase: str, code: int
) -> None:
    installation = Installation(tmp_path, Installation.load().environment)
    installation.create_folders()
    me: ProcessIdentity = own_identity()
    state = StackState(me, installation.url, READY)
    state.processes = {
        "web": ProcessState("web", me, READY),
        "worker": ProcessState("worker", None, phase),
    }
    state.save(installation.run_dir)
    assert commands.status(installation, as_json=True) == code


def test_it_ends_quietly_when_its_reader_is_gone(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "atom.dev", "status"]
    environment = {**os.environ, "ATOM_HOME": str(tmp_path)}
    try:
        ended = subprocess.run(
            command, stdout=writer, stderr=subprocess.PIPE, env=environment, check=False
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")
