"""The reason that a program gave for its own end: `failure.json` in the attempt's folder."""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import Any

from .config import AttemptPaths

MAX_BYTES = 16 * 1024


def declared_failure(paths: AttemptPaths) -> dict[str, Any] | None:
    """Return code, sentence and parameters; None if the program left none, or no such thing."""
    try:
        reason = json.loads(_head_of(str(paths.failure)))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(reason, dict) or not isinstance(reason.get("code"), str):
        return None
    params = reason.get("params")
    return {
        "code": reason["code"],
        "sentence": str(reason.get("sentence") or ""),
        "params": params if isinstance(params, dict) else {},
    }


def _head_of(path: str) -> bytes:
    """Return the first bytes of a regular file. Raises OSError for anything else.

    The folder is the job's: a link would lead elsewhere, and a pipe would never be read to its end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return file.read(MAX_BYTES)
