"""Opens a source: a folder, an archive by its first bytes, or a file that names others."""

from __future__ import annotations

import zipfile
from contextlib import ExitStack
from pathlib import Path

from atom_sdk.importers.errors import SourceUnreadableError
from atom_sdk.importers.items import file_blob
from atom_sdk.importers.joined_tree import SeparateImagesTree
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.report import Report
from atom_sdk.importers.shards import with_shards
from atom_sdk.importers.tars import is_compressed, tar_tree
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.trees import Tree, file_tree, folder_tree
from atom_sdk.importers.zips import zip_tree
from atom_sdk.sentences import Sentence

FOLDER, TAR, ZIP, FILE, SEPARATE_IMAGES = "folder", "tar", "zip", "file", "apart"
_USTAR_AT = 257
_ANNOTATIONS = (".json", ".xml", ".txt", ".yaml", ".yml")
_NAMING = (".csv", ".tsv", ".parquet", ".jsonl")


def open_tree(
    source: Path,
    limits: ArchiveLimits,
    scratch: Path,
    report: Report,
    text: TextOptions | None = None,
    *,
    follow_links: bool = False,
) -> tuple[Tree, str]:
    """Return the files of a source, and its kind: "folder", "tar", "zip" or "file".

    Raises SourceUnreadableError, ArchiveDamagedError, ArchiveTooLargeError, OSError.
    """
    text = text or TextOptions()
    if source.is_dir():
        tree = folder_tree(source, report, text, follow_links=follow_links)
        return with_shards(tree, limits, report), FOLDER
    if not source.is_file():
        raise SourceUnreadableError(
            Sentence(
                "formats.source_missing", "{path} is neither a folder nor a file.", path=source
            )
        )
    if source.suffix.lower() == ".json":
        return _around_json(source, report, text, follow_links=follow_links), FOLDER
    if source.suffix.lower() in _NAMING:
        return file_tree(source, text), FILE
    with source.open("rb") as file:
        head = file.read(512)
    if is_compressed(head) or head[_USTAR_AT:].startswith(b"ustar") or ".tar" in source.suffixes:
        return tar_tree(source, limits, scratch, report, text, follow_links=follow_links), TAR
    if zipfile.is_zipfile(source) or head.startswith(b"PK"):
        return zip_tree(source, limits, report, text, follow_links=follow_links), ZIP
    raise SourceUnreadableError(
        Sentence(
            "formats.source_kind", "{name} is of no kind that can be imported.", name=source.name
        )
    )


def open_with_images(  # noqa: PLR0913  # as open_tree, with the pictures
    source: Path,
    images: Path,
    limits: ArchiveLimits,
    scratch: Path,
    report: Report,
    text: TextOptions | None = None,
    *,
    follow_links: bool = False,
) -> tuple[Tree, str]:
    """Return the annotations of `source` and the pictures of `images` as one tree, and its kind.

    Raises as `open_tree` does.
    """
    pictures, _ = open_tree(images, limits, scratch, report, text, follow_links=follow_links)
    with ExitStack() as stack:
        stack.callback(pictures.close)
        if source.suffix.lower() in (*_NAMING, *_ANNOTATIONS) and source.is_file():
            files = {source.name: file_blob(source)}
            annotations = Tree(source.name, files, text=text or TextOptions())
        else:
            annotations, _ = open_tree(
                source, limits, scratch, report, text, follow_links=follow_links
            )
        stack.pop_all()
    return SeparateImagesTree(annotations, pictures, report), SEPARATE_IMAGES


def _around_json(source: Path, report: Report, text: TextOptions, *, follow_links: bool) -> Tree:
    """One annotation file and the pictures of its folder, or of the one above `annotations`."""
    folder = source.resolve().parent
    if folder.name.lower() == "annotations":
        folder = folder.parent
    tree = folder_tree(folder, report, text, follow_links=follow_links)
    own = source.resolve().relative_to(folder).as_posix()
    files = {
        path: blob
        for path, blob in tree.files.items()
        if path == own or not path.lower().endswith(".json")
    }
    return Tree(source.name, files, text=text, links=tree.links)
