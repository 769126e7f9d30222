"""Ranges that name a good pack for files whose own pack is corrupt; their content stays."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.build import read_range, write_range
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.roots.groups import range_position
from atom_sdk.manifests.roots.roots import Root, make_root

PLACES = pa.schema([("digest", DIGEST), ("pack", DIGEST), ("offset", pa.int64())])
_LOOKED_AT = ("path", "digest", "pack")


class PackRepair:
    """Rewrites ranges where an entry is in a corrupt pack and its bytes have another place.

    Each range is looked at once, however many roots it is in.
    """

    def __init__(self, damaged: Iterable[bytes], places: pa.Table, store: ObjectStore) -> None:
        """`places` are rows of PLACES: contents, and where these are in good packs."""
        self._damaged = pa.array(sorted(damaged), DIGEST)
        self._places = places.combine_chunks()
        self._contents = self._places["digest"].combine_chunks()
        self._store = store
        self._looked_at: dict[tuple[bytes, ...], RangeRef] = {}

    def repaired(self, root: Root, paths: Collection[str] | None = None) -> Root | None:
        """Return the root with the good packs, not stored yet; None if nothing is to be repaired.

        With `paths` only the ranges that may have one of these are looked at. Raises
        ObjectNotFoundError, ManifestCorruptError.
        """
        places = range(len(root.ranges)) if paths is None else _places_of(root, paths)
        repaired = {}
        for place in places:
            before = root.ranges[place]
            after = self._part(before)
            if after is not before:
                repaired[place] = after
        if not repaired:
            return None
        parts = [repaired.get(place, part) for place, part in enumerate(root.ranges)]
        return make_root(parts, root.layers)

    def _part(self, part: RangeRef) -> RangeRef:
        if part.layout not in self._looked_at:
            self._looked_at[part.layout] = self._written(part)
        after = self._looked_at[part.layout]
        return part if after.layout == part.layout else after

    def _written(self, part: RangeRef) -> RangeRef:
        if not pc.any(self._is_repaired(read_range(part, self._store, _LOOKED_AT))).as_py():
            return part
        table = read_range(part, self._store)
        chosen = self._is_repaired(table)
        found = pc.index_in(table["digest"], value_set=self._contents)
        for name in ("pack", "offset"):
            column = pc.if_else(chosen, self._places[name].take(found), table[name])
            position = table.schema.get_field_index(name)
            table = table.set_column(position, table.schema.field(position), column)
        return write_range(table.combine_chunks(), self._store, {})

    def _is_repaired(self, table: pa.Table) -> pa.ChunkedArray:
        is_damaged = pc.is_in(table["pack"], value_set=self._damaged)
        return pc.and_(is_damaged, pc.is_in(table["digest"], value_set=self._contents))


def _places_of(root: Root, paths: Collection[str]) -> list[int]:
    return sorted({range_position(root.ranges, path) for path in paths}) if root.ranges else []
