"""Mark notifications as read or unread, and change preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts.models import User
from atom.accounts.reads import people
from atom.core.crypto import BadSignature, sign, unsign
from atom.core.live import publish
from atom.notifications.actions.daily import change_daily_time
from atom.notifications.actions.fan_out import group_of
from atom.notifications.errors import NotificationNotFound, TopicFixed, UnsubscribeLinkInvalid
from atom.notifications.events import NEVER, TOPICS, Topic, kinds_of
from atom.notifications.models import Notification, NotificationQuerySet, Preference

_PURPOSE = "notifications.unsubscribe"


@dataclass(frozen=True)
class Choice:
    """Which of one's notifications: by their ids, by what they are about, or all up to one."""

    ids: Sequence[UUID] = ()
    subject: str = ""
    until: UUID | None = None
    topic: str = ""


def mark_read(rows: NotificationQuerySet, user: User, choice: Choice) -> int:
    """Mark the chosen of the user's `rows` as read; return how many were not.

    Raises NotificationNotFound if `until` names none of them.
    """
    chosen = _chosen(rows, choice)
    with transaction.atomic():
        count = chosen.filter(read_at=None).update(read_at=Now(), updated_at=Now())
        if count:
            publish(group_of(user.pk), {"type": "notification"})
    return count


def mark_unread(rows: NotificationQuerySet, user: User, ids: Sequence[UUID]) -> int:
    """Undo reading; return how many were read.

    A notification stays read if a newer one about the same object took its place meanwhile.
    """
    count = 0
    for row in rows.filter(pk__in=ids).exclude(read_at=None).order_by("-at", "-id"):
        try:
            with transaction.atomic():
                found = Notification.objects.filter(pk=row.pk)
                count += found.update(read_at=None, updated_at=Now())
        except IntegrityError:
            continue
    if count:
        publish(group_of(user.pk), {"type": "notification"})
    return count


def _chosen(rows: NotificationQuerySet, choice: Choice) -> NotificationQuerySet:
    if choice.ids:
        return rows.filter(pk__in=choice.ids)
    if choice.subject:
        return rows.filter(subject=choice.subject)
    last = rows.filter(pk=choice.until).first() if choice.until else None
    if last is None:
        raise NotificationNotFound
    older = rows.filter(Q(at__lt=last.at) | Q(at=last.at, pk__lte=last.pk))
    return older.filter(kind__in=kinds_of(choice.topic)) if choice.topic else older


def preferences_of(user: User) -> dict[str, Topic]:
    """Return the user's preferences for each topic."""
    chosen = {row.topic: row for row in Preference.objects.filter(user=user)}
    return {
        name: Topic(row.in_app, row.mail) if (row := chosen.get(name)) else default
        for name, default in TOPICS.items()
    }


@transaction.atomic
def change_preferences(
    user: User, changes: Sequence[Mapping[str, Any]], daily: Mapping[str, Any] | None = None
) -> None:
    """Keep what was chosen: `topic` with `in_app`, `mail` or both, and `daily` of the daily mail.

    Raises TopicFixed; nothing is kept then.
    """
    # Lock first: two pages of one person may save at once.
    User.objects.select_for_update().get(pk=user.pk)
    present = preferences_of(user)
    for change in changes:
        name = change["topic"]
        if TOPICS[name].is_fixed:
            raise TopicFixed
        before = present[name]
        new = {
            "in_app": change.get("in_app", before.in_app),
            "mail": change.get("mail", before.mail),
        }
        Preference.objects.update_or_create(user=user, topic=name, defaults=new)
        # A topic may come twice: each of its changes counts.
        present[name] = Topic(**new)
    if daily:
        change_daily_time(user, daily)


def unsubscribe_token(user_id: UUID, topic: str) -> str:
    """Return what a mail carries, so that its reader can end mails of the topic."""
    return sign({"user": str(user_id), "topic": topic}, _PURPOSE)


def unsubscribe(token: str) -> str:
    """End the mails of a topic; return the topic. Raises UnsubscribeLinkInvalid."""
    user, topic = _subscription(token)
    change_preferences(user, [{"topic": topic, "mail": NEVER}])
    waiting = Notification.objects.filter(user=user, kind__in=kinds_of(topic))
    waiting.exclude(mail_at=None).update(mail_at=None)
    return topic


def _subscription(token: str) -> tuple[User, str]:
    try:
        said = unsign(token, _PURPOSE)
        user, topic = people().filter(pk=UUID(said["user"])).first(), said["topic"]
    except (BadSignature, KeyError, ValueError):
        raise UnsubscribeLinkInvalid from None
    if user is None or topic not in TOPICS or TOPICS[topic].is_fixed:
        raise UnsubscribeLinkInvalid
    return user, topic
