"""What a push and a writer send beside packs: the file of their changes."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from atom_sdk.client.packing import scratch_folder
from atom_sdk.client.upload import UploadTarget, upload_file, wait_verified
from atom_sdk.disk import naming_full_disk

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
    ]
)


def send_changes(target: UploadTarget, changes: pa.Table) -> str:
    """Upload a table of changes and return the upload's id. Raises UploadRejectedError."""
    with tempfile.NamedTemporaryFile(dir=scratch_folder(), suffix=".parquet") as file:
        with naming_full_disk(scratch_folder()):
            pq.write_table(changes, file.name, compression="zstd")
        path = Path(file.name)
        digest = blake3(path.read_bytes()).hexdigest()
        target.progress.start("changes", path.stat().st_size, "bytes")
        quiet = replace(target, step="changes")
        upload_id = upload_file(quiet, path, "changes", digest)
        wait_verified(quiet, upload_id)
    return upload_id
