"""`/ws/notifications/`: that the person has something new, or has read something elsewhere."""

from __future__ import annotations

from channels.db import database_sync_to_async

from atom.accounts.models import User
from atom.core.consumers import TellingConsumer
from atom.notifications.actions.fan_out import group_of


class NotificationsConsumer(TellingConsumer):
    """Passes on that one's notifications changed; the page reads what by HTTP."""

    async def find_group(self) -> str | None:
        """Return the person's group, or None if nobody is signed in."""
        user = self.scope.get("user")
        if not isinstance(user, User) or not await _is_active(user):
            return None
        return group_of(user.pk)

    async def joined(self) -> None:
        """Say so: what changed until now was not heard, what comes from now on is."""
        await self.send_json({"type": "hello"})


@database_sync_to_async
def _is_active(user: User) -> bool:
    return User.objects.filter(pk=user.pk, is_active=True).exists()
