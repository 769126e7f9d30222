"""Make deliveries of events, and send them to receivers.

`fan_out` makes a delivery of each event and webhook in the transaction that takes the event, so
that none is lost and none is made twice. An attempt is recorded before the request: a worker that
is killed before it records the answer leaves a delivery that is retried, with the same id.
"""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock
from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.core.crypto import BadSignature, decrypt
from atom.core.locks import only_worker
from atom.core.models import OutboxEvent
from atom.core.states import check_transition
from atom.webhooks import states
from atom.webhooks.actions.hooks import switch_off
from atom.webhooks.engines.backoff import GIVEN_UP_AFTER, pause
from atom.webhooks.errors import DeliveryPending, WebhookOff
from atom.webhooks.events import TEST
from atom.webhooks.models import Delivery, Webhook
from atom.webhooks.pipelines.sending import Letter, Outcome, send

log = structlog.get_logger(__name__)

KEPT = timedelta(days=14)
_SEND_TASK = "atom.webhooks.tasks.send_due"
_EVENTS_AT_ONCE = 500
# A receiver that is slow keeps a worker no longer than this from the work of others.
_SENDING_S = 20.0
# Few workers send at a time: training must not wait because receivers do not answer.
_PLACES = [UUID(int=0x41746F6D_77656268_0000_0000 + number) for number in range(2)]
_ASKED_AT_ONCE = 10
_MESSAGE_EXPIRES_S = 10.0


def tick() -> None:
    """Take new events, and have a worker send due deliveries."""
    while fan_out() == _EVENTS_AT_ONCE:
        pass
    give_up_old()
    due = list(Delivery.objects.due().order_by().values_list("webhook_id", flat=True).distinct())
    # In random order, so that silent receivers are not always the first.
    for webhook_id in random.sample(due, min(_ASKED_AT_ONCE, len(due))):
        enqueue(_SEND_TASK, str(webhook_id), expires_s=_MESSAGE_EXPIRES_S)


@transaction.atomic
def fan_out() -> int:
    """Make deliveries of the oldest events that are not fanned out yet; return how many events."""
    open_ones = OutboxEvent.objects.filter(taken_at=None).order_by("at", "id")
    events = list(open_ones.select_for_update(skip_locked=True)[:_EVENTS_AT_ONCE])
    if not events:
        return 0
    # Events about a person, in no project, are private.
    public = [(event, event.project_id) for event in events if event.project_id is not None]
    projects = {project_id for _, project_id in public}
    hooks: dict[UUID, list[Webhook]] = defaultdict(list)
    for hook in Webhook.objects.switched_on().filter(project__in=projects):
        hooks[hook.project_id].append(hook)
    slugs = dict(Project.objects.filter(pk__in=hooks).values_list("pk", "slug"))
    Delivery.objects.bulk_create(
        [
            Delivery(
                webhook=hook,
                event_id=event.pk,
                kind=event.kind,
                body=body_of(event, slugs[project_id]),
                # Sent in the order in which they happened, where nothing fails.
                next_at=event.at,
            )
            for event, project_id in public
            for hook in hooks[project_id]
            if event.kind in hook.events
        ],
        ignore_conflicts=True,
    )
    OutboxEvent.objects.filter(pk__in=[event.pk for event in events]).update(taken_at=Now())
    return len(events)


def body_of(event: OutboxEvent, project: str) -> str:
    """Return the JSON of an event: made once, so that every try sends the same bytes."""
    return _body(str(event.pk), event.kind, event.at.isoformat(), project, event.data)


def _body(event_id: str, kind: str, at: str, project: str, data: Any) -> str:
    told = {"id": event_id, "event": kind, "at": at, "project": project, "data": data}
    return json.dumps(told, ensure_ascii=False)


def send_due(webhook_id: UUID, for_s: float = _SENDING_S) -> int:
    """Send what is due to one webhook, oldest first; return how many tries were made."""
    deadline, tries = time.monotonic() + for_s, 0
    with _place() as free, only_worker(webhook_id) as mine:
        while free and mine and (delivery := _begin_try(webhook_id)) is not None:
            outcome = _try(delivery)
            tries += 1
            reach("webhook.sent")
            _note(delivery, outcome)
            if time.monotonic() > deadline:
                break
    return tries


def _try(delivery: Delivery) -> Outcome:
    try:
        letter = _letter(delivery)
    except BadSignature:
        said = (
            "The webhook's secret cannot be read with this installation's key: give it a new one."
        )
        return Outcome(None, "", said, 0)
    return send(letter, settings.ATOM_WEBHOOK_ALLOW)


@contextmanager
def _place() -> Iterator[bool]:
    """Hold one of the places of workers that send; False when all are taken."""
    with ExitStack() as held:
        yield any(held.enter_context(only_worker(place)) for place in _PLACES)


