"""How far a commit request is, and cancelling it.

A request can be cancelled until its branch is about to move. The worker sets `committing` and a
person sets `cancelled` by one update each. The database lets one of them win, and the other gets an
error. A worker whose request was cancelled stops at the next range that it reads or writes. The
objects that it wrote belong to no version and are garbage.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import live
from atom.datasets.commits.engines.progress_tracker import ProgressTracker
from atom.datasets.errors import CommitCancelled, CommitNotCancellable, CommitOver
from atom.datasets.models import CommitRequest
from atom.datasets.states import COMMIT_STATES
from atom_sdk.manifests.progress import Stage
from atom_sdk.sentences import Sentence

# The row is written and pages are notified this often; a stopped worker notices as late.
NOTE_EVERY_S = 0.5
# The progress that is shown before the first stage and after the last one.
_FIRST, _LAST = 0.05, 0.9
_OPEN = tuple(state for state, following in COMMIT_STATES.items() if "cancelled" in following)


class CommitWatch:
    """Notes in its row how far a request is. Raises CommitCancelled once that was cancelled."""

    def __init__(self, request: CommitRequest, foreseen: Sequence[Stage]) -> None:
        """`foreseen` are the stages of the work."""
        self._request = request
        self._count = ProgressTracker(foreseen)
        self._noted_at_s = -NOTE_EVERY_S

    def begin(self, stage: Stage, total: int) -> None:
        """Begin a stage of so many rows."""
        self._count.begin(stage, total)
        self._note()

    def advance(self, rows: int) -> None:
        """Note that so many more rows are done."""
        self._count.advance(rows)
        self._note()

    def _note(self) -> None:
        count, now_s = self._count, time.monotonic()
        if now_s - self._noted_at_s < NOTE_EVERY_S:
            return
        self._noted_at_s = now_s
        note(
            self._request,
            stage=count.stage or "",
            rows_done=count.rows_done,
            rows_total=count.rows_total,
            progress=_FIRST + (_LAST - _FIRST) * count.ratio,
        )


def note(request: CommitRequest, **fields: object) -> None:
    """Write down where a worker is. Raises CommitCancelled when it should not go on."""
    rows = CommitRequest.objects.filter(pk=request.pk, state="building")
    if not rows.update(**fields, updated_at=Now()):
        raise CommitCancelled
    notify(request, "building")


def begin_move(request: CommitRequest) -> None:
    """Note that the branch moves now, so the request can no longer be cancelled.

    Raises CommitCancelled if it was.
    """
    note(request, committing=True, progress=_LAST)


def give_up_move(request: CommitRequest) -> None:
    """The branch was elsewhere and is settled: the request may be cancelled again."""
    note(request, committing=False)


def cancel_commit(request: CommitRequest, user: User) -> CommitRequest:
    """Stop a request before its branch moves; one that is cancelled already stays so.

    Raises CommitOver, CommitNotCancellable.
    """
    if not request.may_be_cancelled:
        raise CommitNotCancellable
    said = CommitCancelled(
        Sentence("datasets.cancelled_by", "{user} cancelled it.", user=user.username)
    )
    project = request.dataset.project
    with transaction.atomic():
        rows = CommitRequest.objects.filter(pk=request.pk, state__in=_OPEN, committing=False)
        if rows.update(
            state="cancelled",
            error_code=said.code,
            error_detail=said.detail,
            updated_at=Now(),
        ):
            audit.record(
                user, "commit.cancelled", request, project, request.dataset,
                dataset=request.dataset.name, branch=request.branch, operation=request.operation,
            )  # fmt: skip
            notify(request, "cancelled")
    request.refresh_from_db()
    if request.state != "cancelled":
        moving = "Its version is being put on the branch."
        raise CommitOver(
            moving
            if request.is_open
            else Sentence("core.state_is_already", "It is {state} already.", state=request.state)
        )
    return request


def notify(request: CommitRequest, state: str) -> None:
    """Have open pages look at the request again."""
    event = {"type": "commit", "id": str(request.pk), "state": state}
    live.publish(f"project.{request.dataset.project_id}", event)
