"""Reads the scheduler's sentence: how many nodes there are, and why each takes no pod."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_HEAD: Final = re.compile(r"^(\d{1,9})/(\d{1,9}) nodes are available: ")
_COUNTED: Final = re.compile(r"^(\d{1,9}) (.+)$", re.S)
_RESOURCE: Final = re.compile(r"^Insufficient (\S+)$")
# Parts of the sentence behind the reasons of the nodes.
_TAILS: Final = (", preemption: ", " preemption: ", ". no new claims")
_MAX_REASONS: Final = 20


@dataclass(frozen=True, slots=True)
class NodeReason:
    """Why this many nodes take no pod; `resource` is the name of one that they lack."""

    nodes: int
    reason: str
    resource: str = ""


@dataclass(frozen=True, slots=True)
class SchedulerVerdict:
    """Nodes that would take the pod, all nodes, and the reasons of those that would not."""

    available: int
    total: int
    reasons: tuple[NodeReason, ...]

    @property
    def most_common(self) -> NodeReason | None:
        """Return the reason that most nodes have, the first of equals."""
        return max(self.reasons, key=lambda reason: reason.nodes, default=None)


def parse_verdict(message: str) -> SchedulerVerdict | None:
    """Return the meaning of a FailedScheduling message; None if it has another form."""
    head = _HEAD.match(message)
    if head is None:
        return None
    body = message[head.end() :]
    for tail in _TAILS:
        body = body.split(tail, 1)[0]
    reasons = [_reason(part) for part in _parts(body.rstrip(". "))]
    found = tuple(reason for reason in reasons if reason is not None)[:_MAX_REASONS]
    return SchedulerVerdict(int(head[1]), int(head[2]), found)


def _parts(body: str) -> list[str]:
    """Split at commas before a count: taints in braces contain commas themselves."""
    return re.split(r", (?=\d{1,9} )", body)


def _reason(part: str) -> NodeReason | None:
    counted = _COUNTED.match(part.strip())
    if counted is None:
        return None
    resource = _RESOURCE.match(counted[2])
    return NodeReason(int(counted[1]), counted[2], resource[1] if resource else "")
