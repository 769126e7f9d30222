"""The shape of an answer to "why isn't it running?"."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class AnswerCode(StrEnum):
    """Which sentence an answer has, for pages in another language."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    FAILED = "failed"
    RETRY_WAIT = "retry_wait"
    NO_ROOM = "no_room"
    NONE_FITS = "none_fits"
    KEPT_BACK = "kept_back"
    TO_BE_PLACED = "to_be_placed"
    TO_BE_STARTED = "to_be_started"
    PREPARING = "preparing"
    PREPARING_IN_CLUSTER = "preparing_in_cluster"
    WAITS_FOR_DATA = "waits_for_data"
    SUBMITTED = "submitted"
    RUNNING = "running"
    CANCELLING = "cancelling"
    FINALIZING = "finalizing"
    MOVING = "moving"
    TO_ANOTHER_CLUSTER = "to_another_cluster"
    TRACKED = "tracked"
    CLUSTER_AWAY = "cluster_away"
    # Its cluster answers, and does not take its Job.
    JOB_NOT_TAKEN = "job_not_taken"
    IN_CLUSTER = "in_cluster"
    # Atom chooses its place: none takes it now, or the chosen one has no room.
    NO_PLACE = "no_place"
    AUTO_WAITS = "auto_waits"
    # Another run on several nodes gets its nodes first; some of its own have started.
    GANG_TURN = "gang_turn"
    GANG_FORMING = "gang_forming"
    # How far its cluster is with its start.
    CLUSTER_QUEUED = "cluster_queued"
    CLUSTER_ADMITTED = "cluster_admitted"
    CLUSTER_SCHEDULING = "cluster_scheduling"
    CLUSTER_PULLING = "cluster_pulling"
    CLUSTER_INITIALIZING = "cluster_initializing"
    CLUSTER_RUNNING = "cluster_running"
    CLUSTER_STOPPING = "cluster_stopping"
    CLUSTER_ENDED = "cluster_ended"


class ReasonKind(StrEnum):
    """The kind of reason why a run waits, or of how it ended."""

    RETRY = "retry"
    QUEUE = "queue"
    PASSED = "passed"
    RESOURCES = "resources"
    MACHINES = "machines"
    PLACEMENT = "placement"
    PLACE = "place"
    DATA = "data"
    DATA_RETRY = "data_retry"
    RUNTIME = "runtime"
    CANCELLED = "cancelled"
    FAILED = "failed"
    CLUSTER = "cluster"
    SILENT = "silent"
    NODE_NOT_READY = "node_not_ready"
    RDMA_OFF = "rdma_off"
    GANG = "gang"
    DATA_GATE = "data_gate"
    DATA_TROUBLE = "data_trouble"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a run waits for, or why it ended, and what to do about it."""

    kind: ReasonKind
    text: str
    action: str = ""
    # Values that the text names.
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer in one sentence, with its reasons."""

    code: AnswerCode
    answer: str
    reasons: list[Reason]
