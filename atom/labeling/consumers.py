"""The live counts of a label task."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from atom.accounts.models import User
from atom.labeling.models import LabelTask

CLOSE_NOT_FOUND = 4404


class LabelTaskConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # untyped library
    """Says `{"type": "progress"}` when counts change; the page reads them again by HTTP."""

    group = ""

    async def connect(self) -> None:
        """Join the task's group, or close: strangers cannot tell that the task exists."""
        task_id: UUID = self.scope["url_route"]["kwargs"]["task_id"]
        await self.accept()
        if not await _is_visible(self.scope.get("user"), task_id):
            await self.close(CLOSE_NOT_FOUND)
            return
        self.group = f"labeltask.{task_id}"
        await self.channel_layer.group_add(self.group, self.channel_name)

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
def _is_visible(user: Any, task_id: UUID) -> bool:
    if not isinstance(user, User):
        return False
    return LabelTask.objects.visible_to(user).filter(pk=task_id).exists()
