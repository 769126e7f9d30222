"""Brings the index of each dataset that the command streams, where no cache has put it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .api import Api
from .inputs import inside

VIEW_NAME = "view.arrow"
# The names of all packs of a volume of the pod.
VOLUME_PACKS = "packs.txt"
_DIGEST = re.compile(r"[0-9a-f]{64}")


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
        if dataset.get("volume"):
            link_volume(Path(str(dataset["volume"])), store / "packs")


def link_volume(volume: Path, packs: Path) -> None:
    """Link the packs of a node's volume into the folder that the command reads. Raises OSError.

    Packs that are still to come to the node are linked too: a link that leads nowhere counts as a
    missing pack, which the command streams. Without the volume nothing is linked.
    """
    packs.mkdir(parents=True, exist_ok=True)
    try:
        names = (volume / VOLUME_PACKS).read_text("utf-8").split()
    except FileNotFoundError:
        return
    for digest in names:
        link = packs / f"{digest}.tar"
        if _DIGEST.fullmatch(digest) and not os.path.lexists(link):
            link.symlink_to(volume / "packs" / link.name)
