"""The reason that a program gave for its own end: `failure.json` in the attempt's folder."""

from __future__ import annotations

import json
from typing import Any

from .config import AttemptPaths

MAX_BYTES = 16 * 1024


def declared_failure(paths: AttemptPaths) -> dict[str, Any] | None:
    """Return code, sentence and parameters; None if the program left none, or no such thing."""
    try:
        with open(str(paths.failure), "rb") as file:
            reason = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError):
        return None
    if not isinstance(reason, dict) or not isinstance(reason.get("code"), str):
        return None
    params = reason.get("params")
    return {
        "code": reason["code"],
        "sentence": str(reason.get("sentence") or ""),
        "params": params if isinstance(params, dict) else {},
    }
