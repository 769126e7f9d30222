"""Carries requests for commits to their end, with the builder of each operation.

PENDING → BUILDING → PUBLISHED | FAILED | CONFLICT | CANCELLED. Building is deterministic (the
commit's time is the request's), so a run that died is simply done again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now

from atom.core import outbox, states
from atom.core.crash_points import reach
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.datasets.archives.actions.archives import load_archive
from atom.datasets.commits.actions.commit_progress import notify
from atom.datasets.commits.actions.commits import build_push
from atom.datasets.errors import (
    CommitAbandoned,
    CommitCancelled,
    HeadMoved,
    MergeConflict,
    VersionUnreadable,
)
from atom.datasets.gc_guard import hold_gc
from atom.datasets.models import CommitRequest, Version
from atom.datasets.operations.actions.operations import carry_out
from atom.datasets.packs.actions.retry_count import RETRY_FIELDS, count_retry, counting_retries
from atom.datasets.states import COMMIT_STATES
from atom.datasets.writers.actions.write_commits import build_write
from atom.datasets.writers.actions.write_settling import settle_writers, written_by
from atom_sdk.errors import AtomError as SdkError

log = structlog.get_logger(__name__)

# Every other operation makes its root from those that are there already.
_BUILDERS: dict[str, Callable[[CommitRequest], tuple[Version | None, bool]]] = {
    "push": build_push,
    "write": build_write,
    "load": load_archive,
}
# A failure with this status or a higher one is ours, and may be over at the next try.
_OUR_FAULT = 500


def run_commit(request_id: UUID | str) -> CommitRequest:
    """Carry a request to its end and return it; one that another worker is at, as it is.

    Repeatable from every state. Raises PacksOnTheWay when it must be tried again in a moment.
    """
    with only_worker(request_id) as mine:
        if mine:
            request = _claim(request_id)
            with counting_retries(request):
                _build_to_the_end(request)
    return CommitRequest.objects.get(pk=request_id)


def _build_to_the_end(request: CommitRequest) -> None:
    if request.state != "building":
        return
    if request.is_hopeless:
        _finish(request, "failed", CommitAbandoned())
        return
    try:
        with hold_gc(request.dataset.project):
            version, unchanged = _BUILDERS.get(request.operation, carry_out)(request)
    except CommitCancelled:
        log.info("commit_cancelled", request_id=str(request.pk))
    except SdkError as unreadable:
        _end_by(request, VersionUnreadable(str(unreadable)))
    except AtomError as refused:
        _end_by(request, refused)
    else:
        reach("commit.moved")
        _finish(request, "published", None, version=version, unchanged=unchanged)


def _end_by(request: CommitRequest, error: AtomError) -> None:
    """Record why there is no version. Raises the error if a retry may succeed."""
    if error.status >= _OUR_FAULT:
        raise error
    if isinstance(error, HeadMoved):
        _finish(request, "conflict", error, head_seen=error.extra.get("head", ""))
    elif isinstance(error, MergeConflict):
        _finish(request, "conflict", error, **error.extra)
    else:
        # A branch, or a dataset that is copied from, may have been deleted meanwhile.
        _finish(request, "failed", error)


def _claim(request_id: UUID | str) -> CommitRequest:
    with transaction.atomic():
        request = (
            CommitRequest.objects.select_for_update(of=("self",))
            .select_related(
                "dataset__project",
                "changes_upload__dataset__project",
                "created_by",
                "writer",
                "write_job",
            )
            .get(pk=request_id)
        )
        if request.state == "pending":
            states.check_transition(COMMIT_STATES, request.state, "building")
            request.state = "building"
        if request.state == "building":
            if not request.is_hopeless:
                count_retry(request)
            request.save(update_fields=["state", "updated_at", *RETRY_FIELDS])
    return request


def _finish(request: CommitRequest, state: str, error: AtomError | None, **fields: Any) -> None:
    """Leave `building`; a run that was faster keeps its answer."""
    states.check_transition(COMMIT_STATES, "building", state)
    if error is not None:
        fields |= {"error_code": error.code, "error_detail": error.detail}
    progress = 1.0 if error is None else request.progress
    written = written_by(request, state)
    with transaction.atomic():
        rows = CommitRequest.objects.filter(pk=request.pk, state="building")
        if not rows.update(state=state, progress=progress, updated_at=Now(), **fields):
            return
        settle_writers(request, state, written, fields)
        notify(request, state)
        _notify_requester(request, state, error)
    log.info("commit_finished", request_id=str(request.pk), state=state, code=error and error.code)


_TOLD = {
    "published": "commit.published",
    "failed": "commit.failed",
    "conflict": "commit.conflict",
}


def _notify_requester(request: CommitRequest, state: str, error: AtomError | None) -> None:
    """Notify the person who asked for it.

    Requests of writers are left out: their run reports them.
    """
    kind = _TOLD.get(state)
    if kind is None or request.operation == "write" or request.writer_id is not None:
        return
    outbox.emit(
        request.dataset.project_id,
        kind,
        people=[request.created_by_id],
        subject=request.pk,
        dataset=request.dataset.name,
        branch=request.branch,
        operation=request.operation,
        code=error.code if error else "",
    )
