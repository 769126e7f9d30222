"""The file by which a probe knows that the main loop of a process still turns.

Its time is that of the last turn. It tells nothing of services: to start a process anew does not
bring them back.
"""

from __future__ import annotations

import os
from pathlib import Path


def touch() -> None:
    """Note a turn in the file of ATOM_ALIVE_FILE, if there is one."""
    if alive_file := os.environ.get("ATOM_ALIVE_FILE"):
        Path(alive_file).touch()
