"""Values as JSON and OpenAPI can hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable


def finite(value: float | None) -> float | None:
    """Return the number, or None if JSON cannot hold it."""
    return value if value is not None and math.isfinite(value) else None


def names(kinds: Iterable[str]) -> list[str]:
    """Return an enumeration as the choices of a field."""
    return [str(kind) for kind in kinds]
