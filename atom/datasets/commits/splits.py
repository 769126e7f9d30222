"""Splits as requests ask for them: what one would give, and why one is refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from atom.datasets.browsing.queries import narrowed
from atom.datasets.catalog.stores import version_store
from atom.datasets.errors import (
    QueryInvalid,
    SplitEmpty,
    SplitImpossible,
    SplitRedrawn,
    SplitTooLargeToShow,
    SplitUnlabelled,
)
from atom.datasets.models import Dataset, Version
from atom.datasets.versions.engines.version_plan import SPLIT_LAYER
from atom.datasets.versions.engines.versions import split_input
from atom_sdk.errors import (
    SplitEmptyError,
    SplitRedrawError,
    SplitSpecError,
    SplitTooLargeError,
    SplitUnlabelledError,
)
from atom_sdk.manifests.layers import read_layer
from atom_sdk.manifests.split_requests import SplitRequest, draw

# Some seconds of work; larger versions are split by a worker without a look beforehand.
MAX_PREVIEW_FILES = 1_000_000


@dataclass(frozen=True)
class SplitCount:
    """Files of one split: by label, and those without one."""

    name: str
    total: int
    unlabelled: int
    labels: dict[str, int]


def written_out(dataset: Dataset, split: Mapping[str, Any]) -> dict[str, Any]:
    """Return what asks for a split with the question of its view in place of the view's name.

    A view that is changed later changes no split that was asked for. Raises ViewNotFound,
    QueryInvalid.
    """
    asked = dict(split)
    query = narrowed(dataset, asked.get("where", ""), asked.pop("view", ""))
    asked["where"] = query.text if query else ""
    try:
        SplitRequest.from_json(asked)
    except SplitSpecError as error:
        raise QueryInvalid(str(error), errors={"where": [str(error)]}) from error
    return asked


@contextmanager
def split_refusals() -> Iterator[None]:
    """Turn what the SDK refuses into what a request is answered."""
    try:
        yield
    except SplitTooLargeError as exc:
        raise SplitImpossible(str(exc)) from exc
    except SplitEmptyError as exc:
        raise SplitEmpty from exc
    except SplitUnlabelledError as exc:
        raise SplitUnlabelled from exc
    except SplitRedrawError as exc:
        raise SplitRedrawn(str(exc)) from exc


def drawn_by(version: Version) -> SplitRequest | None:
    """Read what the version's split was drawn by; a client wrote it, so it may be anything."""
    try:
        split = version.provenance.get("split")
        return None if split is None else SplitRequest.from_json(split)
    except (SplitSpecError, AttributeError, TypeError, ValueError):
        return None


def preview_split(version: Version, wanted: SplitRequest) -> list[SplitCount]:
    """Count what a split of the version would give, by split name, among the chosen files.

    Raises SplitImpossible, SplitEmpty, SplitUnlabelled, SplitRedrawn, SplitTooLargeToShow.
    """
    if version.file_count > MAX_PREVIEW_FILES:
        raise SplitTooLargeToShow
    store = version_store(version.dataset.project)
    root = store.root(version.root)
    layer = root.layer(SPLIT_LAYER)
    table = read_layer(layer, store.store) if layer else None
    columns = ([], []) if table is None else (table[n].to_pylist() for n in ("path", "value"))
    files, _ = split_input(root, wanted, dict(zip(*columns, strict=True)), store.store)
    with split_refusals():
        assigned = draw(wanted, files, drawn_by(version))
    found: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    for path, split in assigned.items():
        if files.chosen is None or path in files.chosen:
            found[split][files.labels[path]] += 1
    return [_count(name, found[name]) for name in sorted(found)]


def _count(name: str, labels: Counter[str | None]) -> SplitCount:
    total, unlabelled = labels.total(), labels.pop(None, 0)
    named = {label: count for label, count in sorted(labels.items(), key=str) if label is not None}
    return SplitCount(name, total, unlabelled, named)
