"""How far a transfer is; a transfer that a person cancelled stops at its next report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from atom.labeling import states
from atom.labeling.actions import transfers
from atom.labeling.models import LabelTransfer

_EVERY_S = 1.0
Each = TypeVar("Each")


class TransferStopped(Exception):  # no failure: a person cancelled it
    """A transfer was cancelled while a worker was at it."""


class TransferProgress:
    """Notes the progress of a transfer about once a second."""

    def __init__(self, transfer: LabelTransfer) -> None:
        self._transfer = transfer
        self._reported_at = time.monotonic()

    def watched(
        self, things: Iterable[Each], total: int, start: float, end: float
    ) -> Iterator[Each]:
        """Yield things and note how many of `total` they are. Raises TransferStopped."""
        for number, thing in enumerate(things, 1):
            if number % 64 == 0:
                share = min(number / max(total, 1), 1.0)
                self.report(start + (end - start) * share)
            yield thing

    def report(self, progress: float, *, at_once: bool = False) -> None:
        """Note the progress, from 0 to 1. Raises TransferStopped."""
        now = time.monotonic()
        if not at_once and now - self._reported_at < _EVERY_S:
            return
        self._reported_at = now
        busy = LabelTransfer.objects.filter(
            pk=self._transfer.pk, state__in=[states.INSPECTING, states.WORKING]
        )
        if not busy.update(progress=progress):
            raise TransferStopped
        transfers.notify(self._transfer)
