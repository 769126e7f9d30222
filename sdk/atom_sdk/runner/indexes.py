"""Brings the index of each dataset that the command streams, where no cache has put it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .api import Api
from .inputs import inside

VIEW_NAME = "view.arrow"


def fetch_indexes(datasets: list[dict[str, Any]], folder: Path, api: Api) -> None:
    """Download indexes and say in each dataset where it lies. Raises ApiError, UnreachableError.

    `index` of a dataset is a path below the runner's resources.
    """
    for dataset in datasets:
        if dataset.get("index_path") or not dataset.get("index"):
            continue
        store = inside(folder, str(dataset["alias"]))
        store.mkdir(parents=True, exist_ok=True)
        target = store / VIEW_NAME
        if not target.exists():
            api.download(str(dataset["index"]), target)
        dataset["index_path"], dataset["pack_dir"] = str(target), str(store / "packs")
