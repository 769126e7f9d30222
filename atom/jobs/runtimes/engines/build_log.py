"""The lines of pip's output that show a person why an environment was not built."""

from __future__ import annotations

import re

_ERROR = re.compile(r"\s*(ERROR|error|fatal)\b")
_CHATTER = re.compile(r"\s*(WARNING|DEPRECATION|\[notice\])")


def excerpt(log: str, lines: int = 15) -> str:
    """Return the last errors of the log, then the last other lines, without pip's warnings."""
    told = [line for line in log.splitlines() if line.strip() and not _CHATTER.match(line)]
    errors = [line for line in told if _ERROR.match(line)][-lines:]
    others = [line for line in told if not _ERROR.match(line)]
    room = lines - len(errors)
    return "\n".join([*errors, *(others[-room:] if room else [])])
