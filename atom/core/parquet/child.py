"""Read the head of a Parquet file, in a process of its own that limits may end.

The footer decides how much memory a reader takes, so a forged file can take all of it. Here that
ends this process only. It opens no file and no connection: it asks for ranges on its standard
output, a line of JSON each, gets their bytes on its standard input, and writes its findings as
further lines. It knows neither Django nor the installation's secrets.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from atom.core.parquet.ranged_file import RangedFile

MEMORY_BYTES: Final = 768 << 20
CPU_S: Final = 10
MAX_ROWS: Final = 100
MAX_COLUMNS: Final = 200
MAX_CELL_CHARS: Final = 500
MAX_CHARS: Final = 2 << 20
# A footer of 200 columns in 1,000 row groups has a few MiB.
MAX_FOOTER_BYTES: Final = 16 << 20
_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_TAIL_BYTES = 8
_BUFFER_BYTES = 64 << 10
_SHOWN_BYTES = 24

# Reasons for an empty preview, or one of columns only.
NOT_PARQUET, CUT, BROKEN, ENCRYPTED = "not_parquet", "cut", "broken", "encrypted"
HEAVY = "heavy"


class RefusedError(Exception):
    """The file cannot be read, for one of the reasons above."""


class AskedFile(RangedFile):
    """A file whose bytes the parent process gives."""

    def __init__(self, size_bytes: int) -> None:
        """`size_bytes` is its length."""
        super().__init__(_ask, size_bytes)


def _ask(start: int, end: int) -> bytes:
    _say({"read": [start, end]})
    return sys.stdin.buffer.read(end - start)


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def check_ends(file: AskedFile, size_bytes: int) -> None:
    """Raise RefusedError unless the file's two ends are those of a whole Parquet file."""
    if size_bytes < len(_MAGIC) + _TAIL_BYTES:
        raise RefusedError(CUT if size_bytes else NOT_PARQUET)
    begin = file.read(len(_MAGIC))
    file.seek(-_TAIL_BYTES, io.SEEK_END)
    tail = file.read(_TAIL_BYTES)
    file.seek(0)
    if _ENCRYPTED in (begin, tail[4:]):
        raise RefusedError(ENCRYPTED)
    if begin != _MAGIC:
        raise RefusedError(NOT_PARQUET)
    if tail[4:] != _MAGIC:
        raise RefusedError(CUT)
    footer_bytes = int.from_bytes(tail[:4], "little")
    if footer_bytes > size_bytes - len(_MAGIC) - _TAIL_BYTES:
        raise RefusedError(CUT)
    if footer_bytes > MAX_FOOTER_BYTES:
        raise RefusedError(HEAVY)


def columns_and_rows(size_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield the columns, then the rows, as far as the file has them. Raises RefusedError."""
    source = AskedFile(size_bytes)
    check_ends(source, size_bytes)
    # The buffer is read as a stream: a column of a row group is never held as a whole.
    file = pq.ParquetFile(pa.PythonFile(source, mode="r"), buffer_size=_BUFFER_BYTES)
    fields = list(file.schema_arrow)
    shown = fields[:MAX_COLUMNS]
    meta = file.metadata
    yield {
        "columns": [
            {
                "name": field.name[:MAX_CELL_CHARS],
                "type": kind_of(field.type),
                "declared": f"{field.type}{'' if field.nullable else ' not null'}"[:MAX_CELL_CHARS],
            }
            for field in shown
        ],
        "row_count": max(0, meta.num_rows),
        "row_groups": meta.num_row_groups,
        "writer": (meta.created_by or "")[:MAX_CELL_CHARS],
        "column_count": len(fields),
    }
    names = [field.name for field in shown] if len(shown) < len(fields) else None
    rows: list[list[str | None]] = []
    chars = 0
    batches = file.iter_batches(batch_size=MAX_ROWS, columns=names, use_threads=False)
    for row in (row for batch in batches for row in rows_of(batch)):
        if len(rows) == MAX_ROWS or chars > MAX_CHARS:
            break
        rows.append(row)
        chars += sum(len(cell or "") for cell in row)
    yield {"rows": rows}


def rows_of(batch: pa.RecordBatch) -> Iterator[list[str | None]]:
    """Yield the rows of a batch as text."""
    for number in range(batch.num_rows):
        yield [text_of(column[number]) for column in batch.columns[:MAX_COLUMNS]]


def kind_of(column: pa.DataType) -> str:
    """Return what a page calls the type."""
    if pa.types.is_boolean(column):
        return "boolean"
    if pa.types.is_integer(column):
        return "integer"
    if pa.types.is_floating(column) or pa.types.is_decimal(column):
        return "number"
    return "time" if pa.types.is_temporal(column) else "text"


def text_of(scalar: pa.Scalar) -> str | None:
    """Return a cell as text, cut; None for null."""
    if not scalar.is_valid:
        return None
    try:
        value = scalar.as_py()
    except UnicodeDecodeError:
        # Text that is none.
        value = scalar.as_buffer().to_pybytes()
    except (ValueError, OverflowError):
        # A time that Python does not know: its number.
        return str(getattr(scalar, "value", ""))[:MAX_CELL_CHARS]
    return _written(value)[:MAX_CELL_CHARS]


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        more = "…" if len(value) > _SHOWN_BYTES else ""
        return f"{value[:_SHOWN_BYTES].hex(' ')}{more} ({len(value)} B)"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | dict):
        return json.dumps(value, default=_written, ensure_ascii=False)
    return str(value)


def main() -> None:
    """Answer for a file of the size that the command line gives."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        for part in columns_and_rows(int(sys.argv[1])):
            _say(part)
    except RefusedError as error:
        _say({"refused": str(error)})
    except (MemoryError, pa.ArrowMemoryError):
        _say({"refused": HEAVY})
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError, TypeError):
        _say({"refused": BROKEN})


if __name__ == "__main__":
    main()
