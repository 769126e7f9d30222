"""Failures of writers and write jobs, one class each."""

from atom.core.errors import Conflict, NotFound, PermissionDenied


class WriterOfAnother(PermissionDenied):
    """A token that may only push names the writer or write job of somebody else."""

    code = "writer_of_another"
    title = "The API token may only go on with writers that its own person opened."
    action = "Use the token that opened it, or end it in the portal or with a token of scope write."


class WriterUnknown(NotFound):
    """The dataset has no such writer."""

    code = "writer_unknown"
    title = "The dataset has no such writer."
    action = "Look at the open writers of the dataset; it may be committed or abandoned."


class WriterEnded(Conflict):
    """The writer is committed or abandoned, or being committed."""

    code = "writer_ended"
    title = "The writer does not take files any more."
    action = "Open another writer; what this one committed is in the dataset's versions."


class WriterEmpty(Conflict):
    """Nothing was persisted, so there is nothing to commit."""

    code = "writer_empty"
    title = "The writer has persisted nothing yet."
    action = "Flush the writer first, or abandon it."


class WriterBusy(Conflict):
    """The last files of the writer are still on their way to the staging branch."""

    code = "writer_busy"
    title = "The writer is still persisting what it sent last."
    action = "Wait until its state is persisted, then try again."


class TooManyWriters(Conflict):
    """The dataset has as many open writers as it may."""

    code = "too_many_writers"
    title = "The dataset has too many open writers or write jobs."
    action = "Commit or abandon some of them."


class WriteJobUnknown(NotFound):
    """The dataset has no such write job."""

    code = "write_job_unknown"
    title = "The dataset has no such write job."
    action = "Look at the open writers and jobs of the dataset; it may be over."


class WriteJobEnded(Conflict):
    """The job is committed or aborted, or being committed."""

    code = "write_job_ended"
    title = "The write job does not take tasks any more."
    action = "Begin a job of another name; a job commits once."


class WriteJobDiffers(Conflict):
    """A job of that name exists and writes to another branch."""

    code = "write_job_differs"
    title = "The write job of that name writes to another branch."
    action = "Choose another name for the job, or name its branch."


class TaskNotOfJob(Conflict):
    """The writer is not an open attempt of this task."""

    code = "task_not_of_job"
    title = "The writer is no open attempt of this task."
    action = "Begin an attempt of the task in this job, write to it, then commit the task."
