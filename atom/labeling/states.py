"""State machines of tasks, items and slots. Only actions change states, along these tables."""

from datetime import timedelta
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
LEFT_OUT: Final = "left_out"

ITEM_STATES: Final[dict[str, set[str]]] = {
    READY: {LABELING, BLOCKED, LEFT_OUT},
    LABELING: {READY, AUDIT, ACCEPTED, BLOCKED, LEFT_OUT},
    AUDIT: {ACCEPTED, REWORK, BLOCKED, LEFT_OUT},
    # Ready again: the person who should correct it has given it up.
    REWORK: {AUDIT, READY, BLOCKED, LEFT_OUT},
    # Left out: its picture was replaced before the publication.
    ACCEPTED: {PUBLISHED, BLOCKED, LEFT_OUT},
    PUBLISHED: set(),
    BLOCKED: set(),
    # Ready again: a researcher takes it back while the task still takes work.
    LEFT_OUT: {READY},
}
ITEM_FINISHED: Final = frozenset({ACCEPTED, PUBLISHED, BLOCKED, LEFT_OUT})

# --- work slots ---------------------------------------------------------------------------------

OPEN: Final = "open"
LEASED: Final = "leased"
SUBMITTED: Final = "submitted"
RETURNED: Final = "returned"
# The item was left out; the slot is handed to no one.
CLOSED: Final = "closed"

# A label slot ends ACCEPTED; an audit slot is SUBMITTED with its verdict and opens again
# when the returned work comes back.
SLOT_STATES: Final[dict[str, set[str]]] = {
    OPEN: {LEASED, CLOSED},
    LEASED: {OPEN, SUBMITTED, ACCEPTED, CLOSED},
    SUBMITTED: {ACCEPTED, RETURNED, OPEN},
    RETURNED: {SUBMITTED, OPEN, CLOSED},
    ACCEPTED: set(),
    CLOSED: {OPEN},
}
SLOT_FREE: Final = frozenset({OPEN, CLOSED})
# The labeler holds the slot. A returned one has no end: it is the same person's to correct.
SLOT_HELD: Final = frozenset({LEASED, RETURNED})

# The leases of a page that was left end after this, unless the person comes back.
LEFT_FOR: Final = timedelta(seconds=60)
# Three heartbeats that did not come: the page was killed, or its machine sleeps.
SILENT_AFTER: Final = timedelta(seconds=90)

LABEL_ROLE: Final = "label"
AUDIT_ROLE: Final = "audit"
ROLES: Final = (LABEL_ROLE, AUDIT_ROLE)

ACCEPT: Final = "accept"
RETURN: Final = "return"
VERDICTS: Final = (ACCEPT, RETURN)

# --- transfers of labels -------------------------------------------------------------------------

PENDING: Final = "pending"
INSPECTING: Final = "inspecting"
# Inspected: it shows counts and losses, and waits for a person.
WAITING: Final = "waiting"
CONFIRMED: Final = "confirmed"
WORKING: Final = "working"
DONE: Final = "done"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"

TRANSFER_STATES: Final[dict[str, set[str]]] = {
    PENDING: {INSPECTING, FAILED, CANCELLED},
    INSPECTING: {WAITING, CONFIRMED, FAILED, CANCELLED},
    WAITING: {CONFIRMED, FAILED, CANCELLED},
    CONFIRMED: {WORKING, FAILED, CANCELLED},
    # An import in this state is making its version.
    WORKING: {DONE, FAILED, CANCELLED},
    DONE: set(),
    FAILED: set(),
    CANCELLED: set(),
}
TRANSFER_OF_WORKERS: Final = (PENDING, INSPECTING, CONFIRMED, WORKING)
TRANSFER_ENDED: Final = frozenset({DONE, FAILED, CANCELLED})

# --- issues -------------------------------------------------------------------------------------

ISSUE_OPEN: Final = "open"
ISSUE_RESOLVED: Final = "resolved"
ISSUE_STATES: Final[dict[str, set[str]]] = {
    ISSUE_OPEN: {ISSUE_RESOLVED},
    ISSUE_RESOLVED: {ISSUE_OPEN},
}
