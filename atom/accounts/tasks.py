"""Celery shims of accounts."""

from typing import Any, Final
from uuid import UUID

from celery import shared_task

from atom.accounts.actions.passwords import mail_reset
from atom.accounts.sessions import SessionStore

_DAY_S = 86_400.0

BEAT_SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    "accounts-forget-sessions": {
        "task": "accounts.forget_sessions",
        "schedule": _DAY_S,
        "options": {"expires": _DAY_S},
    },
}


@shared_task(name="accounts.send_reset_link", soft_time_limit=60, time_limit=90)
def send_reset_link(user_id: str) -> None:
    """Mail a link to set a new password; sent twice, both work until one is used."""
    mail_reset(UUID(user_id))


@shared_task(name="accounts.forget_sessions", soft_time_limit=300, time_limit=360)
def forget_sessions() -> None:
    """Delete the sessions that have expired."""
    SessionStore.clear_expired()
