"""What every request passes before a view sees it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from atom.core.errors import Invalid, problem_response

_NUL = ("\0", "%00")


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
