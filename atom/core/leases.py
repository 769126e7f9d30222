"""Leases: the worker renews its lease; an expired lease is free for others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
from django.db import Error, connection

log = structlog.get_logger(__name__)


@contextmanager
def kept(renew: Callable[[], object], every_s: float) -> Iterator[None]:
    """Call `renew` every `every_s` seconds while the block runs, however long it is silent.

    It is called in a thread of its own, which dies with the process: then the lease runs out.
    """
    over = threading.Event()
    thread = threading.Thread(target=_renew, args=(renew, every_s, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _renew(renew: Callable[[], object], every_s: float, over: threading.Event) -> None:
    try:
        while not over.wait(every_s):
            try:
                renew()
            except Error as error:
                log.warning("lease_not_renewed", error=str(error))
    finally:
        connection.close()
