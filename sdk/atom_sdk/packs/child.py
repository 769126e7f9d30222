"""Packs on demand for another process, see `processes`: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import Any

from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.writer import FileSink, write_pack

# Not made if it is missing: who asked may be gone, with the file that it had made.
_TARGET_FLAGS = os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC


def main() -> None:
    """Answer until nobody asks any more."""
    # A Ctrl-C is for who asks; the end of its questions ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Lists of members are all there is; searching them for cycles takes a twentieth of the time.
    gc.disable()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_answer(json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    """The content of the pack; nothing if it failed, which the parent finds out itself."""
    try:
        target = os.open(question["target"], _TARGET_FLAGS)
        try:
            files = (SourceFile(path, size) for path, size in question["files"])
            summary = write_pack(
                files,
                question["folder"],
                FileSink(target),
                threaded=False,
                follow_links=question["follow_links"],
            )
        finally:
            os.close(target)
    except Exception:
        return {}
    return {
        "digest": summary.digest.hex(),
        "size_bytes": summary.size_bytes,
        "places": [(member.offset, member.digest.hex()) for member in summary.members],
    }


if __name__ == "__main__":
    main()
