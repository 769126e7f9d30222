"""Warm-up of objects that stay at their source, in packs that only this node has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pyarrow as pa

from atom.cache.backends.local.paths import pack_store
from atom.datasets.catalog.reads import open_root
from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Source, Version
from atom.datasets.sources.actions.scans import note_drift
from atom.datasets.sources.errors import SourceChanged, SourceRemoved
from atom.datasets.sources.pipelines.objects import SourceReader
from atom.datasets.sources.pipelines.opening import open_source
from atom_sdk.manifests.entries import Entry
from atom_sdk.manifests.pins import Pin, pin_of
from atom_sdk.packs.external_objects import RegisteredStore, batches, registered_path

_LOOKED_AT = 2000
_LOOKERS = 8


def registered_store(version: Version) -> RegisteredStore:
    """Return what this machine has of the sources of the version's project."""
    return RegisteredStore(pack_store(version.dataset.project))


def registered_packs(version: Version) -> dict[str, int] | None:
    """Return the packs (hex) that hold the version's registered objects here, with their sizes.

    Empty for a version without such objects; None until they were brought. Raises VersionExpired.
    """
    found = noted_packs(version)
    if found is None:
        return None if has_registered(version) else {}
    return found


def noted_packs(version: Version) -> dict[str, int] | None:
    """Return what was noted when they were brought, also of a version that nobody may read."""
    try:
        found: dict[str, int] = json.loads(_note_path(version).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found


def has_registered(version: Version) -> bool:
    """Return whether some of the version's objects stay at a source."""
    return next(_tables(version), None) is not None


def registered_bytes(version: Version) -> int:
    """Return how many bytes of the version stay at sources."""
    return sum(sum(table["size"].to_pylist()) for table in _tables(version))


def fill_registered(version: Version, count: Callable[[int, int], None]) -> None:
    """Pack the missing files; `count` gets the packs and bytes that came.

    Raises SourceChanged naming the objects, SourceRemoved, or what else a source raises.
    """
    store, readers = registered_store(version), _Readers(version)
    missing = (entry for table in _tables(version) for entry in store.missing(table))
    for batch in batches(missing):
        try:
            store.fill(batch, readers.read, lambda size: count(0, size))
        except SourceChanged as changed:
            raise _all_changed(batch, readers, changed) from changed
        count(1, 0)
    _write_note(version, store)


def forget_registered(version: Version, pack: str) -> None:
    """Take note that a pack was removed."""
    registered_store(version).forget(bytes.fromhex(pack))
    _note_path(version).unlink(missing_ok=True)


class _Readers:
    """Readers of the project's sources, opened when they are first needed."""

    def __init__(self, version: Version) -> None:
        self._project = version.dataset.project
        self._open: dict[str, SourceReader] = {}
        for source in Source.objects.in_project(self._project):
            # Opened here and not by the threads that read: they hold no database connection.
            if any(source_id == str(source.pk) for source_id in _source_ids(version)):
                self._open[str(source.pk)] = open_source(source.spec)

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        reader = self._open.get(pin.source)
        if reader is None:
            raise SourceRemoved
        return reader.read(pin, start, end)


def _source_ids(version: Version) -> set[str]:
    return {value for table in _tables(version) for value in table["source"].unique().to_pylist()}


def _all_changed(batch: Sequence[Entry], readers: _Readers, first: SourceChanged) -> SourceChanged:
    """Check the other objects too, so that the message says how many changed."""

    def changed(entry: Entry) -> str | None:
        pin = pin_of(entry)
        try:
            if pin is not None:
                readers.read(pin, 0, min(pin.size, 1))
        except SourceChanged:
            return entry.path
        return None

    with ThreadPoolExecutor(_LOOKERS, "drift") as pool:
        paths = [path for path in pool.map(changed, islice(batch, _LOOKED_AT)) if path]
    told = SourceChanged.of(paths) if paths else first
    for source_id in {entry.source for entry in batch if entry.source}:
        note_drift(source_id, told.detail)
    return told


def _tables(version: Version) -> Iterator[pa.Table]:
    """Yield the version's entries at sources, a range at a time."""
    store = version_store(version.dataset.project)
    for part in open_root(version).ranges:
        # Cached, as in `packs_of`: coverage is measured often.
        table = store.range(part)
        if table["source"].null_count < len(table):
            yield table.filter(table["source"].is_valid())


def _write_note(version: Version, store: RegisteredStore) -> None:
    packs: set[bytes] = set()
    for table in _tables(version):
        packs |= store.packs_of(table)
    here = pack_store(version.dataset.project)
    sizes = {pack.hex(): here.path(pack).stat().st_size for pack in sorted(packs)}
    path = _note_path(version)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(sizes), encoding="utf-8")
    temporary.replace(path)


def _note_path(version: Version) -> Path:
    return registered_path(pack_store(version.dataset.project).root, version.root)
