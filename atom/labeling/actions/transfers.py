"""Asking for imports and exports of labels, confirming and cancelling them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import clock, live, storage
from atom.core.background import enqueue
from atom.core.states import check_transition
from atom.datasets.commits.actions.branches import check_not_staging
from atom.datasets.errors import RefNotFound
from atom.datasets.models import Branch, Dataset, Upload, Version
from atom.datasets.sentences import branch_unknown
from atom.labeling import states
from atom.labeling.errors import (
    LabelsTooLarge,
    NothingToExport,
    ResultGone,
    TransferNotWaiting,
    UploadNotReady,
)
from atom.labeling.models import LabelTask, LabelTransfer
from atom.labeling.models.tasks import IMAGE_OBJECTS
from atom.labeling.models.transfers import EXPORT, IMPORT
from atom_sdk.sentences import Sentence

MAX_SOURCE_BYTES = 8 << 30
RESULT_KEPT = timedelta(days=7)
# A transfer that nobody confirms in this time is cancelled.
WAITS_FOR = timedelta(days=7)
DOWNLOAD_URL_EXPIRES_S = 3600
REPLACE, ADD, REFUSE = "replace", "add", "refuse"
EXISTING = (REPLACE, ADD, REFUSE)
# By name: tasks import actions, never the reverse.
_RUN_TASK = "atom.labeling.tasks.run_transfer"


@dataclass(frozen=True)
class ImportPlan:
    """An import of the labels in a verified upload into a branch."""

    dataset: Dataset
    branch: str
    upload: Upload
    filename: str
    format: str
    options: Mapping[str, Any] = field(default_factory=dict)
    is_confirmed: bool = False


@dataclass(frozen=True)
class ExportPlan:
    """An export of a version's labels, or of the accepted ones of a task."""

    version: Version
    format: str
    label_task: LabelTask | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    is_confirmed: bool = False


def request_import(plan: ImportPlan, user: User) -> LabelTransfer:
    """Have a worker inspect uploaded labels. Raises RefNotFound, UploadNotReady, LabelsTooLarge."""
    branch = Branch.objects.filter(dataset=plan.dataset, name=plan.branch).first()
    if branch is None:
        raise RefNotFound(branch_unknown(plan.dataset.name, plan.branch))
    check_not_staging(branch)
    if plan.upload.state not in {"uploaded", "verifying", "verified"}:
        raise UploadNotReady
    if plan.upload.size_bytes > MAX_SOURCE_BYTES:
        raise LabelsTooLarge(
            Sentence(
                "labeling.labels_too_large",
                "A file of labels has at most {most} bytes.",
                most=MAX_SOURCE_BYTES,
            )
        )
    return _create(
        user,
        dataset=plan.dataset,
        direction=IMPORT,
        branch=plan.branch,
        upload=plan.upload,
        filename=plan.filename,
        format=plan.format,
        options=dict(plan.options),
        is_confirmed=plan.is_confirmed,
    )


def request_export(plan: ExportPlan, user: User) -> LabelTransfer:
    """Have a worker count what an export keeps and loses. Raises NothingToExport."""
    if plan.label_task is not None and plan.label_task.modality != IMAGE_OBJECTS:
        raise NothingToExport(
            Sentence(
                "labeling.export_needs_objects",
                "{task} gives classes to pictures; only drawn objects are exported.",
                task=plan.label_task.name,
            )
        )
    return _create(
        user,
        dataset=plan.version.dataset,
        direction=EXPORT,
        version=plan.version,
        label_task=plan.label_task,
        format=plan.format,
        options=dict(plan.options),
        is_confirmed=plan.is_confirmed,
    )


@transaction.atomic
def _create(user: User, **fields: Any) -> LabelTransfer:
    dataset: Dataset = fields["dataset"]
    made = LabelTransfer.objects.create(project=dataset.project, created_by=user, **fields)
    audit.record(
        user, f"labels.{made.direction}_requested", made, dataset.project, dataset,
        dataset=dataset.name, format=made.format,
    )  # fmt: skip
    _send(made)
    return LabelTransfer.objects.for_display().get(pk=made.pk)


