"""Values that a thread makes ahead of the one that uses them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

VALUES_AHEAD = 4


@dataclass(frozen=True)
class _Failure:
    """An error of the thread that makes values, to be raised where they are used."""

    error: BaseException


_END = object()


def made_ahead(values: Iterable[T]) -> Iterator[T]:
    """Yield the values in their order, a few of them made ahead; raises what making them raises."""
    waiting: queue.Queue[Any] = queue.Queue(VALUES_AHEAD)
    stopped = threading.Event()
    maker = threading.Thread(target=_make, args=(values, waiting, stopped), daemon=True)
    maker.start()
    try:
        while (made := waiting.get()) is not _END:
            if isinstance(made, _Failure):
                raise made.error
            yield made
    finally:
        stopped.set()


def _make(values: Iterable[Any], waiting: queue.Queue[Any], stopped: threading.Event) -> None:
    try:
        for value in values:
            _offer(waiting, value, stopped)
            if stopped.is_set():
                return
        _offer(waiting, _END, stopped)
    except BaseException as error:  # handed to the thread that uses the values
        _offer(waiting, _Failure(error), stopped)


def _offer(waiting: queue.Queue[Any], value: Any, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            waiting.put(value, timeout=0.2)
            return
        except queue.Full:
            continue
