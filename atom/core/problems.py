"""The one handler that renders every failure as `application/problem+json` (RFC 9457).

`exception_handler` turns each `AtomError`, and the exceptions of the framework and the services,
into a problem with a code and what to do next.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import is_valid_path
from rest_framework import exceptions as drf
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from atom.core.errors import (
    PROBLEM_JSON,
    AtomError,
    CsrfFailed,
    InternalError,
    Invalid,
    MalformedBody,
    MethodNotAllowed,
    NotAcceptable,
    NotAuthenticated,
    NotFound,
    PermissionDenied,
    SlashMissing,
    Throttled,
    UnsupportedMediaType,
)
from atom.core.field_errors import flatten_errors
from atom.core.service_problems import of_services
from atom_sdk.sentences import Sentence

_API = "/api/"
# Browsers cache a 410 for ever by default, but a deleted object may be restored.
_UNKEPT = {"Cache-Control": "no-store"}


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's `EXCEPTION_HANDLER`: render every known failure as problem+json.

    Unknown exceptions are left to Django, whose `handler500` is `server_error` below.
    """
    problem = to_atom_error(exc)
    if problem is None:
        return None
    # Imported late: rest_framework.views loads the authentication classes, which load models.
    from rest_framework.views import set_rollback

    set_rollback()
    request = context.get("request")
    if request is not None:
        # A problem is JSON, also where the view itself answers with a page or with YAML.
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), PROBLEM_JSON
    body = problem.as_problem(request_id_of(request))
    headers = _UNKEPT | problem.headers
    return Response(body, status=problem.status, headers=headers, content_type=PROBLEM_JSON)


def to_atom_error(exc: BaseException) -> AtomError | None:
    """Translate the framework's exceptions; None means that it is not ours to render."""
    if isinstance(exc, AtomError):
        return exc
    if isinstance(exc, Http404 | drf.NotFound):
        return NotFound()
    if isinstance(exc, DjangoPermissionDenied | drf.PermissionDenied):
        return PermissionDenied(str(getattr(exc, "detail", "")) or None)
    if isinstance(exc, drf.NotAuthenticated | drf.AuthenticationFailed):
        return NotAuthenticated(headers={"WWW-Authenticate": 'Bearer realm="atom"'})
    if isinstance(exc, drf.APIException):
        return _from_drf(exc)
    return of_services(exc)


def _from_drf(exc: drf.APIException) -> AtomError:
    if isinstance(exc, drf.ValidationError):
        return Invalid(errors=flatten_errors(exc.detail))
    if isinstance(exc, drf.Throttled):
        wait_s = int(getattr(exc, "wait", None) or 1)
        return Throttled(headers={"Retry-After": str(wait_s)}, retry_after_s=wait_s)
    if isinstance(exc, drf.ParseError):
        return MalformedBody(str(exc.detail))
    for theirs, ours in _PLAIN.items():
        if isinstance(exc, theirs):
            return ours(str(exc.detail))
    error = AtomError(str(exc.detail))
    error.status = exc.status_code  # type: ignore[misc]  # one handler for DRF's rare statuses
    return error


# Failures of the framework that differ from ours in nothing but their form.
_PLAIN: dict[type[drf.APIException], type[AtomError]] = {
    drf.MethodNotAllowed: MethodNotAllowed,
    drf.NotAcceptable: NotAcceptable,
    drf.UnsupportedMediaType: UnsupportedMediaType,
}


def request_id_of(request: Any) -> str | None:
    """Return the request's id as the log lines carry it."""
    found = structlog.contextvars.get_contextvars().get("request_id")
    return found or getattr(request, "id", None)


def problem_response(error: AtomError, request: HttpRequest | None = None) -> JsonResponse:
    """Render an error outside DRF (middleware, Django's own handlers)."""
    return JsonResponse(
        error.as_problem(request_id_of(request)),
        status=error.status,
        headers=_UNKEPT | error.headers,
        content_type=PROBLEM_JSON,
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> JsonResponse:
    """Django's `handler404` for paths that no view has."""
    path = request.path
    # Not sent on to it: a redirect would lose the body of a write.
    if path.startswith(_API) and is_valid_path(f"{path}/"):
        slash_missing = SlashMissing(
            Sentence("core.slash_missing", "There is {path}/ with a slash at its end.", path=path)
        )
        return problem_response(slash_missing, request)
    return problem_response(NotFound(), request)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> JsonResponse:
    """Django's `handler400`: what it finds suspicious before a view runs."""
    return problem_response(AtomError(str(exception or "") or None), request)


def server_error(request: HttpRequest) -> JsonResponse:
    """Django's `handler500`: the request id is the thread to pull."""
    known = to_atom_error(exc) if (exc := sys.exception()) else None
    return problem_response(known or InternalError(), request)


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    """Django's `CSRF_FAILURE_VIEW`."""
    return problem_response(CsrfFailed(reason), request)
