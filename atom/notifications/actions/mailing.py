"""Mails what is due: one mail to a person, however many notifications it holds.

A try is noted before it is made, with the time of the next one: a worker that is killed between
the server's answer and its note leaves notifications that are mailed again, under the same id.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Count, F
from django.db.models.functions import Now

from atom.accounts.models import User
from atom.accounts.reads import people
from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.core.locks import only_worker
from atom.notifications.actions.reading import unsubscribe_token
from atom.notifications.engines.links import path_of
from atom.notifications.engines.timing import GIVEN_UP_AFTER_TRIES, wait_after
from atom.notifications.events import KINDS, TOPICS
from atom.notifications.models import Notification
from atom.notifications.pipelines.mail import Item, Letter, send

log = structlog.get_logger(__name__)

_MAIL_TASK = "atom.notifications.tasks.mail_person"
_PEOPLE_AT_ONCE = 100
_ITEMS_AT_ONCE = 50
_MESSAGE_EXPIRES_S = 20.0
KEPT = timedelta(days=90)
KEPT_OF_A_PERSON = 1000


def mail_due() -> None:
    """Have a worker mail each person to whom something is due."""
    due = Notification.objects.filter(mail_at__lte=Now()).order_by()
    for user_id in due.values_list("user_id", flat=True).distinct()[:_PEOPLE_AT_ONCE]:
        enqueue(_MAIL_TASK, str(user_id), expires_s=_MESSAGE_EXPIRES_S)


def mail_person(user_id: UUID) -> bool:
    """Mail somebody what is due to them; return whether a mail was sent."""
    with only_worker(user_id) as mine:
        user = people().filter(pk=user_id).first()
        if not mine or user is None:
            return False
        due = _begin_try(user)
        if not due:
            return False
        taken = send(_letter(user, due))
        reach("notification.mailed")
        if taken:
            sent = Notification.objects.filter(pk__in=[row.pk for row in due])
            sent.update(mail_at=None, mailed_at=Now(), updated_at=Now())
    log.info("notifications_mailed", user_id=str(user_id), count=len(due), taken=taken)
    return taken


@transaction.atomic
def _begin_try(user: User) -> list[Notification]:
    """Return the notifications to mail now, and set the time of their retry.

    Notifications that were read meanwhile, or whose project is closed to the reader, are dropped.
    """
    rows = Notification.objects.filter(user=user, mail_at__lte=Now()).order_by("at", "id")
    found = list(rows.select_for_update(of=("self",))[:_ITEMS_AT_ONCE])
    ids = [row.pk for row in found]
    open_ones = Notification.objects.visible_to(user).select_related("project")
    seen = {row.pk: row for row in open_ones.filter(pk__in=ids)}
    may_be_mailed = user.is_active and user.email and settings.ATOM_SENDS_MAIL
    due = [seen[row.pk] for row in found if may_be_mailed and row.pk in seen and _is_mailable(row)]
    kept = {row.pk for row in due}
    Notification.objects.filter(pk__in=[pk for pk in ids if pk not in kept]).update(mail_at=None)
    for row in due:
        next_at = Now() + wait_after(row.mail_tries + 1)
        Notification.objects.filter(pk=row.pk).update(
            mail_tries=F("mail_tries") + 1, mail_at=next_at, updated_at=Now()
        )
    return due


def _is_mailable(row: Notification) -> bool:
    if row.mail_tries >= GIVEN_UP_AFTER_TRIES:
        return False
    # Whoever sits in somebody else's account could read its warnings away.
    return row.read_at is None or TOPICS[KINDS[row.kind].topic].is_fixed


def _letter(user: User, rows: Sequence[Notification]) -> Letter:
    items = [_item(row) for row in rows]
    topics = dict.fromkeys(item.topic for item in items if not TOPICS[item.topic].is_fixed)
    stops = {topic: unsubscribe_token(user.pk, topic) for topic in topics}
    return Letter(user.email, user.language, items, stops)


def _item(row: Notification) -> Item:
    path = path_of(row.kind, row.data, row.project.slug if row.project else "")
    return Item(
        key=str(row.pk),
        kind=row.kind,
        topic=KINDS[row.kind].topic,
        data=row.data,
        count=row.count,
        project=row.project.name if row.project else "",
        link=f"{settings.ATOM_PUBLIC_URL}{path}",
    )


def forget_old() -> int:
    """Delete what is older than three months, and of each person all but the newest thousand."""
    deleted = Notification.objects.filter(at__lt=Now() - KEPT).delete()[0]
    many = (
        Notification.objects.values("user").annotate(n=Count("pk")).filter(n__gt=KEPT_OF_A_PERSON)
    )
    for user_id in many.values_list("user", flat=True):
        rows = Notification.objects.filter(user=user_id).order_by("-at", "-id")
        newest = rows.values("pk")[:KEPT_OF_A_PERSON]
        deleted += Notification.objects.filter(user=user_id).exclude(pk__in=newest).delete()[0]
    return deleted
