"""The kinds of faults, drawn by a seed, and how often each of them was hit."""

from __future__ import annotations

import random
from collections import Counter
from enum import StrEnum


class Fault(StrEnum):
    """A kind of fault; it is hit when it changed what happened."""

    ANSWER_LOST = "the answer of a POST to the cluster is lost"
    REQUEST_DROPPED = "a POST to the cluster is dropped"
    REFUSED_429 = "the cluster answers 429"
    REFUSED_500 = "the cluster answers 500"
    REFUSED_503 = "the cluster answers 503"
    REFUSED_504 = "the cluster answers 504"
    AWAY = "the cluster is away for a while"
    WATCH_LATE = "the watcher writes an older state"
    WATCHER_TWICE = "a second watcher writes what it read before"
    SUSPENDED = "the Job is suspended"
    EVICTED_143 = "the pod is evicted and ends with 143"
    EVICTED_0 = "the pod is evicted and ends with 0"
    KILLED = "the pod is killed without a word"
    NODE_LOST = "the node is lost"
    NODE_BACK = "the lost node is back"
    NODE_GONE = "the lost node's object is removed while its pod still runs"
    ZOMBIE_SPEAKS = "a pod of a lost node speaks to the server"
    POD_TWICE = "two pods have one index"
    JOB_VANISHED = "the Job vanishes"
    CUT_OFF = "a process of the server is cut off between two statements"
    CUT_AT_CLUSTER = "a process of the server is cut off at a request to the cluster"
    TASK_LOST = "a task is lost"
    TASK_TWICE = "a task is delivered twice"
    FRAME_TWICE = "a log frame is sent twice"
    FRAME_EARLY = "a log frame is sent before the one before it"
    POINTS_TWICE = "a batch of points is sent twice"
    JOIN_LOST = "the answer of a join is lost"
    REPORT_TWICE = "an exit report is sent twice"
    CANCELLED = "the run is cancelled"
    UID_FORGOTTEN = "the database is one from before the Job's uid was noted"


class Dice:
    """Chance by a seed, until it is told to be calm; it counts what was hit."""

    def __init__(self, seed: int, often: frozenset[Fault] = frozenset()) -> None:
        self.seed, self.random = seed, random.Random(seed)
        # Faults that happen at every second chance.
        self.often = often
        self.hits: Counter[Fault] = Counter()
        self.calm = False

    def falls(self, share: float) -> bool:
        """Return whether a fault happens now."""
        return not self.calm and self.random.random() < share

    def draws(self, fault: Fault, share: float) -> bool:
        """Return whether a fault of this kind happens now; it is counted once it has an effect."""
        return self.falls(max(share, 0.5) if fault in self.often else share)

    def hit(self, fault: Fault, share: float = 1.0) -> bool:
        """Return whether a fault happens now, and count it."""
        if not self.draws(fault, share):
            return False
        self.count(fault)
        return True

    def count(self, fault: Fault) -> None:
        """Count a fault that had an effect."""
        self.hits[fault] += 1
