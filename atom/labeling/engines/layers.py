"""The published label layer as an Arrow table, in the columns of the manifest's format."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import pyarrow as pa

from atom.datasets.versions.engines.versions import current_pieces
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.layers.layers import layer_schema
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root

NAME: Final = "labels"
KIND: Final = "classification"
SOURCE: Final = "human"
SCHEMA: Final[pa.Schema] = layer_schema(KIND)
_BATCH_ROWS = 10_000


@dataclass(frozen=True)
class LabelRow:
    """One accepted label.

    `digest` is the BLAKE3 of the sample in hex; `revision` is the number of the hand-over
    under which the label came, unique per sample within its task.
    """

    path: str
    digest: str
    label: str
    revision: int
    annotator: str
    audit_state: str


def label_table(rows: Iterable[LabelRow]) -> pa.Table:
    """Return the layer of `rows`, sorted by path in UTF-8 order; rows are read in batches."""
    batches: list[pa.RecordBatch] = []
    pending: list[LabelRow] = []
    for row in rows:
        pending.append(row)
        if len(pending) == _BATCH_ROWS:
            batches.append(_batch(pending))
            pending = []
    batches.append(_batch(pending))
    return pa.Table.from_batches(batches, SCHEMA).sort_by("path")


def replaced_pictures(
    pictures: Iterable[tuple[UUID, str, str]], root: Root, store: ObjectStore
) -> list[UUID]:
    """Return the ids of the pictures that a version has with other bytes, or not at all.

    `pictures` are `(id, path, BLAKE3 in hex)`.
    """
    ids, paths, digests = [], [], []
    for number, path, digest in pictures:
        ids.append(number.bytes)
        paths.append(path)
        digests.append(bytes.fromhex(digest))
    columns = [
        pa.array(ids, pa.binary(16)),
        pa.array(paths, pa.string()),
        pa.array(digests, DIGEST),
    ]
    rows = pa.table(columns, names=["id", "path", "digest"]).sort_by("path")
    kept: set[bytes] = set()
    for piece in current_pieces(root, rows, store):
        kept.update(piece["id"].to_pylist())
    return [UUID(bytes=number) for number in ids if number not in kept]


def _batch(rows: list[LabelRow]) -> pa.RecordBatch:
    columns = {
        "path": [row.path for row in rows],
        "digest": [bytes.fromhex(row.digest) for row in rows],
        "label": [row.label for row in rows],
        "source": [SOURCE] * len(rows),
        "revision": [row.revision for row in rows],
        "annotator": [row.annotator for row in rows],
        # A single opinion has no agreement.
        "agreement": [None] * len(rows),
        "audit_state": [row.audit_state for row in rows],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
