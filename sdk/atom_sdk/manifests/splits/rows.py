"""The input of a split of very many files: a few numbers for each file, in path order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.manifests.splits.groups import order_of_group
from atom_sdk.manifests.splits.requests import SplitRequest
from atom_sdk.manifests.splits.splits import order_of_path

NONE = -1
Codes = NDArray[np.int32]


class Names:
    """Texts and their numbers, in the order in which they were met."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Begin with some."""
        self._codes = {name: code for code, name in enumerate(names)}

    def code(self, name: str) -> int:
        """The number of a text, a new one if it was not met yet."""
        return self._codes.setdefault(name, len(self._codes))

    def codes(self, names: Iterable[str | None]) -> Codes:
        """The number of each, -1 for None."""
        return np.array([NONE if name is None else self.code(name) for name in names], np.int32)

    def __len__(self) -> int:
        """How many different texts there are."""
        return len(self._codes)

    @property
    def names(self) -> list[str]:
        """The texts by their numbers."""
        return list(self._codes)


class SplitRows:
    """Label, group, present split and place in the draw of each file; filled piece by piece."""

    def __init__(self, request: SplitRequest) -> None:
        """`request` says by what the places are drawn."""
        self._request = request
        self.label_names, self.group_names, self.split_names = Names(), Names(), Names()
        self._columns: dict[str, tuple[bytearray, np.dtype[Any]]] = {}

    def add(
        self,
        paths: Sequence[str],
        labels: Sequence[str | None],
        existing: Sequence[str | None],
        groups: Sequence[str | None] | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> None:
        """Take the next files; without `chosen` the request is about all of them."""
        seed = self._request.seed
        if self._request.group_by:
            alone = (("file", path) for path in paths)
            order = np.fromiter((order_of_group(one, seed) for one in alone), np.uint64, len(paths))
        else:
            order = np.fromiter(
                (order_of_path(path, seed) for path in paths), np.uint64, len(paths)
            )
        self._keep("order", order)
        self._keep("labels", self.label_names.codes(labels))
        self._keep("existing", self.split_names.codes(existing).astype(np.int16))
        if groups is not None:
            self._keep("groups", self.group_names.codes(groups))
        if chosen is not None:
            self._keep("chosen", chosen)

    def _keep(self, name: str, piece: NDArray[Any]) -> None:
        data, _ = self._columns.setdefault(name, (bytearray(), piece.dtype))
        data += piece.tobytes()

    def _whole(self, name: str) -> NDArray[Any] | None:
        if name not in self._columns:
            return None
        data, kind = self._columns.pop(name)
        return np.frombuffer(data, kind)

    def __len__(self) -> int:
        """Number of files."""
        return len(self.labels)

    @cached_property
    def order(self) -> NDArray[np.uint64]:
        """Place of each file in the draw, the smallest first, shape (files,).

        Where the request is by group, that of a file without one.
        """
        found = self._whole("order")
        return np.empty(0, np.uint64) if found is None else found

    @cached_property
    def labels(self) -> Codes:
        """Number of each file's label or -1, shape (files,)."""
        found = self._whole("labels")
        return np.empty(0, np.int32) if found is None else found

    @cached_property
    def existing(self) -> NDArray[np.int16]:
        """Number of each file's split or -1, shape (files,)."""
        found = self._whole("existing")
        return np.empty(0, np.int16) if found is None else found

    @cached_property
    def groups(self) -> Codes:
        """Number of each file's group or -1, shape (files,)."""
        found = self._whole("groups")
        return np.full(len(self), NONE, np.int32) if found is None else found

    @cached_property
    def chosen(self) -> NDArray[np.bool_] | None:
        """Which files the request is about, shape (files,); None for all."""
        return self._whole("chosen")
