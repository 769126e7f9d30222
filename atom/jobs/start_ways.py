"""When a run starts relative to its data.

`data_there`: all bytes are on its nodes first. `share`: so many percent of them are. `now`: at
once; the command reads the rest as a stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DATA_THERE: Final = "data_there"
SHARE: Final = "share"
NOW: Final = "now"
START_WAYS: Final = (DATA_THERE, SHARE, NOW)
# The percentages of SHARE: 0 is NOW, 100 is DATA_THERE.
LEAST_PERCENT: Final = 1
MOST_PERCENT: Final = 99


@dataclass(frozen=True, slots=True)
class StartWay:
    """A way to start; `percent` is of the bytes, and of SHARE alone."""

    when: str
    percent: int | None = None

    @property
    def share(self) -> int:
        """Return the percentage of the bytes that is on each node before the start."""
        if self.when == DATA_THERE:
            return 100
        return (self.percent or 0) if self.when == SHARE else 0
