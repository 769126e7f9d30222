"""Settles the conflicts of a merge: each as it is named, the others by a policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from atom_sdk.manifests.merge.three_way import Conflict, Mask, Policy

Side = Literal["ours", "theirs"]
MAX_NAMED = 1000
# Path, layer, field.
_Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Whose side counts where both changed a path.

    Without a layer it is about the file and all of its labels, without a field about all fields of
    the layer; what names a conflict more exactly counts before what names it less exactly. Without
    a path it is about a layer that is of two kinds.
    """

    path: str
    take: Side
    layer: str = ""
    field: str = ""


@dataclass(slots=True)
class Conflicts:
    """The conflicts of a merge, and whose side counts there.

    `first` are the first of those that no resolution names: a merge of millions must not list all.
    `total` counts these, `settled` those that one names.
    """

    policy: Policy = "fail"
    resolutions: Sequence[Resolution] = ()
    total: int = 0
    settled: int = 0
    first: list[Conflict] = field(default_factory=list)
    _sides: dict[_Name, Side] = field(init=False)
    _met: set[_Name] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Index the resolutions by what they name."""
        self._sides = {(each.path, each.layer, each.field): each.take for each in self.resolutions}

    def side(self, path: str, layer: str = "", name: str = "") -> Policy:
        """Return whose side counts for a file, or for a field of its row in a layer."""
        found = (self._sides.get(each) for each in _names(path, layer, name))
        return next((side for side in found if side), self.policy)

    def prefers_theirs(self, paths: list[str], layer: str = "", name: str = "") -> Mask:
        """Return in which of the paths their side counts, shape (paths,)."""
        if not self._sides:
            return np.full(len(paths), self.policy == "theirs", np.bool_)
        sides = (self.side(path, layer, name) == "theirs" for path in paths)
        return np.fromiter(sides, np.bool_, len(paths))

    def add(self, found: Iterable[Conflict]) -> None:
        """Count all of them; of those that are not settled keep as many as there is room for."""
        for conflict in found:
            if self._sides and self._is_named(conflict):
                self.settled += 1
                continue
            self.total += 1
            if len(self.first) < MAX_NAMED:
                self.first.append(conflict)

    def idle(self, disputed: Iterable[str]) -> tuple[Resolution, ...]:
        """Return the resolutions that name no conflict.

        Whether a label clashes may depend on the side that counts for its file: at `disputed`
        paths, which may be in conflict, a resolution is never idle.
        """
        paths = set(disputed)
        return tuple(
            each
            for each in self.resolutions
            if (each.path, each.layer, each.field) not in self._met and each.path not in paths
        )

    def _is_contradicted(self, conflict: Conflict) -> bool:
        """Whether a file is kept where their file or folder of that name is taken, each by name."""
        if conflict.layer or not conflict.other_path:
            return False
        kept = self._sides.get((conflict.other_path, "", "")) == "ours"
        return kept and self._sides.get((conflict.path, "", "")) == "theirs"

    def _is_named(self, conflict: Conflict) -> bool:
        if self._is_contradicted(conflict):
            return False
        # The field of a file's conflict only names the difference.
        name = conflict.field if conflict.layer else ""
        names = [n for n in _names(conflict.path, conflict.layer, name) if n in self._sides]
        self._met.update(names)
        return bool(names)


def _names(path: str, layer: str, name: str) -> Iterator[_Name]:
    """Yield what may name a conflict, the most exact first."""
    yield path, layer, name
    yield path, layer, ""
    yield path, "", ""
