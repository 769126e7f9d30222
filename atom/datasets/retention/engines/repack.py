"""Files taken out of packs, checked, and written into new ones; same files, same packs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import pyarrow as pa
from blake3 import blake3

from atom.datasets.packs.engines.pack_index import SCHEMA, locate
from atom.datasets.retention.engines.pack_use import Needed
from atom_sdk.errors import ManifestCorruptError, PackDigestMismatchError
from atom_sdk.packs.plan import PackLimits, PackPlan, SourceFile, plan_packs
from atom_sdk.packs.writer import FileSink, PackSummary, PackWriter

# Files that are further apart are asked for one by one; what lies between costs less than asking.
_GAP_BYTES = 1 << 20
_READ_BYTES = 16 << 20
# Where a file goes whose path another file of the same pack has: one of an earlier version.
_BESIDE = ".packed-anew"

# A row of an index, with the group.
_Row = dict[str, Any]
ReadRange = Callable[[int, int], bytes]


class _File(NamedTuple):
    path: str
    size: int
    unreadable: str | None
    group: int
    # In the file that holds all until they are packed.
    position: int


@dataclass(frozen=True)
class NewPack:
    """A pack on the disk, and its index."""

    path: Path
    summary: PackSummary
    index: pa.Table


class TakenFiles:
    """The files of several packs in one file on the disk, each content once. A context manager."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the caller's to remove."""
        self._folder = folder
        self._file: BinaryIO = (folder / "taken").open("w+b")
        self._files: dict[bytes, _File] = {}

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def take(self, pack: str, index: pa.Table, needed: Needed, read: ReadRange) -> None:
        """Take what is needed out of a pack; `read(start, end)` gives its bytes.

        Raises ManifestCorruptError for a place where no file begins, PackDigestMismatchError for
        bytes that are not the file's.
        """
        rows = locate(index, needed.offsets)
        if (rows < 0).any():
            raise ManifestCorruptError(pack, "a version names a place where no file begins")
        taken = index.take(pa.array(rows)).append_column("group", pa.array(needed.groups))
        for run in _runs(taken.to_pylist()):
            start = run[0]["offset"]
            data = memoryview(read(start, run[-1]["offset"] + run[-1]["size"]))
            for row in run:
                self._keep(row, data[row["offset"] - start :][: row["size"]])

    def packs(self, limits: PackLimits | None = None) -> Iterator[NewPack]:
        """Write the files of each group into packs, by path.

        A pack's file is gone when the next one is asked.
        """
        self._file.flush()
        for group in sorted({file.group for file in self._files.values()}):
            named = self._named(group)
            sizes = [SourceFile(name, self._files[named[name]].size) for name in sorted(named)]
            for plan in plan_packs(sizes, limits):
                path = self._folder / "pack"
                yield self._written(path, plan, named)
                path.unlink()

    def _keep(self, row: _Row, data: memoryview) -> None:
        digest = blake3(data).digest()
        if digest != row["digest"]:
            raise PackDigestMismatchError(row["digest"].hex(), digest.hex())
        if digest not in self._files:
            told = row["path"], len(data), row["unreadable"], row["group"]
            self._files[digest] = _File(*told, self._file.tell())
            self._file.write(data)

    def _named(self, group: int) -> dict[str, bytes]:
        named: dict[str, bytes] = {}
        files = [item for item in self._files.items() if item[1].group == group]
        for digest, file in sorted(files, key=lambda item: (item[1].path, item[0])):
            beside = f"{_BESIDE}/{digest.hex()}/{file.path.rpartition('/')[2]}"
            named[beside if file.path in named else file.path] = digest
        return named

    def _written(self, path: Path, plan: PackPlan, named: dict[str, bytes]) -> NewPack:
        with path.open("wb") as out, PackWriter(FileSink(out.fileno()), threaded=False) as writer:
            for planned in plan.files:
                digest = named[planned.path]
                file = self._files[digest]
                read = _Reader(self._file.fileno(), file.position)
                member = writer.add(planned.path, file.size, read.into)
                if member.digest != digest:
                    raise PackDigestMismatchError(digest.hex(), member.digest.hex())
            summary = writer.close()
        members = summary.members
        columns = [
            pa.array([member.path for member in members], pa.string()),
            pa.array([member.offset for member in members], pa.int64()),
            pa.array([member.size for member in members], pa.int64()),
            pa.array([member.digest for member in members], pa.binary(32)),
            pa.array([self._files[member.digest].unreadable for member in members], pa.string()),
        ]
        return NewPack(path, summary, pa.Table.from_arrays(columns, schema=SCHEMA))


class _Reader:
    """Reads on in a file from a position, without moving the file's own."""

    def __init__(self, descriptor: int, position: int) -> None:
        self._read, self._position = partial(os.preadv, descriptor), position

    def into(self, target: memoryview) -> int:
        done = 0
        while done < len(target) and (count := self._read([target[done:]], self._position)):
            done += count
            self._position += count
        return done


def _runs(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Yield rows, ascending by offset, in runs that are read at once."""
    run: list[_Row] = []
    for row in rows:
        end = row["offset"] + row["size"]
        last = run[-1]["offset"] + run[-1]["size"] if run else 0
        if run and (row["offset"] - last > _GAP_BYTES or end - run[0]["offset"] > _READ_BYTES):
            yield run
            run = []
        run.append(row)
    if run:
        yield run
