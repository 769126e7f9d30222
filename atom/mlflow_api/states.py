"""States of a logged model, and MLflow's words for those of a run."""

from __future__ import annotations

from typing import Final

from atom.jobs import states as run_states

PENDING: Final = "pending"
READY: Final = "ready"
FAILED: Final = "failed"

LOGGED_MODEL_STATES: Final[dict[str, frozenset[str]]] = {
    PENDING: frozenset({READY, FAILED}),
    # A program may see later that what it sent is broken.
    READY: frozenset({FAILED}),
    FAILED: frozenset({READY}),
}
LOGGED_MODEL_WORDS: Final = {
    PENDING: "LOGGED_MODEL_PENDING",
    READY: "LOGGED_MODEL_READY",
    FAILED: "LOGGED_MODEL_UPLOAD_FAILED",
}

# Atom's state for each status that a program may report.
STATE_OF: Final = {
    "SCHEDULED": run_states.CREATED,
    "RUNNING": run_states.RUNNING,
    "FINISHED": run_states.SUCCEEDED,
    "FAILED": run_states.FAILED,
    "KILLED": run_states.CANCELLED,
}
_ENDED: Final = {state: word for word, state in STATE_OF.items() if state in run_states.TERMINAL}
_NOT_BEGUN: Final = run_states.WAITING | {
    run_states.PLACING,
    run_states.WARMING,
    run_states.SUBMITTED,
    run_states.ADMITTED,
    run_states.SCHEDULING,
    run_states.PULLING,
}


def word_for(state: str) -> str:
    """Return MLflow's status of a run in `state`."""
    if state in _NOT_BEGUN:
        return "SCHEDULED"
    return _ENDED.get(state, "RUNNING")


def states_with(word: str) -> list[str]:
    """Return the states of runs that MLflow calls `word`; none for a word that it does not have."""
    return sorted(state for state in run_states.RUN_STATES if word_for(state) == word)
