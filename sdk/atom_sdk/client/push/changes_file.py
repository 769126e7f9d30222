"""The changes file, which a push and a writer send beside packs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from atom_sdk.client.push.scratch_packs import scratch_folder
from atom_sdk.client.transport.upload import UploadTarget, upload_file, wait_verified
from atom_sdk.disk import naming_full_disk
from atom_sdk.packs.walk import hash_file

CHANGES_SCHEMA = pa.schema(
    [
        ("op", pa.string()),
        ("path", pa.string()),
        ("size", pa.int64()),
        ("digest", pa.binary(32)),
        ("media_type", pa.string()),
        ("attributes", pa.string()),
        ("pack", pa.binary(32)),
        ("offset", pa.int64()),
        ("link", pa.string()),
    ]
)


def write_changes(changes: Iterable[pa.Table], path: Path) -> None:
    """Write tables of changes to a Parquet file. Raises OSError."""
    stream = iter(changes)
    first = next(stream, CHANGES_SCHEMA.empty_table())
    with pq.ParquetWriter(path, first.schema, compression="zstd") as out:
        out.write_table(first)
        for table in stream:
            out.write_table(table)


def send_changes(
    target: UploadTarget, changes: Iterable[pa.Table], others: Iterable[str] = ()
) -> str:
    """Upload tables of changes as one file and return the upload's id.

    Tables after the first have its columns. Also waits until the uploads `others` are verified,
    which the server may be at meanwhile. Raises UploadRejectedError.
    """
    with tempfile.NamedTemporaryFile(dir=scratch_folder(), suffix=".parquet") as file:
        with naming_full_disk(scratch_folder()):
            write_changes(changes, Path(file.name))
        path = Path(file.name)
        digest = hash_file(path).hex()
        target.progress.start("changes", path.stat().st_size, "bytes")
        quiet = replace(target, step="changes")
        upload_id = upload_file(quiet, path, "changes", digest)
    for sent in (*others, upload_id):
        wait_verified(quiet, sent)
    return upload_id
