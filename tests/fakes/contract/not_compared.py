"""What the replay does not compare, and why."""

from __future__ import annotations

_FLOW = "priority levels belong to the real server's flow control; a fault answers 429 instead"
_BUDGET = "how long a disruption controller takes is chance"
_DRA = "the scheduler allocates devices; its objects are played in"
_CEL = "the device selectors' own compiler and its messages are not implemented"

NOT_COMPARED: dict[tuple[str, str, str], str] = {}
