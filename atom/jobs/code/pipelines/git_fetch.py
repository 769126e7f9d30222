"""Has a process of its own fetch a commit, and ends it when it takes too long."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_KEPT_VARIABLES = ("PATH", "LANG", "SSL_CERT_FILE")
# In place of its code, when the process did not answer at all.
ODD, TIMEOUT = "git_odd", "git_timeout"


@dataclass(frozen=True, slots=True)
class GitRequest:
    """A fetch to do; `secret` is a private key or a token, `host_key` the one seen before."""

    url: str
    ref: str
    archive: str
    secret: str = ""
    username: str = ""
    host_key: str = ""
    allowed: Sequence[str] = ()


class GitFetchError(Exception):
    """Why there is no commit; `code` is that of an error of `atom.jobs.code.errors`."""

    def __init__(self, code: str, text: str) -> None:
        """Keep both."""
        super().__init__(text)
        self.code = code


def fetch(request: GitRequest, root: Path, env: dict[str, str], timeout_s: float) -> dict[str, Any]:
    """Write the archive and return what is known of the commit. Raises GitFetchError.

    `root` is the folder that the server's code is imported from.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", "atom.jobs.code.pipelines.git_child"],
            input=json.dumps(asdict(request)),
            cwd=root,
            env={name: env[name] for name in _KEPT_VARIABLES if name in env},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitFetchError(TIMEOUT, f"It took more than {timeout_s:g} s.") from error
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        last = done.stderr.strip().rsplit("\n", 1)[-1][:300]
        raise GitFetchError(ODD, f"The server's answer was not understood: {last}") from error
    if "error" in answer:
        raise GitFetchError(answer["error"], answer["text"])
    return answer
