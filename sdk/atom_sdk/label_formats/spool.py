"""Records grouped by picture on the disk, since files name them in any order."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

_BATCH = 2000


class Spool:
    """Keeps records by key in a temporary file; memory stays flat. A picture has several keys."""

    def __init__(self, scratch: Path | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(dir=scratch, prefix="labels-")
        self._base = sqlite3.connect(Path(self._folder.name) / "spool.sqlite3")
        for line in ("journal_mode=OFF", "synchronous=OFF", "temp_store=FILE", "cache_size=-8192"):
            self._base.execute(f"PRAGMA {line}")
        self._base.execute(f"PRAGMA temp_store_directory='{_quoted(self._folder.name)}'")
        self._base.execute(
            "CREATE TABLE picture (place INTEGER PRIMARY KEY, path TEXT UNIQUE, value TEXT)"
        )
        self._base.execute("CREATE TABLE link (key TEXT PRIMARY KEY, place INTEGER) WITHOUT ROWID")
        self._base.execute("CREATE TABLE record (key TEXT, value TEXT)")
        self._waiting: list[tuple[str, str]] = []

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._base.close()
        self._folder.cleanup()

    def link(self, key: str, picture: str, value: str) -> bool:
        """Let a key mean a picture, which is new or known; False if the key is taken.

        The first value of a picture counts.
        """
        if self._base.execute("SELECT 1 FROM link WHERE key = ?", (key,)).fetchone():
            return False
        added = self._base.execute(
            "INSERT OR IGNORE INTO picture (path, value) VALUES (?, ?)", (picture, value)
        )
        place = added.lastrowid
        if added.rowcount != 1:
            (place,) = self._base.execute(
                "SELECT place FROM picture WHERE path = ?", (picture,)
            ).fetchone()
        self._base.execute("INSERT INTO link VALUES (?, ?)", (key, place))
        return True

    def add(self, key: str, value: str) -> None:
        """Keep a record of a picture, which may come later."""
        self._waiting.append((key, value))
        if len(self._waiting) >= _BATCH:
            self._flush()

    def grouped(self) -> Iterator[tuple[str, str, Iterable[str]]]:
        """Yield path and value of each picture, in the order of `link`, with its records."""
        self._flush()
        self._base.execute("CREATE INDEX record_key ON record (key)")
        self._base.execute("CREATE INDEX link_place ON link (place)")
        rows = self._base.execute("SELECT place, path, value FROM picture ORDER BY place")
        for place, path, value in rows:
            records = self._base.execute(
                "SELECT record.value FROM link JOIN record ON record.key = link.key "
                "WHERE link.place = ? ORDER BY record.rowid",
                (place,),
            )
            yield path, value, (record for (record,) in records)

    def orphans(self) -> int:
        """Return how many records belong to no picture; call it after `grouped`."""
        (count,) = self._base.execute(
            "SELECT count(*) FROM record WHERE key NOT IN (SELECT key FROM link)"
        ).fetchone()
        return int(count)

    def _flush(self) -> None:
        self._base.executemany("INSERT INTO record VALUES (?, ?)", self._waiting)
        self._waiting.clear()


def _quoted(text: str) -> str:
    return text.replace("'", "''")
