"""A receiver that never comes to an end holds nobody up, and what went wrong is always said."""

from __future__ import annotations

import pytest

from atom.core import clock
from atom.webhooks.actions import deliveries, hooks
from atom.webhooks.models import Delivery, Webhook
from atom.webhooks.pipelines.sending import Letter, send
from tests.factories.accounts import make_member, make_project
from tests.trickling import trickling


@pytest.mark.timeout(30)
@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_headers_that_trickle_are_an_answer_that_did_not_come(beginning: bytes) -> None:
    with trickling(beginning) as url:
        letter = Letter("1", "run.failed", url, b"{}", ("secret",), 0)
        outcome = send(letter, ["127.0.0.1"], allowed_s=0.4)
    assert not outcome.is_accepted
    assert "No answer within" in outcome.error or "RemoteProtocolError" in outcome.error


@pytest.mark.django_db(transaction=True)
def test_a_secret_that_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.conf.settings.ATOM_WEBHOOK_ALLOW", ["127.0.0.1"])
    project = make_project()
    admin = make_member(project, "admin")
    hook = hooks.create_webhook(project, admin, "ci", "http://127.0.0.1:9/", ["run.failed"]).webhook
    Webhook.objects.update(encrypted_secret="of another key")
    delivery = Delivery.objects.create(webhook=hook, kind="run.failed", next_at=clock.now())
    assert deliveries.send_due(hook.pk) == 1
    delivery.refresh_from_db()
    assert "cannot be read" in delivery.error
