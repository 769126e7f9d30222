"""Errors between a program and an Atom server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom_sdk.errors import AtomError


class ClientError(AtomError):
    """Base of the failures of talking to a server."""

    code = "client_error"


class NotConfiguredError(ClientError):
    """No server or project is configured."""

    code = "not_configured"
    hint = "Run 'atom login URL', or set ATOM_URL, ATOM_TOKEN and ATOM_PROJECT."


class NetworkError(ClientError):
    """The server could not be reached, or the connection broke and retries did not help."""

    code = "network"
    hint = "Check the address and that the server is running; then run the same command again."


class NotAtomError(NetworkError):
    """Something answers at the address, a proxy or a page to sign in, and it is not Atom."""

    code = "not_atom"
    hint = "Check ATOM_URL: it is the address at which the portal opens, without a path."


class PackUnreadableError(NetworkError):
    """The object store did not give a pack; `pack` is its digest in hex."""

    code = "pack_unreadable"
    hint = (
        "Run the same command again. If it names this pack again, the object store has lost its "
        "bytes: warm the version (atom data warm), which takes the pack out of service; then push "
        "the folder that its files came from again, which replaces it."
    )

    def __init__(self, pack: str, reason: str) -> None:
        super().__init__(f"{reason} for the pack {pack}, which cannot be read.")
        self.pack = pack


class NotFoundError(ClientError):
    """Nothing of that name exists in the project; `hint` says where to look for it."""

    code = "not_found"
    hint = "Check the name and the project."

    def __init__(self, said: str, hint: str = "") -> None:
        super().__init__(said)
        self.hint = hint or self.hint


class FolderNotFoundError(NotFoundError):
    """A version has no file or folder at a path."""

    code = "folder_not_found"
    hint = "Look at what there is with 'atom data ls REF'; names are case-sensitive."


class DatasetNotFoundError(NotFoundError):
    """No deleted dataset has this name."""

    code = "dataset_not_found"
    hint = "List what can be taken back with 'atom data deleted'; what is collected is gone."


class NotificationNotFoundError(NotFoundError):
    """The caller has no notification of this id."""

    code = "notification_not_found"
    hint = "List them with 'atom notifications'; they are kept for 90 days."


class LocalFileError(ClientError):
    """A file or folder of this machine cannot be read or written."""

    code = "local_file"
    hint = "Check the path, its permissions and the free space of the disk."


class AttributesError(ClientError):
    """A file of attributes has a line that cannot be taken; nothing was sent."""

    code = "attributes_invalid"
    hint = (
        'Give JSON lines such as {"path": "cat/1.png", "camera": "north"}, or CSV with a column '
        "path; the paths are relative to the folder."
    )


class RefSyntaxError(ClientError):
    """A reference is not written as `dataset@ref`."""

    code = "ref_syntax"
    hint = "Write dataset@v3, dataset@branch or atom://project/dataset@ref."


class UploadRejectedError(ClientError):
    """The server found that an uploaded pack is not what it claims to be."""

    code = "upload_rejected"
    hint = "Push again; if it happens twice, the disk or memory of this machine may be faulty."


class CommitFailedError(ClientError):
    """The server could not build the commit; `reason` is the code of what it found."""

    code = "commit_failed"
    hint = "Read the reason, correct the folder, push again."

    def __init__(self, detail: str, reason: str = "", action: str = "") -> None:
        super().__init__(f"{detail} ({reason})" if reason else detail)
        self.reason = reason
        self.hint = action or self.hint


class CommitCancelledError(CommitFailedError):
    """The commit was cancelled before its branch moved; nothing is left of it."""

    code = "commit_cancelled"


class CleaningFailedError(ClientError):
    """A cleaning report failed or was cancelled."""

    code = "cleaning_failed"
    hint = "Start another report."

    def __init__(self, report: Mapping[str, Any]) -> None:
        """`report` is the report as the server answers it."""
        error = report["error"] or {"detail": f"The report was {report['state']}.", "action": ""}
        super().__init__(str(error["detail"]))
        self.hint = str(error["action"]) or self.hint


class PushConflictError(ClientError):
    """Two pushes at once changed the same files."""

    code = "push_conflict"
    hint = (
        "Push again to take this folder as it is, which replaces what the other push did; or pull "
        "the branch to another folder first and bring the two together."
    )


class WriterClosedError(ClientError):
    """The writer is committed, abandoned or closed."""

    code = "writer_closed"
    hint = "Open another writer; one that was not committed goes on with writer(resume=ID)."


class WriterTakenOverError(ClientError):
    """Another process went on with the same writer; what this one had not persisted is not sent."""

    code = "writer_taken_over"
    hint = "Let one process at a time write with a writer; open another writer for this one."


class MergeConflictError(ClientError):
    """A merge, revert or pick met changes of the same files, or a branch that moved.

    `conflicts` are the first of them, `total` says how many there are.
    """

    code = "merge_conflict"

    def __init__(self, request: Mapping[str, Any]) -> None:
        """`request` is the commit request as the server answers it."""
        self.problem = dict(request["error"])
        self.code = str(self.problem["code"])
        self.hint = str(self.problem["action"])
        self.conflicts: list[dict[str, Any]] = list(request["conflicts"])
        self.total = int(request["conflicts_total"])
        self.problem |= {"conflicts": self.conflicts, "conflicts_total": self.total}
        super().__init__(str(self.problem["detail"]))


class ApiError(ClientError):
    """A problem+json answer: `status`, `code`, `detail`, `action`, and messages per field."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        self.code = str(problem.get("code", f"http_{status}"))
        self.hint = str(problem.get("action", "Look at the server's log."))
        self.errors: dict[str, list[str]] = dict(problem.get("errors") or {})
        self.request_id = problem.get("request_id")
        super().__init__(str(problem.get("detail") or problem.get("title") or f"HTTP {status}"))
