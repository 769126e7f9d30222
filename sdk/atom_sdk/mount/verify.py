"""Reads files through the mounted folder and compares their digests.

A kernel mount whose devices are missing, exchanged or of another dataset succeeds and gives wrong
bytes, so one file of every pack is read before anybody else may.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.mount.errors import MountVerificationError
from atom_sdk.readers import ViewIndex

# Smaller files may be the same in two packs, larger ones cost time.
_TELLING_BYTES = 1024
_CHUNK_BYTES = 1 << 20


def verify_mount(index: ViewIndex, folder: Path, every_file: bool = False) -> int:
    """Read one file of each pack, or all; returns how many. Raises MountVerificationError."""
    rows = np.arange(len(index)) if every_file else telling_rows(index)
    for row in rows.tolist():
        _verify(index, row, folder)
    return len(rows)


def telling_rows(index: ViewIndex) -> NDArray[np.int64]:
    """One row for each pack that holds a byte: the smallest file of 1 KiB or more, if any."""
    filled = np.flatnonzero(index.sizes)
    sizes, packs = index.sizes[filled], index.pack_ids[filled]
    cost = np.where(sizes >= _TELLING_BYTES, sizes, np.iinfo(np.int64).max - sizes)
    order = np.lexsort((cost, packs))
    _, first = np.unique(packs[order], return_index=True)
    rows: NDArray[np.int64] = filled[order[first]]
    return rows


def _verify(index: ViewIndex, row: int, folder: Path) -> None:
    path = index.path_of(row)
    pack = index.packs[int(index.pack_ids[row])].hex()
    try:
        digest = _digest(os.fsencode(folder) + b"/" + path.encode())
    except OSError as error:
        raise MountVerificationError(path, pack, f"cannot be read ({error.strerror})") from error
    if digest != index.digest_of(row):
        raise MountVerificationError(path, pack, "has other bytes")


def _digest(path: bytes) -> bytes:
    hasher = blake3()
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK_BYTES):
            hasher.update(chunk)
    return hasher.digest()
