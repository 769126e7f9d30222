"""Where a run's folders are; outside a run, a folder beside the script."""

from __future__ import annotations

import os
from pathlib import Path

from atom_sdk.errors import AtomError

LOCAL_FOLDER = "atom-outputs"
_printed_keys: set[str] = set()


class NotInRunError(AtomError):
    """Something was asked for that only a run has."""

    code = "not_in_run"
    hint = "Start the script with `atom run -- python …`, or open the data with atom_sdk.open()."


def is_in_run() -> bool:
    """Return whether Atom started this process."""
    return "ATOM_RUN_ID" in os.environ


def output_dir() -> Path:
    """Return the folder whose files Atom keeps."""
    return _folder("ATOM_OUTPUT_DIR", LOCAL_FOLDER)


def checkpoint_dir() -> Path:
    """Return the folder of checkpoints; `save_checkpoint` writes there."""
    return _folder("ATOM_CHECKPOINT_DIR", f"{LOCAL_FOLDER}/checkpoints")


def input_dir() -> Path:
    """Return the folder of input files, such as a model to evaluate. Raises NotInRunError."""
    folder = os.environ.get("ATOM_INPUT_DIR")
    if not folder:
        raise NotInRunError("There are no input files outside a run.")
    return Path(folder)


def say_once(key: str, sentence: str) -> None:
    """Print a sentence for people the first time only."""
    if key not in _printed_keys:
        _printed_keys.add(key)
        print(f"[atom] {sentence}", flush=True)


def _folder(variable: str, local: str) -> Path:
    configured = os.environ.get(variable)
    folder = Path(configured) if configured else Path.cwd() / local
    folder.mkdir(parents=True, exist_ok=True)
    if not configured:
        say_once("outputs", f"Not in a run: files are written to {LOCAL_FOLDER}/.")
    return folder
