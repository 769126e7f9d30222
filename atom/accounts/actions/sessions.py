"""Sessions begin, and end: one, all others, or all of a person."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest

from atom.accounts import audit
from atom.accounts.engines.user_agents import describe
from atom.accounts.events import notify_access_changed, notify_owner
from atom.accounts.models import Session, User
from atom.core.rate_limits import network_of


@transaction.atomic
def end_session(session: Session, actor: User) -> None:
    """Sign one browser out, its open sockets too."""
    owner = session.user
    session.delete()
    if owner is not None:
        audit.record(actor, "session.ended", owner, name=owner.username, count=1)
        notify_access_changed(owner.pk)


@transaction.atomic
def end_sessions(user: User, actor: User, except_key: str | None = None) -> int:
    """Sign all of a person's browsers out but one. Returns how many."""
    count, _ = Session.objects.filter(user=user).exclude(session_key=except_key or "").delete()
    if count:
        audit.record(actor, "session.ended", user, name=user.username, count=count)
        notify_access_changed(user.pk)
    return count


def note_sign_in(request: HttpRequest, user: User) -> None:
    """Record the place of a sign-in, and notify the person if it is new."""
    browser, system = describe(request.headers.get("User-Agent", ""))
    address = request.META.get("REMOTE_ADDR", "")
    seen = {"browser": browser, "system": system, "network": network_of(address)}
    notify_owner(user, "account.signed_in", address=address, **seen)
