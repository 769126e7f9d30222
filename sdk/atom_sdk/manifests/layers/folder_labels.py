"""Labels from class folders: the last folder above a file names its class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def folder_label(path: str, unlabelled_prefixes: Sequence[str] = ()) -> str | None:
    """Return the class of `path`, None at the root or under a prefix that is left unlabelled.

    A prefix is a folder name with or without its slash: `unlabelled` covers `unlabelled/7.png`
    and not `unlabelled-too/7.png`.
    """
    folder, slash, _ = path.rpartition("/")
    if not slash:
        return None
    if any(path.startswith(f"{prefix.rstrip('/')}/") for prefix in unlabelled_prefixes):
        return None
    return folder.rpartition("/")[2]


def folder_labels(
    paths: Iterable[str], unlabelled_prefixes: Sequence[str] = ()
) -> list[str | None]:
    """Return `folder_label` of each path."""
    return [folder_label(path, unlabelled_prefixes) for path in paths]
