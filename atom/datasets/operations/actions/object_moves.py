"""Moving objects from attributes to their layer: sizes of pictures, and which files were of VOC."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from atom.core.errors import AtomError
from atom.datasets.catalog.engines.ancestry import ancestors
from atom.datasets.catalog.history import parents_of
from atom.datasets.keys import pack_key
from atom.datasets.models import Version
from atom.datasets.operations.actions.sites import Site
from atom.datasets.operations.engines.moved_objects import ObjectMove, attributes_of, has_objects
from atom_sdk.label_formats.picture_sizes import size_of
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.merge.merge import EMPTY_ROOT
from atom_sdk.manifests.roots.roots import Root

MOVE_OBJECTS: Final = "move_objects"
# Headers and EXIF come first. Most pictures need far less, so a short read is tried first.
_HEADS_BYTES: Final = (64 << 10, 1 << 20)


def object_move(site: Site, origin: str) -> ObjectMove:
    """Return how objects of a branch are moved; `origin` is 0, 1 or "" to go by its history."""
    from_voc = dict(_written_by_voc(site)) if not origin else {}
    return ObjectMove(_sizes(site), from_voc, int(origin) if origin else None)


def _sizes(site: Site) -> Any:
    store = site.versions.store

    def size(row: Mapping[str, Any]) -> tuple[int, int] | None:
        if row["pack"] is None:
            return None
        for most in _HEADS_BYTES:
            length = min(row["size"], most)
            try:
                key = pack_key(row["pack"].hex())
                head = store.get_range(key, row["offset"], row["offset"] + length)
            except AtomError:
                return None
            found = size_of(io.BytesIO(head))
            if found is not None or row["size"] <= most:
                return found
        return None

    return size


def _written_by_voc(site: Site) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The attributes that imports of VOC wrote, by path, the oldest first."""
    versions = site.dataset.versions.filter(provenance__import__importer="voc")
    known = ancestors(parents_of(site.dataset), site.head.commit)
    for version in versions.order_by("created_at"):
        if version.commit in known:
            yield from _written_by(site, version)


def _written_by(site: Site, version: Version) -> Iterator[tuple[str, Mapping[str, Any]]]:
    before = _first_parent(site, version)
    diff = diff_roots(before, site.root_in(version), site.objects)
    for table in (diff.added, diff.changed_to):
        rows = table.filter(has_objects(table["attributes"]))
        columns = [rows[name].to_pylist() for name in ("path", "attributes")]
        for path, text in zip(*columns, strict=True):
            yield path, attributes_of(text)


def _first_parent(site: Site, version: Version) -> Root:
    parent = version.parents[0] if version.parents else None
    found = site.dataset.versions.filter(commit=parent).first() if parent else None
    return EMPTY_ROOT if found is None else site.root_in(found)
