"""Turn events into notifications, each exactly once, in the transaction that takes the event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from atom.accounts.models import Project, User
from atom.accounts.reads import people
from atom.core.crash_points import reach
from atom.core.crypto import hash_token
from atom.core.live import publish
from atom.core.models import OutboxEvent
from atom.notifications.engines.timing import DailyTime, first_mail_at
from atom.notifications.events import KINDS, NEVER, SETTLED_BY, SIGNED_IN, TOPICS, Topic
from atom.notifications.models import MailTime, Notification, Preference, SeenBrowser

EVENTS_AT_ONCE = 200


@dataclass(frozen=True)
class _Readers:
    """The people whom a batch of events concerns, and their preferences."""

    by_id: Mapping[UUID, User]
    choices: Mapping[tuple[UUID, str], Topic]
    daily_times: Mapping[UUID, DailyTime]
    projects: frozenset[UUID]

    def choice(self, user: User, topic: str) -> Topic:
        """Return a person's preference for a topic."""
        found = TOPICS[topic] if TOPICS[topic].is_fixed else None
        return found or self.choices.get((user.pk, topic), TOPICS[topic])

    def mail_at(self, user: User, at: datetime, choice: Topic) -> datetime | None:
        """Return when what happened at `at` is mailed to somebody, None if never."""
        if choice.mail == NEVER or not user.email or not settings.ATOM_SENDS_MAIL:
            return None
        return first_mail_at(at, choice.mail, self.daily_times.get(user.pk, DailyTime()))


def group_of(user_id: UUID) -> str:
    """Return the group of a person's open pages."""
    return f"notifications.{user_id}"


@transaction.atomic
def fan_out() -> int:
    """Notify people of the oldest events that are not fanned out yet; return how many events."""
    open_ones = OutboxEvent.objects.filter(told_at=None).order_by("at", "id")
    events = list(open_ones.select_for_update(skip_locked=True)[:EVENTS_AT_ONCE])
    if not events:
        return 0
    readers = _readers(events)
    told = {user_id for event in events for user_id in _take(event, readers)}
    reach("notifications.told")
    OutboxEvent.objects.filter(pk__in=[event.pk for event in events]).update(told_at=Now())
    for user_id in told:
        publish(group_of(user_id), {"type": "notification"})
    return len(events)


def _take(event: OutboxEvent, readers: _Readers) -> set[UUID]:
    """Note one event for all whom it concerns; return whose pages have something new to show."""
    if event.project_id not in {None, *readers.projects}:
        return set()
    if event.kind not in KINDS:
        return _settle(event)
    concerned = (readers.by_id[one] for one in event.people if one in readers.by_id)
    told = {user.pk for user in concerned if _notify(user, event, readers)}
    return told | _settle(event)


def _settle(event: OutboxEvent) -> set[UUID]:
    """Mark as read what the event ends; return whose it was."""
    kinds = SETTLED_BY.get(event.kind)
    if kinds is None:
        return set()
    before = Notification.objects.unread().filter(at__lte=event.at).exclude(event_id=event.pk)
    over = before.filter(kind__in=kinds, subject=event.subject)
    if (user_id := event.data.get("user")) is not None:
        over = over.filter(user=user_id)
    people_of = set(over.values_list("user_id", flat=True))
    if people_of:
        # Mail about a matter that is over would only disturb.
        over.update(read_at=Now(), mail_at=None, updated_at=Now())
    return people_of


def _readers(events: Iterable[OutboxEvent]) -> _Readers:
    concerned = {one for event in events for one in event.people}
    active = people().filter(pk__in=concerned, is_active=True).order_by("pk")
    # Lock first: a preference that changes meanwhile counts, or moves the new notifications along.
    found = list(active.select_for_update(of=("self",), no_key=True))
    chosen = {
        (row.user_id, row.topic): Topic(row.in_app, row.mail)
        for row in Preference.objects.filter(user__in=concerned)
    }
    times = {row.user_id: row.daily for row in MailTime.objects.filter(user__in=concerned)}
    named = {event.project_id for event in events if event.project_id is not None}
    there = Project.objects.filter(pk__in=named).values_list("pk", flat=True)
    return _Readers({user.pk: user for user in found}, chosen, times, frozenset(there))


def _notify(user: User, event: OutboxEvent, readers: _Readers) -> bool:
    """Note the event for somebody; return whether their pages have something new to show."""
    choice = readers.choice(user, KINDS[event.kind].topic)
    if event.kind == SIGNED_IN and not _is_new_place(user, event):
        return False
    mail_at = readers.mail_at(user, event.at, choice)
    if KINDS[event.kind].is_grouped and _add_to_group(user, event, choice, mail_at):
        return choice.in_app
    made = _made(user, event, choice, mail_at)
    Notification.objects.bulk_create([made], ignore_conflicts=True)
    return choice.in_app


def _made(user: User, event: OutboxEvent, choice: Topic, mail_at: datetime | None) -> Notification:
    return Notification(
        user=user,
        project_id=event.project_id,
        kind=event.kind,
        event_id=event.pk,
        subject=event.subject,
        data=event.data,
        count=_count(event),
        is_grouped=KINDS[event.kind].is_grouped,
        at=event.at,
        in_app=choice.in_app,
        mail_at=mail_at,
    )


def _add_to_group(user: User, event: OutboxEvent, choice: Topic, mail_at: datetime | None) -> bool:
    """Count the event to what was not read yet about the same thing; it is not mailed again."""
    rows = Notification.objects.unread().filter(user=user, kind=event.kind, subject=event.subject)
    more = F("count") + _count(event)
    new: dict[str, Any] = {
        "event_id": event.pk,
        "at": event.at,
        "data": event.data,
        "updated_at": Now(),
    }
    if choice.in_app:
        # It may be of a time when its topic was hidden.
        new["in_app"] = True
    was_there = bool(rows.filter(is_grouped=True).update(count=more, **new))
    if was_there and mail_at is not None:
        # Or of one when nothing of it was mailed.
        rows.filter(mailed_at=None, mail_at=None, mail_tries=0).update(mail_at=mail_at)
    return was_there


def _count(event: OutboxEvent) -> int:
    """Return how many things the event is about: items of a task that were returned together."""
    said = event.data.get("items", 1)
    return said if isinstance(said, int) and said > 0 else 1


def _is_new_place(user: User, event: OutboxEvent) -> bool:
    """Remember from where somebody signed in; True if they had only ever done so from elsewhere."""
    said = [str(event.data.get(key, "")) for key in ("browser", "system", "network")]
    is_first = not SeenBrowser.objects.filter(user=user).exists()
    _, is_new = SeenBrowser.objects.update_or_create(
        user=user, fingerprint=hash_token("\n".join(said)), defaults={"seen_at": event.at}
    )
    return is_new and not is_first


def tick() -> None:
    """Notify people of all that is new."""
    while fan_out() == EVENTS_AT_ONCE:
        pass
