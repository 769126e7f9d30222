"""The model that a run hands over: everything in `model/` of its outputs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsFloat

from atom_sdk.run.context import output_dir
from atom_sdk.run.durable import Files, sync_folder, write_files

DESCRIPTION = "atom.json"


def save_model(
    files: Files | str | os.PathLike[str],
    *,
    framework: str = "",
    metrics: Mapping[str, SupportsFloat] | None = None,
    signature: Mapping[str, Any] | None = None,
) -> Path:
    """Write the run's model and return its folder; a later call replaces it.

    `files` is a file, a folder, a mapping of names to bytes or paths, or a callable that writes
    into the folder it is given. `signature` says what goes in and comes out.
    """
    target = output_dir() / "model"
    half = target.with_name(f".model-{os.getpid()}")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    write_files(half, _files_of(files))
    described = {
        "framework": framework,
        "metrics": {key: float(value) for key, value in (metrics or {}).items()},
        "signature": dict(signature or {}),
    }
    (half / DESCRIPTION).write_text(json.dumps(described, indent=2))
    sync_folder(half)
    shutil.rmtree(target, ignore_errors=True)
    half.rename(target)
    return target


def _files_of(files: Files | str | os.PathLike[str]) -> Files:
    if not isinstance(files, (str, os.PathLike)):
        return files
    source = Path(files)
    if source.is_dir():
        return lambda folder: shutil.copytree(source, folder, dirs_exist_ok=True)
    return {source.name: source}
