"""Measures how long the training waits for its data."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from atom_sdk.run.context import is_in_run
from atom_sdk.run.metrics import log

T = TypeVar("T")
KEY = "system/data_wait_percent"
BATCHES_KEY = "system/data_batches"
REPORT_EVERY_S = 2.0
_started_s = time.monotonic()
# Batches of this process, by all its loops.
_batches = itertools.count(1)


def track(batches: Iterable[T]) -> Iterator[T]:
    """Yield the batches; report which share of the time went into waiting for the next one.

    How many batches there were until then is reported with it, since few say nothing of a run.
    """
    iterator = iter(batches)
    waited_s, since_s, read = 0.0, time.monotonic(), 0
    while True:
        asked_s = time.monotonic()
        try:
            batch = next(iterator)
        except StopIteration:
            _report(waited_s, time.monotonic() - since_s, read)
            return
        now_s, read = time.monotonic(), next(_batches)
        waited_s += now_s - asked_s
        if now_s - since_s >= REPORT_EVERY_S:
            _report(waited_s, now_s - since_s, read)
            waited_s, since_s = 0.0, now_s
        yield batch


def _report(waited_s: float, elapsed_s: float, read: int) -> None:
    if is_in_run() and elapsed_s > 0:
        step = int(time.monotonic() - _started_s)
        share = 100.0 * min(1.0, waited_s / elapsed_s)
        log({KEY: share, BATCHES_KEY: read}, step=step)
