"""When a notification is mailed: at once, or with all others of a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from atom.notifications.events import DAILY

GIVEN_UP_AFTER_TRIES = 8
_FIRST_WAIT = timedelta(minutes=1)
# Names that zoneinfo knows and that are no place's, or another's on each machine.
_NO_PLACES = frozenset({"Factory", "localtime"})
_SUGGESTED = 3


@dataclass(frozen=True, slots=True)
class DailyTime:
    """When somebody's daily mail comes: at an hour (0 to 23) of the clocks of a time zone."""

    time_zone: str = "UTC"
    hour: int = 6


@cache
def time_zones() -> frozenset[str]:
    """Return the IANA names of all time zones; to find them takes a tenth of a second, once."""
    return frozenset(available_timezones() - _NO_PLACES)


def zones_like(name: str) -> list[str]:
    """Return the few zones that somebody may mean who wrote `europe/berlin`, or `new york`."""
    meant = "_".join(name.casefold().split())
    near = (one for one in time_zones() if f"/{one.casefold()}".endswith(f"/{meant}"))
    return sorted(near, key=lambda one: (len(one), one))[:_SUGGESTED] if meant else []


def first_mail_at(at: datetime, choice: str, daily: DailyTime) -> datetime:
    """Return when what happened at `at` (aware, UTC) is mailed first."""
    return next_daily_mail(at, daily) if choice == DAILY else at


def next_daily_mail(after: datetime, daily: DailyTime) -> datetime:
    """Return when, later than `after` (aware), the next daily mail is due, in UTC.

    Each day of the zone has one. Where clocks skip the hour, the mail comes as much later as they
    are set forward; of an hour that comes twice, the first counts (RFC 5545, 3.3.5).
    """
    zone = _zone(daily.time_zone)
    today = after.astimezone(zone).date()
    # Not only today's and tomorrow's: zones have changed to the other side of the date line.
    days = (today + timedelta(days=ahead) for ahead in (-1, 0, 1, 2))
    times = (datetime.combine(day, time(daily.hour), zone).astimezone(UTC) for day in days)
    return min(at for at in times if at > after)


def _zone(name: str) -> tzinfo:
    """Return the zone; one that is known no more must not hold up everybody's mail."""
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return UTC


def wait_after(tries: int) -> timedelta:
    """Return how long to wait after try number `tries` (from 1): one minute, doubled each time."""
    wait: timedelta = _FIRST_WAIT * (2 ** min(max(tries, 1) - 1, 10))
    return wait
