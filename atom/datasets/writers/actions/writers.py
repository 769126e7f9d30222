"""Writers: files go to a staging branch, flush by flush, and to the target as one version.

WRITING → UPLOADING → PERSISTED → COMMITTING → COMMITTED, or ABANDONED. Files that a flush persisted
are readable at once under the staging branch's name, and are kept until the writer ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import live, states
from atom.core.background import enqueue
from atom.datasets.catalog import ref_log
from atom.datasets.catalog.actions.catalogue import pin
from atom.datasets.errors import RefNotFound, UploadIncomplete
from atom.datasets.models import Branch, CommitRequest, Dataset, Upload, Version, WriteJob, Writer
from atom.datasets.operations.engines.operations import WriteArguments, stored_arguments
from atom.datasets.refs import staging_name
from atom.datasets.sentences import branch_unknown, write_job_is, writer_is
from atom.datasets.states import WRITER_STATES
from atom.datasets.writers.errors import (
    TooManyWriters,
    WriteJobEnded,
    WriterBusy,
    WriterEmpty,
    WriterEnded,
)
from atom_sdk.sentences import Sentence

MAX_OPEN_WRITERS = 100
MAX_ATTEMPTS_OF_JOB = 10_000
PIN_HOLDER = "writer"
_BUILD_TASK = "atom.datasets.tasks.build_commit"
_TIDY_TASK = "atom.datasets.tasks.tidy_writers"
# The label options of a dataset's pushes hold for written files, too.
_LABEL_OPTIONS = ("labels_from", "unlabelled_prefixes")


@dataclass(frozen=True)
class NewWriter:
    """A writer that a client asks for; with a job, an attempt of one of its tasks."""

    target: str
    message: str = ""
    job: WriteJob | None = None
    task: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    """The amount that one flush persisted."""

    files: int
    removed: int
    size_bytes: int


def open_writer(dataset: Dataset, new: NewWriter, user: User) -> Writer:
    """Begin a writer with a staging branch at the target's head.

    Attempts of a job all begin where the job began. Raises RefNotFound, TooManyWriters,
    WriteJobEnded.
    """
    with transaction.atomic():
        # Counted under a lock: two clients at once must not pass the limit together.
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        _check_room(dataset, new.job)
        base = _base(dataset, new)
        writer = Writer(
            dataset=dataset, job=new.job, task=new.task, target=new.target, base=base,
            message=new.message, provenance=new.provenance, created_by=user,
        )  # fmt: skip
        writer.staging = staging_name(writer.pk)
        writer.branch = Branch.objects.create(dataset=dataset, name=writer.staging, head=base)
        ref_log.write_beginning(writer.branch, user.username)
        writer.save(force_insert=True)
        if base is not None:
            # The merge at the end needs it, whatever becomes of it on its branch.
            pin(base, PIN_HOLDER, str(writer.pk))
        audit.record(
            user, "writer.opened", writer, dataset.project, dataset,
            dataset=dataset.name, branch=new.target, task=new.task,
        )  # fmt: skip
        notify(writer)
    return writer


def note_uploading(writer: Writer, files: int, size_bytes: int) -> Writer:
    """Show that the client sends files now. Raises WriterEnded, WriteJobEnded."""
    with transaction.atomic():
        found = lock_writer(writer)
        _check_open(found)
        move_writer(found, "uploading", waiting_files=files, waiting_bytes=size_bytes)
    return found


def request_flush(writer: Writer, changes: Upload, expected_head: str, user: User) -> CommitRequest:
    """Ask a worker to put uploaded changes on the staging branch.

    Raises WriterEnded, WriteJobEnded, WriterBusy, UploadIncomplete.
    """
    if changes.state not in {"uploaded", "verifying", "verified"}:
        raise UploadIncomplete(
            Sentence(
                "datasets.changes_file_not_ready",
                "The changes file is {state}.",
                state=changes.state,
            ),
            state=changes.state,
        )
    with transaction.atomic():
        found = lock_writer(writer)
        _check_open(found)
        request = _create_once(
            found,
            operation="push",
            branch=found.staging,
            expected_head=expected_head,
            changes_upload=changes,
            message="Written",
            created_by=user,
            **_flush_options(found),
        )
        move_writer(found, "uploading")
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def request_write(
    writer: Writer, arguments: WriteArguments, message: str, user: User
) -> CommitRequest:
    """Ask a worker for the version of what is persisted; asked again, it is the same request.

    Raises WriterEnded, WriterBusy, WriterEmpty, WriteJobEnded for an attempt of a job.
    """
    with transaction.atomic():
        found = lock_writer(writer)
        present = _present_write(found)
        if present is not None:
            return present
        _check_committable(found)
        request = _create_once(
            found,
            operation="write",
            branch=found.target,
            arguments=stored_arguments(arguments),
            message=message or found.message,
            created_by=user,
        )
        move_writer(found, "committing", error_code="", error_detail="")
        audit.record(
            user, "commit.requested", request, found.dataset.project,
            dataset=found.dataset.name, branch=found.target, operation="write",
        )  # fmt: skip
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def abandon_writer(writer: Writer, user: User | None) -> Writer:
    """Give up what was not committed; doing it twice changes nothing.

    Raises WriterEnded, also for the attempt that counts for a task of a job.
    """
    with transaction.atomic():
        found = lock_writer(writer)
        if found.state == "abandoned":
            return found
        if found.state in {"committing", "committed"}:
            raise WriterEnded(
                writer_is(found.state),
                state=found.state,
            )
        if hasattr(found, "counted_as"):
            # The job would commit without the task and nobody would know.
            raise WriterEnded(
                Sentence(
                    "datasets.writer_ends_with_job",
                    "The writer's task is committed: it ends with its job.",
                )
            )
        abandon_locked(found, user)
    return found


def abandon_locked(writer: Writer, user: User | None) -> None:
    """Abandon a writer whose row is locked, and have its staging branch taken away."""
    move_writer(writer, "abandoned", waiting_files=0, waiting_bytes=0)
    audit.record(
        user, "writer.abandoned", writer, writer.dataset.project, writer.dataset,
        dataset=writer.dataset.name, files=writer.files_written,
    )  # fmt: skip
    enqueue(_TIDY_TASK)


def lock_writer(writer: Writer) -> Writer:
    """Lock the row of a writer and read it again."""
    rows = Writer.objects.select_for_update(of=("self",))
    return rows.select_related("dataset__project", "branch", "job", "base").get(pk=writer.pk)


def move_writer(writer: Writer, state: str, **fields: Any) -> None:
    """Move a locked writer along its table; one that is there already stays."""
    if writer.state != state:
        states.check_transition(WRITER_STATES, writer.state, state)
    for name, value in {"state": state, **fields}.items():
        setattr(writer, name, value)
    writer.save(update_fields=["state", *fields, "updated_at"])
    notify(writer)


def notify(writer: Writer | WriteJob) -> None:
    """Notify the project's pages that a writer or job changed its state."""
    event = {"type": "writer", "id": str(writer.pk), "state": writer.state}
    live.publish(f"project.{writer.dataset.project_id}", event)


