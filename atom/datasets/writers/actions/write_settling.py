"""The effect of a commit request's end on its writer or write job."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from atom.core import storage
from atom.core.storage import ObjectMissing
from atom.datasets.models import CommitRequest
from atom.datasets.packs.pipelines import read_staged_changes
from atom.datasets.writers.actions.write_jobs import settle_job
from atom.datasets.writers.actions.writers import Written, settle_flush, settle_write

_NOTHING = Written(0, 0, 0)


def written_by(request: CommitRequest, state: str) -> Written:
    """Return what a flush that ends in `state` persisted; nothing for other requests."""
    upload = request.changes_upload
    if request.writer_id is None or upload is None or state != "published":
        return _NOTHING
    try:
        with tempfile.TemporaryDirectory(prefix="atom-changes-") as scratch:
            changes = read_staged_changes(storage.objects(), upload.key, Path(scratch))
            size_bytes = pc.sum(changes.puts["size"]).as_py() or 0
    except ObjectMissing:
        # Only the counts are lost: the version is made.
        return _NOTHING
    return Written(len(changes.puts), len(changes.deletes), size_bytes)


def settle_writers(
    request: CommitRequest, state: str, written: Written, fields: Mapping[str, Any]
) -> None:
    """Move the writer or the job along, in the transaction that ends the request."""
    said = str(fields.get("error_code", "")), str(fields.get("error_detail", ""))
    version = fields.get("version")
    if request.write_job is not None:
        settle_job(request.write_job, version, *said)
    elif request.writer is not None and request.operation == "write":
        settle_write(request.writer, version, *said)
    elif request.writer is not None:
        settle_flush(request, state, written)
