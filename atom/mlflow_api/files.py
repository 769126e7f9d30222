"""Files below the roots of artifacts: those of a run, of a logged model, of a model version."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from atom.core.storage import objects
from atom.core.streaming import streamed
from atom.jobs.artifacts.actions.stored_files import MODEL, OUTPUT, files_of
from atom.jobs.models import Artifact, Run
from atom.mlflow_api.models import LoggedModel
from atom.models_registry.models import ModelVersion


@dataclass(frozen=True, slots=True)
class Folder:
    """A root of artifacts: the files of a run below `base`, or those that a version keeps."""

    run: Run
    base: str = ""
    kind: str = OUTPUT
    version: ModelVersion | None = None

    def path_of(self, path: str) -> str:
        """Return the path within the run."""
        return "/".join(part for part in (self.base, path) if part)

    def files(self, path: str = "") -> dict[str, Artifact]:
        """Return the files at or below `path`, by their paths within this folder."""
        if self.version is not None:
            rows = self.version.files.select_related("artifact").order_by("path")
            every = {row.path: row.artifact for row in rows}
            return {name: every[name] for name in every if _is_below(name, path)}
        found = files_of(self.run, self.path_of(path))
        skipped = len(self.base) + 1 if self.base else 0
        return {one.path[skipped:]: one for one in found}


def folder_of_run(run: Run) -> Folder:
    """Return all files of a run."""
    return Folder(run)


def folder_of_model(model: LoggedModel) -> Folder:
    """Return the files of a logged model."""
    return Folder(model.run, model.path, MODEL)


def folder_of_version(version: ModelVersion) -> Folder:
    """Return the files that a registered version keeps, whatever its run has stored since."""
    return Folder(version.run, version.artifact_path, MODEL, version)


def _is_below(name: str, path: str) -> bool:
    return not path or name == path or name.startswith(f"{path}/")


def listing(files: Iterable[tuple[str, int]], path: str) -> list[dict[str, Any]]:
    """Return the files and folders directly in `path`, from `(path, size in bytes)` of all files.

    If the path is a file, return that file.
    """
    found: dict[str, dict[str, Any]] = {}
    prefix = f"{path}/" if path else ""
    for name, size_bytes in files:
        if name == path:
            return [{"path": name, "is_dir": False, "file_size": size_bytes}]
        if not name.startswith(prefix):
            continue
        first, _, rest = name.removeprefix(prefix).partition("/")
        shown = f"{prefix}{first}"
        if rest:
            found[shown] = {"path": shown, "is_dir": True}
        else:
            found[shown] = {"path": shown, "is_dir": False, "file_size": size_bytes}
    return [found[name] for name in sorted(found)]


def bytes_of(key: str) -> AsyncIterator[bytes]:
    """Yield an object, a piece at a time, without blocking the event loop."""
    return streamed(map(bytes, objects().views(key)))
