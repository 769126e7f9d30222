"""A push remembers and sends rows in path order, whatever the order of the packs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.changes_file import CHANGES_SCHEMA, write_changes
from atom_sdk.client.push.packed_rows import in_path_order, packed_rows, rows_of
from atom_sdk.client.push.scan import DigestCache, Parent, compare
from atom_sdk.importers.collection import ImportContents
from atom_sdk.packs import PackMember, PackSummary, SourceFile

NOW_NS = 10**18


def _digest(path: str) -> bytes:
    return path.encode().ljust(32, b".")


def _pack(*paths: str) -> pa.RecordBatch:
    members = tuple(PackMember(path, 4096, len(path), _digest(path)) for path in paths)
    return rows_of(PackSummary(_digest("pack"), 8192, members))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))


def test_rows_of_packs_that_overlap_come_in_path_order(tmp_path: Path) -> None:
    with packed_rows() as packed:
        # A large file has a pack of its own, which is ready before the pack around it.
        for pack in (_pack("c"), _pack("a", "e"), _pack("f", "i"), _pack("g", "h")):
            packed.add(pack)
        packed.add_all(("delete", path, *([None] * 7)) for path in "bd")
        write_changes(in_path_order(packed.runs()), tmp_path / "changes")
        assert [path for path, _ in packed.digests()] == list("acefghi")
        with pytest.raises(ValueError, match="read already"):
            packed.add(_pack("z"))
    sent = pq.read_table(tmp_path / "changes")
    assert sent["path"].to_pylist() == list("abcdefghi")
    assert sent["op"].to_pylist() == ["delete" if path in "bd" else "put" for path in "abcdefghi"]
    assert not list((tmp_path / "cache" / "push").iterdir())


def test_no_changes_are_a_file_of_no_rows(tmp_path: Path) -> None:
    write_changes(iter(()), tmp_path / "changes")
    assert pq.read_schema(tmp_path / "changes").names == CHANGES_SCHEMA.names


def test_digests_are_remembered_of_packed_and_of_known_files(tmp_path: Path) -> None:
    files = [SourceFile(path, 1, 5) for path in "abcde"] + [SourceFile("racy", 1, NOW_NS)]
    packed = [(path, _digest(path)) for path in ("a0", "b", "d", "racy")]
    contents = ImportContents(bytes(tmp_path), {})
    DigestCache(tmp_path, contents).save(
        files, [("a", b"k" * 32), ("b", b"o" * 32)], packed, NOW_NS
    )
    again = DigestCache(tmp_path, contents)
    assert [again.get(file) for file in files] == [
        b"k" * 32, _digest("b"), None, _digest("d"), None, None,
    ]  # fmt: skip
    assert again.get(SourceFile("b", 2, 5)) is None


def test_everything_is_new_without_a_parent(tmp_path: Path) -> None:
    files = [SourceFile("a", 1, 5)]
    cache = DigestCache(tmp_path, ImportContents(bytes(tmp_path), {}))
    scan = compare(files, Parent(), cache, Silent(), tmp_path)
    assert (scan.new, scan.reused, scan.removed, scan.unchanged) == (files, [], [], 0)
