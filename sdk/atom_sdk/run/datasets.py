"""The datasets of a run, by the alias that they were given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atom_sdk.errors import AtomError
from atom_sdk.run.context import NotInRunError

if TYPE_CHECKING:
    from atom_sdk.readers import LocalDataset
    from atom_sdk.run.split import SplitView

STREAM = "stream"


class UnknownAliasError(AtomError):
    """The run has no dataset of this name."""

    code = "unknown_dataset_alias"
    hint = "Use one of the aliases that the run was started with: `--data alias=name@ref`."


def dataset(alias: str | None = None, split: str | None = None) -> SplitView:
    """Return a dataset of the run, or one split of it; the only one when no alias is given.

    Files without a split belong to "train", so a dataset without splits is all "train". Raises
    NotInRunError, UnknownAliasError.
    """
    views = _views()
    if alias is None and len(views) == 1:
        alias = next(iter(views))
    if alias not in views:
        known = ", ".join(sorted(views)) or "none"
        raise UnknownAliasError(f"The run has no dataset '{alias}'. It has: {known}.")
    # Here and not above: importing Arrow takes half a second.
    from atom_sdk.run.split import split_of

    return split_of(_open(views[alias]), split)


def folder(alias: str | None = None) -> Path:
    """Return the folder of a dataset that the run mounted; the only one when no alias is given.

    The same path is in the environment, as ATOM_INPUT_<ALIAS>. Raises NotInRunError,
    UnknownAliasError.
    """
    folders = {name: view["folder"] for name, view in _views().items() if view.get("folder")}
    if alias is None and len(folders) == 1:
        alias = next(iter(folders))
    if alias not in folders:
        known = ", ".join(sorted(folders)) or "none"
        raise UnknownAliasError(f"The run has not mounted '{alias}'. Mounted are: {known}.")
    return Path(folders[alias])


def references() -> list[str]:
    """Return what the run reads, such as digits@v3, each once; empty outside a run."""
    views = _views() if "ATOM_DATASETS" in os.environ else {}
    return sorted({str(view["reference"]) for view in views.values() if view.get("reference")})


def _open(view: dict[str, Any]) -> LocalDataset:
    if view.get("delivery") == STREAM:
        from atom_sdk.run.streams import open_stream

        return open_stream(view)
    from atom_sdk.readers import LocalDataset

    return LocalDataset(Path(view["index_path"]), Path(view["pack_dir"]))


def _views() -> dict[str, dict[str, Any]]:
    path = os.environ.get("ATOM_DATASETS")
    if not path:
        raise NotInRunError("There are no datasets by alias outside a run.")
    views: dict[str, dict[str, Any]] = json.loads(Path(path).read_text("utf-8"))
    return views
