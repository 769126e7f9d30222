"""The pictures of a dataset version, found by the names in labels; misses are listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.importers.lookup import name_parts
from atom_sdk.importers.names import NameRefusedError
from atom_sdk.label_formats.picture_sizes import Size
from atom_sdk.label_formats.pictures import KnownPictures
from atom_sdk.manifests.entries import ENTRY_SCHEMA, LINK_COLUMN
from atom_sdk.manifests.joined import iter_ranges
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.media_types import media_type_of

EXACT, BY_END, BY_NAME = "exact", "by_end", "by_name"
MISSING, AMBIGUOUS = "missing", "ambiguous"
MOST_LISTED = 1000
_MOST_CHARACTERS = 300
_PICTURE = pa.schema(
    [ENTRY_SCHEMA.field(name) for name in ("path", "digest", "size", "pack", "offset")]
)


def picture_table(root: Root, store: ObjectStore) -> pa.Table:
    """Return the pictures of a version in path order, with where their bytes lie; no links."""
    tables = [_pictures(table) for table in iter_ranges(root, store)]
    return pa.concat_tables([_PICTURE.empty_table(), *tables]).combine_chunks()


def _pictures(table: pa.Table) -> pa.Table:
    files = table.filter(table[LINK_COLUMN].is_null())
    named = pc.coalesce(files["media_type"], pa.scalar(""))
    is_picture = [
        (media or media_type_of(path)).startswith("image/")
        for media, path in zip(named.to_pylist(), files["path"].to_pylist(), strict=True)
    ]
    return files.filter(pa.array(is_picture, pa.bool_())).select(_PICTURE.names).cast(_PICTURE)


class MatchedPictures:
    """Finds pictures as `KnownPictures` does, and keeps how, and which names mean none.

    A name means its exact path, else the only picture whose path ends so, else the only picture of
    that name.
    """

    def __init__(self, paths: Iterable[str], size: Callable[[str], Size | None]) -> None:
        self._known = KnownPictures(paths, size)
        # By picture: the same picture is asked for with each of its annotations.
        self._ways: dict[str, str] = {}
        self.unmatched: dict[str, str] = {}
        self.left_off = 0

    def resolve(self, name: str, near: str = "") -> str | None:
        """Return the picture that a name means. Raises NameRefusedError."""
        return self._noted(name, lambda: self._known.resolve(name, near))

    def resolve_stem(self, name: str) -> str | None:
        """Return the picture whose path without its suffix ends so. Raises NameRefusedError."""
        return self._noted(name, lambda: self._known.resolve_stem(name), is_stem=True)

    def size(self, path: str) -> Size | None:
        """Return width and height of a picture."""
        return self._known.size(path)

    def paths(self) -> Iterable[str]:
        """Return all paths."""
        return self._known.paths()

    @property
    def has_matched(self) -> bool:
        """Whether any name meant a picture so far."""
        return bool(self._ways)

    def as_json(self) -> dict[str, Any]:
        """Return how pictures were found, and the first names that mean none."""
        ways = Counter(self._ways.values())
        return {
            **{way: ways[way] for way in (EXACT, BY_END, BY_NAME)},
            "unmatched": [
                {"name": name, "reason": reason} for name, reason in self.unmatched.items()
            ],
            "left_off": self.left_off,
        }

    def _noted(
        self, name: str, find: Callable[[], str | None], *, is_stem: bool = False
    ) -> str | None:
        try:
            path = find()
        except NameRefusedError:
            self._miss(name, AMBIGUOUS)
            raise
        if path is None:
            self._miss(name, MISSING)
        elif path not in self._ways:
            self._ways[path] = _way(name, path.rpartition(".")[0] if is_stem else path)
        return path

    def _miss(self, name: str, reason: str) -> None:
        name = name[:_MOST_CHARACTERS]
        if name in self.unmatched:
            return
        if len(self.unmatched) < MOST_LISTED:
            self.unmatched[name] = reason
        else:
            self.left_off += 1


def _way(name: str, path: str) -> str:
    if name == path:
        return EXACT
    parts = name_parts(name)
    return (
        BY_END if len(parts) > 1 and f"/{path}".endswith("/".join(["", *parts[-2:]])) else BY_NAME
    )
