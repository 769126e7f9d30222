"""Sentences that several actions of labeling say."""

from __future__ import annotations

from atom_sdk.sentences import Sentence


def task_is(state: str) -> Sentence:
    """Return the state of a task that refuses the request."""
    return Sentence("labeling.task_is", "The task is {state}.", state=state)
