"""Plans an export, writes what is missing of it, and goes on after an interruption."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.client.progress import Progress
from atom_sdk.disk import naming_full_disk, naming_the_way, whole_file
from atom_sdk.errors import ExportError
from atom_sdk.export.writers import Writer, write_parquet, write_tfrecord, write_webdataset
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.walk import hash_file
from atom_sdk.readers import LocalDataset, Sample

FORMATS = ("folder", "webdataset", "tfrecord", "parquet")
SHARD_BYTES = 128 << 20
# Readers of a folder of Parquet files skip names that begin so.
PLAN_NAME = "_export.json"
_WRITERS: dict[str, tuple[str, Writer]] = {
    "webdataset": ("tar", write_webdataset),
    "tfrecord": ("tfrecord", write_tfrecord),
    "parquet": ("parquet", write_parquet),
}


@dataclass(frozen=True)
class ExportResult:
    """How many samples there are, how many were written now, and in how many files they are."""

    samples: int
    written: int
    files: int


def export_dataset(
    dataset: LocalDataset,
    folder: Path,
    file_format: str,
    progress: Progress,
    shard_bytes: int = SHARD_BYTES,
) -> ExportResult:
    """Write a dataset below `folder`; what an earlier call completed is left as it is.

    Raises ExportError if the folder holds another export, SampleDigestMismatchError before a wrong
    byte is written, DiskFullError, OSError.
    """
    if file_format not in FORMATS:
        raise ExportError(f"The format {file_format!r} is none of {', '.join(FORMATS)}.")
    progress.start("export", len(dataset), "files")
    with naming_full_disk(folder):
        if file_format == "folder":
            return _export_folder(dataset, folder, progress)
        return _export_shards(dataset, folder, file_format, progress, shard_bytes)


def _export_shards(
    dataset: LocalDataset, folder: Path, file_format: str, progress: Progress, shard_bytes: int
) -> ExportResult:
    suffix, writer = _WRITERS[file_format]
    shards = plan_shards(dataset.sizes_bytes, shard_bytes)
    _agree(folder, _plan(dataset, file_format, shard_bytes))
    written = 0
    for number, rows in enumerate(shards):
        path = folder / f"part-{number:05d}-of-{len(shards):05d}.{suffix}"
        if path.exists():
            progress.advance("export", len(rows))
            continue
        temporary = path.with_name(f".{path.name}.part")
        writer(temporary, _told(dataset.read_many(rows), progress))
        _complete(temporary, path)
        written += len(rows)
    return ExportResult(len(dataset), written, len(shards))


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


def _export_folder(dataset: LocalDataset, folder: Path, progress: Progress) -> ExportResult:
    missing = [row for row in range(len(dataset)) if not _is_right(dataset, folder, row)]
    progress.advance("export", len(dataset) - len(missing))
    for sample in _told(dataset.read_many(missing), progress):
        encode_path(sample.path)
        path = folder / sample.path
        with naming_the_way(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        # Of no file's name: the dataset may have one that is called so, or a very long one.
        digest = dataset.index.digest_of(sample.row).hex()
        with naming_the_way(path), whole_file(path, f".{digest}.part") as temporary:
            temporary.write_bytes(sample.data)
    return ExportResult(len(dataset), len(missing), len(dataset))


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


def _told(samples: Iterable[Sample], progress: Progress) -> Iterator[Sample]:
    for sample in samples:
        yield sample
        progress.advance("export", 1)
