"""Webhooks: who may have them, what is sent to them, and that nothing acknowledged is lost."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project, User
from atom.core import clock, outbox
from atom.core.models import OutboxEvent
from atom.jobs import events
from atom.jobs import states as job_states
from atom.notifications.events import KINDS, SETTLED_BY
from atom.webhooks import states
from atom.webhooks.actions import deliveries, hooks
from atom.webhooks.engines.backoff import pause
from atom.webhooks.events import EVENT_KINDS
from atom.webhooks.models import Delivery, Webhook
from atom_sdk.webhooks import WebhookSignatureError, sign, verify
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_run
from tests.webhooks.receiving import Receiver, receiver

pytestmark = pytest.mark.usefixtures("committing_db")
SECRET = "a secret of sixteen or more"
ATOM = Path(__file__).resolve().parents[2] / "atom"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def admin(project: Project) -> User:
    return make_member(project, "admin")


@pytest.fixture
def api(admin: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin)
    return client


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(settings, "ATOM_WEBHOOK_ALLOW", ["127.0.0.1"])
    with receiver() as found:
        yield found


@pytest.fixture
def webhook(place: Receiver, project: Project, admin: User) -> Webhook:
    new = hooks.create_webhook(project, admin, "ci", place.url, sorted(EVENT_KINDS), SECRET)
    return new.webhook


def path(webhook: Webhook, rest: str = "") -> str:
    return f"/api/v1/projects/vision/webhooks/{webhook.pk}/{rest}"


def happen(project: Project, kind: str = "run.failed", **data: Any) -> Delivery:
    outbox.emit(project.pk, kind, **data)
    deliveries.fan_out()
    return Delivery.objects.latest("id")


def hurry() -> None:
    """Let the time pass that a delivery waits for its next try."""
    Delivery.objects.update(next_at=F("created_at"))


def test_a_run_tells_how_it_goes_with_bytes_that_can_be_verified(
    webhook: Webhook, place: Receiver, project: Project
) -> None:
    run = make_run(project, state=job_states.SUBMITTED, name="größer")
    for state in (job_states.RUNNING, job_states.FINALIZING, job_states.SUCCEEDED):
        events.transition(run, state)
    deliveries.tick()
    told = [verify(SECRET, body, headers["Atom-Signature"]) for headers, body in place.requests]
    assert [event["event"] for event in told] == ["run.started", "run.succeeded"]
    assert [headers["Atom-Event"] for headers, _ in place.requests] == [e["event"] for e in told]
    assert (told[1]["project"], told[1]["data"]["name"]) == ("vision", "größer")
    assert told[1]["data"]["run"] == str(run.pk)
    assert len(set(place.ids)) == 2
    assert set(Delivery.objects.values_list("state", flat=True)) == {states.DELIVERED}
    headers, body = place.requests[0]
    for secret, changed in ((SECRET + "x", body), (SECRET, body + b" ")):
        with pytest.raises(WebhookSignatureError):
            verify(secret, changed, headers["Atom-Signature"])
    old = f"t=1000,v1={sign(SECRET, 1000, body)}"
    many_digits = f"t={'9' * 5000},v1=00"
    for wrong in (old, "", "v1=00", "t=x,v1=00", f"t=1,{old}", many_digits):
        with pytest.raises(WebhookSignatureError):
            verify(SECRET, body, wrong)


def test_an_event_is_there_exactly_if_its_change_is(webhook: Webhook, project: Project) -> None:
    run = make_run(project, state=job_states.SUBMITTED)
    with transaction.atomic():
        events.transition(run, job_states.RUNNING)
        transaction.set_rollback(True)
    assert not OutboxEvent.objects.exists()


def test_only_what_was_asked_for_in_its_own_project_is_told(
    webhook: Webhook, place: Receiver, project: Project, admin: User
) -> None:
    hooks.change_webhook(webhook, admin, {"events": ["alias.moved"]})
    outbox.emit(make_project().pk, "alias.moved")
    outbox.emit(project.pk, "run.failed")
    outbox.emit(project.pk, "alias.moved", alias="production")
    deliveries.tick()
    assert [json.loads(body)["data"] for _, body in place.requests] == [{"alias": "production"}]
    deliveries.tick()
    assert len(place.requests) == 1


def test_what_is_not_accepted_is_tried_again_with_the_same_id_and_bytes(
    webhook: Webhook, place: Receiver, project: Project
) -> None:
    place.then(500, body=b"\0out of order" + b"x" * 9000)
    place.then(302, {"Location": "http://169.254.169.254/"})
    place.then(200, body=b"thanks")
    delivery = happen(project)
    for expected in ("It answered 500.", "redirects elsewhere", ""):
        assert deliveries.send_due(webhook.pk) == 1
        delivery.refresh_from_db()
        assert expected in delivery.error
        # Not before its time has come.
        assert deliveries.send_due(webhook.pk) == 0
        hurry()
        if delivery.status_code == 500:
            assert len(delivery.response_excerpt) == 2048
    assert (delivery.state, delivery.tries, delivery.response_excerpt) == ("delivered", 3, "thanks")
    assert place.ids == [str(delivery.pk)] * 3
    assert len({body for _, body in place.requests}) == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_between_answer_and_note_sends_it_again(
    webhook: Webhook, place: Receiver, project: Project
) -> None:
    delivery = happen(project)
    child = os.fork()
    if child == 0:
        # The child keeps a reference to the parent's connection, so that nothing closes it.
        inherited, connection.connection = connection.connection, None
        settings.CRASH_POINT = "webhook.sent"
        deliveries.send_due(webhook.pk)
        os._exit(int(inherited is None))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries, len(place.requests)) == (states.PENDING, 1, 1)
    hurry()
    deliveries.tick()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries) == (states.DELIVERED, 2)
    assert place.ids == [str(delivery.pk)] * 2


def test_an_address_inside_is_refused_early_and_when_it_becomes_one(
    api: APIClient, webhook: Webhook, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ATOM_WEBHOOK_ALLOW", [])
    base = "/api/v1/projects/vision/webhooks/"
    for url in (
        "http://127.0.0.1/",
        "http://[::1]/",
        "ftp://example.com/",
        "https://u:p@h.de/",
        "x",
    ):
        refused = api.post(base, {"name": "x", "url": url, "events": ["run.failed"]})
        assert (refused.status_code, list(refused.json()["errors"])) == (400, ["url"]), url
    delivery = happen(project)
    deliveries.send_due(webhook.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status_code) == (states.PENDING, None)
    assert "not public" in delivery.error


def test_who_takes_nothing_for_a_day_is_switched_off_with_a_notice(
    api: APIClient, webhook: Webhook, place: Receiver, project: Project
) -> None:
    place.then(500)
    delivery = happen(project)
    deliveries.send_due(webhook.pk)
    Delivery.objects.update(queued_at=F("created_at") - timedelta(hours=25))
    deliveries.tick()
    delivery.refresh_from_db()
    shown = api.get(path(webhook)).json()
    assert (delivery.state, shown["active"], shown["off_reason"]) == ("failed", False, "failing")
    assert AuditEvent.objects.get(verb="webhook.disabled").data["reason"] == "failing"
    happen(project)
    assert Delivery.objects.count() == 1
    refused = api.post(path(webhook, f"deliveries/{delivery.pk}/redeliver/"))
    assert refused.json()["code"] == "webhook_off"
    assert api.patch(path(webhook), {"active": True}).json()["active"] is True
    place.answers.clear()
    assert api.post(path(webhook, f"deliveries/{delivery.pk}/redeliver/")).status_code == 202
    deliveries.tick()
    assert api.get(path(webhook, f"deliveries/{delivery.pk}/")).json()["state"] == "delivered"
    assert place.ids == [str(delivery.pk)] * 2


def test_one_with_many_failures_keeps_no_other_from_being_switched_off(
    webhook: Webhook, project: Project, admin: User
) -> None:
    other = hooks.create_webhook(project, admin, "other", webhook.url, ["run.failed"]).webhook
    old = {"tries": 1, "queued_at": clock.now() - timedelta(hours=25), "kind": "run.failed"}
    rows = [Delivery(webhook=one, **old) for one in (*[webhook] * 100, other)]
    Delivery.objects.bulk_create(rows)
    deliveries.give_up_old()
    assert set(Webhook.objects.values_list("off_reason", flat=True)) == {states.BY_FAILURE}


def test_a_webhook_is_renamed_and_told_of_other_events(
    api: APIClient, webhook: Webhook, place: Receiver, admin: User
) -> None:
    changes = {"name": "deploys", "url": f"{place.url}/2", "events": ["alias.moved"]}
    changed = api.patch(path(webhook), changes)
    assert changed.status_code == 200
    assert changes.items() <= changed.json().items()
    noted = AuditEvent.objects.get(verb="webhook.changed")
    assert (noted.data["name"], noted.data["events"]) == ("deploys", ["alias.moved"])
    taken = hooks.create_webhook(webhook.project, admin, "ci", place.url, ["run.failed"])
    refused = api.patch(path(taken.webhook), {"name": "deploys"})
    assert refused.json()["code"] == "webhook_name_taken"


def test_gone_means_gone(webhook: Webhook, place: Receiver, project: Project) -> None:
    place.then(410)
    happen(project)
    deliveries.tick()
    webhook.refresh_from_db()
    assert (webhook.off_reason, Delivery.objects.get().state) == (states.BY_GONE, states.FAILED)


def test_two_secrets_are_valid_while_one_replaces_the_other(
    api: APIClient, webhook: Webhook, place: Receiver, project: Project
) -> None:
    new = api.post(path(webhook, "rotate-secret/"), {"overlap_hours": 2}).json()["secret"]
    happen(project)
    deliveries.send_due(webhook.pk)
    headers, body = place.requests[-1]
    assert verify(SECRET, body, headers["Atom-Signature"])
    assert verify(new, body, headers["Atom-Signature"])
    Webhook.objects.update(old_secret_until=F("created_at"))
    happen(project)
    deliveries.send_due(webhook.pk)
    headers, body = place.requests[-1]
    assert verify(new, body, headers["Atom-Signature"])
    with pytest.raises(WebhookSignatureError):
        verify(SECRET, body, headers["Atom-Signature"])
    webhook.refresh_from_db()
    shown = json.dumps(api.get(path(webhook)).json())
    assert new not in shown + webhook.encrypted_secret
    assert "encrypted" not in shown


def test_a_test_is_tried_once_and_shows_what_came_back(
    api: APIClient, webhook: Webhook, place: Receiver
) -> None:
    place.then(404, body=b"no such hook")
    asked = api.post(path(webhook, "test/"))
    assert asked.status_code == 202
    shown = api.get(path(webhook, f"deliveries/{asked.json()['id']}/")).json()
    assert (shown["state"], shown["status_code"]) == ("failed", 404)
    assert shown["response_excerpt"] == "no such hook"
    assert json.loads(shown["body"])["event"] == "webhook.test"
    listed = api.get(path(webhook, "deliveries/?state=failed")).json()["results"]
    assert [row["id"] for row in listed] == [shown["id"]]
    assert api.get(path(webhook, "deliveries/?state=lost")).status_code == 400
    assert api.patch(path(webhook), {"active": False}).status_code == 200
    assert api.post(path(webhook, "test/")).json()["code"] == "webhook_off"


def test_only_administrators_have_webhooks(
    api: APIClient, webhook: Webhook, project: Project
) -> None:
    base = "/api/v1/projects/vision/webhooks/"
    researcher = APIClient()
    researcher.force_authenticate(make_member(project, "researcher"))
    for address in (base, path(webhook), path(webhook, "deliveries/")):
        assert researcher.get(address).json()["code"] == "role_too_low"
    good = {"name": "other", "url": webhook.url, "events": ["run.failed"]}
    made = api.post(base, good).json()
    assert len(made["secret"]) > 40
    assert api.post(base, good).json()["code"] == "webhook_name_taken"
    wrong: list[dict[str, Any]] = [
        {"events": []},
        {"events": ["run.eaten"]},
        {"events": "run.failed"},
        {"secret": "short"},
        {"name": " "},
        {"color": "red"},
    ]
    for change in wrong:
        refused = api.post(base, {**good, "name": "third", **change})
        (field,) = {name.split(".")[0] for name in refused.json()["errors"]}
        assert (refused.status_code, field) == (400, *change)
    for _ in range(hooks.MAX_PER_PROJECT - 2):
        hooks.create_webhook(project, User.objects.first(), os.urandom(4).hex(), webhook.url, [])  # type: ignore[arg-type]
    assert api.post(base, {**good, "name": "more"}).json()["code"] == "too_many_webhooks"
    assert api.delete(path(webhook)).status_code == 204
    assert api.get(path(webhook)).json()["code"] == "webhook_not_found"
    verbs = set(AuditEvent.objects.values_list("verb", flat=True))
    assert {"webhook.created", "webhook.deleted"} <= verbs


def test_what_is_old_is_forgotten(webhook: Webhook, project: Project) -> None:
    happen(project)
    deliveries.tick()
    assert deliveries.forget_old() == outbox.forget_old() == 0
    Delivery.objects.update(updated_at=F("created_at") - timedelta(days=15))
    OutboxEvent.objects.update(at=F("at") - timedelta(days=4))
    assert deliveries.forget_old() == outbox.forget_old() == 1


def test_pauses_grow_to_hours_and_are_spread() -> None:
    middle = [pause(tries, 0.5).total_seconds() for tries in range(1, 40)]
    assert middle[:3] == [10, 20, 40]
    assert (max(middle), middle[-1]) == (7200, 7200)
    assert pause(1, 0.0).total_seconds() == 8
    assert pause(1, 1.0).total_seconds() == 12


def test_the_kinds_that_are_offered_are_those_that_are_emitted() -> None:
    emitted: set[str] = set()
    known = {*EVENT_KINDS, *KINDS, *SETTLED_BY}
    for source in ATOM.rglob("*.py"):
        text = source.read_text()
        if "outbox.emit(" not in text and "notify_owner(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and node.value in known:
                emitted.add(node.value)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "outbox.emit":
                kind = node.args[1]
                assert isinstance(kind, ast.Name) or ast.literal_eval(kind) in known
    assert emitted == known
    assert all(re.fullmatch(r"[a-z_]+\.[a-z]+ed", kind) for kind in EVENT_KINDS)
