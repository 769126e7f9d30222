"""Reads files through the mounted folder and compares their digests.

A kernel mount whose devices are missing, exchanged or of another dataset succeeds and gives wrong
bytes, so one file of every pack is read before anybody else may.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.mount.errors import MountLinkError, MountVerificationError
from atom_sdk.readers.folder_view import FolderView

# Smaller files may be the same in two packs, larger ones cost time.
_TELLING_BYTES = 1024
_CHUNK_BYTES = 1 << 20
# Links are in no pack: a few show whether they are shown at all.
_TELLING_LINKS = 100


def verify_mount(view: FolderView, folder: Path, every_file: bool = False) -> int:
    """Read one file of each pack, or all; returns how many. Links are read and not followed.

    Raises MountVerificationError.
    """
    files = np.arange(len(view)) if every_file else telling_files(view)
    for file in files.tolist():
        _verify(view, file, folder)
    links = view.links.items()
    _verify_links(links if every_file else islice(links, _TELLING_LINKS), folder)
    return len(files)


def telling_files(view: FolderView) -> NDArray[np.int64]:
    """A file of each pack that holds a byte: the smallest one of 1 KiB or more, if any."""
    filled = np.flatnonzero(view.sizes)
    sizes, packs = view.sizes[filled], view.pack_ids[filled]
    cost = np.where(sizes >= _TELLING_BYTES, sizes, np.iinfo(np.int64).max - sizes)
    order = np.lexsort((cost, packs))
    _, first = np.unique(packs[order], return_index=True)
    files: NDArray[np.int64] = filled[order[first]]
    return files


def _verify_links(links: Iterable[tuple[str, str]], folder: Path) -> None:
    for path, target in links:
        try:
            found = os.readlink(os.fsencode(folder) + b"/" + path.encode())
        except OSError as error:
            raise MountLinkError(path, f"cannot be read ({error.strerror})") from error
        if found != target.encode():
            raise MountLinkError(path, "has another target")


def _verify(view: FolderView, file: int, folder: Path) -> None:
    path = view.path_of(file)
    pack = view.index.packs[int(view.pack_ids[file])].hex()
    try:
        digest = _digest(os.fsencode(folder) + b"/" + path.encode())
    except OSError as error:
        raise MountVerificationError(path, pack, f"cannot be read ({error.strerror})") from error
    if digest != view.index.digest_of(int(view.rows[file])):
        raise MountVerificationError(path, pack, "has other bytes")


def _digest(path: bytes) -> bytes:
    hasher = blake3()
    # A link that somebody puts in the place of a file may lead anywhere.
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.digest()
