"""Objects at a source, packed on this machine: nobody else keeps a copy.

Layout below the root of a pack store: the packs lie with all others, named by their digests;
`registered.sqlite` says for each pin (32 bytes) the digest of its bytes and where they are. Pins
are packed in path order, up to PACK_BYTES a pack, so the same missing pins give the same packs. A
version that shares most of its pins with another one fetches only the rest.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.entries import ENTRY_SCHEMA, Entry, table_entries
from atom_sdk.manifests.pins import Pin, pin_of
from atom_sdk.packs import FileSink, PackWriter
from atom_sdk.packs.store import PackStore

PACK_BYTES = 128 << 20
_CHUNK_BYTES = 8 << 20
_READERS = 8
_ASKED_AT_ONCE = 500
_TABLE = """
    CREATE TABLE IF NOT EXISTS placed (
        pin BLOB PRIMARY KEY, digest BLOB NOT NULL, pack BLOB NOT NULL, "offset" INTEGER NOT NULL
    ) WITHOUT ROWID
"""
# Bytes `start` to `end` of a pin. Raises an error if the source changed or is away.
ReadPin = Callable[[Pin, int, int], bytes]


class RegisteredStore:
    """The bytes on this node of the objects at a project's sources."""

    def __init__(self, packs: PackStore) -> None:
        """The catalogue of places lies beside the packs."""
        self._packs = packs
        self._path = packs.root / "registered.sqlite"

    def place(self, entries: pa.Table) -> pa.Table:
        """Give entries at a source the digest, pack and offset that they have on this node."""
        is_ours = entries["source"].is_valid()
        if not pc.any(is_ours).as_py():
            return entries
        with self._open() as database:
            found = _known(database, entries.filter(is_ours)["digest"].to_pylist())
        rows = [
            found.get(pin) if ours else None
            for pin, ours in zip(entries["digest"].to_pylist(), is_ours.to_pylist(), strict=True)
        ]
        for index, name in enumerate(("digest", "pack", "offset")):
            field = ENTRY_SCHEMA.field(name)
            ours = pa.array([row[index] if row else None for row in rows], field.type)
            column = pc.coalesce(ours, entries[name])
            position = entries.schema.get_field_index(name)
            entries = entries.set_column(position, field, column)
        return entries

    def missing(self, entries: pa.Table) -> list[Entry]:
        """Return the entries at a source whose bytes are not on this node."""
        ours = entries.filter(entries["source"].is_valid())
        present = self._packs.present()
        with self._open() as database:
            found = _known(database, ours["digest"].to_pylist())
        return [
            entry
            for entry in table_entries(ours)
            if entry.digest not in found or found[entry.digest][1].hex() not in present
        ]

    def packs_of(self, entries: pa.Table) -> set[bytes]:
        """Return the packs that hold what is here of the entries."""
        ours = entries.filter(entries["source"].is_valid())
        with self._open() as database:
            return {row[1] for row in _known(database, ours["digest"].to_pylist()).values()}

    def fill(self, entries: Sequence[Entry], read: ReadPin, count: Callable[[int], None]) -> bytes:
        """Pack entries, in path order, and remember where they are; returns the pack's digest.

        `count` gets the number of bytes that came. Raises what `read` raises; nothing is kept then.
        """
        temporary = self._packs.root / "incoming" / f"registered.{os.getpid()}.{id(entries)}"
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with PackWriter(FileSink(descriptor)) as writer:
                for entry, source in _read_ahead(entries, read):
                    writer.add(entry.path, entry.size, source)
                    count(entry.size)
                summary = writer.close()
            self._packs.fill(summary.digest, lambda: _chunks(descriptor))
        finally:
            os.close(descriptor)
            temporary.unlink(missing_ok=True)
        # After the pack: a place must never point at what is not there.
        with self._open() as database, database:
            database.executemany(
                "INSERT OR REPLACE INTO placed VALUES (?, ?, ?, ?)",
                [
                    (entry.digest, member.digest, summary.digest, member.offset)
                    for entry, member in zip(entries, summary.members, strict=True)
                ],
            )
        return summary.digest

    def forget(self, pack: bytes) -> None:
        """Drop the places in a pack that was removed."""
        if not self._path.exists():
            return
        with self._open() as database, database:
            database.execute("DELETE FROM placed WHERE pack = ?", (pack,))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=60)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(_TABLE)
            yield database


def batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Group entries, in order, into what becomes one pack each."""
    batch: list[Entry] = []
    size_bytes = 0
    for entry in entries:
        if batch and size_bytes + entry.size > PACK_BYTES:
            yield batch
            batch, size_bytes = [], 0
        batch.append(entry)
        size_bytes += entry.size
    if batch:
        yield batch


def _known(
    database: sqlite3.Connection, pins: Iterable[bytes]
) -> dict[bytes, tuple[bytes, bytes, int]]:
    """Return digest, pack and offset of each pin that has a place."""
    found: dict[bytes, tuple[bytes, bytes, int]] = {}
    rest = iter(pins)
    while some := list(islice(rest, _ASKED_AT_ONCE)):
        marks = ",".join("?" * len(some))
        query = f'SELECT pin, digest, pack, "offset" FROM placed WHERE pin IN ({marks})'
        found.update((row[0], (row[1], row[2], row[3])) for row in database.execute(query, some))
    return found


@dataclass
class _Object:
    """An object while it is copied: small ones whole, large ones in pieces."""

    pin: Pin
    read: ReadPin
    position: int = 0
    data: bytes = b""

    def into(self, target: memoryview) -> int:
        done = 0
        while done < len(target):
            piece = self._piece(len(target) - done)
            target[done : done + len(piece)] = piece
            done += len(piece)
        return done

    def _piece(self, wanted: int) -> bytes:
        if not self.data:
            end = min(self.position + _CHUNK_BYTES, self.pin.size)
            self.data = self.read(self.pin, self.position, end)
            self.position = end
        piece, self.data = self.data[:wanted], self.data[wanted:]
        return piece


def _read_ahead(
    entries: Sequence[Entry], read: ReadPin
) -> Iterator[tuple[Entry, Callable[[memoryview], int]]]:
    """Yield entries with their bytes; the next few objects are being fetched meanwhile."""
    objects = [_Object(pin, read) for entry in entries if (pin := pin_of(entry)) is not None]
    with ThreadPoolExecutor(_READERS, "source-read") as pool:
        running: list[Future[None]] = []
        for ahead, entry in enumerate(entries):
            while len(running) < min(ahead + 2 * _READERS, len(objects)):
                running.append(pool.submit(_begin, objects[len(running)]))
            try:
                running[ahead].result()
            except BaseException:
                for future in running:
                    future.cancel()
                raise
            yield entry, objects[ahead].into
            objects[ahead].data = b""


def _begin(one: _Object) -> None:
    end = min(_CHUNK_BYTES, one.pin.size)
    one.data = one.read(one.pin, 0, end)
    one.position = end


def _chunks(descriptor: int) -> Iterator[bytes]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        yield chunk


def registered_path(root: Path, version_root: str) -> Path:
    """Return where it is written which packs hold a version's registered objects."""
    return root / "registered" / f"{version_root}.json"
