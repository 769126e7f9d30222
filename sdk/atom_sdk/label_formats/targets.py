"""A folder that appears only once all of it is written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atom_sdk.errors import AtomError
from atom_sdk.sentences import Sentence


class TargetTakenError(AtomError):
    """The folder of an export exists and holds something."""

    code = "export_target_taken"
    hint = "Name a folder that does not exist, or remove this one."


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a folder beside the target that becomes it at the end of the block.

    A folder that an interrupted export left is written anew. Raises TargetTakenError, OSError.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TargetTakenError(
            Sentence("formats.target_taken", "{path} is there already.", path=target)
        )
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    if target.exists():
        target.rmdir()
    partial.rename(target)
