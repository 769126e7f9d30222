"""States of runs and attempts, as tables: state → states that may follow.

Runs and attempts share one vocabulary. A run without an open attempt is created, queued or in
retry_wait; from placing to finalizing both carry the same state. `admitted`, `scheduling`,
`pulling` and `preempted` exist for clusters; the local executor goes from submitted to running.
"""

from __future__ import annotations

from typing import Final

CREATED: Final = "created"
QUEUED: Final = "queued"
PLACING: Final = "placing"
WARMING: Final = "warming"
SUBMITTED: Final = "submitted"
ADMITTED: Final = "admitted"
SCHEDULING: Final = "scheduling"
PULLING: Final = "pulling"
RUNNING: Final = "running"
PREEMPTED: Final = "preempted"
RETRY_WAIT: Final = "retry_wait"
CANCELLING: Final = "cancelling"
FINALIZING: Final = "finalizing"
SUCCEEDED: Final = "succeeded"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"

_ENDING: Final = frozenset({CANCELLING, FINALIZING})

ATTEMPT_STATES: Final[dict[str, frozenset[str]]] = {
    PLACING: frozenset({WARMING}) | _ENDING,
    WARMING: frozenset({SUBMITTED}) | _ENDING,
    SUBMITTED: frozenset({ADMITTED, SCHEDULING, PULLING, RUNNING}) | _ENDING,
    ADMITTED: frozenset({SCHEDULING, PULLING, RUNNING, PREEMPTED}) | _ENDING,
    SCHEDULING: frozenset({PULLING, RUNNING, PREEMPTED}) | _ENDING,
    PULLING: frozenset({RUNNING, PREEMPTED}) | _ENDING,
    RUNNING: frozenset({PREEMPTED}) | _ENDING,
    PREEMPTED: _ENDING,
    CANCELLING: frozenset({FINALIZING}),
    FINALIZING: frozenset({SUCCEEDED, FAILED, CANCELLED}),
    SUCCEEDED: frozenset(),
    FAILED: frozenset(),
    CANCELLED: frozenset(),
}

RUN_STATES: Final[dict[str, frozenset[str]]] = {
    **ATTEMPT_STATES,
    CREATED: frozenset({QUEUED}),
    QUEUED: frozenset({PLACING, CANCELLED}),
    RETRY_WAIT: frozenset({QUEUED, CANCELLED}),
    PREEMPTED: frozenset({QUEUED}) | _ENDING,
    FINALIZING: ATTEMPT_STATES[FINALIZING] | {RETRY_WAIT},
    # A person may retry what failed or was cancelled: the run goes back to the queue.
    FAILED: frozenset({QUEUED}),
    CANCELLED: frozenset({QUEUED}),
}

# Origins of a run: Atom starts and ends it, or a program only reports it through MLflow's API.
EXECUTED: Final = "atom"
MLFLOW: Final = "mlflow"
RUN_ORIGINS: Final = (EXECUTED, MLFLOW)

# A tracked run is never queued, placed or finalized: its program says where it stands, and may take
# it up again.
_REPORTED: Final = frozenset({CREATED, RUNNING, SUCCEEDED, FAILED, CANCELLED})
TRACKED_RUN_STATES: Final[dict[str, frozenset[str]]] = {
    state: _REPORTED - {state} for state in sorted(_REPORTED)
}

RUN_STATE_CHOICES: Final = [(state, state.replace("_", " ")) for state in sorted(RUN_STATES)]
TERMINAL: Final = frozenset({SUCCEEDED, FAILED, CANCELLED})
ACTIVE: Final = frozenset(RUN_STATES) - TERMINAL
# No attempt is open: nothing is placed and nothing runs.
WAITING: Final = frozenset({CREATED, QUEUED, RETRY_WAIT})
# Attempts that may wait for their data; one whose Job a queue holds back is submitted.
AWAITS_DATA: Final = frozenset({WARMING, SUBMITTED})
# A supervisor was started, or is about to be.
SUPERVISED: Final = frozenset({SUBMITTED, ADMITTED, SCHEDULING, PULLING, RUNNING})

PENDING: Final = "pending"
BUILDING: Final = "building"
READY: Final = "ready"

# Back to pending: the worker that built it died, or a later run asks again after a failure.
RUNTIME_STATES: Final[dict[str, frozenset[str]]] = {
    PENDING: frozenset({BUILDING}),
    BUILDING: frozenset({READY, FAILED, PENDING}),
    READY: frozenset({PENDING}),
    FAILED: frozenset({PENDING}),
}

ARTIFACT_KINDS: Final = ("output", "checkpoint", "model")

LOCAL: Final = "local"
PERSISTED: Final = "persisted"

# Failed: the stored bytes are not the announced ones; the runner may send them again.
ARTIFACT_STATES: Final[dict[str, frozenset[str]]] = {
    LOCAL: frozenset({PERSISTED, FAILED}),
    PERSISTED: frozenset(),
    FAILED: frozenset({LOCAL}),
}
