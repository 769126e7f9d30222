"""The price of a replica: once for the bytes that move, and each month for those that stay."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

_GIB = Decimal(1 << 30)


@dataclass(frozen=True, slots=True)
class Fees:
    """Prices per GiB: leaving Atom's own store, writing, keeping a month; None: unknown."""

    egress: Decimal | None
    write: Decimal | None
    keep_month: Decimal | None
    currency: str


@dataclass(frozen=True, slots=True)
class Cost:
    """Prices of a replica; None where a fee is unknown."""

    once: Decimal | None
    per_month: Decimal | None
    currency: str


def cost_of(fees: Fees, bytes_to_copy: int, bytes_total: int) -> Cost:
    """Return the price of copying bytes now and of keeping all of them.

    A copy costs nothing that is unknown where nothing is copied.
    """
    moving = [fees.egress, fees.write]
    once: Decimal | None = None
    if bytes_to_copy == 0:
        once = Decimal(0)
    elif None not in moving:
        once = _price(sum((fee for fee in moving if fee is not None), Decimal(0)), bytes_to_copy)
    per_month = None if fees.keep_month is None else _price(fees.keep_month, bytes_total)
    return Cost(once, per_month, fees.currency)


def _price(fee: Decimal, size_bytes: int) -> Decimal:
    return (fee * size_bytes / _GIB).quantize(Decimal("0.000001"))
