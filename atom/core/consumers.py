"""What sockets that only tell have in common: one group, its events passed on, nothing heard."""

from __future__ import annotations

from typing import Any

from channels.generic.websocket import AsyncJsonWebsocketConsumer

CLOSE_NOT_FOUND = 4404


class TellingConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # untyped library
    """Passes on what apps publish to one group: kinds, ids and states, never contents."""

    group = ""

    async def find_group(self) -> str | None:
        """Return the group to listen to, or None for who may not know that the thing exists."""
        raise NotImplementedError

    async def connect(self) -> None:
        """Join the group, or close: strangers cannot tell that the thing exists."""
        await self.accept()
        group = await self.find_group()
        if group is None:
            await self.close(CLOSE_NOT_FOUND)
            return
        self.group = group
        await self.channel_layer.group_add(group, self.channel_name)
        await self.joined()

    async def joined(self) -> None:
        """Do what is to be done once events are heard."""

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Ignore what the browser says: this socket only tells."""

    async def live_event(self, message: dict[str, Any]) -> None:
        """Pass an event of `atom.core.live` on."""
        await self.send_json(message["event"])
