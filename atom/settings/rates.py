"""How often something may happen, as a setting spells it: `100/s:500`, `2/min:10` or `off`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

_UNITS_S = {"s": 1, "min": 60, "h": 3600}
_RATE = re.compile(r"(\d{1,7})/(s|min|h)(?::(\d{1,7}))?")


@dataclass(frozen=True)
class Rate:
    """`count` in every `period_s`, and up to `burst` of them at once; a burst of 0 is no limit."""

    count: int
    period_s: int
    burst: int

    @property
    def interval_us(self) -> int:
        """After how many microseconds one more is allowed."""
        return max(1, self.period_s * 1_000_000 // self.count)


NO_LIMIT = Rate(1, 1, 0)


def parse_rate(text: object) -> Rate:
    """Read a rate. Without `:burst` as many come at once as the rate names. Raises ValueError."""
    if isinstance(text, Rate):
        return text
    if str(text).strip().lower() == "off":
        return NO_LIMIT
    found = _RATE.fullmatch(str(text).strip())
    count, burst = (int(found[1]), int(found[3] or found[1])) if found else (0, 0)
    if found is None or not count or not burst:
        raise ValueError(f"{text!r} is no rate: write 100/s:500, 10/min, 2/min:10 or off.")
    return Rate(count, _UNITS_S[found[2]], burst)


# Not JSON, as pydantic would read a dataclass from the environment.
RateSetting = Annotated[Rate, NoDecode, BeforeValidator(parse_rate)]
