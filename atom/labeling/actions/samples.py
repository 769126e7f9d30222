"""Streams the entries that a label task is about out of a version's manifests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atom.core.storage import project_store
from atom.datasets.models import Version
from atom.labeling.actions.items import Sample
from atom.labeling.engines import layers, selection
from atom_sdk.manifests import read_layer, read_range, read_root

_DEFAULT_MEDIA_TYPE = "application/octet-stream"


def matching_samples(version: Version, *, prefix: str, labelled: bool | None) -> Iterator[Sample]:
    """Yield the matching entries in path order, holding one range at a time.

    `labelled` False: those without a label in any classification layer; None: all.
    """
    store = project_store(version.dataset.project)
    root = read_root(bytes.fromhex(version.root), store)
    known = [read_layer(layer, store) for layer in root.layers if layer.kind == layers.KIND]
    for part in root.ranges:
        if selection.may_hold(part, prefix):
            table = selection.matching(read_range(part, store), known, prefix, labelled)
            yield from (_sample(row) for row in selection.rows(table))


def _sample(row: dict[str, Any]) -> Sample:
    return Sample(
        path=row["path"],
        digest=row["digest"].hex(),
        pack=row["pack"].hex(),
        offset=row["offset"],
        size_bytes=row["size"],
        media_type=row["media_type"] or _DEFAULT_MEDIA_TYPE,
    )
