"""Times of a schedule: five fields of cron, read in a time zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_FIELDS = 5


class CronError(ValueError):
    """A text is no schedule, or its time never comes."""


def next_time(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first time after `after`, which has a zone.

    A time that the clocks skip in spring comes right after the gap; one that comes twice in
    autumn comes once. Raises CronError.
    """
    if len(cron.split()) != _FIELDS:
        raise CronError(cron)
    try:
        times = CronSim(cron, after.astimezone(ZoneInfo(timezone)))
        return next(times).astimezone(after.tzinfo)
    except (CronSimError, StopIteration, ValueError, TypeError, AssertionError) as error:
        raise CronError(cron) from error
