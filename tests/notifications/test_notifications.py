"""Notifications of people in the portal: once, theirs only, and as they chose."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.test import Client
from rest_framework.test import APIClient

from atom.accounts import actions as accounts
from atom.accounts.actions import members
from atom.accounts.actions.invitations import invite
from atom.accounts.models import Project, RoleBinding, User
from atom.core import outbox
from atom.core.models import OutboxEvent
from atom.jobs import events
from atom.jobs import states as job_states
from atom.jobs.models import Run, RunEvent
from atom.jobs.runs.actions.comments import add_comment, edit_comment
from atom.jobs.scheduling.actions.long_waits import notify_long_waits
from atom.labeling.actions.audits import Decision, decide
from atom.labeling.actions.leases import lease_audits, lease_labels
from atom.labeling.actions.submissions import Submission, submit
from atom.notifications.actions import fan_out, mailing
from atom.notifications.engines.links import path_of
from atom.notifications.engines.wording import TITLES, TOPIC_NAMES, title_of
from atom.notifications.events import KINDS, TOPICS
from atom.notifications.models import Notification
from tests.factories.accounts import PASSWORD, make_member, make_project, make_user
from tests.factories.jobs import make_run
from tests.factories.labeling import make_task
from tests.jobs.live import wait_for

pytestmark = pytest.mark.django_db
AT = "/api/v1/notifications/"
_BROWSERS = ("Firefox", "Chrome")


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def ada(project: Project) -> User:
    return make_member(project, "researcher", "ada")


def as_(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def notifications_of(user: User, **query: str) -> list[dict[str, Any]]:
    fan_out.tick()
    answer = as_(user).get(AT, query)
    assert answer.status_code == 200, answer.json()
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def happen(project: Project, user: User, kind: str = "run.failed", **data: Any) -> None:
    subject = data.pop("subject", uuid4())
    outbox.emit(project.pk, kind, people=[user.pk], subject=subject, **data)


def end(run: Run, state: str) -> None:
    for step in (job_states.FINALIZING, state):
        events.transition(run, step)


def test_who_started_a_run_is_told_how_it_ended(project: Project, ada: User) -> None:
    other = make_member(project, "researcher")
    run = make_run(project, ada, state=job_states.RUNNING, failure_class="OOM_HOST")
    end(run, job_states.FAILED)
    (row,) = notifications_of(ada)
    assert (row["kind"], row["topic"], row["read_at"]) == ("run.failed", "run_failed", None)
    assert row["title"].endswith("failed: out of memory")
    assert row["path"] == f"/runs/{run.pk}?project=vision"
    assert (row["data"]["failure_class"], row["project"]["slug"]) == ("OOM_HOST", "vision")
    assert notifications_of(other) == []


def test_who_cancelled_a_run_knows(project: Project, ada: User) -> None:
    end(make_run(project, ada, state=job_states.RUNNING), job_states.CANCELLED)
    assert notifications_of(ada) == []


def test_who_is_named_in_a_comment_is_told_once(project: Project, ada: User) -> None:
    bo = make_member(project, "researcher", "bo")
    comment = add_comment(make_run(project), bo, "Look, @ada, and I, @bo.")
    edit_comment(comment.run, comment.pk, bo, "Look closer, @ada.")
    assert [one["kind"] for one in notifications_of(ada)] == ["run.mentioned"]
    assert notifications_of(bo) == []


def test_work_that_comes_in_or_back_is_told_to_whose_it_is(project: Project, ada: User) -> None:
    labeler = make_member(project, "labeler")
    task = make_task(2, project=project, creator=ada, audit_percent=100)
    assert [one["kind"] for one in notifications_of(labeler)] == ["label_task.started"]
    slots = lease_labels(task, labeler, 2)
    label = task.ontology_version.labels[0]["id"]
    document = {"label_id": label}
    made = [Submission(one.pk, one.lease_no, str(one.pk), document, 1) for one in slots]
    done = submit(project, labeler, made)
    (row,) = notifications_of(ada)
    assert (row["kind"], row["count"]) == ("label_task.submitted", 2)
    revisions = {one.revision.work_item_id: one.revision.pk for one in done if one.revision}
    audits = lease_audits(task, ada, 2)
    back = [Decision(a.pk, a.lease_no, revisions[a.work_item_id], "return", "x") for a in audits]
    assert all(ruling.error is None for ruling in decide(project, ada, back))
    newest = notifications_of(labeler)[0]
    assert (newest["kind"], newest["count"]) == ("label_task.returned", 2)


def test_a_run_that_waits_for_long_is_told_once_each_time_that_it_is_queued(
    project: Project, ada: User
) -> None:
    make_run(project, ada)
    Run.objects.update(queued_at=F("created_at") - timedelta(minutes=45))
    assert (notify_long_waits(), notify_long_waits()) == (1, 0)
    (row,) = notifications_of(ada)
    assert (row["kind"], row["data"]["minutes"]) == ("run.waiting", 45)
    RunEvent.objects.update(at=F("at") - timedelta(hours=1))
    assert notify_long_waits() == 1


def test_a_worker_killed_between_leaves_the_event_for_another(
    project: Project, ada: User, transactional_db: None
) -> None:
    happen(project, ada)
    child = os.fork()
    if child == 0:
        # The child keeps a reference to the parent's connection, so that nothing closes it.
        inherited, connection.connection = connection.connection, None
        settings.CRASH_POINT = "notifications.told"
        fan_out.fan_out()
        os._exit(int(inherited is None))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not Notification.objects.exists()
    # On a busy machine the database notices late that the child is gone, and its lock with it.
    wait_for(lambda: fan_out.fan_out() == 1)
    assert fan_out.fan_out() == 0
    assert Notification.objects.count() == 1


def test_an_event_taken_twice_is_told_once(project: Project, ada: User) -> None:
    happen(project, ada)
    fan_out.tick()
    OutboxEvent.objects.update(told_at=None)
    assert len(notifications_of(ada)) == 1


def test_what_has_come_to_its_end_is_read(project: Project, ada: User) -> None:
    bo, task, source = make_member(project, "labeler"), uuid4(), uuid4()
    happen(project, bo, "label_task.started", subject=task, name="t", task=str(task))
    happen(project, ada, "label_task.submitted", subject=task, name="t", task=str(task))
    happen(project, ada, "scan.failed", subject=uuid4(), name="another")
    happen(project, ada, "scan.failed", subject=source, name="s")
    happen(project, ada, "scan.done", subject=source, name="s")
    happen(project, ada, "label_task.published", subject=task, name="t", task=str(task))
    unread = [row["kind"] for row in notifications_of(ada, unread="true")]
    assert unread == ["label_task.published", "scan.done", "scan.failed"]
    assert [row["read_at"] is None for row in notifications_of(bo)] == [False]


def test_unread_ones_about_the_same_thing_are_one(project: Project, ada: User) -> None:
    task = str(uuid4())
    for items in (3, 4):
        happen(project, ada, "label_task.returned", subject=task, task=task, items=items)
    (row,) = notifications_of(ada)
    assert row["count"] == 7
    as_(ada).post(f"{AT}read/", {"subject": task}, format="json")
    happen(project, ada, "label_task.returned", subject=task, task=task, items=2)
    assert [one["count"] for one in notifications_of(ada)] == [2, 7]
    # The older one cannot be unread again beside the newer.
    back = {"ids": [one["id"] for one in notifications_of(ada)]}
    assert as_(ada).post(f"{AT}unread/", back, format="json").json()["changed"] == 0


def test_a_topic_that_is_shown_again_shows_what_comes_about_the_same_thing(
    project: Project, ada: User
) -> None:
    task = str(uuid4())
    for shown in (False, True):
        changes = {"topics": [{"topic": "labeling", "in_app": shown}]}
        as_(ada).patch(f"{AT}preferences/", changes, format="json")
        happen(project, ada, "label_task.returned", subject=task, task=task)
        assert len(notifications_of(ada)) == shown
    assert as_(ada).get(f"{AT}count/").json()["unread"] == 1


def test_who_has_left_the_project_sees_nothing_of_it(project: Project, ada: User) -> None:
    happen(project, ada)
    assert len(notifications_of(ada)) == 1
    RoleBinding.objects.filter(user=ada).delete()
    assert notifications_of(ada) == []
    assert as_(ada).get(f"{AT}count/").json()["unread"] == 0


def test_a_role_that_was_taken_away_is_told_all_the_same(project: Project, ada: User) -> None:
    boss = make_member(project, "admin")
    members.change_role(ada, "viewer", project, boss)
    members.remove_member(ada, project, boss)
    assert [(one["kind"], one["data"]["role"]) for one in notifications_of(ada)] == [
        ("role.removed", "viewer"),
        ("role.changed", "viewer"),
    ]


def test_reading_is_of_ones_own_and_can_be_repeated_and_undone(project: Project, ada: User) -> None:
    for number in range(4):
        happen(project, ada, number=number)
    happen(project, ada, "run.succeeded")
    rows = notifications_of(ada)
    api, stranger = as_(ada), as_(make_user())
    first = {"ids": [rows[0]["id"]]}
    assert stranger.post(f"{AT}read/", first, format="json").json() == {
        "changed": 0, "unknown": first["ids"],
    }  # fmt: skip
    until = {"until": rows[2]["id"]}
    assert stranger.post(f"{AT}read/", until, format="json").status_code == 404
    assert api.post(f"{AT}read/", first, format="json").json() == {"changed": 1, "unknown": []}
    assert api.post(f"{AT}read/", first, format="json").json()["changed"] == 0
    assert api.post(f"{AT}unread/", first, format="json").json()["changed"] == 1
    mine = {**until, "topic": "run_failed"}
    assert api.post(f"{AT}read/", mine, format="json").json()["changed"] == 3
    assert api.get(f"{AT}count/").json() == {"unread": 2, "counted_to": 100}
    assert len(notifications_of(ada, unread="true")) == 2
    assert len(notifications_of(ada, topic="run_finished")) == 1
    page = api.get(AT, {"limit": 2}).json()
    rest = api.get(AT, {"limit": 200, "cursor": page["next"]}).json()["results"]
    assert len({one["id"] for one in (*page["results"], *rest)}) == 5


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["x"]},
        {"ids": [str(uuid4())] * 201},
        {"subject": "x", "until": str(uuid4())},
        {"subject": "x" * 101},
        {"subject": "x", "topic": "mention"},
        {"until": str(uuid4()), "topic": "x"},
    ],
)
def test_what_names_nothing_or_too_much_is_refused(ada: User, body: dict[str, Any]) -> None:
    assert as_(ada).post(f"{AT}read/", body, format="json").status_code == 400


def test_a_topic_can_be_hidden_but_not_that_of_safety(project: Project, ada: User) -> None:
    at = f"{AT}preferences/"
    changes = [{"topic": "run_failed", "in_app": False}]
    answer = as_(ada).patch(at, {"topics": changes}, format="json").json()
    assert {"topic": "run_failed", "in_app": False, "mail": "now", "is_fixed": False} in answer[
        "topics"
    ]
    assert len(answer["topics"]) == len(TOPICS)
    happen(project, ada)
    assert notifications_of(ada) == []
    twice = [{"topic": "mention", "in_app": False}, {"topic": "mention", "mail": "never"}]
    both = as_(ada).patch(at, {"topics": twice}, format="json").json()["topics"]
    assert {"topic": "mention", "in_app": False, "mail": "never", "is_fixed": False} in both
    fixed = {"topics": [{"topic": "security", "mail": "never"}]}
    refused = as_(ada).patch(at, fixed, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "topic_fixed")
    for wrong in ([], [{"topic": "x"}], [{"topic": "mention", "mail": "hourly"}], "x", None):
        assert as_(ada).patch(at, {"topics": wrong}, format="json").status_code == 400


def test_a_token_of_a_project_reads_of_that_project_only(project: Project, ada: User) -> None:
    other = make_project()
    accounts.grant_role(ada, "viewer", other)
    for one in (project, other):
        happen(one, ada)
    fan_out.tick()
    secret = accounts.create_token(ada, "ci", ["read"], project=project).secret
    headers = {"Authorization": f"Bearer {secret}"}
    rows = Client().get(AT, headers=headers).json()["results"]
    assert [row["project"]["slug"] for row in rows] == ["vision"]
    assert Client().post(f"{AT}read/", headers=headers).status_code == 403


def test_programs_and_people_who_are_gone_are_not_told(project: Project, ada: User) -> None:
    happen(project, ada)
    User.objects.update(is_active=False)
    fan_out.tick()
    assert not Notification.objects.exists()


def test_a_sign_in_from_elsewhere_is_told_and_from_a_known_place_is_not(ada: User) -> None:
    def sign_in(agent: str) -> None:
        body = {"username": "ada", "password": PASSWORD}
        client = Client(headers={"User-Agent": agent})
        answer = client.post("/api/v1/auth/login/", body, content_type="application/json")
        assert answer.status_code == 200, answer.content

    for agent in ("Firefox/1 (Windows)", "Firefox/2 (Windows)", "Chrome/1 (Linux)"):
        sign_in(agent)
    (row,) = notifications_of(ada)
    assert (row["kind"], row["data"]["browser"]) == ("account.signed_in", "Chrome")
    assert (row["project"], row["path"]) == (None, "/settings/account")


def test_the_list_costs_the_same_queries_for_one_and_for_twenty(
    project: Project, ada: User, django_assert_max_num_queries: Any
) -> None:
    for count in (1, 20):
        for _ in range(count):
            happen(project, ada)
        fan_out.tick()
        with django_assert_max_num_queries(1):
            as_(ada).get(AT)


def test_what_is_old_or_too_much_is_forgotten(
    project: Project, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        happen(project, ada)
    fan_out.tick()
    newest = Notification.objects.order_by("-at", "-id")[0]
    Notification.objects.exclude(pk=newest.pk).update(at=F("at") - timedelta(days=1))
    oldest = Notification.objects.order_by("at", "id")[0]
    Notification.objects.filter(pk=oldest.pk).update(at=F("at") - timedelta(days=91))
    monkeypatch.setattr(mailing, "KEPT_OF_A_PERSON", 2)
    assert mailing.forget_old() == 2
    assert Notification.objects.filter(pk=newest.pk).exists()


def test_every_kind_has_words_and_a_place() -> None:
    assert set(TITLES) == set(KINDS)
    assert set(TOPIC_NAMES) == set(TOPICS) == {kind.topic for kind in KINDS.values()}
    for kind in KINDS:
        english, chinese = (title_of(kind, {}, 2, language) for language in ("en", "zh"))
        assert english != chinese
        assert "\n" not in title_of(kind, {"name": "a\r\nBcc: x", "dataset": "a\nb"}, 1, "de")
        assert path_of(kind, {}).startswith("/")
    assert path_of("commit.failed", {"dataset": "a/../b?c"}, "p") == (
        "/datasets/a%2F..%2Fb%3Fc/versions?project=p"
    )


def test_who_was_invited_is_told_of_the_first_sign_in_from_elsewhere(project: Project) -> None:
    made = invite(project, make_member(project, "admin"), "viewer", "", 7)
    new = {"username": "mia", "full_name": "Mia", "password": PASSWORD}
    body = {**new, "token": made.link.rsplit("/", 1)[-1]}
    at_home, elsewhere = (Client(headers={"User-Agent": f"{one}/1 (Linux)"}) for one in _BROWSERS)
    up = at_home.post("/api/v1/invitations/sign-up/", body, content_type="application/json")
    assert up.status_code == 200, up.content
    del new["full_name"]
    elsewhere.post("/api/v1/auth/login/", new, content_type="application/json")
    rows = notifications_of(User.objects.get(username="mia"))
    where = [one["data"]["browser"] for one in rows if one["kind"] == "account.signed_in"]
    assert where == ["Chrome"]


@pytest.mark.parametrize(
    ("browser", "system", "english", "chinese"),
    [
        ("Chrome", "Linux", "Chrome on Linux", "Linux 上的 Chrome"),
        ("Python", "", "Python", "Python"),
        ("", "Android", "Android", "Android"),
        ("", "", "an unknown program", "未知程序"),
    ],
)
def test_a_sign_in_is_told_without_stray_blanks(
    browser: str, system: str, english: str, chinese: str
) -> None:
    data = {"browser": browser, "system": system, "address": "10.0.0.7"}
    said = [title_of("account.signed_in", data, 1, language) for language in ("en", "zh")]
    assert said == [
        f"A new sign-in to your account: {english} from 10.0.0.7",
        f"您的账户有新的登录：{chinese}，来自 10.0.0.7",
    ]


def test_a_token_of_a_project_does_not_change_how_its_owner_is_told(
    project: Project, ada: User, client: Client
) -> None:
    body = {"topics": [{"topic": "run_failed", "mail": "never"}]}

    def changed(bound: Project | None) -> Any:
        token = accounts.create_token(ada, "ci", ["write"], project=bound)
        headers = {"Authorization": f"Bearer {token.secret}"}
        url = f"{AT}preferences/"
        return client.patch(url, body, content_type="application/json", headers=headers)

    refused = changed(project)
    assert (refused.status_code, refused.json()["code"]) == (403, "token_of_project")
    assert changed(None).status_code == 200
