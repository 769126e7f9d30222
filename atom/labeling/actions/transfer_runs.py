"""Carries a transfer of labels on: to its inspection, and to its end once it is confirmed.

Each step may be done again: a worker that dies leaves the state as it was, and the next run starts
that step over. A version that a dead worker made is adopted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from atom.accounts import audit
from atom.core import clock, storage
from atom.core.crash_points import reach
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.labeling import states
from atom.labeling.actions import label_exports, label_imports, transfers
from atom.labeling.actions.transfer_progress import TransferStopped
from atom.labeling.errors import LabelsUnreadable, TransferAbandoned
from atom.labeling.models import LabelTransfer
from atom.labeling.models.transfers import EXPORT, IMPORT
from atom.labeling.sentences import unreadable_labels
from atom_sdk.errors import AtomError as SdkError

log = structlog.get_logger(__name__)

_MOST_ATTEMPTS = 8
# A failure with this status or a higher one is ours, and may be over at the next try.
_OUR_FAULT = 500
_Step = Callable[[LabelTransfer, Path], dict[str, Any]]
_INSPECT: dict[str, _Step] = {
    IMPORT: label_imports.inspect,
    EXPORT: label_exports.inspect,
}
_WORK: dict[str, _Step] = {IMPORT: label_imports.publish, EXPORT: label_exports.write}


def run_transfer(transfer_id: UUID) -> None:
    """Carry a transfer as far as it goes without a person; return quietly if nothing is to do.

    Raises UploadOnTheWay when it must be tried again in a moment, and errors of the store.
    """
    with only_worker(transfer_id) as mine:
        while mine and (transfer := _claim(transfer_id)) is not None:
            if not _carry_on(transfer):
                return


def _claim(transfer_id: UUID) -> LabelTransfer | None:
    """Move a transfer to the state in which a worker is at it; None if no worker is needed."""
    with transaction.atomic():
        rows = LabelTransfer.objects.for_display().select_for_update(of=("self",))
        transfer = rows.filter(pk=transfer_id, state__in=states.TRANSFER_OF_WORKERS).first()
        if transfer is None:
            return None
        if transfer.attempts >= _MOST_ATTEMPTS:
            _fail(transfer, TransferAbandoned())
            return None
        transfer.attempts += 1
        begun = {states.PENDING: states.INSPECTING, states.CONFIRMED: states.WORKING}
        if transfer.state in begun:
            transfers.move(transfer, begun[transfer.state])
        else:
            transfer.save(update_fields=["attempts", "updated_at"])
    return transfer


def _carry_on(transfer: LabelTransfer) -> bool:
    """Do one step; whether another may follow."""
    is_inspection = transfer.state == states.INSPECTING
    step = (_INSPECT if is_inspection else _WORK)[transfer.direction]
    try:
        with tempfile.TemporaryDirectory(prefix="atom-transfer-") as scratch:
            result = step(transfer, Path(scratch))
    except TransferStopped:
        log.info("transfer_stopped", transfer=str(transfer.pk))
        return False
    except SdkError as unreadable:
        return _end_by(transfer, LabelsUnreadable(unreadable_labels(unreadable)))
    except AtomError as refused:
        if refused.status >= _OUR_FAULT:
            raise
        return _end_by(transfer, refused)
    reach("transfer.step_done")
    return _inspected(transfer, result) if is_inspection else _finish(transfer, result)


@transaction.atomic
def _inspected(transfer: LabelTransfer, report: dict[str, Any]) -> bool:
    locked = transfers.lock(transfer)
    if locked.state != states.INSPECTING:
        return False
    fields = {"report": report, "version": transfer.version, "progress": 0.0, "attempts": 0}
    if locked.is_confirmed:
        transfers.move(locked, states.CONFIRMED, confirmed_at=clock.now(), **fields)
        return True
    transfers.move(locked, states.WAITING, **fields)
    return False


@transaction.atomic
def _finish(transfer: LabelTransfer, outcome: dict[str, Any]) -> bool:
    locked = transfers.lock(transfer)
    if locked.state != states.WORKING:
        return False
    made: dict[str, Any] = {
        "output_version": transfer.output_version,
        "result_bytes": transfer.result_bytes,
    }
    if locked.direction == EXPORT:
        made["expires_at"] = clock.now() + transfers.RESULT_KEPT
    transfers.move(locked, states.DONE, outcome=outcome, progress=1.0, **made)
    audit.record(
        locked.created_by, f"labels.{locked.direction}ed", locked, locked.project, locked.dataset,
        dataset=locked.dataset.name, format=locked.format,
        version=transfer.output_version.ref if transfer.output_version else "",
    )  # fmt: skip
    if locked.direction == IMPORT:
        transaction.on_commit(lambda: _forget_rows(locked))
    log.info("transfer_done", transfer=str(locked.pk), direction=locked.direction)
    return False


def _end_by(transfer: LabelTransfer, error: AtomError) -> bool:
    with transaction.atomic():
        locked = transfers.lock(transfer)
        if locked.state not in states.TRANSFER_ENDED:
            _fail(locked, error)
    return False


def _fail(locked: LabelTransfer, error: AtomError) -> None:
    transfers.move(locked, states.FAILED, error_code=error.code, error_detail=error.detail)
    log.warning("transfer_failed", transfer=str(locked.pk), code=error.code)


def stuck_transfers(after: timedelta) -> QuerySet[LabelTransfer]:
    """Return the transfers whose worker or message may be lost; a living worker holds a lock."""
    rows = LabelTransfer.objects.filter(state__in=states.TRANSFER_OF_WORKERS)
    return rows.filter(updated_at__lt=Now() - after)


def tidy_transfers() -> None:
    """Cancel what nobody confirmed for long, and remove archives and rows that are over."""
    waited = LabelTransfer.objects.filter(
        state=states.WAITING, updated_at__lt=Now() - transfers.WAITS_FOR
    )
    for transfer in waited.for_display()[:100]:
        transfers.cancel_transfer(transfer, None)
    over = LabelTransfer.objects.filter(result_bytes__isnull=False, expires_at__lt=Now())
    for transfer in over.select_related("project")[:100]:
        storage.objects().delete(transfers.result_key(transfer))
        LabelTransfer.objects.filter(pk=transfer.pk).update(result_bytes=None)
    # Rows of imports that were inspected, and then cancelled or refused.
    ended = Q(state__in=[states.CANCELLED, states.FAILED], direction=IMPORT, expires_at=None)
    for transfer in LabelTransfer.objects.filter(ended).select_related("project")[:100]:
        _forget_rows(transfer)
        LabelTransfer.objects.filter(pk=transfer.pk).update(expires_at=Now())


def _forget_rows(transfer: LabelTransfer) -> None:
    storage.objects().delete(transfers.rows_key(transfer))
