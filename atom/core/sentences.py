"""Sentences that several apps say."""

from __future__ import annotations

from atom_sdk.sentences import Sentence


def cursor_invalid() -> Sentence:
    """Return that a cursor is of another list."""
    return Sentence("core.cursor_invalid", "This is not a cursor of this list.")


def named_reason(name: str, reason: object) -> Sentence:
    """Return a reason with the thing that it is about; `reason` may be an error."""
    return Sentence("core.named_reason", "{name}: {reason}", name=name, reason=reason)


def positive_number_to(max: int) -> Sentence:
    """Return that a whole number from 1 to `max` is expected."""
    return Sentence("fields.positive_number_to", "Give a whole number from 1 to {max}.", max=max)


def required() -> Sentence:
    """Return that a parameter is missing."""
    return Sentence("fields.required", "This parameter is required.")
