"""Waits for objects of the store: they look at each event, and never sleep."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from tests.fakes.kubernetes.store import Store

Json = dict[str, Any]
T = TypeVar("T")

PATIENCE_S = 30.0


def until(
    store: Store, look: Callable[[], T | None], kinds: tuple[str, ...], seconds: float = PATIENCE_S
) -> T:
    """Return the first true value of `look`, called after each event of the kinds.

    Raises AssertionError when it does not come in time.
    """
    rung = threading.Event()
    ends = [store.subscribe(kind, lambda _: rung.set()) for kind in kinds]
    limit = time.monotonic() + seconds
    try:
        while not (value := look()):
            rung.wait(max(0.0, limit - time.monotonic()))
            assert rung.is_set(), f"It did not happen in {seconds} s."
            rung.clear()
        return value
    finally:
        for end in ends:
            end()


def wait_for(look: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    """Return once `look` is true of something that gives no events, such as processes.

    Raises AssertionError when it does not come in time.
    """
    limit = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < limit, f"It did not happen in {seconds} s."
        time.sleep(0.01)
