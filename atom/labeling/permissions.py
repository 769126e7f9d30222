"""Rights in a label task: the single rule for views, pages, overview and mails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from atom.accounts.models import RANK
from atom.labeling import states

LABEL: Final = "label"
AUDIT: Final = "audit"
START: Final = "start"
PAUSE: Final = "pause"
PUBLISH: Final = "publish"
SETTLE_SKIPPED: Final = "settle_skipped"
CONTINUE: Final = "continue"
CHANGE: Final = "change"

# Labelers do not pass each other's work, so an audit needs more.
ROLE_FOR: Final[Mapping[str, str]] = {
    LABEL: "labeler",
    AUDIT: "researcher",
    START: "researcher",
    PAUSE: "researcher",
    PUBLISH: "researcher",
    SETTLE_SKIPPED: "researcher",
    CONTINUE: "researcher",
    CHANGE: "researcher",
}
ACTIONS: Final = tuple(ROLE_FOR)
STATES_FOR: Final[Mapping[str, frozenset[str]]] = {
    LABEL: frozenset({states.ACTIVE}),
    AUDIT: frozenset({states.ACTIVE}),
    START: frozenset({states.DRAFT, states.PAUSED}),
    PAUSE: frozenset({states.ACTIVE}),
    PUBLISH: frozenset({states.ACTIVE, states.PAUSED, states.COMPLETED}),
    SETTLE_SKIPPED: states.TASK_TAKES_WORK,
    CONTINUE: frozenset({states.PUBLISHED}),
    CHANGE: states.TASK_TAKES_WORK | {states.DRAFT},
}


def may(role: str | None, action: str) -> bool:
    """Return whether somebody with this role in the project may do this at all."""
    return role is not None and RANK[role] >= RANK[ROLE_FOR[action]]


def is_offered(role: str | None, action: str, task_state: str) -> bool:
    """Return whether the action is this person's, and possible in this state of the task."""
    return may(role, action) and task_state in STATES_FOR[action]
