"""Plans an export, writes what is missing of it, and goes on after an interruption."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.client.progress import Progress
from atom_sdk.client.pull.links import LEAVES, has_link, refuse_links_above, write_links
from atom_sdk.client.skipped_files import write_skipped_paths
from atom_sdk.disk import naming_full_disk, naming_the_way, whole_file
from atom_sdk.errors import ExportError, PathNotFoundError
from atom_sdk.export.writers import Writer, write_parquet, write_tfrecord, write_webdataset
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.walk import SkippedPath, hash_file
from atom_sdk.readers import LocalDataset, Sample
from atom_sdk.readers.folder_view import FolderView

FORMATS = ("folder", "webdataset", "tfrecord", "parquet")
SHARD_BYTES = 128 << 20
# Readers of a folder of Parquet files skip names that begin so.
PLAN_NAME = "_export.json"
_NO_FILE = "its link leads to no file"
_WRITERS: dict[str, tuple[str, Writer]] = {
    "webdataset": ("tar", write_webdataset),
    "tfrecord": ("tfrecord", write_tfrecord),
    "parquet": ("parquet", write_parquet),
}


@dataclass(frozen=True)
class ExportResult:
    """How many samples there are, how many were written now, and in how many files they are.

    `links` counts those of a folder, apart from its files. `left_out` are links that the format
    does not show, and why; `left_out_file` names all of them.
    """

    samples: int
    written: int
    files: int
    links: int = 0
    links_written: int = 0
    left_out: tuple[SkippedPath, ...] = ()
    left_out_file: str | None = None


def export_dataset(
    dataset: LocalDataset,
    folder: Path,
    file_format: str,
    progress: Progress,
    shard_bytes: int = SHARD_BYTES,
    *,
    unsafe_links: bool = False,
) -> ExportResult:
    """Write a dataset below `folder`; what an earlier call completed is left as it is.

    A folder has links as links, those that lead out of the version only with `unsafe_links`. Other
    formats have a link to a file as that file. Raises ExportError if the folder holds another
    export, SampleDigestMismatchError before a wrong byte is written, PathInTheWayError,
    LinksImpossibleError, DiskFullError, OSError.
    """
    if file_format not in FORMATS:
        raise ExportError(f"The format {file_format!r} is none of {', '.join(FORMATS)}.")
    if unsafe_links and file_format != "folder":
        raise ExportError(f"The format {file_format!r} has no links that could be created.")
    with naming_full_disk(folder):
        if file_format == "folder":
            view = FolderView(dataset.index, unsafe_links=unsafe_links)
            done = _export_folder(dataset, view, folder, progress)
        else:
            done = _export_shards(dataset, folder, file_format, progress, shard_bytes)
    if not done.left_out:
        return done
    key = f"{file_format}\0{folder.resolve()}".encode("utf-8", "surrogateescape")
    return replace(done, left_out_file=str(write_skipped_paths("export", key, done.left_out)))


def _export_shards(
    dataset: LocalDataset, folder: Path, file_format: str, progress: Progress, shard_bytes: int
) -> ExportResult:
    suffix, writer = _WRITERS[file_format]
    progress.start("export", len(dataset), "files")
    shards = plan_shards(dataset.sizes_bytes, shard_bytes)
    _agree(folder, _plan(dataset, file_format, shard_bytes))
    written = 0
    for number, rows in enumerate(shards):
        path = folder / f"part-{number:05d}-of-{len(shards):05d}.{suffix}"
        if path.exists():
            progress.advance("export", len(rows))
            continue
        temporary = path.with_name(f".{path.name}.part")
        writer(temporary, _with_progress(dataset.read_many(rows), progress))
        _complete(temporary, path)
        written += len(rows)
    left_out = tuple(_without_file(dataset))
    return ExportResult(len(dataset), written, len(shards), left_out=left_out)


def _without_file(dataset: LocalDataset) -> Iterator[SkippedPath]:
    """Yield the links that are no samples, because they lead to no file of the version."""
    inside, leaving = dataset.index.links
    reasons = {**dict.fromkeys(inside, _NO_FILE), **dict.fromkeys(leaving, LEAVES)}
    for path in sorted(reasons):
        try:
            dataset.index.row_of(path)
        except PathNotFoundError:
            yield SkippedPath(path, reasons[path])


def plan_shards(sizes_bytes: NDArray[np.int64], shard_bytes: int) -> list[range]:
    """Rows of each shard: in order, each at least one sample and about `shard_bytes`."""
    if shard_bytes < 1:
        raise ExportError("A shard must hold at least one byte.")
    if not len(sizes_bytes):
        return []
    shard = (np.cumsum(sizes_bytes) - sizes_bytes) // shard_bytes
    starts = np.flatnonzero(np.diff(shard, prepend=-1)).tolist()
    ends = [*starts[1:], len(sizes_bytes)]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def _export_folder(
    dataset: LocalDataset, view: FolderView, folder: Path, progress: Progress
) -> ExportResult:
    progress.start("export", len(view), "files")
    is_empty = not folder.is_dir() or not any(folder.iterdir())
    missing = [row for row in view.rows.tolist() if not _is_right(dataset, folder, row)]
    links = {path: to for path, to in view.links.items() if not has_link(folder / path, to)}
    for link in links:
        encode_path(link)
    # Through a link of an earlier export, a file would be written into another folder.
    refuse_links_above(folder, [*map(dataset.index.path_of, missing), *links])
    progress.advance("export", len(view) - len(missing))
    for sample in _with_progress(dataset.read_many(missing), progress):
        encode_path(sample.path)
        path = folder / sample.path
        with naming_the_way(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        # The temporary name holds no file's name: the dataset may have one that is called so, or a
        # very long one.
        digest = dataset.index.digest_of(sample.row).hex()
        with naming_the_way(path), whole_file(path, f".{digest}.part") as temporary:
            temporary.write_bytes(sample.data)
    turned = write_links(folder, links, unsafe=view.unsafe_links, is_empty=is_empty)
    left_out = (*(SkippedPath(path, LEAVES) for path in sorted(view.left_out)), *turned)
    return ExportResult(
        samples=len(view),
        written=len(missing),
        files=len(view),
        links=len(view.links) - len(turned),
        links_written=len(links) - len(turned),
        left_out=left_out,
    )


def _is_right(dataset: LocalDataset, folder: Path, row: int) -> bool:
    path = folder / dataset.index.path_of(row)
    try:
        if path.is_symlink() or path.stat().st_size != dataset.index.sizes[row]:
            return False
    except (FileNotFoundError, NotADirectoryError):
        return False
    return hash_file(path) == dataset.index.digest_of(row)


def _plan(dataset: LocalDataset, file_format: str, shard_bytes: int) -> dict[str, Any]:
    return {
        "format": file_format,
        "content": dataset.content.hex(),
        "samples": len(dataset),
        "shard_bytes": shard_bytes,
        "classes": dataset.classes,
        "splits": dataset.index.splits,
    }


def _agree(folder: Path, plan: dict[str, Any]) -> None:
    """Write the plan, or check that the folder has the same one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PLAN_NAME
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        temporary = path.with_name(f"{PLAN_NAME}.part")
        temporary.write_text(json.dumps(plan, indent=2, ensure_ascii=False), "utf-8")
        temporary.replace(path)
        return
    except ValueError as error:
        raise ExportError(f"{path} is not the plan of an export.") from error
    if found != plan:
        raise ExportError(f"{folder} holds the export of something else.")


def _complete(temporary: Path, path: Path) -> None:
    descriptor = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(path)


def _with_progress(samples: Iterable[Sample], progress: Progress) -> Iterator[Sample]:
    for sample in samples:
        yield sample
        progress.advance("export", 1)
