"""What every request passes before a view sees it."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware

from atom.core.errors import Invalid
from atom.core.problems import problem_response

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


class RefuseNul:
    """PostgreSQL stores no NUL: refuse it once, here, instead of failing in every query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 to an address that holds a NUL character."""
        if any(mark in text for mark in _NUL for text in (request.path, _query(request))):
            error = Invalid("The address holds a NUL character, which nothing is named with.")
            return problem_response(error, request)
        return self._get_response(request)


def _query(request: HttpRequest) -> str:
    return str(request.META.get("QUERY_STRING", ""))
