"""Removes, or counts, the files of a folder that a pull does not select."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from atom_sdk.client.pull.links import is_own_link


def count_others(folder: Path, keep: Collection[str]) -> int:
    """Return how many files and links below `folder` are not in `keep`.

    Links to folders outside are the user's own and not counted.
    """
    count = 0
    for root, folders, files in os.walk(folder):
        base = os.path.relpath(root, folder).replace(os.sep, "/")
        prefix = "" if base == "." else f"{base}/"
        names = [*files, *_own_links(Path(root), folders, folder)]
        count += sum(f"{prefix}{name}" not in keep for name in names)
    return count


def _own_links(base: Path, names: Iterable[str], folder: Path) -> Iterator[str]:
    return (name for name in names if is_own_link(base / name, folder))


def remove_others(folder: Path, keep: Collection[str]) -> int:
    """Remove the files and links below `folder` that are not in `keep`; returns how many.

    Links are never followed; those to folders outside stay. Folders that are empty then go as well.
    """
    removed = 0
    for root, folders, files in os.walk(folder, topdown=False):
        base = Path(root)
        links = _own_links(base, folders, folder)
        for path in (base / name for name in (*files, *links)):
            if path.relative_to(folder).as_posix() not in keep:
                path.unlink()
                removed += 1
        _remove_if_empty(base, folder)
    return removed


def clear_way(folder: Path, paths: Iterable[str], keep: Collection[str]) -> int:
    """Remove what is not in `keep` and makes it impossible to write `paths`; returns how many.

    That is a file or link where a path needs a folder, and a folder where it needs a file.
    """
    removed = 0
    cleared: set[Path] = set()
    for path in paths:
        target = folder / path
        for above in [*target.parents][: path.count("/")]:
            if above in cleared:
                break
            cleared.add(above)
            name = above.relative_to(folder).as_posix()
            blocks = not above.is_dir() or is_own_link(above, folder)
            if name not in keep and os.path.lexists(above) and blocks:
                above.unlink()
                removed += 1
        if target.is_dir() and not target.is_symlink():
            below = {name for name in keep if name.startswith(f"{path}/")}
            removed += remove_others(target, {name[len(path) + 1 :] for name in below})
            _remove_if_empty(target, folder)
    return removed


def _remove_if_empty(path: Path, top: Path) -> None:
    if path != top and not any(path.iterdir()):
        path.rmdir()
