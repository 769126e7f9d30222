"""How a program ends with a reason that has a code and parameters, not only a traceback.

The reason lies in the attempt's folder as `failure.json`; the runner puts it into the exit report,
and the server turns code and parameters into a title, a sentence and a next step.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from atom_sdk.errors import AtomError

FAILURE_FILE = "failure.json"
Value = str | int | float


class RunFailure(AtomError):
    """The run cannot go on, for a reason that Atom knows by its code."""

    hint = "Correct what the sentence names, then start the run again."

    def __init__(self, code: str, sentence: str, **params: Value) -> None:
        """`code` is one that the server knows; another one is shown as its sentence."""
        super().__init__(sentence)
        self.code = code
        self.params = params


def main(work: Callable[[], int | None]) -> int:
    """Run the program's work and return its exit code; leave a RunFailure for the runner."""
    try:
        return work() or 0
    except RunFailure as failure:
        write_reason(failure)
        traceback.print_exc()
        sys.stderr.flush()
        return 1


def write_reason(failure: RunFailure) -> None:
    """Leave the reason where the runner looks for it; outside a run nothing is left."""
    folder = os.environ.get("ATOM_RUN_DIR")
    if not folder:
        return
    reason = {"code": failure.code, "sentence": str(failure), "params": failure.params}
    # Without it, the traceback shows the reason.
    with suppress(OSError):
        (Path(folder) / FAILURE_FILE).write_text(json.dumps(reason), "utf-8")
