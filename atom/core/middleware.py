"""Middleware of every request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware
from django_structlog.signals import bind_extra_request_finished_metadata

from atom.core.errors import Invalid
from atom.core.problems import problem_response
from atom_sdk.sentences import Sentence

_NUL = ("\0", "%00")
_PARAMETER = re.compile(r"[a-z_]{1,40}")


class LogRequests(RequestMiddleware):  # type: ignore[misc]  # untyped library
    """One line a request, with the names of its parameters: a value may be a code or a token."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return what was asked."""
        parts = _query(request).split("&")
        named = [part.partition("=")[0] for part in parts if "=" in part]
        shown = "&".join(name for name in named if _PARAMETER.fullmatch(name))
        return f"{request.method} {request.path}{'?' if shown else ''}{shown}"


@receiver(bind_extra_request_finished_metadata)
def _note_client(request: HttpRequest, log_kwargs: dict[str, Any], **_: Any) -> None:
    # The library puts it into the line of a request that begins, which is not written.
    log_kwargs["user_agent"] = request.META.get("HTTP_USER_AGENT")


class RefuseNul:
    """PostgreSQL stores no NUL: refuse it once, here, instead of failing in every query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 to an address that holds a NUL character."""
        if any(mark in text for mark in _NUL for text in (request.path, _query(request))):
            error = Invalid(
                Sentence(
                    "core.nul_in_address", "The address holds a NUL character; no name has one."
                )
            )
            return problem_response(error, request)
        return self._get_response(request)


def _query(request: HttpRequest) -> str:
    return str(request.META.get("QUERY_STRING", ""))
