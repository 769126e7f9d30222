"""The portal's sessions: Django's, with whose they are, from where and when they were last used.

However somebody signs in, `django.contrib.auth.login` makes one of these.
"""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.cached_db import SessionStore as CachedStore

from atom.accounts.models import Session

# Keys of Django's own: the id of the signed-in user.
_USER = "_auth_user_id"


class SessionStore(CachedStore):
    """Django's store over the table `Session`; a row knows its user."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """Return the table."""
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row to write, with its user."""
        row: Any = super().create_model_instance(data)
        row.user_id = data.get(_USER)
        return row
