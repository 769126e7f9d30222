"""The patience of a client: it asks again until there is an answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from atom_sdk.client.errors import ApiError, NetworkError

T = TypeVar("T")
# The longest that one thing may take while its services die; later it is a defect.
PATIENCE_S = 600.0
EVERY_S = 0.5
_TEMPORARY = frozenset({"request_in_progress", "unavailable", "object_store_away", "disk_full"})


class GaveUpError(Exception):
    """Something was not done in time though it was asked for again and again."""


def again(ask: Callable[[], T]) -> T:
    """Return the answer; what is away is asked again. Raises GaveUpError, ApiError."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask()
        except NetworkError as error:
            last = str(error)
        except ApiError as error:
            if error.status < 500 and error.code not in _TEMPORARY:
                raise
            last = str(error)
        if time.monotonic() > deadline:
            raise GaveUpError(last)
        time.sleep(EVERY_S)


def until(found: Callable[[], T | None], what: str) -> T:
    """Return the first true answer. Raises GaveUpError."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        if answer := again(found):
            return answer
        if time.monotonic() > deadline:
            raise GaveUpError(f"not within {PATIENCE_S:g} s: {what}")
        time.sleep(EVERY_S)
