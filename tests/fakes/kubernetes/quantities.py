"""Quantities such as 500m, 2 and 256Gi."""

from __future__ import annotations

import re
from typing import Any

_QUANTITY = re.compile(r"([0-9.]+)([a-zA-Z]*)$")
_UNITS = {
    "": 1.0,
    "m": 0.001,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
}


def parse_quantity(value: Any) -> int:
    """Return a quantity in thousandths of its unit."""
    match = _QUANTITY.match(str(value))
    if match is None or match[2] not in _UNITS:
        raise ValueError(f"no quantity: {value!r}")
    return round(float(match[1]) * _UNITS[match[2]] * 1000)


def show_quantity(thousandths: int) -> str:
    """Return thousandths as a quantity."""
    whole, rest = divmod(thousandths, 1000)
    return f"{thousandths}m" if rest else str(whole)
