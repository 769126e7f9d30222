"""Values as JSON and OpenAPI can hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rest_framework.request import Request

from atom.core.errors import Invalid


def finite(value: float | None) -> float | None:
    """Return the number, or None if JSON cannot hold it."""
    return value if value is not None and math.isfinite(value) else None


def names(kinds: Iterable[str]) -> list[str]:
    """Return an enumeration as the choices of a field."""
    return [str(kind) for kind in kinds]


def number_of(request: Request, name: str, default: int | None = None) -> int | None:
    """Return a whole number of the query. Raises Invalid."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    try:
        return int(text)
    except ValueError as error:
        raise Invalid(errors={name: ["Give a whole number."]}) from error
