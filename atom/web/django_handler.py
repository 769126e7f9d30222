"""Django below the one ASGI application: each request is answered in one thread, from end to end.

Django's own handler goes back and forth between the event loop and a new thread several times for
each request, once for each middleware of the other kind and for the view. All views here are
synchronous, and each of these changes waits for the interpreter's lock while other requests work:
docs/adr/0057 has the figures.
"""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import IO, Any, Final

import django
from asgiref.sync import sync_to_async
from asgiref.typing import HTTPScope
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.urls import set_script_prefix

# The pool of database connections limits how many work at once. There are more threads, so that
# requests that wait for the database or the store do not block `/api/v1/state/`.
_THREADS: Final = 128


def get_django_application() -> ASGIHandler:
    """Set Django up and return its part of the application."""
    django.setup(set_prefix=False)
    return OneThread()


class OneThread(ASGIHandler):
    """Answers in one thread of a pool; only what is sent while it is made comes back to one."""

    def __init__(self) -> None:
        # Not that of ASGIHandler, which loads the middleware to be awaited.
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="request")

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, whose body is read before."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        loop = asyncio.get_running_loop()
        # Context of one request must not reach the thread's next request.
        context = copy_context()
        with contextlib.closing(body):
            answer = partial(context.run, self._answer, scope, body)
            response = await loop.run_in_executor(self._threads, answer)
            if response.streaming:
                await self._stream(response, receive, send)
            else:
                await self.send_response(response, send)

    def _answer(self, scope: HTTPScope, body: IO[bytes]) -> Any:
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=type(self), scope=scope)
        request, refusal = self.create_request(scope, body)
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = type(self)
        if response.streaming:
            # Another thread makes the pieces, with its own database connection.
            close_old_connections()
        else:
            # This also ends the request for Django, which gives the database connection back.
            response.close()
        return response

    async def _stream(self, response: Any, receive: Any, send: Any) -> None:
        """Send the pieces until the last, or until the client has gone."""
        sending = asyncio.create_task(self.send_response(response, send))
        gone = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)
            await sync_to_async(response.close)()
        if not sending.cancelled():
            sending.result()
