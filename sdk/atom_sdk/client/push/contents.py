"""The content of a push: the files of a folder, or the items of an import."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from atom_sdk.errors import EmptyDatasetError
from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.processes import FolderPacker
from atom_sdk.packs.walk import SkippedPath, hash_file, walk_folder
from atom_sdk.packs.writer import PackSummary

# Packs files, which are sorted, into a file that exists.
WritePack = Callable[[Sequence[SourceFile], Path], PackSummary]


class Contents(Protocol):
    """Files by their path in the dataset, each of which can be read again."""

    @property
    def key(self) -> bytes:
        """The key under which digests are remembered."""

    @property
    def files(self) -> Sequence[SourceFile]:
        """The files, sorted by UTF-8 path."""

    @property
    def links(self) -> Mapping[str, str]:
        """The target of each link by its path, in path order."""

    @property
    def skipped(self) -> list[SkippedPath]:
        """Files and links that are left out."""

    @property
    def same(self) -> Mapping[str, str]:
        """The path with the same bytes that is packed, by each further path of these bytes."""

    def digest(self, file: SourceFile) -> bytes:
        """BLAKE3 of a file, 32 bytes."""

    def packing(self, size_bytes: int) -> AbstractContextManager[WritePack]:
        """Give what writes packs of this size in all, for several threads, until the block ends."""


class FolderContents:
    """The regular files and links below a folder."""

    def __init__(self, folder: Path, *, follow_links: bool = False) -> None:
        """With `follow_links` the files that links lead to are taken in their place.

        Raises EmptyDatasetError, PathError for a name that a dataset cannot hold.
        """
        listing = walk_folder(folder, follow_links=follow_links)
        if not listing.files and not listing.links:
            raise EmptyDatasetError(f"{folder} has no files.")
        self._follow_links = follow_links
        self._folder = folder
        self.key = os.fsencode(folder.resolve())
        self.files: Sequence[SourceFile] = listing.files
        self.links: Mapping[str, str] = listing.links
        self.skipped = listing.skipped
        self.same: Mapping[str, str] = {}

    def digest(self, file: SourceFile) -> bytes:
        """BLAKE3 of a file. Raises OSError."""
        return hash_file(self._folder / file.path)

    @contextmanager
    def packing(self, size_bytes: int) -> Iterator[WritePack]:
        """Give what packs; it raises FileChangedError, OSError."""
        with FolderPacker(self._folder, size_bytes, follow_links=self._follow_links) as packer:
            yield packer.write
