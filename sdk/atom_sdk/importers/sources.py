"""Places that files are imported from: a path of this machine, or a version of a dataset."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Protocol

from atom_sdk.importers.errors import SourceUnreadableError
from atom_sdk.importers.items import Blob
from atom_sdk.importers.joined_tree import SeparateImagesTree
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.names import is_litter
from atom_sdk.importers.open_source import (
    FOLDER,
    SEPARATE_IMAGES,
    TAR,
    ZIP,
    open_tree,
    open_with_images,
)
from atom_sdk.importers.report import Report
from atom_sdk.importers.shards import with_shards
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

_COPY_BYTES = 1 << 20


class Source(Protocol):
    """A place that files are imported from; `key` names it among all others."""

    @property
    def name(self) -> str:
        """Return how reports call it."""

    @property
    def key(self) -> bytes:
        """Return the identity of the source."""

    def open(
        self, limits: ArchiveLimits, scratch: Path, report: Report, text: TextOptions
    ) -> tuple[Tree, str]:
        """Return its files and its kind. Raises ImportFailedError, OSError."""


class PathSource:
    """A folder, an archive or a file of this machine; `images` has pictures that are apart."""

    def __init__(
        self, path: Path, images: Path | None = None, *, follow_links: bool = False
    ) -> None:
        self._path = path
        self._images = images
        self._follow = follow_links

    @property
    def name(self) -> str:
        """Return the name of the folder or the file."""
        return self._path.resolve().name

    @property
    def key(self) -> bytes:
        """Return the paths."""
        parts = [self._path] if self._images is None else [self._path, self._images]
        return b"\0".join(os.fsencode(part.resolve()) for part in parts)

    def open(
        self, limits: ArchiveLimits, scratch: Path, report: Report, text: TextOptions
    ) -> tuple[Tree, str]:
        """Return the files and the kind. Raises as `open_tree` does."""
        follow = self._follow
        if self._images is None:
            return open_tree(self._path, limits, scratch, report, text, follow_links=follow)
        return open_with_images(
            self._path, self._images, limits, scratch, report, text, follow_links=follow
        )


class VersionSource:
    """Files of a dataset's version: all of them, those of a folder, or those of an archive."""

    def __init__(
        self, files: Mapping[str, Blob], reference: str, path: str = "", images: str = ""
    ) -> None:
        """`path` and `images` each name a folder or an archive; an empty `path` means all files."""
        self._files = files
        self._reference = reference
        self._path = path.strip("/")
        self._images = images.strip("/")

    @property
    def name(self) -> str:
        """Return the version, and what of it is read."""
        return f"{self._reference}:{self._path}" if self._path else self._reference

    @property
    def key(self) -> bytes:
        """Return the version and the paths; a version never changes."""
        return "\0".join(("version", self._reference, self._path, self._images)).encode()

    def open(
        self, limits: ArchiveLimits, scratch: Path, report: Report, text: TextOptions
    ) -> tuple[Tree, str]:
        """Return the files and the kind. Raises ImportFailedError, OSError."""
        if not self._images:
            return self._part(self._path, limits, scratch, report, text)
        pictures, _ = self._part(self._images, limits, scratch, report, text)
        with ExitStack() as stack:
            stack.callback(pictures.close)
            annotations, _ = self._part(self._path, limits, scratch, report, text)
            stack.pop_all()
        if not self._path:
            # The pictures lie in the annotations' own tree and are read once.
            here = (self._images, f"{self._images}/")
            files = annotations.files.items()
            rest = {path: blob for path, blob in files if not _is_at(path, *here)}
            annotations = Tree(annotations.name, rest, annotations.resources, text)
        return SeparateImagesTree(annotations, pictures, report), SEPARATE_IMAGES

    def _part(
        self, path: str, limits: ArchiveLimits, scratch: Path, report: Report, text: TextOptions
    ) -> tuple[Tree, str]:
        if path in self._files:
            return self._archive(path, limits, scratch, report, text)
        below = f"{path}/" if path else ""
        files: dict[str, Blob] = {}
        for name, blob in self._files.items():
            if not name.startswith(below):
                continue
            if is_litter(name):
                report.ignore_litter()
            else:
                files[name[len(below) :]] = blob
        if path and not files:
            raise SourceUnreadableError(
                Sentence(
                    "formats.path_missing",
                    "{source} has no file or folder {path!r}.",
                    source=self._reference,
                    path=path,
                )
            )
        return with_shards(Tree(self.name, files, text=text), limits, report), FOLDER

    def _archive(
        self, path: str, limits: ArchiveLimits, scratch: Path, report: Report, text: TextOptions
    ) -> tuple[Tree, str]:
        """Bring an archive of the version to the disk: its reader jumps back and forth in it."""
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=scratch))
            target = Path(folder) / PurePosixPath(path).name
            with self._files[path].open() as stored, target.open("wb") as file:
                shutil.copyfileobj(stored, file, _COPY_BYTES)
            tree, kind = open_tree(target, limits, scratch, report, text)
            if kind not in (ZIP, TAR):
                tree.close()
                raise SourceUnreadableError(
                    Sentence(
                        "formats.no_archive",
                        "{path} is no archive: name an archive or a folder.",
                        path=path,
                    )
                )
            tree.resources.push(stack.pop_all())
        return Tree(path, tree.files, tree.resources, text, tree.links), kind


def _is_at(path: str, name: str, below: str) -> bool:
    return path == name or path.startswith(below)
