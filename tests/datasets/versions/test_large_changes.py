"""Changes files that are read in pieces: they say what a file read at once says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom.datasets.versions.engines.changes import ChangesError, ChangesFile, decode_changes
from atom.datasets.versions.engines.large_changes import read_changes
from atom.datasets.versions.engines.spilled import tables_of
from atom.datasets.versions.engines.version_plan import VersionPlan
from atom.datasets.versions.engines.versions import build_version
from atom_sdk.manifests import MemoryObjectStore, Root
from atom_sdk.manifests.spilled_rows import SpilledRows
from atom_sdk.manifests.split_requests import SplitRequest

COUNT = 300


def _row(number: int, **changed: Any) -> dict[str, Any]:
    digest = (number + 1).to_bytes(32, "big")
    row = {"op": "put", "path": f"{number % 3}/é{number:04d}.png", "size": number}
    row |= {"digest": digest, "media_type": "image/png", "pack": b"p" * 32, "offset": 4096}
    return row | {"label": f"l{number % 5}", "split": "val" if number % 7 == 0 else None} | changed


def _rows(*changed: dict[str, Any]) -> list[dict[str, Any]]:
    by_path = {row["path"]: row for row in [*map(_row, range(COUNT)), *changed]}
    return [by_path[path] for path in sorted(by_path)]


def _write(path: Path, rows: list[dict[str, Any]], kind: str) -> Path:
    table = pa.Table.from_pylist(rows)
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=70)
    else:
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table, max_chunksize=70)
    return path


def _read(folder: Path, rows: list[dict[str, Any]], kind: str = "parquet") -> ChangesFile:
    return read_changes(_write(folder / "changes", rows, kind), folder, large_rows=100)


def _whole(changes: ChangesFile) -> pa.Table:
    return pa.concat_tables(tables_of(changes.puts)).combine_chunks()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_large_file_says_the_same_in_pieces(tmp_path: Path, kind: str) -> None:
    rows = _rows(_row(4, op="delete"), _row(5, op="delete"))
    read = _read(tmp_path, rows, kind)
    at_once = decode_changes((tmp_path / "changes").read_bytes())
    assert isinstance(read.puts, SpilledRows)
    assert len(read.puts) == len(at_once.puts) == COUNT - 2
    assert _whole(read).equals(_whole(at_once))
    assert read.puts["digest"].to_pylist() == _whole(at_once)["digest"].to_pylist()
    assert (set(read.deletes), dict(read.labels), dict(read.splits)) == (
        at_once.deletes,
        at_once.labels,
        at_once.splits,
    )


def test_rows_out_of_order_are_sorted_in_memory(tmp_path: Path) -> None:
    read = _read(tmp_path, _rows()[::-1])
    assert isinstance(read.puts, pa.Table)
    assert read.puts["path"].to_pylist() == [row["path"] for row in _rows()]


def test_paths_that_are_written_as_a_dictionary_are_read_too(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(_rows())
    coded = table.set_column(1, "path", table["path"].dictionary_encode())
    with pa.ipc.new_file(tmp_path / "changes", coded.schema) as out:
        out.write_table(coded, max_chunksize=70)
    read = read_changes(tmp_path / "changes", tmp_path, large_rows=100)
    assert _whole(read)["path"].to_pylist() == table["path"].to_pylist()


def test_what_is_wrong_in_any_piece_is_said(tmp_path: Path) -> None:
    last = _rows()[-1]
    with pytest.raises(ChangesError, match="comes twice"):
        _read(tmp_path, [*_rows(), last])
    with pytest.raises(ChangesError, match="may only say"):
        _read(tmp_path, [*_rows()[:-1], last | {"op": "burn"}])
    with pytest.raises(ChangesError, match="negative"):
        _read(tmp_path, [*_rows()[:-1], last | {"size": -1}])
    (tmp_path / "changes").write_bytes(b"PAR1 and no more")
    with pytest.raises(ChangesError, match="neither"):
        read_changes(tmp_path / "changes", tmp_path)


def _built(parent: Root | None, changes: ChangesFile, store: MemoryObjectStore) -> Root:
    split = SplitRequest.from_json({"test": "20%", "seed": 1})
    return build_version(parent, VersionPlan(changes, True, (), split), store)


def test_a_version_is_the_same_whichever_way_its_changes_were_read(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    steps = [
        _rows(),
        _rows(_row(4, op="delete"), _row(8, op="delete"), _row(999), _row(9, size=7)),
    ]
    pieces: Root | None = None
    at_once: Root | None = None
    for rows in steps:
        pieces = _built(pieces, _read(tmp_path, rows), store)
        at_once = _built(at_once, decode_changes((tmp_path / "changes").read_bytes()), store)
        assert pieces.says_the_same(at_once)
    assert pieces is not None
    assert pieces.count == COUNT - 1
