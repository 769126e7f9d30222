"""Plans that start at times: the newest version, and only the packs that are missing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from atom.accounts.models import RoleBinding, User
from atom.cache.agents.actions.coverage import sized_packs
from atom.cache.agents.actions.schedules import (
    ScheduleOptions,
    create_schedule,
    pause_schedule,
    resume_schedule,
    start_due,
)
from atom.cache.agents.actions.work import WorkReport, work
from atom.cache.engines.cron import CronError, next_time
from atom.cache.models import NodeAgent, WarmPlan, WarmSchedule
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.models import Version
from tests.cache.agents.test_work import ended, make_agent
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "zone", "after", "time"),
    [
        ("0 3 * * *", "UTC", "2026-11-28 03:00", "2026-11-29 03:00"),
        ("0 3 * * *", "Europe/Berlin", "2026-11-28 01:00", "2026-11-28 02:00"),
        ("*/5 * * * mon-fri", "UTC", "2026-11-28 12:00", "2026-11-30 00:00"),
        # 02:30 does not exist on this night, and comes twice on the other.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28 12:00", "2026-03-29 01:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25 00:30", "2026-10-26 01:30"),
    ],
)
def test_times_of_cron_in_a_zone(cron: str, zone: str, after: str, time: str) -> None:
    assert next_time(cron, zone, utc(after)) == utc(time)


@pytest.mark.parametrize(
    "cron", ["", "* * * *", "0 0 0 * * *", "61 * * * *", "0 0 31 2 *", "@daily", "a b c d e"]
)
def test_what_is_no_schedule_is_refused(cron: str) -> None:
    with pytest.raises(CronError):
        next_time(cron, "UTC", utc("2026-01-01"))


@pytest.fixture
def cluster(pusher: Pusher) -> Cluster:
    return Cluster.objects.create(name="west", kind="kubernetes", server="https://west")


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


@pytest.fixture
def owner(version: Version) -> User:
    return make_member(version.dataset.project, "researcher")


@pytest.fixture
def schedule(cluster: Cluster, version: Version, owner: User) -> WarmSchedule:
    options = ScheduleOptions("main", "0 3 * * *", copies=1, deadline_s=3600, keep_s=86_400)
    return create_schedule(version.dataset, cluster, options, owner)


def make_due(schedule: WarmSchedule, ago: timedelta = timedelta(seconds=1)) -> None:
    WarmSchedule.objects.filter(pk=schedule.pk).update(next_at=clock.now() - ago)


def bring_all(agent: NodeAgent) -> set[str]:
    fetches: list[dict[str, Any]] = work(agent, WorkReport(64))["fetches"]
    work(agent, WorkReport(0, done=[ended(fetch) for fetch in fetches]))
    return {fetch["pack"] for fetch in fetches}


def test_each_time_brings_what_changed(
    schedule: WarmSchedule, cluster: Cluster, version: Version, pusher: Pusher
) -> None:
    agent = make_agent(cluster, "n1")
    assert start_due() == 0
    make_due(schedule, timedelta(days=30))
    # Times that were missed count once.
    assert (start_due(), start_due()) == (1, 0)
    schedule.refresh_from_db()
    assert schedule.next_at is not None
    assert schedule.next_at > clock.now()
    first = WarmPlan.objects.get()
    assert (schedule.last_plan, first.schedule, first.version) == (first, schedule, version)
    assert first.deadline is not None
    assert first.keep_until is not None
    assert bring_all(agent) == {pack for pack, _ in sized_packs(version)}
    pusher.push({"more/a.txt": b"more"})
    # Another node has more room, and less of the data.
    make_agent(cluster, "n0", free_bytes=1 << 50)
    make_due(schedule)
    assert start_due() == 1
    second = WarmPlan.objects.exclude(pk=first.pk).get()
    assert second.version.number == 2
    assert second.parts.get().node == agent.node
    newest = {pack for pack, _ in sized_packs(second.version)}
    assert bring_all(agent) == newest - {pack for pack, _ in sized_packs(version)}
    second.refresh_from_db()
    assert second.state == "done"


def test_plans_do_not_pile_up(schedule: WarmSchedule, cluster: Cluster) -> None:
    make_agent(cluster, "n1")
    make_due(schedule)
    assert start_due() == 1
    make_due(schedule)
    assert start_due() == 0
    schedule.refresh_from_db()
    assert schedule.error.code == "cache.schedule_still_runs"
    WarmPlan.objects.update(state="done")
    make_due(schedule)
    assert start_due() == 1
    schedule.refresh_from_db()
    assert schedule.error == ""


def test_a_time_without_a_plan_says_why(schedule: WarmSchedule, owner: User) -> None:
    make_due(schedule)
    assert start_due() == 0
    schedule.refresh_from_db()
    assert schedule.error.code == "cache.too_few_agents"
    RoleBinding.objects.filter(user=owner).delete()
    make_due(schedule)
    assert start_due() == 0
    User.objects.filter(pk=owner.pk).update(is_active=False)
    make_due(schedule)
    assert start_due() == 0
    schedule.refresh_from_db()
    assert schedule.error.code == "cache.schedule_without_owner"
    assert not WarmPlan.objects.exists()


def test_a_paused_schedule_starts_nothing(
    schedule: WarmSchedule, cluster: Cluster, owner: User
) -> None:
    make_agent(cluster, "n1")
    make_due(schedule)
    pause_schedule(schedule, owner)
    assert start_due() == 0
    resume_schedule(schedule, owner)
    assert schedule.next_at is not None
    assert schedule.next_at > clock.now()
    assert start_due() == 0
