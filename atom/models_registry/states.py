"""State of the registry's look at a finished run."""

from typing import Final

PENDING: Final = "pending"
DONE: Final = "done"
FAILED: Final = "failed"

INTAKE_STATES: Final[dict[str, set[str]]] = {
    PENDING: {DONE, FAILED},
    DONE: set(),
    FAILED: {PENDING},
}
