"""Jobs of many writers, such as a Spark job's tasks, that commit once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from atom_sdk.client.commits import wait_for_operation
from atom_sdk.client.errors import ClientError, WriterClosedError
from atom_sdk.client.writing.writer import DatasetWriter, Site, WriterOptions


class TaskWriter(DatasetWriter):
    """One attempt of one task. Leaving the block commits the task; by an exception, gives it up."""

    def __init__(
        self, site: Site, row: Mapping[str, Any], options: WriterOptions, job_address: str
    ) -> None:
        """`row` is the writer as the server answers it."""
        super().__init__(site, row, options)
        self.task = str(row["task"])
        self._job_address = job_address

    def commit(
        self,
        on_conflict: str | None = None,
        message: str = "",
        resolutions: Sequence[Mapping[str, str]] = (),
    ) -> dict[str, Any]:
        """Make this attempt the one that counts for its task, and return the job.

        An attempt that counted before is replaced. Again, it changes nothing. The branch moves
        when the job is committed. Raises ApiError when the job has ended.
        """
        if self._is_open:
            self.flush()
        body = {"task": self.task, "writer": self.id}
        job: dict[str, Any] = self._site.http.post(f"{self._job_address}tasks/", body)
        self.close()
        return job

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commit the task, or give the attempt up after an exception."""
        if not self._is_open:
            return
        try:
            if kind is None:
                self.commit()
            else:
                with suppress(ClientError):
                    self.abandon()
        finally:
            self.close()


class WriteJob:
    """A job by its name: drivers and tasks that give the same name share it."""

    def __init__(self, site: Site, row: Mapping[str, Any], options: WriterOptions) -> None:
        """`row` is the job as the server answers it; `Datasets.write_job` opens one."""
        self.id = str(row["id"])
        self.name = str(row["name"])
        self._site = site
        self._options = options
        self._address = f"{site.base}write-jobs/{self.id}/"
        self._has_ended = False

    @property
    def row(self) -> dict[str, Any]:
        """Ask the server how far the job is: its state, and how many tasks are committed."""
        found: dict[str, Any] = self._site.http.get(self._address)
        return found

    def task(self, task: str | int) -> TaskWriter:
        """Begin an attempt of a task. Raises ApiError when the job has ended."""
        body = {"write_job": self.id, "task": str(task)}
        row = self._site.http.post(f"{self._site.base}writers/", body)
        return TaskWriter(self._site, row, self._options, self._address)

    def commit(
        self,
        on_conflict: str | None = None,
        message: str = "",
        resolutions: Sequence[Mapping[str, str]] = (),
    ) -> dict[str, Any]:
        """Make all committed tasks one version, and return it; whoever asks gets the same.

        `resolutions` are {path, layer, field, take} of single conflicts.
        Raises MergeConflictError, CommitFailedError, ApiError for a job that was aborted.
        """
        body = self._options.commit_body(on_conflict, message, resolutions)
        request = self._site.http.post(f"{self._address}commit/", body)
        done = wait_for_operation(self._site.http, self._site.base, request)
        self._has_ended = True
        return dict(done["version"])

    def abort(self) -> None:
        """Give up every attempt of the job; again, it changes nothing."""
        self._site.http.post(f"{self._address}abort/")
        self._has_ended = True

    def __enter__(self) -> Self:
        """Return the job itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commit the job, or abort it after an exception. Raises what committing raises."""
        if self._has_ended:
            return
        if kind is None:
            self.commit()
        else:
            with suppress(ClientError, WriterClosedError):
                self.abort()
