"""The portal's sessions: Django's, with whose they are, from where and when they were last used.

However somebody signs in, `django.contrib.auth.login` makes one of these. They are not cached: a
session that was ended is ended in the next request.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

from atom.accounts.models import Session

# Writing the time of every request would make each read a write.
_SEEN_STEP = timedelta(minutes=1)


class SessionStore(DatabaseStore):
    """Django's store over the table `Session`; a row knows its user."""

    seen_at: datetime | None = None
    is_new = False

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """Return the table."""
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row to write, with its user."""
        row: Any = super().create_model_instance(data)
        row.user_id = data.get(SESSION_KEY)
        return row

    def create(self) -> None:
        """Begin a new row, without a user yet."""
        super().create()
        self.is_new = True

    def _get_session_from_db(self) -> Any:
        row: Any = super()._get_session_from_db()  # type: ignore[misc]  # not in the stubs
        self.seen_at = row.last_seen_at if row else None
        return row

    @property
    def is_to_be_noted(self) -> bool:
        """Whether somebody is signed in by it, and its last use was noted too long ago."""
        if not self.accessed or not self.session_key or SESSION_KEY not in self:
            return False
        if self.is_new or self.seen_at is None:
            return self.is_new
        # This machine's clock does for the question: at worst the time is older.
        return abs(timezone.now() - self.seen_at) > _SEEN_STEP
