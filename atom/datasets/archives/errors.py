"""Failures of archives: what cannot be saved, and what a load refuses."""

from atom.core.errors import Invalid
from atom.datasets.errors import CommitRefused


class ArchiveRefused(CommitRefused):
    """The upload is no archive of a dataset: a part is missing, or contradicts another one."""

    code = "archive_refused"
    title = "The archive cannot be loaded: it is not whole, or it contradicts itself."
    action = "Check it where it lies, then load it again."


class ArchiveHistoryDiffers(CommitRefused):
    """The dataset has another history than the archive."""

    code = "archive_history_differs"
    title = "The dataset has another history than the archive."
    action = "Load the archive under another name."


class ArchiveObjectUnknown(Invalid):
    """A key that is no object of an archive, or that the project does not have."""

    code = "archive_object_unknown"
    title = "The project has no such object to save."
    action = "Save again; if it happens twice, an object of the bucket is lost: ask the operators."
