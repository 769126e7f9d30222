"""Kinds of the lines of a run's timeline.

A line carries an English sentence, and in `data` the values that it names. A page in another
language builds its own sentence from the kind and the values.
"""

from __future__ import annotations

from enum import StrEnum


class EventKind(StrEnum):
    """What happened."""

    CREATED = "created"
    PLACE_CHOSEN = "place_chosen"
    NO_PLACE = "no_place"
    PLACED = "placed"
    RDMA_OFF = "rdma_off"
    DATA_GATE = "data_gate"
    RESUMES = "resumes"
    WAITS = "waits"
    RUNTIME = "runtime"
    RUNTIME_BUILT = "runtime_built"
    WARMED = "warmed"
    MOUNTED = "mounted"
    VOLUME = "volume"
    RUNNING = "running"
    CHECKPOINT = "checkpoint"
    OUTPUT_REFUSED = "output_refused"
    CANCEL_REQUESTED = "cancel_requested"
    CANCELLING = "cancelling"
    ENDED = "ended"
    LEFTOVERS_ENDED = "leftovers_ended"
    RETRY = "retry"
    RETRIED = "retried"
    MOVE_REQUESTED = "move_requested"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MODEL_REGISTERED = "model_registered"
    EVALUATED = "evaluated"
    REGISTRATION_FAILED = "registration_failed"