def settle_flush(request: CommitRequest, state: str, written: Written) -> None:
    """Note in the transaction that ends a flush what it persisted."""
    writer = lock_writer(Writer(pk=request.writer_id))
    if writer.state != "uploading":
        return
    done = {"waiting_files": 0, "waiting_bytes": 0}
    if state != "published":
        persisted = writer.branch is not None and writer.branch.head_id != writer.base_id
        move_writer(writer, "persisted" if persisted else "writing", **done)
        return
    Writer.objects.filter(pk=writer.pk).update(
        files_written=F("files_written") + written.files,
        files_removed=F("files_removed") + written.removed,
        bytes_written=F("bytes_written") + written.size_bytes,
    )
    move_writer(writer, "persisted", error_code="", error_detail="", **done)


def settle_write(writer: Writer, version: Version | None, code: str, detail: str) -> None:
    """Note how the commit of one writer ended, in the transaction that ends it."""
    found = lock_writer(writer)
    if version is None:
        move_writer(found, "persisted", error_code=code, error_detail=detail)
        return
    move_writer(found, "committed", version=version)
    enqueue(_TIDY_TASK)


def _check_room(dataset: Dataset, job: WriteJob | None) -> None:
    if job is not None:
        # An attempt that begins while the job ends would belong to nobody.
        if WriteJob.objects.select_for_update().get(pk=job.pk).state != "open":
            raise WriteJobEnded(
                Sentence("datasets.write_job_not_open", "The job {job} is not open.", job=job.name)
            )
        count, most = job.attempts.count(), MAX_ATTEMPTS_OF_JOB
    else:
        count, most = dataset.writers.open().filter(job=None).count(), MAX_OPEN_WRITERS
    if count >= most:
        raise TooManyWriters(
            Sentence(
                "datasets.too_many_writers_open",
                "{dataset} has {count} of them; {max_open} may be open.",
                dataset=dataset.name,
                count=count,
                max_open=most,
            )
        )


def _base(dataset: Dataset, new: NewWriter) -> Version | None:
    if new.job is not None:
        return new.job.base
    branch = dataset.branches.select_related("head").filter(name=new.target, writer=None).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, new.target))
    return branch.head


def _check_open(writer: Writer) -> None:
    if writer.job is not None and writer.job.state != "open":
        raise WriteJobEnded(write_job_is(writer.job.name, writer.job.state))
    if writer.state not in {"writing", "uploading", "persisted"}:
        raise WriterEnded(
            writer_is(writer.state),
            state=writer.state,
        )
    if hasattr(writer, "counted_as"):
        raise WriterEnded(
            Sentence(
                "datasets.writer_task_committed",
                (
                    "The task of this writer is committed with the files that the writer has "
                    "persisted."
                ),
            )
        )


def _check_committable(writer: Writer) -> None:
    if writer.job is not None:
        raise WriteJobEnded(
            Sentence(
                "datasets.attempt_committed_with_job",
                "An attempt of a job is committed with its job.",
            )
        )
    if writer.state not in {"writing", "uploading", "persisted"}:
        raise WriterEnded(
            writer_is(writer.state),
            state=writer.state,
        )
    if writer.requests.filter(state__in=["pending", "building"]).exists():
        raise WriterBusy
    if writer.branch is None or writer.branch.head_id == writer.base_id:
        raise WriterEmpty


def _present_write(writer: Writer) -> CommitRequest | None:
    live_or_done = ["pending", "building", "published"]
    return writer.requests.filter(operation="write", state__in=live_or_done).first()


def _create_once(writer: Writer, **fields: Any) -> CommitRequest:
    """Create a request; the database admits one at a time. Raises WriterBusy."""
    try:
        with transaction.atomic():
            return CommitRequest.objects.create(dataset=writer.dataset, writer=writer, **fields)
    except IntegrityError as exc:
        raise WriterBusy from exc


def _flush_options(writer: Writer) -> dict[str, Any]:
    last = writer.base.provenance if writer.base else {}
    kept = {name: last[name] for name in _LABEL_OPTIONS if last.get(name)}
    return {**kept, "provenance": {"kind": "staged", "writer": str(writer.pk), **kept}}


def find_writer(dataset: Dataset, writer_id: UUID) -> Writer | None:
    """Return a writer of the dataset."""
    return Writer.objects.of_dataset(dataset).filter(pk=writer_id).first()
