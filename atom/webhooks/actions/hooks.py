"""Adding, changing, switching off and removing webhooks."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, outbox
from atom.core.crypto import encrypt
from atom.core.errors import Invalid
from atom.webhooks import states
from atom.webhooks.errors import TooManyWebhooks, WebhookNameTaken
from atom.webhooks.models import Webhook
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.public_hosts import check_public_url
from atom_sdk.sentences import Sentence

MAX_PER_PROJECT = 20


@dataclass(frozen=True)
class NewWebhook:
    """A webhook as its owner sees it once: the secret is stored encrypted and never shown."""

    webhook: Webhook
    secret: str


def create_webhook(
    project: Project, user: User, name: str, url: str, events: list[str], secret: str = ""
) -> NewWebhook:
    """Add a webhook; without a secret one is made.

    Raises Invalid, WebhookNameTaken, TooManyWebhooks.
    """
    check_url(url)
    secret = secret or new_secret()
    with transaction.atomic():
        # Lock first: two requests must not both be the last that is allowed.
        Project.objects.select_for_update().get(pk=project.pk)
        if Webhook.objects.filter(project=project).count() >= MAX_PER_PROJECT:
            raise TooManyWebhooks(
                Sentence(
                    "webhooks.too_many",
                    "At most {max} are kept for one project.",
                    max=MAX_PER_PROJECT,
                )
            )
        webhook = Webhook(
            project=project,
            name=name,
            url=url,
            events=sorted(set(events)),
            encrypted_secret=encrypt(secret),
            created_by=user,
        )
        _save(webhook)
        audit.record(user, "webhook.created", webhook, project, name=name, events=webhook.events)
    return NewWebhook(webhook, secret)


@transaction.atomic
def change_webhook(webhook: Webhook, user: User, changes: dict[str, Any]) -> Webhook:
    """Change name, address or events, or switch it on or off. Raises Invalid, WebhookNameTaken."""
    if "url" in changes:
        check_url(changes["url"])
    locked = Webhook.objects.select_for_update().select_related("project").get(pk=webhook.pk)
    given = dict(changes)
    if (active := given.pop("active", None)) is not None:
        _switch(locked, active)
    for name, value in given.items():
        setattr(locked, name, sorted(set(value)) if name == "events" else value)
    _save(locked)
    said = {**changes, "name": locked.name}
    audit.record(user, "webhook.changed", locked, locked.project, **said)
    return locked


def _switch(webhook: Webhook, active: bool) -> None:
    if active:
        # Earlier failures must not count against the next deliveries.
        webhook.off_reason, webhook.off_at, webhook.last_success_at = "", None, clock.now()
        outbox.emit(webhook.project_id, "webhook.enabled", subject=webhook.pk)
    elif not webhook.off_reason:
        webhook.off_reason, webhook.off_at = states.BY_PERSON, clock.now()


@transaction.atomic
def rotate_secret(
    webhook: Webhook, user: User, secret: str = "", overlap_hours: int = 24
) -> NewWebhook:
    """Give it another secret; until the overlap is over, the old one signs as well."""
    locked = Webhook.objects.select_for_update().select_related("project").get(pk=webhook.pk)
    secret = secret or new_secret()
    locked.encrypted_old_secret = locked.encrypted_secret if overlap_hours else ""
    until = clock.now() + timedelta(hours=overlap_hours)
    locked.old_secret_until = until if overlap_hours else None
    locked.encrypted_secret = encrypt(secret)
    locked.save()
    said = {"name": locked.name, "overlap_hours": overlap_hours}
    audit.record(user, "webhook.secret_rotated", locked, locked.project, **said)
    return NewWebhook(locked, secret)


@transaction.atomic
def delete_webhook(webhook: Webhook, user: User) -> None:
    """Remove it with its deliveries; what is under way is not called back."""
    audit.record(user, "webhook.deleted", webhook, webhook.project, name=webhook.name)
    outbox.emit(webhook.project_id, "webhook.deleted", subject=webhook.pk)
    webhook.delete()


def switch_off(webhook: Webhook, reason: str) -> None:
    """Send it nothing more; whoever opens its page, or the audit log, reads why."""
    rows = Webhook.objects.filter(pk=webhook.pk, off_reason="")
    with transaction.atomic():
        if rows.update(off_reason=reason, off_at=clock.now()):
            said = {"name": webhook.name, "reason": reason}
            audit.record(None, "webhook.disabled", webhook, webhook.project, **said)
            people = [webhook.created_by_id]
            outbox.emit(
                webhook.project_id, "webhook.disabled", people=people, subject=webhook.pk, **said
            )


def check_url(url: str) -> None:
    """Refuse early, and in words, an address that nothing would be sent to. Raises Invalid."""
    try:
        check_public_url(url, settings.ATOM_WEBHOOK_ALLOW)
    except SdkError as refused:
        raise Invalid(errors={"url": [ErrorDetail(str(refused), code=refused.code)]}) from refused


def new_secret() -> str:
    """Return 256 random bits, as text."""
    return secrets.token_urlsafe(32)


def _save(webhook: Webhook) -> None:
    try:
        with transaction.atomic():
            webhook.save()
    except IntegrityError as taken:
        raise WebhookNameTaken(
            errors={"name": [ErrorDetail("This name is taken.", code="unique")]}
        ) from taken
