"""A small archive, made without a server: two versions on `main`, one of them tagged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from atom_sdk.archive import ArchivedMove, ArchivedTag, ArchiveFolder, History, encode_history
from atom_sdk.archive.folder import history_key
from atom_sdk.archive.follow import Followed
from atom_sdk.manifests import Commit, Entry, build_root, entries_table, write_commit, write_root
from atom_sdk.manifests.objects import digest_of, pack_key
from atom_sdk.packs import PackWriter

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Sink:
    """Collects a pack in memory."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: memoryview, /) -> None:
        self.data += data


@dataclass(frozen=True)
class Made:
    """An archive and what is in it."""

    folder: ArchiveFolder
    history: History
    pack: bytes

    def point(self, history: History) -> None:
        """Say that the dataset has another history, over the same objects."""
        data = encode_history(history)
        digest = digest_of(data).hex()
        self.folder.put(history_key(digest), data)
        self.folder.point("digits", digest, self.folder.pointed("digits")[1])

    def commit_with(self, entries: list[Entry]) -> str:
        """Write one more commit; returns its digest in hex."""
        return write(self.folder, entries, (), "other")

    def commit_of(self, root: bytes, parent: str) -> str:
        """Write a commit over a root that is there; returns its digest in hex."""
        above = (bytes.fromhex(parent),)
        commit = Commit("p/digits", root, above, "ada", "the same again", AT)
        return write_commit(commit, self.folder).hex()


def write(folder: ArchiveFolder, entries: list[Entry], parents: tuple[str, ...], said: str) -> str:
    root = write_root(build_root([entries_table(entries)], folder), folder)
    above = tuple(map(bytes.fromhex, parents))
    return write_commit(Commit("p/digits", root, above, "ada", said, AT), folder).hex()


def move(seq: int, old: str, new: str) -> ArchivedMove:
    return ArchivedMove("main", seq, "move", old, new, seq, "ada", AT.isoformat(), None, None, None)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    folder, sink = ArchiveFolder(tmp_path / "archive"), Sink()
    with PackWriter(sink) as writer:
        for name in ("a.txt", "b.txt"):
            writer.add_bytes(name, name.encode() * 100)
        summary = writer.close()
    folder.put(pack_key(summary.digest), bytes(sink.data))
    entries = [
        Entry(m.path, m.size, m.digest, "text/plain", None, summary.digest, m.offset)
        for m in summary.members
    ]
    first = write(folder, entries[:1], (), "first")
    second = write(folder, entries, (first,), "second")
    history = History(
        "digits", "", "p", "all", None,
        (move(1, "", first), move(2, first, second)),
        (ArchivedTag("one", first, AT.isoformat()),),
        frozenset([first, second]),
    )  # fmt: skip
    found = Followed(folder).follow(history)
    data = encode_history(history)
    digest = digest_of(data).hex()
    folder.put(history_key(digest), data)
    index = folder.write_index({*found.keys, pack_key(summary.digest)})
    folder.point("digits", digest, index)
    return Made(folder, history, summary.digest)
