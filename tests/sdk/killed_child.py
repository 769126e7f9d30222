"""Writes a dataset in every way, killed before each change that it makes to a folder.

`python -m tests.sdk.killed_child VIEW PACKS TARGET` leaves TARGET/<way>/<n> as the kernel finds it
after a SIGKILL before the n-th change; the first (0) and the last of each way were not killed.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from atom_sdk.client.progress import Silent
from atom_sdk.client.pull.pull import write_entry
from atom_sdk.export import FORMATS, export_dataset
from atom_sdk.manifests import Entry
from atom_sdk.mount.hardlinks import mount_links
from atom_sdk.mount.plan import MountPlan
from atom_sdk.packs import PackStore
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.folder_view import FolderView

Way = Callable[[LocalDataset, Path], object]
_CHANGES = {"open", "os.rename", "os.link", "os.mkdir"}


def pull(dataset: LocalDataset, folder: Path) -> None:
    """Write each file as a pull does."""
    index, store = dataset.index, PackStore(dataset.pack_dir.parent)
    for row in range(len(index)):
        pack = index.packs[int(index.pack_ids[row])]
        size, offset = int(index.sizes[row]), int(index.offsets[row])
        entry = Entry(index.path_of(row), size, index.digest_of(row), None, None, pack, offset)
        write_entry(store, entry, folder)


def export(file_format: str, dataset: LocalDataset, folder: Path) -> None:
    """Export in shards of one or two files."""
    export_dataset(dataset, folder, file_format, Silent(), 3000)


def mount(dataset: LocalDataset, folder: Path) -> None:
    """Show the files as links to copies in a cache beside the folder."""
    folder.mkdir(exist_ok=True)
    view = FolderView(dataset.index)
    mount_links(MountPlan(dataset, folder, folder.parent, folder.parent / "unused", view))


WAYS: dict[str, Way] = {
    "pull": pull,
    "mount": mount,
    **{file_format: partial(export, file_format) for file_format in FORMATS},
}


def carry_out(way: str, view: Path, packs: Path, target: Path) -> None:
    """Do it once, in `target`/shown."""
    target.mkdir(parents=True, exist_ok=True)
    WAYS[way](LocalDataset(view, packs), target / "shown")


def _kill_before(change: int, target: Path) -> None:
    left = change

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in _CHANGES and str(target) in str(arguments[:2]):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _is_killed(way: str, view: Path, packs: Path, target: Path, change: int) -> bool:
    child = os.fork()
    if not child:
        try:
            _kill_before(change, target)
            carry_out(way, view, packs, target)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.WEXITSTATUS(status):
        raise SystemExit(f"{way} failed by itself")
    return False


def main(view: str, packs: str, target: str) -> None:
    """Kill every way before every change."""
    for way in WAYS:
        # Once here, so that not each child has to import what this needs.
        carry_out(way, Path(view), Path(packs), Path(target) / way / "0")
        change = 1
        while _is_killed(way, Path(view), Path(packs), Path(target) / way / str(change), change):
            change += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
