"""`/ws/projects/<slug>/`: that something of a project changed; pages read what by HTTP."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from atom.accounts.models import Project, User

CLOSE_NOT_FOUND = 4404


class ProjectConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # untyped library
    """Passes on what apps publish to `project.<id>`: kinds, ids and states, never contents."""

    group = ""

    async def connect(self) -> None:
        """Join the project's group, or close: strangers cannot tell that the project exists."""
        slug: str = self.scope["url_route"]["kwargs"]["slug"]
        await self.accept()
        project = await _visible(self.scope.get("user"), slug)
        if project is None:
            await self.close(CLOSE_NOT_FOUND)
            return
        self.group = f"project.{project.pk}"
        await self.channel_layer.group_add(self.group, self.channel_name)
        # What changed until now was not heard: from here on the page can rely on the socket.
        await self.send_json({"type": "hello"})

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Ignore what the browser says: this socket only tells."""

    async def live_event(self, message: dict[str, Any]) -> None:
        """Pass an event of `atom.core.live` on."""
        await self.send_json(message["event"])


@database_sync_to_async
def _visible(user: Any, slug: str) -> Project | None:
    if not isinstance(user, User) or not user.is_active:
        return None
    return Project.objects.visible_to(user).filter(slug=slug).first()
