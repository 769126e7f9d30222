"""Answers of `make status` for programs."""

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
