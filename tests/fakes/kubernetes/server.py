"""The server: HTTP/1.1, plain or with TLS, on a free port of 127.0.0.1, in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import uvicorn

from .answers import Answer, error_answer
from .errors import ApiError, PlainError, internal
from .faults import Faults, Rule, refusal
from .handlers import BODY_LIMIT, Handlers
from .logs import PREVIOUS, check_started, container_of, follow, select_lines, unreachable
from .requests import Request, parse_query, resolve
from .watching import Watch

Json = dict[str, Any]
Receive = Callable[[], Awaitable[Json]]
Send = Callable[[Json], Awaitable[None]]


class LostError(Exception):
    """The connection closes without an answer."""


class Application:
    """The ASGI application."""

    def __init__(self, handlers: Handlers, faults: Faults) -> None:
        self.handlers = handlers
        self.faults = faults
        # A real server sends one about once a minute.
        self.bookmark_seconds = 60.0

    async def __call__(self, scope: Json, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        request = Request(
            scope["method"],
            scope["path"],
            parse_query(scope["query_string"].decode()),
            {key.decode().lower(): value.decode() for key, value in scope["headers"]},
        )
        try:
            await self._serve(request, receive, send)
        except (ApiError, PlainError) as failure:
            await _reply(send, error_answer(failure))
        except LostError:
            await _abort(send)

    async def _serve(self, request: Request, receive: Receive, send: Send) -> None:
        request.body = await _read(receive)
        access = self.handlers.access
        request.user = access.user_of(request.headers.get("authorization", ""))
        rule = self.faults.take(request.method, request.path, request.user.name)
        if rule is not None:
            await _disturbed(rule)
            if rule.answer is not None:
                await _reply(send, rule.answer)
                return
        known = resolve(request, self.handlers.machinery.registry)
        access.check(request.user, request.question())
        if not known:
            await _reply(send, self.handlers.document(request))
        elif request.is_watch:
            await self._watch(request, receive, send)
        elif request.part == "log":
            await self._log(request, receive, send)
        else:
            answer = self.handlers.answer(request)
            if rule is not None and rule.kind == "lose":
                raise LostError
            await _reply(send, answer)

    async def _watch(self, request: Request, receive: Receive, send: Send) -> None:
        watch = Watch(self.handlers.store, request, self.faults, self.bookmark_seconds)
        try:
            watch.start()
        except ApiError:
            watch.close()
            raise
        await _stream(watch.lines(), "application/json", receive, send)
        if watch.stream.broken:
            raise LostError
        await send({"type": "http.response.body", "body": b""})

    async def _log(self, request: Request, receive: Receive, send: Send) -> None:
        handlers = self.handlers
        pod = handlers.machinery.get(request.kind, *request.place)
        container = container_of(pod, request.query)
        attempt = PREVIOUS if request.query.get("previous") == "true" else ""
        check_started(pod, container)
        log = handlers.logs.of(pod["metadata"]["uid"], container, attempt)
        if log is None and attempt:
            name = request.name
            raise ApiError(
                400,
                f'previous terminated container "{container}" in pod "{name}" not found',
                "BadRequest",
            )
        node = pod["spec"].get("nodeName", "")
        if log is None or node in handlers.logs.silent_nodes:
            if not node:
                await _reply(send, Answer(200, b"", "text/plain"))
                return
            raise unreachable(pod, container)
        if request.query.get("follow") == "true":
            lines = follow(handlers.logs, log, request)
            await _stream(lines, "text/plain", receive, send)
            await send({"type": "http.response.body", "body": b""})
            return
        text = select_lines(log, request, handlers.logs.clock())
        await _reply(send, Answer(200, text, "text/plain"))


async def _abort(send: Send) -> None:
    """Close the connection at once; ASGI has no word for that, so uvicorn's own part is asked."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is not None:
        transport.abort()
        # The server must notice it before it would answer 500.
        await asyncio.sleep(0.01)


async def _disturbed(rule: Rule) -> None:
    if rule.kind == "refuse":
        raise refusal(rule.code, rule.message)
    if rule.kind == "drop":
        raise LostError
    if rule.kind == "slow":
        await asyncio.sleep(rule.seconds)


async def _read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise LostError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
    if size > BODY_LIMIT:
        text = f"Request entity too large: limit is {BODY_LIMIT}"
        raise ApiError(413, text, "RequestEntityTooLarge")
    return b"".join(parts)


async def _reply(send: Send, answer: Answer) -> None:
    headers = [(b"content-type", answer.content_type.encode())]
    headers.append((b"content-length", str(len(answer.body)).encode()))
    headers += [(key.encode(), value.encode()) for key, value in answer.headers.items()]
    for text in answer.warnings:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        headers.append((b"warning", f'299 - "{quoted}"'.encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _stream(
    lines: AsyncIterator[bytes], content_type: str, receive: Receive, send: Send
) -> None:
    """Send a stream until it ends or the client goes."""
    headers = [(b"content-type", content_type.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": True})

    async def pump() -> None:
        async for text in lines:
            await send({"type": "http.response.body", "body": text, "more_body": True})

    task = asyncio.create_task(pump())
    gone = asyncio.create_task(_disconnected(receive))
    await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()
    if not task.done():
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        raise LostError
    task.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


class Server:
    """The application on a port, in a thread of this process."""

    def __init__(
        self,
        application: Application,
        *,
        certificate: tuple[str, str] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._application, self._certificate, self._host = application, certificate, host
        self.socket = self._bind(port)
        self._port: int = self.socket.getsockname()[1]
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://{host}:{self._port}"
        self._new_process()

    def _bind(self, port: int) -> socket.socket:
        # With the protocol named, each connection sends small answers at once.
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((self._host, port))
        return bound

    def _new_process(self) -> None:
        certificate = self._certificate
        config = uvicorn.Config(
            self._application,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=60,
            backlog=1024,
            lifespan="off",
            loop="asyncio",
            ssl_certfile=certificate[0] if certificate else None,
            ssl_keyfile=certificate[1] if certificate else None,
        )
        self._server = uvicorn.Server(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="kubernetes", daemon=True)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve(sockets=[self.socket])
        self._abort_connections()
        # Closed connections end in the next turns of the loop.
        await asyncio.sleep(0.05)

    def _abort_connections(self) -> None:
        for connection in tuple(self._server.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()

    def start(self) -> None:
        """Serve, and return when the server answers."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.01)
        if not self._server.started:
            raise internal("the server did not start")

    def stop(self) -> None:
        """Stop serving."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(10)
        self.socket.close()

    def crash(self) -> None:
        """Be gone at once, as a killed server is: requests in hand are cut, the port refuses.

        Stored objects stay, as in etcd.
        """
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._cut)
        self._thread.join(10)
        self.socket.close()

    def _cut(self) -> None:
        for listener in self._server.servers:
            listener.close()
        self._abort_connections()
        self._server.should_exit = self._server.force_exit = True

    def start_again(self) -> None:
        """Serve at the same address after `crash` or `stop`."""
        self.socket = self._bind(self._port)
        self._new_process()
        self.start()

    def reload_certificate(self, certificate: tuple[str, str]) -> None:
        """Show another certificate to connections from now on."""
        context = self._server.config.ssl
        assert context is not None
        context.load_cert_chain(*certificate)

    def wait(self) -> None:
        """Serve until the process ends."""
        self._thread.join()
