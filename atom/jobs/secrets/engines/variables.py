"""Environment variables that a person may give to a command."""

from __future__ import annotations

import re

from atom_sdk.sentences import Sentence

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Variables that Atom sets for a command, and those that would change the program that starts it.
_RESERVED = ("ATOM_", "LD_", "PYTHONHOME")
_MAX_CHARACTERS = 100
NOT_A_NAME = Sentence(
    "jobs.variable_name_invalid",
    "Use at most {max} letters, digits and underscores, no digit first.",
    max=_MAX_CHARACTERS,
)
RESERVED_NAME = Sentence("jobs.variable_name_reserved", "This name is reserved.")


def wrong_name(name: str) -> str:
    """Return why a name cannot be a variable's; empty if it can."""
    if not _NAME.fullmatch(name) or len(name) > _MAX_CHARACTERS:
        return NOT_A_NAME
    return RESERVED_NAME if name.startswith(_RESERVED) else ""
