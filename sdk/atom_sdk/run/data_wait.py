"""Measures how long the training waits for its data."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from atom_sdk.run.context import is_in_run
from atom_sdk.run.metrics import log

T = TypeVar("T")
KEY = "system/data_wait_percent"
REPORT_EVERY_S = 2.0
_started_s = time.monotonic()


def track(batches: Iterable[T]) -> Iterator[T]:
    """Yield the batches; report which share of the time went into waiting for the next one."""
    iterator = iter(batches)
    waited_s, since_s = 0.0, time.monotonic()
    while True:
        asked_s = time.monotonic()
        try:
            batch = next(iterator)
        except StopIteration:
            _report(waited_s, time.monotonic() - since_s)
            return
        now_s = time.monotonic()
        waited_s += now_s - asked_s
        if now_s - since_s >= REPORT_EVERY_S:
            _report(waited_s, now_s - since_s)
            waited_s, since_s = 0.0, now_s
        yield batch


def _report(waited_s: float, elapsed_s: float) -> None:
    if is_in_run() and elapsed_s > 0:
        step = int(time.monotonic() - _started_s)
        log({KEY: 100.0 * min(1.0, waited_s / elapsed_s)}, step=step)
