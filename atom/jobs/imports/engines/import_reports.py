"""The report that a run of `import-annotations` leaves: what it would take, and what is lost.

    {"format": "atom-import/1", "step": "look", "source": "pets@v1", "output": "pets",
     "version": null, "refusal": {"code": "import_labels_lost", "detail": "…"}, "report": {…}}

`report` is `atom_sdk.importers.report_json`. Its names come from foreign archives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from atom.core.foreign_json import read_json
from atom_sdk.importers.losses import MIN_CLASS_COUNT
from atom_sdk.runner.evidence import storable

FORMAT: Final = "atom-import/1"
FILE: Final = "import.json"
MAX_BYTES: Final = 16 << 20
LOOK, IMPORT = "look", "import"
LABELS_LOST: Final = "import_labels_lost"


class MalformedImportReport(ValueError):
    """The document is not of the form above; the message says where."""


@dataclass(frozen=True)
class _Optional:
    """Null, or a value of this shape."""

    shape: Any


@dataclass(frozen=True)
class _Each:
    """An object whose values all have this shape."""

    shape: Any


_NAMED = {"count": int, "first": [str]}
_PROBLEM = {"subject": str, "reason": str}
_LOSS = {"kind": str, "source": int, "lost": int, "share": float}
_REPORT = {
    "source": str,
    "format": str,
    "why": str,
    "files": int,
    "size_bytes": int,
    "objects": int,
    "labels": _Each(int),
    "splits": _Each(int),
    "losses": {
        "allowed": float,
        "needed": float,
        "effects": [str],
        "coverage": [str],
        "objects": int,
        "orphans": int,
        "labels": int,
        "pictures": {"pictures": int, "objects": int, "labels": int},
        "whole": [_LOSS],
        "classes": [_LOSS],
        "above": [_LOSS],
        "shapes": _Each(int),
        "emptied": _NAMED,
    },
    "skipped_total": int,
    "skipped": _Each(int),
    "litter": int,
    "problems": [_PROBLEM],
    "near_misses": [_PROBLEM],
    "near_miss_counts": _Each(int),
    "unlisted": _NAMED,
    "missing": _NAMED,
    "unlabelled": _NAMED,
    "notes": [str],
    "first": [
        {"path": str, "size_bytes": int, "label": _Optional(str), "split": _Optional(str)},
    ],
}
_DOCUMENT = {
    "step": str,
    "source": str,
    "output": str,
    "version": _Optional({"dataset": str, "ref": str, "unchanged": bool}),
    "refusal": _Optional({"code": str, "detail": str}),
    "report": _REPORT,
}


@dataclass(frozen=True)
class ImportReport:
    """A report whose form was checked."""

    document: dict[str, Any]

    @property
    def is_look(self) -> bool:
        """Whether nothing was imported yet."""
        return bool(self.document["step"] == LOOK)

    @property
    def refusal(self) -> dict[str, str] | None:
        """Return why an import with the choices of the look would make nothing."""
        refusal: dict[str, str] | None = self.document["refusal"]
        return refusal

    def above(self, accepted: float) -> list[dict[str, Any]]:
        """Return the losses, of the whole and of large classes, above the accepted share.

        Counted again here, from the numbers: the report says it for the choices of its look.
        """
        losses = self.document["report"]["losses"]
        large = [one for one in losses["classes"] if one["source"] >= MIN_CLASS_COUNT]
        return [one for one in [*losses["whole"], *large] if one["lost"] > accepted * one["source"]]

    @property
    def lost(self) -> int:
        """Return how many objects and labels would be lost, as the look reported."""
        whole = self.document["report"]["losses"]["whole"]
        return sum(int(one["lost"]) for one in whole)


def parse_import_report(data: bytes) -> ImportReport:
    """Return the report of a file. Raises MalformedImportReport."""
    try:
        document = read_json(data)
    except ValueError as error:
        raise MalformedImportReport("It is not JSON.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise MalformedImportReport(f"It is not of the format {FORMAT}.")
    found = storable(document)
    _check("it", found, _DOCUMENT)
    return ImportReport(found)


def _check(where: str, value: Any, shape: Any) -> None:
    """Raise MalformedImportReport for the first value that does not have its shape."""
    if isinstance(shape, _Optional):
        if value is not None:
            _check(where, value, shape.shape)
    elif isinstance(shape, type):
        _require(where, value, shape)
    else:
        _require(where, value, list if isinstance(shape, list) else dict)
        for name, part, expected in _parts(value, shape):
            _check(f"{where}{name}", part, expected)


def _parts(value: Any, shape: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the names, values and shapes of what a list or an object holds."""
    if isinstance(shape, list):
        yield from (("[]", one, shape[0]) for one in value)
    elif isinstance(shape, _Each):
        yield from ((".*", one, shape.shape) for one in value.values())
    else:
        yield from ((f".{name}", value.get(name), one) for name, one in shape.items())


def _require(where: str, value: Any, kind: type) -> None:
    # A whole number is a number; true is neither.
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise MalformedImportReport(f"{where} is not of the type {kind.__name__}.")
