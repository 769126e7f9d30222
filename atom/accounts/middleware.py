"""Notes from where, and when, sessions are used."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse

from atom.accounts.models import Session
from atom.accounts.sessions import SessionStore

_AGENT_CHARACTERS = 400


class NoteSession:
    """After each request: the session's browser, address and time, once a minute."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, then note."""
        response = self._get_response(request)
        session = getattr(request, "session", None)
        if isinstance(session, SessionStore) and session.is_to_be_noted:
            agent = request.headers.get("User-Agent", "")[:_AGENT_CHARACTERS]
            Session.objects.filter(session_key=session.session_key).update(
                last_seen_at=Now(),
                user_agent=agent.replace("\0", ""),
                ip_address=request.META.get("REMOTE_ADDR") or None,
            )
        return response
