"""Checkpoints: a folder per step, complete or not there; a retry goes on from the last one kept."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from atom_sdk.run.context import checkpoint_dir
from atom_sdk.run.durable import Files, sync, sync_folder, write_files

COMPLETE = ".complete"
_STEP_FOLDER = re.compile(r"^step-0*(\d+)$")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint to go on from."""

    step: int
    path: Path

    def file(self, name: str) -> Path:
        """Return the path of one of its files."""
        return self.path / name


def save_checkpoint(step: int, files: Files, keep: int = 2) -> Path:
    """Write a checkpoint and return its folder; the `keep` newest stay on this machine.

    `files` maps names to bytes or paths, or is a callable that writes into the folder it is given.
    The checkpoint is complete once this returns; Atom then uploads it beside the training.
    """
    folder = checkpoint_dir()
    target = folder / f"step-{step:08d}"
    half = folder / f".half-{step}-{os.getpid()}"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    write_files(half, files)
    sync_folder(half)
    (half / COMPLETE).write_text(json.dumps({"step": step}))
    sync(half / COMPLETE)
    shutil.rmtree(target, ignore_errors=True)
    half.rename(target)
    sync(folder)
    _forget_old(folder, max(1, keep))
    return target


def resume() -> Checkpoint | None:
    """Return the checkpoint that this attempt should go on from, None for a fresh start."""
    folder, step = os.environ.get("ATOM_RESUME_DIR"), os.environ.get("ATOM_RESUME_STEP")
    if not folder or step in (None, "", "null"):
        return None
    return Checkpoint(int(step or 0), Path(folder))


def _forget_old(folder: Path, keep: int) -> None:
    steps = [path for path in folder.iterdir() if _STEP_FOLDER.match(path.name)]
    for path in sorted(steps)[:-keep]:
        shutil.rmtree(path, ignore_errors=True)
