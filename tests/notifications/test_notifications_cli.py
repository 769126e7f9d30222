"""`atom notifications` against the real API."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner
from django.conf import settings

from atom.accounts.actions import create_token
from atom.accounts.models import Project, User
from atom.core import outbox
from atom.notifications.actions import fan_out
from atom.notifications.events import MAIL_CHOICES
from atom.notifications.events import TOPICS as OF_THE_SERVER
from atom.notifications.models import Notification
from atom_sdk.cli import notifications
from atom_sdk.cli.context import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_USAGE, Context, exit_code_of
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, NotificationNotFoundError
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def ada(project: Project) -> User:
    return make_member(project, "researcher", "ada")


@pytest.fixture
def run_text(live_server: Any, ada: User, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command as Ada; returns what it writes."""
    # Output of any width, as in a pipe; the processes of the test runner set one.
    monkeypatch.delenv("COLUMNS", raising=False)
    secret = create_token(ada, "cli", ["write"]).secret

    def run(*words: str) -> str:
        context = Context()
        with Client(live_server.url, secret) as client:
            context._client = client
            done = CliRunner().invoke(
                cli, ["notifications", *words], obj=context, standalone_mode=False
            )
        if done.exception is not None:
            # Keep its output from before the failure.
            done.exception.add_note(done.stdout)
            raise done.exception
        return done.stdout

    return run


@pytest.fixture
def run(run_text: Any) -> Any:
    """Run a command as Ada; returns its JSON."""
    return lambda *words: json.loads(run_text(*words, "--json"))


def happen(project: Project, user: User, kind: str, **data: Any) -> str:
    outbox.emit(project.pk, kind, people=[user.pk], subject=str(uuid4()), **data)
    fan_out.tick()
    return str(Notification.objects.latest("created_at").pk)


def test_what_one_was_told_is_listed_newest_first_and_marked(
    project: Project, ada: User, run: Any, run_text: Any
) -> None:
    failed = happen(project, ada, "run.failed", name="digits\x1b[31m", failure_class="OOM_HOST")
    done = happen(project, ada, "run.succeeded", name="digits")
    strange = happen(project, make_member(project), "run.failed")
    assert [row["id"] for row in run()] == [row["id"] for row in run("ls")] == [done, failed]
    assert run("--limit", "1") == run("ls", "-n", "1") == run()[:1]
    assert [row["id"] for row in run("--topic", "run_failed")] == [failed]
    first, second = (line.rstrip() for line in run_text().splitlines()[1:])
    assert first.split()[:1] == [done]
    assert first.endswith("Run digits succeeded")
    assert " unread " in first
    # Nothing that a terminal would obey.
    assert second.endswith(r"Run digits\x1b[31m failed: out of memory")
    assert run("read", done, done) == {"changed": 1, "unknown": []}
    assert run_text("read", done) == "0 marked as read\n"
    assert " read " in run_text("ls").splitlines()[1]
    assert [row["id"] for row in run("--unread")] == [failed]
    assert run_text("unread", done) == "1 marked as unread\n"
    with pytest.raises(NotificationNotFoundError, match=strange) as missed:
        run("read", failed, strange)
    assert exit_code_of(missed.value) == EXIT_NOT_FOUND
    assert json.loads(missed.value.__notes__[0]) == {"changed": 1, "unknown": [strange]}
    with pytest.raises(ApiError) as wrong:
        run("unread", "7")
    assert (exit_code_of(wrong.value), *wrong.value.errors) == (EXIT_USAGE, "ids.0")


def test_all_are_marked_or_all_of_a_topic(project: Project, ada: User, run: Any) -> None:
    for kind in ("run.failed", "run.failed", "run.succeeded"):
        happen(project, ada, kind)
    assert run("read", "--all", "--topic", "run_failed")["changed"] == 2
    assert [row["topic"] for row in run("--unread")] == ["run_finished"]
    assert run("read", "--all")["changed"] == 1
    assert run("read", "--all") == {"changed": 0, "unknown": []}


def test_more_ids_than_one_request_takes_are_several(run: Any) -> None:
    with pytest.raises(NotificationNotFoundError) as missed:
        run("read", *(str(uuid4()) for _ in range(201)))
    assert len(json.loads(missed.value.__notes__[0])["unknown"]) == 201


def test_how_one_is_told_is_shown_and_changed(
    run: Any, run_text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(run("settings")["topics"]) == len(OF_THE_SERVER)
    (found,) = run("settings", "run_finished", "--mail", "daily", "--no-in-app")["topics"]
    assert found == {
        "topic": "run_finished", "in_app": False, "mail": "daily", "is_fixed": False,
    }  # fmt: skip
    (found,) = run("settings", "run_finished", "--in-app")["topics"]
    assert (found["in_app"], found["mail"]) == (True, "daily")
    daily = run("settings", "--time-zone", "Asia/Shanghai", "--hour", "0")["daily"]
    assert (daily["time_zone"], daily["hour"]) == ("Asia/Shanghai", 0)
    shown = "Daily mail at 00:00, Asia/Shanghai; "
    assert f"{shown}this installation sends no e-mail" in run_text("settings")
    monkeypatch.setattr(settings, "ATOM_SENDS_MAIL", True)
    assert f"{shown}your account has no e-mail address" in run_text("settings")
    User.objects.update(email="ada@example.org")
    said = run_text("settings", "audit").splitlines()[-1]
    assert said.startswith(f"{shown}the next one is due ")
    assert said.endswith("T16:00 UTC")
    with pytest.raises(ApiError) as fixed:
        run("settings", "security", "--mail", "never")
    assert (fixed.value.code, exit_code_of(fixed.value)) == ("topic_fixed", EXIT_CONFLICT)
    with pytest.raises(ApiError) as unknown:
        run("settings", "--time-zone", "shanghai")
    assert unknown.value.errors == {
        "daily.time_zone": ["There is no such time zone. Give Asia/Shanghai."]
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("read",), "at least one ID, or --all"),
        (("read", "x", "--all"), "one of the two"),
        (("read", "x", "--topic", "audit"), "goes with --all"),
        (("unread",), "Missing argument"),
        (("settings", "--mail", "daily"), "Name the TOPIC"),
        (("settings", "audit", "--mail", "hourly"), "is not one of"),
        (("settings", "audits"), "is not one of"),
        (("settings", "--hour", "24"), "not in the range"),
        (("--unread", "read", "--all"), "without 'read'"),
        (("--limit", "0"), "not in the range"),
        (("list",), "No such command"),
    ],
)
def test_wrong_use_asks_nothing(words: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(cli, ["notifications", *words], obj=Context())
    assert done.exit_code == EXIT_USAGE
    assert said in done.stderr


def test_the_topics_are_those_of_the_server() -> None:
    assert set(notifications.TOPICS) == set(OF_THE_SERVER)
    assert notifications.MAILS == MAIL_CHOICES


def test_what_happened_is_in_the_language_of_the_account(
    project: Project, ada: User, run: Any
) -> None:
    User.objects.update(language="zh")
    happen(project, ada, "run.succeeded", name="digits")
    assert run()[0]["title"] == "运行 digits 成功"
