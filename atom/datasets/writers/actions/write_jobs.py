"""Jobs of many tasks that become one version, exactly once.

Each attempt of a task writes through a writer of its own. Committing a task says which attempt
counts; committing the job merges what counts into the target branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import states
from atom.core.background import enqueue
from atom.datasets.catalog.actions.catalogue import pin, unpin
from atom.datasets.errors import RefNotFound
from atom.datasets.models import CommitRequest, Dataset, Version, WriteJob, Writer, WriteTask
from atom.datasets.operations.engines.operations import WriteArguments, stored_arguments
from atom.datasets.sentences import branch_unknown, write_job_is
from atom.datasets.states import WRITE_JOB_STATES, WRITER_STATES
from atom.datasets.writers.actions.writers import PIN_HOLDER, abandon_locked, lock_writer, notify
from atom.datasets.writers.errors import (
    TaskNotOfJob,
    TooManyWriters,
    WriteJobDiffers,
    WriteJobEnded,
    WriterBusy,
)
from atom_sdk.sentences import Sentence

MAX_OPEN_JOBS = 20
_BUILD_TASK = "atom.datasets.tasks.build_commit"
_TIDY_TASK = "atom.datasets.tasks.tidy_writers"


@dataclass(frozen=True)
class NewWriteJob:
    """A write job that a driver asks for."""

    name: str
    target: str
    message: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


def open_write_job(dataset: Dataset, new: NewWriteJob, user: User) -> WriteJob:
    """Begin a job, or return the one of that name, whatever its state.

    Raises RefNotFound, TooManyWriters, WriteJobDiffers.
    """
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)
        present = WriteJob.objects.filter(dataset=dataset, name=new.name).first()
        if present is not None:
            if present.target != new.target:
                raise WriteJobDiffers(
                    Sentence(
                        "datasets.writer_writes_to",
                        "{writer} writes to {branch}.",
                        writer=new.name,
                        branch=present.target,
                    )
                )
            return present
        if dataset.write_jobs.open().count() >= MAX_OPEN_JOBS:
            raise TooManyWriters(
                Sentence(
                    "datasets.too_many_write_jobs",
                    "{max_open} write jobs may be open.",
                    max_open=MAX_OPEN_JOBS,
                )
            )
        branch = dataset.branches.select_related("head").filter(name=new.target, writer=None)
        target = branch.first()
        if target is None:
            raise RefNotFound(branch_unknown(dataset.name, new.target))
        job = WriteJob.objects.create(
            dataset=dataset, base=target.head, created_by=user, **vars(new)
        )
        if job.base is not None:
            pin(job.base, PIN_HOLDER, str(job.pk))
        audit.record(
            user, "write_job.opened", job, dataset.project, dataset,
            dataset=dataset.name, name=job.name, branch=job.target,
        )  # fmt: skip
        notify(job)
    return job


def commit_task(job: WriteJob, task: str, writer: Writer) -> WriteTask:
    """Make an attempt the one that counts for its task; the one that counted is abandoned.

    Committing the same attempt twice changes nothing. Raises WriteJobEnded, TaskNotOfJob,
    WriterBusy.
    """
    with transaction.atomic():
        locked = _locked(job)
        if locked.state != "open":
            raise WriteJobEnded(write_job_is(locked.name, locked.state))
        attempt = lock_writer(writer)
        counted = WriteTask.objects.filter(job=locked, task=task).first()
        if counted is not None and counted.writer_id == attempt.pk:
            return counted
        _check_attempt(locked, task, attempt)
        if counted is not None:
            loser = lock_writer(counted.writer)
            counted.delete()
            abandon_locked(loser, None)
        found = WriteTask.objects.create(job=locked, task=task, writer=attempt)
        notify(locked)
    return found


def request_job_commit(
    job: WriteJob, arguments: WriteArguments, message: str, user: User
) -> CommitRequest:
    """Ask a worker for the job's version; asked again, or by another driver, it is the same.

    Raises WriteJobEnded for a job that was aborted.
    """
    with transaction.atomic():
        locked = _locked(job)
        live_or_done = ["pending", "building", "published"]
        present = locked.requests.filter(state__in=live_or_done).first()
        if present is not None:
            return present
        if locked.state != "open":
            raise WriteJobEnded(write_job_is(locked.name, locked.state))
        request = _create_once(locked, arguments, message or locked.message, user)
        _move(locked, "committing", error_code="", error_detail="")
        audit.record(
            user, "commit.requested", request, locked.dataset.project,
            dataset=locked.dataset.name, branch=locked.target, operation="write",
        )  # fmt: skip
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def abort_write_job(job: WriteJob, user: User | None) -> WriteJob:
    """Give up a job with all of its attempts; doing it twice changes nothing.

    Raises WriteJobEnded.
    """
    with transaction.atomic():
        locked = _locked(job)
        if locked.state == "aborted":
            return locked
        if locked.state != "open":
            raise WriteJobEnded(write_job_is(locked.name, locked.state))
        _move(locked, "aborted")
        _end_attempts(locked, "abandoned", locked.attempts.open().values_list("pk", flat=True))
        unpin(PIN_HOLDER, str(locked.pk))
        audit.record(
            user, "write_job.aborted", locked, locked.dataset.project, locked.dataset,
            dataset=locked.dataset.name, name=locked.name,
        )  # fmt: skip
        enqueue(_TIDY_TASK)
    return locked


def settle_job(job: WriteJob, version: Version | None, code: str, detail: str) -> None:
    """Note how the commit of a job ended, in the transaction that ends it."""
    locked = _locked(job)
    if version is None:
        _move(locked, "open", error_code=code, error_detail=detail)
        return
    counted = WriteTask.objects.filter(job=locked).values_list("writer_id", flat=True)
    _end_attempts(locked, "committed", counted, version=version)
    _end_attempts(locked, "abandoned", locked.attempts.open().values_list("pk", flat=True))
    _move(locked, "committed", version=version)
    unpin(PIN_HOLDER, str(locked.pk))
    enqueue(_TIDY_TASK)


def _check_attempt(job: WriteJob, task: str, attempt: Writer) -> None:
    if attempt.job_id != job.pk or attempt.task != task:
        raise TaskNotOfJob(
            Sentence(
                "datasets.writer_of_another_task",
                "The writer {writer} is no attempt of the task {task}.",
                writer=attempt.pk,
                task=task,
            )
        )
    if attempt.requests.filter(state__in=["pending", "building"]).exists():
        raise WriterBusy
    if attempt.state not in {"writing", "persisted"}:
        raise TaskNotOfJob(
            Sentence("core.attempt_is", "The attempt is {state}.", state=attempt.state)
        )


def _create_once(
    job: WriteJob, arguments: WriteArguments, message: str, user: User
) -> CommitRequest:
    try:
        with transaction.atomic():
            return CommitRequest.objects.create(
                dataset=job.dataset, write_job=job, operation="write", branch=job.target,
                arguments=stored_arguments(arguments), message=message, created_by=user,
            )  # fmt: skip
    except IntegrityError as exc:
        raise WriterBusy from exc


def _end_attempts(job: WriteJob, state: str, writers: Any, **fields: Any) -> None:
    """Move all at once: a job may have thousands."""
    rows = Writer.objects.filter(job=job, pk__in=list(writers)).select_for_update()
    for writer in rows:
        states.check_transition(WRITER_STATES, writer.state, state)
    rows.update(state=state, **fields)


def _locked(job: WriteJob) -> WriteJob:
    rows = WriteJob.objects.select_for_update(of=("self",)).select_related("dataset__project")
    return rows.select_related("dataset__project", "base").get(pk=job.pk)


def _move(job: WriteJob, state: str, **fields: Any) -> None:
    states.check_transition(WRITE_JOB_STATES, job.state, state)
    for name, value in {"state": state, **fields}.items():
        setattr(job, name, value)
    job.save(update_fields=["state", *fields, "updated_at"])
    notify(job)