def _begin_try(webhook_id: UUID) -> Delivery | None:
    """Return the next delivery, whose next try is fixed already: this one may never be noted."""
    due = Delivery.objects.due().filter(webhook=webhook_id)
    with transaction.atomic():
        found = due.select_for_update(of=("self",)).select_related("webhook__project").first()
        if found is None:
            return None
        found.tries += 1
        wait = pause(found.tries, random.random())
        rows = Delivery.objects.filter(pk=found.pk)
        rows.update(tries=found.tries, tried_at=Now(), next_at=Now() + wait, updated_at=Now())
    return found


def _letter(delivery: Delivery) -> Letter:
    hook, now = delivery.webhook, clock.now()
    stored = [hook.encrypted_secret]
    if hook.encrypted_old_secret and hook.old_secret_until and hook.old_secret_until > now:
        stored.append(hook.encrypted_old_secret)
    return Letter(
        delivery_id=str(delivery.pk),
        kind=delivery.kind,
        url=hook.url,
        body=delivery.body.encode(),
        secrets=tuple(map(decrypt, stored)),
        signed_at=int(now.timestamp()),
    )


def _note(delivery: Delivery, outcome: Outcome) -> None:
    told = {
        "status_code": outcome.status_code,
        "response_excerpt": outcome.excerpt,
        "error": outcome.error,
        "duration_ms": outcome.duration_ms,
        "updated_at": Now(),
    }
    hook = delivery.webhook
    rows = Delivery.objects.filter(pk=delivery.pk, state=states.PENDING, tries=delivery.tries)
    if outcome.is_accepted:
        rows.update(state=states.DELIVERED, **told)
        Webhook.objects.filter(pk=hook.pk).update(last_success_at=Now())
    elif delivery.kind == TEST or outcome.is_gone:
        # A test is sent once: the person waits for the answer.
        rows.update(state=states.FAILED, **told)
    else:
        rows.update(**told)
    if outcome.is_gone:
        switch_off(hook, states.BY_GONE)
    fields = {"webhook_id": str(hook.pk), "delivery_id": str(delivery.pk), "tries": delivery.tries}
    log.info("webhook_sent", **fields, status=outcome.status_code, error=outcome.error)


def give_up_old() -> None:
    """End what was tried for a day; a webhook that took nothing in that day is switched off."""
    old = Delivery.objects.filter(state=states.PENDING, queued_at__lt=Now() - GIVEN_UP_AFTER)
    failing = old.filter(
        Q(webhook__last_success_at=None) | Q(webhook__last_success_at__lt=F("queued_at")),
        webhook__off_reason="",
        tries__gt=0,
    )
    ids = list(failing.order_by().values_list("webhook", flat=True).distinct())
    for hook in Webhook.objects.filter(pk__in=ids).select_related("project"):
        switch_off(hook, states.BY_FAILURE)
        log.warning("webhook_disabled", webhook_id=str(hook.pk))
    old.update(state=states.FAILED, updated_at=Now())


def send_test(webhook: Webhook, user: User) -> Delivery:
    """Have a made-up event sent, tried once. Raises WebhookOff."""
    if webhook.off_reason:
        raise WebhookOff
    at = clock.now()
    with transaction.atomic():
        delivery = Delivery(webhook=webhook, kind=TEST)
        data = {"webhook": webhook.name, "by": user.username}
        project = webhook.project.slug
        delivery.body = _body(str(delivery.pk), TEST, at.isoformat(), project, data)
        delivery.save()
        enqueue(_SEND_TASK, str(webhook.pk))
    return delivery


def redeliver(delivery: Delivery, user: User) -> Delivery:
    """Have a delivery that has ended sent again, under its id.

    Raises DeliveryPending, WebhookOff.
    """
    with transaction.atomic():
        rows = Delivery.objects.select_for_update(of=("self",)).select_related("webhook__project")
        locked = rows.get(pk=delivery.pk)
        if locked.state == states.PENDING:
            raise DeliveryPending
        if locked.webhook.off_reason:
            raise WebhookOff
        check_transition(states.DELIVERY_STATES, locked.state, states.PENDING)
        locked.state, locked.queued_at = states.PENDING, clock.now()
        locked.next_at = locked.queued_at
        locked.save()
        hook = locked.webhook
        said = {"name": hook.name, "event": locked.kind}
        audit.record(user, "webhook.redelivery_requested", locked, hook.project, **said)
        enqueue(_SEND_TASK, str(hook.pk))
    return locked


def forget_old() -> int:
    """Delete deliveries that ended two weeks ago; return how many."""
    over = Delivery.objects.exclude(state=states.PENDING)
    return over.filter(updated_at__lt=Now() - KEPT).delete()[0]
