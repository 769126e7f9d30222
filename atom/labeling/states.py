"""Who may become what: tasks, items and slots. Only actions move them, along these tables."""

from typing import Final

# --- label tasks --------------------------------------------------------------------------------

DRAFT: Final = "draft"
ACTIVE: Final = "active"
PAUSED: Final = "paused"
COMPLETED: Final = "completed"
PUBLISHING: Final = "publishing"
PUBLISHED: Final = "published"

TASK_STATES: Final[dict[str, set[str]]] = {
    DRAFT: {ACTIVE},
    ACTIVE: {PAUSED, COMPLETED, PUBLISHING},
    PAUSED: {ACTIVE, COMPLETED, PUBLISHING},
    COMPLETED: {PUBLISHING},
    # A publication that failed puts the task back to where it can be asked again.
    PUBLISHING: {PUBLISHED, PAUSED, COMPLETED},
    PUBLISHED: set(),
}
# Work that was handed out may still come in while no new work is handed out.
TASK_TAKES_WORK: Final = frozenset({ACTIVE, PAUSED})

# --- work items ---------------------------------------------------------------------------------

READY: Final = "ready"
LABELING: Final = "labeling"
AUDIT: Final = "audit"
REWORK: Final = "rework"
ACCEPTED: Final = "accepted"
BLOCKED: Final = "blocked"

ITEM_STATES: Final[dict[str, set[str]]] = {
    READY: {LABELING, BLOCKED},
    LABELING: {READY, AUDIT, ACCEPTED, BLOCKED},
    AUDIT: {ACCEPTED, REWORK, BLOCKED},
    # Ready again: the person who should correct it has given it up.
    REWORK: {AUDIT, READY, BLOCKED},
    ACCEPTED: {PUBLISHED, BLOCKED},
    PUBLISHED: set(),
    BLOCKED: set(),
}
ITEM_FINISHED: Final = frozenset({ACCEPTED, PUBLISHED, BLOCKED})

# --- work slots ---------------------------------------------------------------------------------

OPEN: Final = "open"
LEASED: Final = "leased"
SUBMITTED: Final = "submitted"
RETURNED: Final = "returned"

# A label slot ends ACCEPTED; an audit slot is SUBMITTED with its verdict and opens again
# when the returned work comes back.
SLOT_STATES: Final[dict[str, set[str]]] = {
    OPEN: {LEASED},
    LEASED: {OPEN, SUBMITTED, ACCEPTED},
    SUBMITTED: {ACCEPTED, RETURNED, OPEN},
    RETURNED: {SUBMITTED, OPEN},
    ACCEPTED: set(),
}
# The labeler holds the slot. A returned one has no end: it is the same person's to correct.
SLOT_HELD: Final = frozenset({LEASED, RETURNED})

LABEL_ROLE: Final = "label"
AUDIT_ROLE: Final = "audit"
ROLES: Final = (LABEL_ROLE, AUDIT_ROLE)

ACCEPT: Final = "accept"
RETURN: Final = "return"
VERDICTS: Final = (ACCEPT, RETURN)
