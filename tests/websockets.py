"""A WebSocket client inside the process (channels.testing would need daphne)."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator

# asgiref.testing carries no types.
_Communicator: Any = ApplicationCommunicator


class WebSocketClient:
    """Speaks the ASGI websocket protocol with an application."""

    def __init__(
        self, application: Any, path: str, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        path, _, query = path.partition("?")
        scope = {
            "type": "websocket",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers or [(b"host", b"testserver")],
            "subprotocols": [],
        }
        self._communicator = _Communicator(application, scope)

    async def connect(self) -> int | None:
        """Open the socket; return None when it was accepted, else the close code."""
        await self._communicator.send_input({"type": "websocket.connect"})
        answer = await self._communicator.receive_output(timeout=5)
        return None if answer["type"] == "websocket.accept" else int(answer["code"])

    async def send_json(self, message: Any) -> None:
        """Send one message."""
        text = json.dumps(message)
        await self._communicator.send_input({"type": "websocket.receive", "text": text})

    async def receive_json(self, timeout_s: float = 5) -> Any:
        """Return the next message; raises TimeoutError, or ConnectionError when closed."""
        answer = await self._communicator.receive_output(timeout=timeout_s)
        if answer["type"] != "websocket.send":
            raise ConnectionError(f"closed with code {answer.get('code')}")
        return json.loads(answer["text"])

    async def close(self) -> None:
        """Close the socket and wait for the application to end."""
        await self._communicator.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._communicator.wait()
