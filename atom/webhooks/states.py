"""States of deliveries, as a table."""

from __future__ import annotations

from typing import Final

PENDING: Final = "pending"
DELIVERED: Final = "delivered"
FAILED: Final = "failed"

# Back to pending: somebody asked for it again.
DELIVERY_STATES: Final[dict[str, frozenset[str]]] = {
    PENDING: frozenset({DELIVERED, FAILED}),
    DELIVERED: frozenset({PENDING}),
    FAILED: frozenset({PENDING}),
}

# Why a webhook is switched off; "" while it is on.
BY_PERSON: Final = "person"
BY_FAILURE: Final = "failing"
BY_GONE: Final = "gone"
OFF_REASONS: Final = (BY_PERSON, BY_FAILURE, BY_GONE)
