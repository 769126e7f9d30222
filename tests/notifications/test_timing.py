"""When the daily mail is due: once a day in its reader's hour, whatever the clocks there do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atom.notifications.engines.timing import (
    DailyTime,
    first_mail_at,
    next_daily_mail,
    time_zones,
    wait_after,
    zones_like,
)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def exists(clock: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks of the zone ever show this."""
    there = clock.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
    return there.replace(tzinfo=None) == clock


def day_of(mail: datetime, daily: DailyTime) -> datetime:
    """Return the day whose mail it is, as its hour by the clocks of the zone.

    It comes at that hour, the first time that clocks show it; if they skip it, after that.
    """
    zone = ZoneInfo(daily.time_zone)
    clock = mail.astimezone(zone)
    shown = clock.replace(tzinfo=None, fold=0)
    hour = shown.replace(hour=daily.hour, minute=0, second=0, microsecond=0)
    if shown == hour:
        assert clock.fold == 0
        return hour
    hour = hour if hour < shown else hour - timedelta(days=1)
    assert not exists(hour, zone)
    assert shown - hour <= timedelta(hours=2)
    return hour


@given(
    zone=st.sampled_from(sorted(time_zones())),
    hour=st.integers(0, 23),
    start=st.integers(0, 320_000).map(lambda hours: utc("2000-01-01") + timedelta(hours=hours)),
    between=st.floats(0, 0.99),
)
# An hour that is skipped, one that comes twice, half an hour, two hours, around midnight, a day.
@example("Europe/Berlin", 2, utc("2026-03-27"), 0.5)
@example("Europe/Berlin", 2, utc("2026-10-23"), 0.5)
@example("Australia/Lord_Howe", 2, utc("2026-10-01"), 0.5)
@example("Antarctica/Troll", 2, utc("2026-03-27"), 0.5)
@example("America/Nuuk", 23, utc("2026-03-26"), 0.5)
@example("America/Havana", 0, utc("2026-03-06"), 0.5)
@example("America/Havana", 0, utc("2026-10-30"), 0.5)
@example("Pacific/Apia", 6, utc("2011-12-28"), 0.5)
def test_every_day_has_one_daily_mail(
    zone: str, hour: int, start: datetime, between: float
) -> None:
    daily = DailyTime(zone, hour)
    mails = [next_daily_mail(start, daily)]
    for _ in range(40):
        mails.append(next_daily_mail(mails[-1], daily))
    assert mails[0] > start
    assert next_daily_mail(mails[0] - timedelta(microseconds=1), daily) == mails[0]
    for earlier, later in pairwise(mails):
        # Whatever happens between two mails is in the second.
        assert next_daily_mail(earlier + (later - earlier) * between, daily) == later
        day = day_of(earlier, daily) + timedelta(days=1)
        while day < day_of(later, daily):
            assert not exists(day, ZoneInfo(zone)), "a day without its mail"
            day += timedelta(days=1)
        assert day == day_of(later, daily), "a day with two mails"


@pytest.mark.parametrize(
    ("zone", "hour", "after", "due"),
    [
        ("UTC", 6, "2026-03-04T05:59", "2026-03-04T06:00"),
        ("UTC", 6, "2026-03-04T06:00", "2026-03-05T06:00"),
        ("Asia/Shanghai", 6, "2026-03-04T21:59", "2026-03-04T22:00"),
        ("America/New_York", 6, "2026-01-10T02:00", "2026-01-10T11:00"),
        # There is no 02:00 on this day, and there are two on that one.
        ("Europe/Berlin", 2, "2026-03-28T12:00", "2026-03-29T01:00"),
        ("Europe/Berlin", 2, "2026-03-29T01:00", "2026-03-30T00:00"),
        ("Europe/Berlin", 2, "2026-10-24T12:00", "2026-10-25T00:00"),
        ("Europe/Berlin", 2, "2026-10-25T00:00", "2026-10-26T01:00"),
        # This island had no 30 December.
        ("Pacific/Apia", 6, "2011-12-29T16:00", "2011-12-30T16:00"),
        # A zone that the machine does not know (any more).
        ("Mars/Olympus", 6, "2026-03-04T05:59", "2026-03-04T06:00"),
    ],
)
def test_the_next_daily_mail(zone: str, hour: int, after: str, due: str) -> None:
    assert next_daily_mail(utc(after), DailyTime(zone, hour)) == utc(due)


def test_what_is_mailed_at_once_waits_for_no_hour() -> None:
    at, daily = utc("2026-03-04T05:00"), DailyTime()
    assert first_mail_at(at, "now", daily) == at
    assert first_mail_at(at, "daily", daily) == utc("2026-03-04T06:00")
    assert [wait_after(tries).total_seconds() for tries in (1, 2, 3)] == [60, 120, 240]


def test_zones_have_the_names_that_browsers_give_and_no_others() -> None:
    old_and_new = {"UTC", "Asia/Shanghai", "Asia/Calcutta", "Asia/Kolkata", "Europe/Kyiv"}
    assert old_and_new <= time_zones()
    assert time_zones().isdisjoint({"Factory", "localtime", "posixrules", "", "europe/berlin"})
    assert zones_like("europe/berlin") == ["Europe/Berlin"]
    assert zones_like(" new  york ") == ["America/New_York"]
    assert zones_like("utc")[0] == "UTC"
    assert zones_like("") == zones_like("Olympus") == []
