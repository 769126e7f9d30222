"""Errors of archives of datasets, one class each."""

from __future__ import annotations

from atom_sdk.errors import AtomError


class ArchiveError(AtomError):
    """Base of the failures of archives."""

    code = "archive_error"


class ArchiveMissingError(ArchiveError):
    """The folder holds no archive, or not this dataset."""

    code = "archive_missing"
    hint = "Look at what is in the folder's datasets/, or save first: atom data archive save"


class ArchiveCorruptError(ArchiveError):
    """An object of the archive is missing, or is not what its name says."""

    code = "archive_corrupt"
    hint = (
        "Save the dataset into the folder again: what is right is skipped and the rest is written "
        "anew; or copy the folder again from where it is whole."
    )


class ArchiveNameTakenError(ArchiveError):
    """The folder holds another dataset of the same name."""

    code = "archive_name_taken"
    hint = "Give another name in the folder with --as, or save into another folder."


class ArchiveRegisteredError(ArchiveError):
    """A version has files that stay at their source, and nobody asked to bring them in."""

    code = "archive_registered"
    hint = (
        "Bring them in with --with-sources: they are read at their source and packed, and those "
        "versions get other digests. Or choose versions without such files with --ref."
    )


class ArchiveSourceChangedError(ArchiveError):
    """Files that were to be brought in are not at their source any more as they were pinned."""

    code = "archive_source_changed"
    hint = (
        "Have these versions without their files with --leave-out-changed, or choose others with "
        "--ref."
    )


class ArchiveVersionGoneError(ArchiveError):
    """A version that was asked for has its files no longer."""

    code = "archive_version_gone"
    hint = "Choose versions that are kept: atom data log DATASET; or restore it first."


class ArchiveDamagedSourceError(ArchiveError):
    """The server cannot give a pack of a version, since it was found corrupt."""

    code = "archive_pack_unreadable"
    hint = "Push the folder that the files came from again, or choose other versions with --ref."


class ArchiveWriteError(ArchiveError):
    """The folder cannot be written: the disk is full, or it is not allowed."""

    code = "archive_write"
    hint = "Make room or correct the permissions, and run the same command again: it goes on."


class ArchiveHistoryDiffersError(ArchiveError):
    """The target has a dataset of that name with another history; nothing was sent."""

    code = "archive_history_differs"
    hint = "Load it under another name: atom data archive load FOLDER --name NAME"
