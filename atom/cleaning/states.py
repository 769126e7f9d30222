"""States of a cleaning report."""

from typing import Final

PENDING: Final = "pending"
MEASURING: Final = "measuring"
COMPARING: Final = "comparing"
READY: Final = "ready"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"

# A version whose images were all measured before goes from PENDING to COMPARING.
REPORT_STATES: Final[dict[str, set[str]]] = {
    PENDING: {MEASURING, COMPARING, FAILED, CANCELLED},
    MEASURING: {COMPARING, FAILED, CANCELLED},
    COMPARING: {READY, FAILED, CANCELLED},
    READY: set(),
    FAILED: set(),
    CANCELLED: set(),
}
OPEN: Final = (PENDING, MEASURING, COMPARING)