def confirm_transfer(transfer: LabelTransfer, user: User) -> LabelTransfer:
    """Have what was inspected carried out; confirming again changes nothing.

    Raises TransferNotWaiting.
    """
    with transaction.atomic():
        locked = lock(transfer)
        if locked.state in {states.CONFIRMED, states.WORKING, states.DONE}:
            return locked
        if locked.state != states.WAITING:
            raise TransferNotWaiting(state=locked.state)
        move(locked, states.CONFIRMED, confirmed_at=clock.now(), is_confirmed=True)
        named = {"dataset": locked.dataset.name, "format": locked.format}
        audit.record(
            user, f"labels.{locked.direction}_confirmed", locked, locked.project, locked.dataset,
            **named,
        )  # fmt: skip
        _send(locked)
    return locked


def cancel_transfer(transfer: LabelTransfer, user: User | None) -> LabelTransfer:
    """End a transfer; a worker that is at it stops. Cancelling again changes nothing.

    Raises TransferNotWaiting for one that has ended otherwise, or that is making its version.
    """
    with transaction.atomic():
        locked = lock(transfer)
        if locked.state == states.CANCELLED:
            return locked
        is_committing = locked.direction == IMPORT and locked.state == states.WORKING
        if is_committing or locked.state in states.TRANSFER_ENDED:
            raise TransferNotWaiting(state=locked.state)
        move(locked, states.CANCELLED)
        audit.record(
            user, f"labels.{locked.direction}_cancelled", locked, locked.project, locked.dataset,
            dataset=locked.dataset.name, format=locked.format,
        )  # fmt: skip
    return locked


def download_address(transfer: LabelTransfer) -> dict[str, Any]:
    """Return where the archive of an export is read for an hour. Raises ResultGone."""
    is_there = transfer.state == states.DONE and transfer.result_bytes is not None
    if transfer.direction != EXPORT or not is_there or _is_over(transfer):
        raise ResultGone
    expires_at = clock.now() + timedelta(seconds=DOWNLOAD_URL_EXPIRES_S)
    url = storage.objects().presign_get(
        result_key(transfer), DOWNLOAD_URL_EXPIRES_S, result_name(transfer)
    )
    return {
        "url": url,
        "filename": result_name(transfer),
        "size_bytes": transfer.result_bytes,
        "expires_at": expires_at,
    }


def _is_over(transfer: LabelTransfer) -> bool:
    return transfer.expires_at is not None and transfer.expires_at <= clock.now()


def result_key(transfer: LabelTransfer) -> str:
    """Return the absolute key of an export's archive."""
    return f"{storage.project_prefix(transfer.project)}{transfer.folder}labels.zip"


def rows_key(transfer: LabelTransfer) -> str:
    """Return the absolute key of the rows that an import was read into."""
    return f"{storage.project_prefix(transfer.project)}{transfer.folder}rows.arrow"


def result_name(transfer: LabelTransfer) -> str:
    """Return the name of the archive that people download."""
    named = transfer.version.ref if transfer.version else "labels"
    name = f"{transfer.dataset.name}-{named}-{transfer.format}"
    return f"{name}.zip".replace("/", "-")


def lock(transfer: LabelTransfer) -> LabelTransfer:
    """Return the row, locked until the transaction ends."""
    rows = LabelTransfer.objects.for_display().select_for_update(of=("self",))
    return rows.get(pk=transfer.pk)


def move(transfer: LabelTransfer, state: str, **fields: Any) -> None:
    """Save the next state of a locked row, and tell open pages."""
    check_transition(states.TRANSFER_STATES, transfer.state, state)
    transfer.state = state
    for name, value in fields.items():
        setattr(transfer, name, value)
    transfer.save()
    notify(transfer)


def notify(transfer: LabelTransfer) -> None:
    """Tell open pages of the project that a transfer has changed."""
    event = {"type": "labeltransfer", "id": str(transfer.pk)}
    live.publish(f"project.{transfer.project_id}", event)


def _send(transfer: LabelTransfer) -> None:
    notify(transfer)
    enqueue(_RUN_TASK, str(transfer.pk))
