"""Reads a dataset of a run while its packs still come from the object store."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from atom_sdk.client.config import Config
from atom_sdk.client.transport.external_objects import source_ranges
from atom_sdk.readers import ViewIndex
from atom_sdk.readers.ranges import StreamOptions
from atom_sdk.readers.streaming import StreamingDataset


def open_stream(view: dict[str, Any]) -> StreamingDataset:
    """Return a reader of an entry of ATOM_DATASETS; what it fetches goes with the attempt."""
    store = Path(view["index_path"]).parent
    index = ViewIndex(view["index_path"])
    base = f"runner/datasets/{view['alias']}/"
    ranges = source_ranges(_config(), base, index, has_replicas=True)
    options = StreamOptions(limit_bytes=int(view["cache_bytes"]) + _linked_bytes(store))
    return StreamingDataset(index.path, store, ranges, options)


def _config() -> Config:
    """The attempt's own token: it is good for this attempt's inputs, and until it ends."""
    run_dir = Path(os.environ["ATOM_RUN_DIR"])
    job = json.loads((run_dir / "job.json").read_text("utf-8"))
    return Config(
        url=str(job["api_url"]).rstrip("/"), token=(run_dir / "token").read_text().strip()
    )


def _linked_bytes(store: Path) -> int:
    """Packs that were on the node before: second names of its files, which take no room.

    Links to a volume of the pod do not count at all, here or in the store.
    """
    paths = (store / "packs").glob("*.tar")
    found = (path.stat() for path in paths if not path.is_symlink())
    return sum(status.st_size for status in found if status.st_nlink > 1)
