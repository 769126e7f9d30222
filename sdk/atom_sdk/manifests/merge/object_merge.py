"""Merges what two sides drew on one picture: object by object, field by field.

Symmetric: without a conflict both sides could change places.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from atom_sdk.manifests.diff.object_diff import OBJECT_FIELDS, differing_fields
from atom_sdk.manifests.merge.object_order import merge_order
from atom_sdk.manifests.merge.three_way import Change, Conflict

Row = Mapping[str, Any]
# Takes the field in conflict; returns whether their side counts.
Prefers = Callable[[str], bool]
# They follow from the geometry.
_MEASURES = ("x", "y", "width", "height", "area")
_PROVENANCE = ("source_model", "revision", "annotator", "agreement", "audit_state")
# A row of two sources has the one that people trust most.
_SOURCES = ("human", "import", "model")
_MAX_VALUE = 200
_MISSING: Any = object()


def merge_pictures(
    base: Row | None, ours: Row, theirs: Row, prefers_theirs: Prefers
) -> tuple[dict[str, Any], list[Conflict]]:
    """Return the merged row of a picture that both sides changed, and its settled conflicts."""
    merge = _PictureMerge(ours["path"], prefers_theirs)
    return merge.row(base or {}, ours, theirs), merge.conflicts


@dataclass
class _PictureMerge:
    path: str
    prefers_theirs: Prefers
    conflicts: list[Conflict] = field(default_factory=list)

    def row(self, base: Row, ours: Row, theirs: Row) -> dict[str, Any]:
        merged = dict(ours)
        for name in ("width", "height"):
            merged[name] = self.value(name, base.get(name, _MISSING), ours[name], theirs[name])
        objects = self.by_id("objects", base, ours, theirs, self.one_object)
        merged["objects"] = objects
        merged["labels"] = _merged_names(base.get("labels"), ours["labels"], theirs["labels"])
        merged["attributes"] = self.attributes("attributes", base, ours, theirs)
        there = {each["id"] for each in objects}
        merged["relations"] = [
            each
            for each in self.by_id("relations", base, ours, theirs, self.one_relation)
            if {each["subject"], each["object"]} <= there
        ]
        for name in _PROVENANCE:
            merged[name] = ours[name] if ours[name] == theirs[name] else None
        merged["source"] = min(ours["source"], theirs["source"], key=_trust)
        return merged

    def by_id(
        self,
        column: str,
        base: Row,
        ours: Row,
        theirs: Row,
        merge: Callable[[str, Row | None, Row, Row], Row],
    ) -> list[Row]:
        sides = [
            {each["id"]: each for each in side.get(column) or ()} for side in (base, ours, theirs)
        ]
        kept: dict[bytes, Row] = {}
        for name in {**sides[1], **sides[2]}:
            was, mine, other = (side.get(name) for side in sides)
            each = self.survivor(f"{column}.{name.hex()}", was, mine, other, merge)
            if each is not None:
                kept[name] = each
        base_ids, our_ids, their_ids = (list(side) for side in sides)
        order, is_disputed = merge_order(base_ids, our_ids, their_ids, kept)
        if is_disputed:
            self.dispute(f"{column}.order", ("changed", "changed"), "", "")
            # Compared with the losing side, only the other one put them into another order.
            losing = our_ids if self.prefers_theirs(f"{column}.order") else their_ids
            order, _ = merge_order(losing, our_ids, their_ids, kept)
        return [kept[name] for name in order]

    def survivor(
        self,
        name: str,
        base: Row | None,
        ours: Row | None,
        theirs: Row | None,
        merge: Callable[[str, Row | None, Row, Row], Row],
    ) -> Row | None:
        if ours is not None and theirs is not None:
            return merge(name, base, ours, theirs)
        if base is None:
            return ours if theirs is None else theirs
        left = ours if theirs is None else theirs
        if left is None or not _differs(base, left):
            return None
        changes: tuple[Change, Change]
        changes = ("changed", "removed") if theirs is None else ("removed", "changed")
        values = (_shown(ours), _shown(theirs))
        self.dispute(name, changes, *values)
        return theirs if self.prefers_theirs(name) else ours

    def one_object(self, name: str, base: Row | None, ours: Row, theirs: Row) -> Row:
        merged = dict(ours)
        for part, columns in OBJECT_FIELDS.items():
            if part == "attributes":
                merged[part] = self.attributes(f"{name}.{part}", base or {}, ours, theirs)
                continue
            was = _MISSING if base is None else _columns(base, columns)
            mine, other = _columns(ours, columns), _columns(theirs, columns)
            is_theirs = self.takes_theirs(f"{name}.{part}", was, mine, other, (ours, theirs))
            taken = theirs if is_theirs else ours
            measures = _MEASURES if part == "geometry" else ()
            merged.update((column, taken[column]) for column in (*columns, *measures))
        return merged

    def one_relation(self, name: str, base: Row | None, ours: Row, theirs: Row) -> Row:
        was = _MISSING if base is None else dict(base)
        return theirs if self.takes_theirs(name, was, dict(ours), dict(theirs)) else ours

    def attributes(self, name: str, base: Row, ours: Row, theirs: Row) -> str | None:
        """Merge JSON objects key by key."""
        was, mine, other = (
            json.loads(side.get("attributes") or "{}") for side in (base, ours, theirs)
        )
        merged = {}
        for key in sorted({*mine, *other}):
            values = (each.get(key, _MISSING) for each in (was, mine, other))
            value = self.value(f"{name}.{key}", *values)
            if value is not _MISSING:
                merged[key] = value
        if not merged:
            return None
        return json.dumps(merged, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def value(self, name: str, base: Any, ours: Any, theirs: Any) -> Any:
        return theirs if self.takes_theirs(name, base, ours, theirs) else ours

    def takes_theirs(
        self, name: str, base: Any, ours: Any, theirs: Any, rows: tuple[Any, Any] | None = None
    ) -> bool:
        """Whether their value counts; a conflict where both sides changed it differently."""
        if _same(ours, theirs) or _same(base, theirs):
            return False
        if _same(base, ours):
            return True
        sides = (ours, theirs) if rows is None else rows
        changes = tuple(_change(base, side) for side in (ours, theirs))
        part = name.rpartition(".")[2]
        shown = (_shown(side, part) for side in sides)
        self.dispute(name, cast("tuple[Change, Change]", changes), *shown)
        return self.prefers_theirs(name)

    def dispute(self, name: str, changes: tuple[Change, Change], ours: str, theirs: str) -> None:
        self.conflicts.append(
            Conflict(self.path, *changes, field=name, our_value=ours, their_value=theirs)
        )


def _change(base: Any, side: Any) -> Change:
    if side is _MISSING:
        return "removed"
    return "added" if base is _MISSING else "changed"


def _same(left: Any, right: Any) -> bool:
    """Whether two JSON values are one: TRUE is not 1."""
    if left is _MISSING or right is _MISSING:
        return left is right
    return bool(_typed(left) == _typed(right))


def _typed(value: Any) -> Any:
    if isinstance(value, bool):
        return ("flag", value)
    if isinstance(value, list | tuple):
        return [_typed(each) for each in value]
    if isinstance(value, dict):
        return {key: _typed(each) for key, each in value.items()}
    return value


def _columns(row: Row, names: Sequence[str]) -> list[Any]:
    return [row[name] or [] if name == "sizes" else row[name] for name in names]


def _differs(old: Row, new: Row) -> bool:
    if "subject" in old:
        return old != new
    return any(differing_fields(old, new))


def _shown(value: Any, part: str = "") -> str:
    """Say a value in the report of a conflict, or a part of an object."""
    if isinstance(value, Mapping) and "geometry" in value:
        column = OBJECT_FIELDS.get(part, ("geometry",))[0]
        value = _outline(value) if part in {"", "geometry"} else value[column]
    if isinstance(value, Mapping) and "subject" in value:
        value = f"{value['name']}: {value['subject'].hex()} {value['object'].hex()}"
    if value is None or value is _MISSING:
        return ""
    if isinstance(value, bytes):
        return value.hex()
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"


def _outline(row: Row) -> str:
    measures = ", ".join(f"{row[name]:g}" for name in _MEASURES[:4])
    return f"{row['label']}: {row['kind']} [{measures}]"


def _merged_names(
    base: Iterable[str] | None, ours: Iterable[str] | None, theirs: Iterable[str] | None
) -> list[str]:
    """Merge sets of names: what a side took away is gone, what one added is there."""
    was, mine, other = ({*(side or ())} for side in (base, ours, theirs))
    kept = [name for name in base or () if name in mine and name in other]
    return kept + sorted((mine | other) - was)


def _trust(source: str) -> tuple[int, str]:
    return (_SOURCES.index(source) if source in _SOURCES else len(_SOURCES), source)
