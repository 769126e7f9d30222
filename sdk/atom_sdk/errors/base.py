"""The base of every failure."""

from __future__ import annotations


class AtomError(Exception):
    """Base of every error that the SDK raises on purpose."""

    code = "atom_error"
    hint = "Run the command again with --help, or see the documentation."
