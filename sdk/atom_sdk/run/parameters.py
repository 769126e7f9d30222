"""The parameters that a run was started with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Parameters(Mapping[str, Any]):
    """Read by name or as attributes; empty outside a run, so use `params.get("epochs", 5)`."""

    def __init__(self) -> None:
        """Read nothing yet."""
        self._values: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        """Return a parameter. Raises KeyError."""
        return self._load()[name]

    def __getattr__(self, name: str) -> Any:
        """Return a parameter as an attribute. Raises AttributeError."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._load()[name]
        except KeyError:
            known = ", ".join(sorted(self._load())) or "none"
            raise AttributeError(f"The run has no parameter '{name}'. It has: {known}.") from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._load())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._load())

    def __repr__(self) -> str:
        """Show the values."""
        return f"Parameters({self._load()!r})"

    def _load(self) -> dict[str, Any]:
        if self._values is None:
            path = os.environ.get("ATOM_PARAMETERS")
            self._values = json.loads(Path(path).read_text("utf-8")) if path else {}
        return self._values


params = Parameters()
