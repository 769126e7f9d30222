"""Files that arrive: in one stream, or in parts that the object store takes itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from blake3 import blake3
from botocore.exceptions import ClientError

from atom.core.crypto import BadSignature, sign, unsign
from atom.core.storage import objects
from atom.jobs import states as run_states
from atom.jobs.artifacts.actions.stored_files import StoredFile, keep_file, new_key
from atom.jobs.models import Run
from atom.jobs.tracking.actions.tracked import attempt_of
from atom.mlflow_api.errors import BadParameter, NotPermitted

MAX_PARTS = 10_000
MAX_PATH = 1000
_PURPOSE = "mlflow.multipart"


def is_run_of_program(run: Run) -> bool:
    """Return whether a program elsewhere made the run: what Atom's own runs left stays."""
    return run.origin != run_states.EXECUTED


def check_sender(run: Run, *, is_its_command: bool) -> None:
    """Raise NotPermitted if the sender is not the command of a run that Atom executes.

    A model of these files claims to come from that run's code and data.
    """
    if not is_its_command and not is_run_of_program(run):
        raise NotPermitted(
            "Atom has executed this run, and its files are what its own command left. "
            "Log them to a run of your own, or start the command again."
        )


def check_path(path: str) -> None:
    """Raise BadParameter for a path that no file can have."""
    if not path or len(path) > MAX_PATH:
        raise BadParameter(f"A path has 1 to {MAX_PATH} characters.")


def begin_parts(run: Run, path: str, parts: int) -> tuple[str, list[str]]:
    """Return the upload's token and an address for each part, good for an hour."""
    check_path(path)
    key = new_key(run)
    upload = objects().multipart_create(key)
    urls = [objects().presign_part(key, upload, number) for number in range(1, parts + 1)]
    return sign({"run": run.pk.hex, "path": path, "key": key, "upload": upload}, _PURPOSE), urls


def complete_parts(
    run: Run, path: str, kind: str, token: str, parts: Sequence[tuple[int, str]]
) -> None:
    """Join the parts, hash what came of it, and note it. Raises BadParameter."""
    key, upload = _opened(run, path, token)
    try:
        objects().multipart_complete(key, upload, [(number, etag) for number, etag in parts])
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            raise  # The store has failed; the parts may be right.
        raise BadParameter(
            "The parts cannot be joined: one is missing, or was sent twice."
        ) from error
    sha256, digest, size_bytes = hashlib.sha256(), blake3(), 0
    for piece in objects().views(key):
        sha256.update(piece)
        digest.update(piece)
        size_bytes += len(piece)
    file = StoredFile(path, key, size_bytes, sha256.hexdigest(), digest.hexdigest(), kind)
    keep_file(attempt_of(run), file)


def abort_parts(run: Run, path: str, token: str) -> None:
    """Throw the parts away; an upload that is over is fine."""
    key, upload = _opened(run, path, token)
    objects().multipart_abort(key, upload)


def _opened(run: Run, path: str, token: str) -> tuple[str, str]:
    try:
        found = unsign(token, _PURPOSE)
    except BadSignature:
        found = {}
    if found.get("run") != run.pk.hex or found.get("path") != path:
        raise BadParameter("The upload_id is not of an upload of this file.")
    return str(found["key"]), str(found["upload"])
