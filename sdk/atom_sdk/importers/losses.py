"""Objects and labels of a source, and the lost ones, by class; and the share that may be lost.

The source holds what the import keeps plus what it loses, so a reader reports its losses alone:
`collect` counts what is kept.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

DEFAULT_ALLOWED_LOSS = 0.01
MIN_CLASS_COUNT = 20
OBJECT, LABEL = "object", "label"
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")
_FRACTION = re.compile(r"0?\.\d+|0")


@dataclass(frozen=True, slots=True)
class ClassLoss:
    """Numbers of one class, or of the whole source where `name` is None."""

    kind: str
    name: str | None
    source: int
    lost: int

    @property
    def share(self) -> float:
        """Lost / in the source, 0 to 1."""
        return self.lost / self.source if self.source else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        named = {} if self.name is None else {"label": self.name}
        return {
            "kind": self.kind,
            **named,
            "source": self.source,
            "lost": self.lost,
            "share": round(self.share, 6),
        }


@dataclass
class Tally:
    """Kept and lost objects, or labels, by class; "" is a class that cannot be read."""

    kind: str
    kept: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)

    def whole(self) -> ClassLoss:
        """Return the numbers of all classes together."""
        lost = self.lost.total()
        return ClassLoss(self.kind, None, self.kept.total() + lost, lost)

    def classes(self) -> list[ClassLoss]:
        """Return the classes that lose something, the largest loss first."""
        return [
            ClassLoss(self.kind, name, self.kept[name] + lost, lost)
            for name, lost in self.lost.most_common()
            if lost
        ]

    def above(self, allowed: float) -> list[ClassLoss]:
        """Return the whole and the classes of 20 or more that lose a larger share than allowed."""
        large = [one for one in self.classes() if one.source >= MIN_CLASS_COUNT]
        return [one for one in [self.whole(), *large] if one.share > allowed]


def share_to_allow(losses: Sequence[ClassLoss]) -> float:
    """Return the smallest share that allows all these losses, 0 to 1, with six digits.

    Rounded up: a share that is rounded down would refuse the very loss that it names.
    """
    return max((math.ceil(one.lost * 10**6 / one.source) / 10**6 for one in losses), default=0.0)


def add_counts(counter: Counter[str], counts: Mapping[str, int]) -> None:
    """Add counts by class."""
    for name, count in counts.items():
        counter[name] += count


def parse_share(text: str) -> float:
    """Return `5%` and `0.05` as 0.05. Raises ValueError; a bare `5` says neither.

    The share is from 0 to 1, both included: `100%` allows any loss.
    """
    text = text.strip()
    if percent := _PERCENT.fullmatch(text):
        share = float(percent[1]) / 100
    elif _FRACTION.fullmatch(text):
        share = float(text)
    else:
        raise ValueError(f"{text!r} is no share: write 5% or 0.05.")
    if share > 1:
        raise ValueError(f"{text!r} is more than 100%.")
    return share
