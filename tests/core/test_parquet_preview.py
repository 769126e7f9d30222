"""The head of a Parquet file, read by a process of its own; files that lie end that process."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom.core.parquet.preview import ParquetPreview, preview_parquet


def written(columns: dict[str, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def shown(data: bytes) -> ParquetPreview:
    return preview_parquet(lambda start, end: data[start:end], len(data))


def test_every_cell_is_text_and_each_column_says_its_type() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    found = shown(
        written(
            {
                "n": pa.array([1.5, None]),
                "ok": [True, False],
                "at": [at, at],
                "raw": [b"\0\xff", b"x" * 40],
                "many": [[1, 2], []],
                "long": ["y" * 900, "=1+1"],
                "far": pa.array([10**13, 0], pa.timestamp("s")),
                "torn": pa.array([b"\xff", b"a"]).view(pa.string()),
            }
        )
    )
    assert found.reason == ""
    assert [column["type"] for column in found.columns] == [
        "number", "boolean", "time", "text", "text", "text", "time", "text",
    ]  # fmt: skip
    first, second = found.rows
    assert first[:5] == ["1.5", "true", "2026-01-02T00:00:00+00:00", "00 ff (2 B)", "[1, 2]"]
    assert len(first[5] or "") == 500
    assert second[:2] == [None, "false"]
    assert second[5] == "=1+1"
    assert not found.truncated


def test_a_wide_and_long_file_is_cut_and_says_so() -> None:
    found = shown(written({f"c{number}": range(150) for number in range(230)}))
    assert (len(found.columns), found.column_count) == (200, 230)
    assert (len(found.rows), len(found.rows[0]), found.row_count) == (100, 200, 150)
    assert found.truncated


WHOLE = written({"a": list(range(1000)), "b": ["word"] * 1000})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not_parquet"),
        (b"PAR1", "cut"),
        (b"a,b\n1,2\n" * 20, "not_parquet"),
        (WHOLE[:-30], "cut"),
        # A footer that is longer than the file.
        (WHOLE[:-8] + b"\xff\xff\xff\x7fPAR1", "cut"),
        (WHOLE[:-60] + b"\x99" * 52 + WHOLE[-8:], "broken"),
        (WHOLE[:-4] + b"PARE", "encrypted"),
    ],
)
def test_a_file_that_is_none_says_what_it_is(data: bytes, reason: str) -> None:
    found = shown(data)
    assert (found.reason, found.rows) == (reason, [])


def test_of_torn_pages_the_columns_are_shown() -> None:
    found = shown(WHOLE[:4] + b"\xff" * 400 + WHOLE[404:])
    assert found.reason == "broken"
    assert [column["name"] for column in found.columns] == ["a", "b"]


def test_a_small_file_that_unfolds_to_a_gigabyte_ends_its_own_process() -> None:
    # One value of 8 MB, a hundred times: what is read grows to nearly a gigabyte.
    value = pa.array(["z" * 8_000_000])
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 100), value)
    # Without the schema of Arrow, which would have it read as a dictionary.
    bomb = written({"s": repeated}, compression="zstd", store_schema=False)
    assert len(bomb) < 100_000
    found = shown(bomb)
    assert (found.reason, found.row_count, found.rows) == ("heavy", 100, [])
