"""Base class of sockets that only send: they pass on the events of one group."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from channels.auth import get_user
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from atom.core.foreign_json import read_json
from atom.core.metrics import SOCKETS

# Application codes of RFC 6455 are 4000–4999; these repeat HTTP's meaning.
CLOSE_MALFORMED = 4400
CLOSE_NOT_FOUND = 4404
# RFC 6455: closed without a closing handshake.
_GONE = 1006
# Kind of the event for a person's sockets: roles or the session may have ended.
ACCESS = "access"
# For all sockets: a unit has moved, which may change everybody's rights.
ACCESS_OF_ALL = "access.everybody"


def access_group(user_id: UUID) -> str:
    """Return the group of all sockets of one person."""
    return f"access.{user_id}"


class GuardedConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # untyped library
    """A socket that closes when its person may not listen any more."""

    _guard = ""
    _is_counted = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one socket to its end, whichever way that comes."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            # A client that leaves during a send is noticed by that send alone. Without this, the
            # task that follows a log for it would never end.
            if self._is_counted:
                self._count_no_more()
                await self.disconnect(_GONE)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle a message of the client or the channel layer.

        Events at once: the framework goes to a thread before, to close old connections to the
        database, which whatever asks the database does for itself.
        """
        if message["type"] == "live.event":
            await self.live_event(message)
        else:
            await super().dispatch(message)

    async def live_event(self, message: dict[str, Any]) -> None:
        """Take an event of `atom.core.live`."""
        raise NotImplementedError

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        """Count the socket while it is open."""
        SOCKETS.labels(type(self).__name__).inc()
        self._is_counted = True
        await super().websocket_connect(message)

    async def websocket_disconnect(self, message: dict[str, Any]) -> None:
        """Stop counting the socket."""
        self._count_no_more()
        await super().websocket_disconnect(message)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Hear one message; one that is no JSON ends the socket, with nothing in the log."""
        try:
            content = read_json(text_data or "")
        except ValueError:
            await self.close(CLOSE_MALFORMED)
            return
        await self.receive_json(content)

    def _count_no_more(self) -> None:
        SOCKETS.labels(type(self).__name__).dec()
        self._is_counted = False

    async def may_listen(self) -> bool:
        """Return whether `self.scope["user"]` still sees the thing."""
        raise NotImplementedError

    async def guard(self) -> None:
        """Hear of changes of access from now on; call it before the first look."""
        if pk := getattr(self.scope.get("user"), "pk", None):
            self._guard = access_group(pk)
            for group in (self._guard, ACCESS_OF_ALL):
                await self.channel_layer.group_add(group, self.channel_name)

    async def unguard(self) -> None:
        """Stop listening to changes of access."""
        if self._guard:
            for group in (self._guard, ACCESS_OF_ALL):
                await self.channel_layer.group_discard(group, self.channel_name)

    async def is_access_event(self, message: dict[str, Any]) -> bool:
        """Look again after such an event, and close if need be; False for any other."""
        if message["event"].get("type") != ACCESS:
            return False
        if "session" in self.scope:
            self.scope["user"] = await get_user(_again(self.scope))
        if not await self.may_listen():
            await self.close(CLOSE_NOT_FOUND)
        return True


def _again(scope: Any) -> dict[str, Any]:
    """Return the scope with its session as the store has it now."""
    session = scope["session"]
    # A lazy object: its class is that of what it stands for.
    return {**scope, "session": session.__class__(session.session_key)}


class TellingConsumer(GuardedConsumer):
    """Passes on what apps publish to one group: kinds, ids and states, never contents."""

    group = ""

    async def may_listen(self) -> bool:
        """Return whether the group is still this person's to hear."""
        return await self.find_group() is not None

    async def find_group(self) -> str | None:
        """Return the group, or None if the person may not know that the object exists."""
        raise NotImplementedError

    async def connect(self) -> None:
        """Join the group, or close the socket, so that strangers cannot probe for objects."""
        await self.accept()
        await self.guard()
        group = await self.find_group()
        if group is None:
            await self.close(CLOSE_NOT_FOUND)
            return
        self.group = group
        await self.channel_layer.group_add(group, self.channel_name)
        await self.joined()

    async def joined(self) -> None:
        """Hook of subclasses, called once events are heard."""

    async def disconnect(self, code: int) -> None:
        """Leave the groups."""
        await self.unguard()
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Ignore messages of the browser: this socket only sends."""

    async def live_event(self, message: dict[str, Any]) -> None:
        """Pass an event of `atom.core.live` on."""
        if await self.is_access_event(message):
            return
        await self.send_json(message["event"])
