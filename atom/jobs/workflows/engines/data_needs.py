"""The data that a workflow needs in each dataset parameter, as its `workflow.json` declares.

    "needs": {"dataset": {"media": "image", "labels": true, "classes": 2}}

`media`: files of this family must be there; `labels`: files must have labels; `classes`: labels of
at least so many classes; `objects`: objects must be drawn on pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

MEDIA: Final = frozenset({"", "image", "video"})
_KEYS = frozenset({"media", "labels", "classes", "objects"})


@dataclass(frozen=True, slots=True)
class DataNeeds:
    """Needs of one dataset parameter."""

    media: str = ""
    labels: bool = False
    classes: int = 0
    objects: bool = False


def check_needs(
    needs: Mapping[str, Mapping[str, Any]], datasets: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Return the needs as plain dicts. Raises ValueError for what is not well formed."""
    if strange := set(needs) - set(datasets):
        raise ValueError(f"needs names no dataset parameter: {sorted(strange)}")
    return {name: asdict(parse_needs(name, declared)) for name, declared in needs.items()}


def parse_needs(name: str, declared: Mapping[str, Any]) -> DataNeeds:
    """Return the needs of one parameter. Raises ValueError."""
    if unknown := set(declared) - _KEYS:
        raise ValueError(f"needs.{name}: unknown keys {sorted(unknown)}")
    needs = DataNeeds(**declared)
    if needs.media not in MEDIA or not isinstance(needs.labels, bool):
        raise ValueError(f"needs.{name}: media is one of {sorted(MEDIA)}, labels true or false")
    if not isinstance(needs.objects, bool):
        raise ValueError(f"needs.{name}.objects is true or false")
    if type(needs.classes) is not int or needs.classes < 0:
        raise ValueError(f"needs.{name}.classes must be a whole number")
    return needs
