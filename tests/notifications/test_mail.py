"""Notifications by mail: as chosen, again after a failure, never to who may not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db.models import F
from django.test import Client

from atom.accounts.events import notify_owner
from atom.accounts.models import Project, RoleBinding, User
from atom.core import outbox
from atom.notifications.actions import fan_out, mailing, reading
from atom.notifications.actions.reading import change_preferences, unsubscribe_token
from atom.notifications.models import Notification, Preference
from tests.factories.accounts import make_member, make_project
from tests.notifications.smtp import MailServer, mail_server

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    backend = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server() as found:
        for name, value in {
            "ATOM_SENDS_MAIL": True,
            "EMAIL_BACKEND": backend,
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": found.port,
            "EMAIL_USE_TLS": False,
            "EMAIL_USE_SSL": False,
        }.items():
            monkeypatch.setattr(settings, name, value)
        yield found


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def ada(project: Project) -> User:
    user = make_member(project, "researcher", "ada")
    User.objects.filter(pk=user.pk).update(email="ada@example.org", language="zh")
    user.refresh_from_db()
    return user


def give_back(project: Project, user: User, task: str) -> None:
    data = {"task": task, "name": "cats", "items": 1}
    outbox.emit(project.pk, "label_task.returned", people=[user.pk], subject=task, **data)
    fan_out.tick()


def test_what_comes_about_a_thing_is_mailed_to_who_wants_it_by_now(
    place: MailServer, project: Project, ada: User
) -> None:
    task = str(uuid4())
    for mail in ("never", "now", "now"):
        change_preferences(ada, [{"topic": "labeling", "mail": mail}])
        give_back(project, ada, task)
        mailing.mail_person(ada.pk)
    # Unread, it is one and is mailed once.
    assert len(place.mails) == 1


def fail(project: Project, user: User, **data: Any) -> None:
    said = {"run": str(uuid4()), "name": "größer", "failure_class": "OOM_HOST", **data}
    outbox.emit(project.pk, "run.failed", people=[user.pk], subject=said["run"], **said)
    fan_out.tick()


def parts_of(mail: Any) -> tuple[str, str]:
    return (
        mail.get_body(("plain",)).get_content(),
        mail.get_body(("html",)).get_content(),
    )


def test_a_failed_run_is_mailed_in_the_readers_language(
    place: MailServer, project: Project, ada: User
) -> None:
    fail(project, ada, name="<b>größer</b>")
    assert mailing.mail_person(ada.pk)
    assert not mailing.mail_person(ada.pk)
    (mail,) = place.mails
    assert mail["To"] == "ada@example.org"
    assert mail["Subject"].strip() == "运行 <b>größer</b> 失败：内存不足"
    text, html = parts_of(mail)
    row = Notification.objects.get()
    assert f"{settings.ATOM_PUBLIC_URL}/runs/{row.subject}?project=vision" in text
    assert "&lt;b&gt;größer" in html
    assert "<b>" not in html
    assert row.mailed_at is not None
    assert row.mail_at is None


def test_one_click_ends_the_mails_of_a_topic_without_signing_in(
    place: MailServer, project: Project, ada: User
) -> None:
    fail(project, ada)
    mailing.mail_person(ada.pk)
    (mail,) = place.mails
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = mail["List-Unsubscribe"].strip(" <>").removeprefix(settings.ATOM_PUBLIC_URL)
    client = Client(enforce_csrf_checks=True)
    assert client.get(link).status_code == 405
    for _ in range(2):
        answer = client.post(link, "List-Unsubscribe=One-Click", content_type=FORM)
        assert (answer.status_code, answer.json()) == (200, {"topic": "run_failed"})
    assert Preference.objects.get().mail == "never"
    fail(project, ada)
    assert Notification.objects.filter(mail_at__isnull=False).count() == 0
    for wrong in (link[:-2] + "/", link.replace(".", "x"), *_foreign(ada)):
        assert client.post(wrong).status_code == 404


def _foreign(user: User) -> list[str]:
    base = "/api/v1/notifications/unsubscribe/"
    fixed, unknown = (unsubscribe_token(user.pk, topic) for topic in ("security", "x"))
    return [f"{base}{fixed}/", f"{base}{unknown}/", f"{base}{unsubscribe_token(uuid4(), 'audit')}/"]


def test_what_a_server_refuses_is_tried_again_under_the_same_id(
    place: MailServer, project: Project, ada: User
) -> None:
    fail(project, ada)
    place.refuses = True
    assert not mailing.mail_person(ada.pk)
    place.refuses = False
    assert not mailing.mail_person(ada.pk), "it is not due yet"
    row = Notification.objects.get()
    assert (row.mail_tries, row.mailed_at) == (1, None)
    Notification.objects.update(mail_at=F("at"))
    assert mailing.mail_person(ada.pk)
    # As if the worker had been killed before it noted the answer.
    Notification.objects.update(mail_at=F("at"), mailed_at=None)
    mailing.mail_person(ada.pk)
    assert len({mail["Message-ID"] for mail in place.mails}) == 1
    assert len(place.mails) == 2
    Notification.objects.update(mail_at=F("at"), mail_tries=8)
    assert not mailing.mail_person(ada.pk)
    assert Notification.objects.get().mail_at is None


def test_what_a_day_brought_is_one_mail(place: MailServer, project: Project, ada: User) -> None:
    change_preferences(ada, [{"topic": "run_failed", "mail": "daily"}])
    for number in range(3):
        fail(project, ada, name=f"run {number}")
    assert not mailing.mail_person(ada.pk)
    Notification.objects.update(mail_at=F("at"))
    assert mailing.mail_person(ada.pk)
    (mail,) = place.mails
    assert mail["Subject"].strip() == "Atom 的 3 条通知"
    assert all(f"run {number}" in parts_of(mail)[0] for number in range(3))


def test_nobody_is_mailed_of_a_project_that_they_have_left(
    place: MailServer, project: Project, ada: User
) -> None:
    fail(project, ada)
    RoleBinding.objects.filter(user=ada).delete()
    assert not mailing.mail_person(ada.pk)
    assert place.mails == []
    assert Notification.objects.get().mail_at is None


def test_what_was_read_is_not_mailed_but_for_what_concerns_safety(
    place: MailServer, project: Project, ada: User
) -> None:
    fail(project, ada)
    notify_owner(ada, "account.password_changed")
    fan_out.tick()
    Notification.objects.update(read_at=F("at"))
    assert mailing.mail_person(ada.pk)
    (mail,) = place.mails
    assert mail["Subject"].strip() == "您的密码已更改"
    assert mail["List-Unsubscribe"] is None


def test_without_an_address_or_a_mail_server_nothing_waits(
    project: Project, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(project, ada)
    monkeypatch.setattr(settings, "ATOM_SENDS_MAIL", True)
    User.objects.update(email="")
    fail(project, ada)
    assert list(Notification.objects.values_list("mail_at", flat=True)) == [None, None]


def test_two_pages_change_preferences_one_after_the_other(ada: User) -> None:
    change_preferences(ada, [{"topic": "mention", "mail": "daily"}])
    change_preferences(ada, [{"topic": "mention", "in_app": False}])
    found = reading.preferences_of(ada)["mention"]
    assert (found.in_app, found.mail) == (False, "daily")
