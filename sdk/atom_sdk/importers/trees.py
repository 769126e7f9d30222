"""Files of a folder or an archive, by path; nothing is unpacked to look at them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from blake3 import blake3

from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.items import Blob, file_blob, read_whole
from atom_sdk.importers.names import NameRefusedError, is_litter, normalised
from atom_sdk.importers.report import Report
from atom_sdk.importers.sentences import file_too_large, not_utf8
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.packs.walk import walk_folder

IMAGE_SUFFIXES = frozenset(
    [".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".avif", ".heic", ".ppm"]
)
MAX_ANNOTATION_BYTES = 2 << 30


@dataclass
class Tree:
    """The files of a source; `resources` are closed with it.

    `links` are the targets of its symbolic links by path. Where links are followed there are none,
    and what they lead to is among the files.
    """

    name: str
    files: Mapping[str, Blob]
    resources: ExitStack = field(default_factory=ExitStack)
    text: TextOptions = field(default_factory=TextOptions)
    links: Mapping[str, str] = field(default_factory=dict)

    def walked(self) -> Collection[str]:
        """Return all paths, also those of the folder around a file that was given alone."""
        return self.files.walked() if isinstance(self.files, _Beside) else self.files

    def close(self) -> None:
        """Close the archive that the files lie in."""
        self.resources.close()

    def images(self) -> Iterator[str]:
        """Yield the paths of pictures, by their names."""
        return (path for path in self.files if is_image(path))

    def annotation_paths(self) -> Iterable[str]:
        """Return the paths of files that may say what the others are."""
        return self.files

    def with_suffix(self, suffix: str) -> list[str]:
        """Return the sorted paths of such files that end so, in any case."""
        return sorted(path for path in self.annotation_paths() if path.lower().endswith(suffix))

    def read_annotations(self, path: str, report: Report) -> bytes:
        """Read a file that says what the items are, and remember its digest."""
        blob = self.files[path]
        if blob.size_bytes > MAX_ANNOTATION_BYTES:
            raise AnnotationsUnreadableError(
                file_too_large(path, f"{MAX_ANNOTATION_BYTES >> 30} GiB")
            )
        data = read_whole(blob)
        report.annotations[path] = blake3(data).hexdigest()
        return data

    def read_text(self, path: str, report: Report) -> str:
        """Read an annotation file that is UTF-8 text. Raises AnnotationsUnreadableError."""
        try:
            return self.read_annotations(path, report).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise AnnotationsUnreadableError(not_utf8(path)) from error


def is_image(path: str) -> bool:
    """Whether the name is that of a picture."""
    return PurePosixPath(path).suffix.lower() in IMAGE_SUFFIXES


def folder_tree(
    folder: Path,
    report: Report,
    text: TextOptions | None = None,
    *,
    follow_links: bool = False,
) -> Tree:
    """Files and links below a folder; special files are left out."""
    listing = walk_folder(folder, follow_links=follow_links)
    for path, reason in listing.skipped:
        report.skip(path, reason)
    files = {}
    for file in listing.files:
        if is_litter(file.path):
            report.ignore_litter()
        else:
            opener = partial(_open_file, folder / file.path)
            files[file.path] = Blob(file.size, opener, file.mtime_ns)
    links = {path: target for path, target in listing.links.items() if not is_litter(path)}
    return Tree(folder.resolve().name, files, text=text or TextOptions(), links=links)


def _open_file(path: Path) -> IO[bytes]:
    return path.open("rb")


def file_tree(path: Path, text: TextOptions) -> Tree:
    """One file, and those below its folder that it names; the folder is not gone through."""
    return Tree(path.name, _Beside(path), text=text)


class _Beside(Mapping[str, Blob]):
    """Iterates over one file alone, and finds others of its folder by path.

    The folder is gone through only where a table names files by a part of their paths.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.parent.resolve()
        self._all: list[str] | None = None

    def __getitem__(self, path: str) -> Blob:
        found = self._folder / path
        # A link may lead out of the folder.
        if not found.is_file() or found.is_symlink() or found.resolve() != found:
            raise KeyError(path)
        return file_blob(found)

    def walked(self) -> Collection[str]:
        """Return the paths of all files of the folder; this goes through it."""
        if self._all is None:
            self._all = [file.path for file in walk_folder(self._folder).files]
        return self._all

    def __iter__(self) -> Iterator[str]:
        return iter([self._path.name])

    def __len__(self) -> int:
        return 1


def gather(named: Iterable[tuple[str, Blob]], report: Report) -> dict[str, Blob]:
    """Return the members of an archive by path; what cannot be held is left out and named."""
    files: dict[str, Blob] = {}
    for name, blob in named:
        try:
            path = normalised(name)
        except NameRefusedError as refused:
            report.skip(name, str(refused))
            continue
        if is_litter(path):
            report.ignore_litter()
        elif path in files:
            report.skip(path, "its path comes twice; the first is kept")
        else:
            files[path] = blob
    return files
