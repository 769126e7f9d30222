"""The daily mail at its reader's own time; no change of it loses a mail, or sends one twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from rest_framework.test import APIClient

from atom.accounts.models import Project, User
from atom.core import outbox
from atom.core.clock import now
from atom.notifications.actions import fan_out, mailing
from atom.notifications.actions.reading import change_preferences
from atom.notifications.engines.timing import DailyTime, next_daily_mail
from atom.notifications.models import MailTime, Notification, Preference
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db
AT = "/api/v1/notifications/preferences/"
# Never 06:00 UTC, summer or winter.
BERLIN = {"time_zone": "Europe/Berlin", "hour": 20}


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def ada(project: Project, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(settings, "ATOM_SENDS_MAIL", True)
    monkeypatch.setattr(settings, "EMAIL_BACKEND", "django.core.mail.backends.locmem.EmailBackend")
    user = make_member(project, "researcher", "ada")
    User.objects.filter(pk=user.pk).update(email="ada@example.org")
    user.refresh_from_db()
    return user


def as_(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def change(user: User, **body: Any) -> Any:
    return as_(user).patch(AT, body, format="json")


def happen(project: Project, user: User, kind: str = "label_task.started") -> Notification:
    """Tell somebody of something, of a topic that is mailed daily if they chose nothing."""
    outbox.emit(project.pk, kind, people=[user.pk], subject=str(uuid4()), task=str(uuid4()))
    fan_out.tick()
    return Notification.objects.latest("created_at")


def test_the_daily_mail_comes_at_six_utc_until_its_reader_chooses(
    project: Project, ada: User
) -> None:
    shown = as_(ada).get(AT).json()["daily"]
    assert (shown["time_zone"], shown["hour"]) == ("UTC", 6)
    assert shown["next_at"].endswith("T06:00:00Z")
    assert change(ada, daily=BERLIN).json()["daily"].items() >= BERLIN.items()
    assert change(ada, daily={"hour": 9}).json()["daily"].items() >= {**BERLIN, "hour": 9}.items()
    row = happen(project, ada)
    assert row.mail_at == next_daily_mail(row.at, DailyTime("Europe/Berlin", 9))
    shown = as_(ada).get(AT).json()["daily"]
    assert datetime.fromisoformat(shown["next_at"]) == row.mail_at
    other = make_member(project, "researcher", "bo")
    assert as_(other).get(AT).json()["daily"]["time_zone"] == "UTC"


def test_a_change_takes_what_waits_along_and_mails_it_once(project: Project, ada: User) -> None:
    waiting = [happen(project, ada) for _ in range(2)]
    at_once = happen(project, ada, "run.failed")
    tried, due = happen(project, ada), happen(project, ada)
    Notification.objects.filter(pk=tried.pk).update(mail_tries=1)
    Notification.objects.filter(pk=due.pk).update(mail_at=due.at)
    before = {row.pk: row.mail_at for row in Notification.objects.all()}
    for daily in (BERLIN, {"time_zone": "Pacific/Kiritimati", "hour": 23}, {"hour": 0}):
        assert change(ada, daily=daily).status_code == 200
    new = next_daily_mail(now(), DailyTime("Pacific/Kiritimati", 0))
    after = {row.pk: row.mail_at for row in Notification.objects.all()}
    assert {after[row.pk] for row in waiting} == {new}
    assert all(after[row.pk] == before[row.pk] for row in (at_once, tried, due))
    Notification.objects.update(mail_at=due.at)
    assert [mailing.mail_person(ada.pk) for _ in range(2)] == [True, False]
    change(ada, daily=BERLIN)
    assert not Notification.objects.exclude(mail_at=None).exists(), "what was mailed is not again"


@pytest.mark.django_db(transaction=True)
def test_what_is_told_while_the_time_changes_comes_at_the_new_one(
    project: Project, ada: User
) -> None:
    outbox.emit(project.pk, "label_task.started", people=[ada.pk], subject=uuid4(), task="x")

    def tell() -> None:
        fan_out.tick()
        connection.close()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            change_preferences(ada, [], BERLIN)
            told = other.submit(tell)
            while not (told.done() or someone_waits_for_a_lock()):
                pass
        told.result()
    row = Notification.objects.get()
    assert row.mail_at == next_daily_mail(row.at, DailyTime("Europe/Berlin", 20))


def someone_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
        return cursor.fetchone() is not None


def test_the_same_again_changes_nothing(project: Project, ada: User) -> None:
    change(ada, daily=BERLIN)
    row, kept = happen(project, ada), MailTime.objects.get()
    odd = row.at + timedelta(hours=30)
    Notification.objects.update(mail_at=odd)
    assert change(ada, daily=BERLIN).status_code == 200
    assert Notification.objects.get().mail_at == odd
    assert MailTime.objects.get().updated_at == kept.updated_at


@pytest.mark.parametrize(
    ("daily", "code"),
    [
        ({"time_zone": "Mars/Olympus"}, "not_a_time_zone"),
        ({"time_zone": "europe/berlin"}, "not_a_time_zone"),
        ({"time_zone": "../../etc/passwd"}, "not_a_time_zone"),
        ({"time_zone": "America"}, "not_a_time_zone"),
        ({"time_zone": "Factory"}, "not_a_time_zone"),
        ({"time_zone": "x" * 65}, "max_length"),
        ({"time_zone": ""}, "blank"),
        ({"time_zone": None}, "null"),
        ({"time_zone": 3}, "not_text"),
        ({"hour": 24}, "max_value"),
        ({"hour": -1}, "min_value"),
        ({"hour": 6.5}, "not_an_integer"),
        ({"hour": True}, "not_an_integer"),
        ({"hour": None}, "null"),
        ({"minute": 5}, "unknown_field"),
    ],
)
def test_what_is_no_time_of_a_day_is_refused(ada: User, daily: Any, code: str) -> None:
    answer = change(ada, daily=daily)
    assert answer.status_code == 400
    (name,) = daily
    assert [one["code"] for one in answer.json()["error_codes"][f"daily.{name}"]] == [code]
    assert not MailTime.objects.exists()


def test_a_zone_that_is_spelled_otherwise_is_named(ada: User) -> None:
    said = change(ada, daily={"time_zone": "new york"}).json()["errors"]["daily.time_zone"]
    assert said == ["There is no such time zone. Give America/New_York."]


def test_what_changes_nothing_and_what_is_half_wrong_is_refused_as_a_whole(ada: User) -> None:
    nothing: list[dict[str, Any]] = [
        {}, {"daily": {}}, {"daily": None}, {"daily": "06:00"}, {"daily": [6]},
    ]  # fmt: skip
    for body in nothing:
        assert change(ada, **body).status_code == 400
    fixed = {"topics": [{"topic": "security", "mail": "never"}], "daily": BERLIN}
    assert change(ada, **fixed).json()["code"] == "topic_fixed"
    assert not MailTime.objects.exists()
    both = {"topics": [{"topic": "audit", "mail": "never"}], "daily": BERLIN}
    assert change(ada, **both).json()["daily"].items() >= BERLIN.items()
    assert Preference.objects.get().mail == "never"


def test_a_zone_that_is_known_no_more_holds_up_nobodys_mail(project: Project, ada: User) -> None:
    MailTime.objects.create(user=ada, time_zone="Mars/Olympus", hour=5)
    row = happen(project, ada)
    assert row.mail_at == next_daily_mail(row.at, DailyTime("UTC", 5))
    assert as_(ada).get(AT).json()["daily"]["time_zone"] == "Mars/Olympus"


def test_the_database_refuses_an_hour_that_no_day_has(ada: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        MailTime.objects.create(user=ada, time_zone="UTC", hour=24)
