"""`python -m atom_sdk.mount.fuse_server INDEX PACKS FOLDER TIME_S CACHE [--unsafe-links]`.

Serves a folder. A process of its own, so that the folder outlives the command that mounted it. It
leases the packs that are the cache's own; the lease ends with the process.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import Any

import mfusepy

from atom_sdk.errors import AtomError, PathNotFoundError
from atom_sdk.mount.fuse_names import FolderNames
from atom_sdk.packs.cache_eviction import PackLease
from atom_sdk.packs.store import PackStore
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.folder_view import FolderView

# Nothing changes below the folder, so the kernel may remember names and attributes this long.
_KERNEL_MEMORY_S = 3600


class PackFiles(mfusepy.Operations):  # type: ignore[misc, unused-ignore]  # may not be installed
    """Read-only files and links of a dataset; a file handle is the row of its file."""

    use_ns = True

    def __init__(self, dataset: LocalDataset, view: FolderView, modified_at_s: int) -> None:
        self._dataset = dataset
        self._names = FolderNames(view)
        self._links = view.links
        self._time_ns = modified_at_s * 10**9

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        """Attributes of a file, folder or link."""
        times = {"st_mtime": self._time_ns, "st_ctime": self._time_ns, "st_atime": self._time_ns}
        if (links := self._names.links(path[1:])) is not None:
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": links, **times}
        if (target := self._links.get(path[1:])) is not None:
            size = len(target.encode())
            return {"st_mode": stat.S_IFLNK | 0o777, "st_nlink": 1, "st_size": size, **times}
        size = int(self._dataset.index.sizes[self._row(path)])
        # `du` counts blocks of 512 bytes.
        blocks = -(-size // 512)
        mode = stat.S_IFREG | 0o644
        return {"st_mode": mode, "st_nlink": 1, "st_size": size, "st_blocks": blocks, **times}

    def readdir(self, path: str, fh: int) -> list[str]:
        """Names in a folder, with "." and ".."."""
        return self._names.names(path[1:])

    def readlink(self, path: str) -> str:
        """The target of a link."""
        try:
            return self._links[path[1:]]
        except KeyError as error:
            raise mfusepy.FuseOSError(errno.EINVAL) from error

    def open(self, path: str, flags: int) -> int:
        """The handle of a file."""
        return self._row(path)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """Bytes of a file, verified when it is first read."""
        try:
            return bytes(self._dataset[fh].data[offset : offset + size])
        except AtomError as error:
            sys.stderr.write(f"{error}\n")
            raise mfusepy.FuseOSError(errno.EIO) from error

    def _row(self, path: str) -> int:
        try:
            return self._dataset.index.row_of(path[1:])
        except (PathNotFoundError, UnicodeEncodeError) as error:
            raise mfusepy.FuseOSError(errno.ENOENT) from error


def _hold_packs(dataset: LocalDataset, store: PackStore) -> None:
    """Keep packs of the cache from being evicted; links to them, as a job has, need no lease."""
    if not os.path.samefile(dataset.pack_dir, store.packs):
        return
    lease = PackLease(store)
    lease.add(dataset.index.packs)
    dataset.lease = lease


def main() -> None:
    """Serve until the folder is unmounted."""
    index, packs, folder, modified_at_s, cache, *more = sys.argv[1:]
    dataset = LocalDataset(Path(index), Path(packs))
    view = FolderView(dataset.index, unsafe_links="--unsafe-links" in more)
    _hold_packs(dataset, PackStore(cache))
    mfusepy.FUSE(
        PackFiles(dataset, view, int(modified_at_s)),
        folder,
        foreground=True,
        ro=True,
        nosuid=True,
        nodev=True,
        fsname="atom",
        # As kernel mounts do; the folders above decide who may enter.
        **({"allow_other": True} if os.geteuid() == 0 else {}),
        attr_timeout=_KERNEL_MEMORY_S,
        entry_timeout=_KERNEL_MEMORY_S,
        kernel_cache=True,
    )


if __name__ == "__main__":
    main()
