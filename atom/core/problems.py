"""The one handler that renders every failure as `application/problem+json` (RFC 9457).

`exception_handler` turns each `AtomError`, and the exceptions of the framework and the services,
into a problem with a code and what to do next.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import structlog
from botocore.exceptions import BotoCoreError, ClientError
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import is_valid_path
from obstore.exceptions import BaseError as StoreError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from rest_framework import exceptions as drf
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from atom.core import faults
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
    StoreAway,
    StoreRefuses,
    Throttled,
    Unavailable,
    UnsupportedMediaType,
    WritesRefused,
)
from atom.core.field_errors import flatten_errors

log = structlog.get_logger(__name__)

# PostgreSQL or Valkey cannot be reached, or let go of a connection: the launcher has them back
# within seconds.
_SERVICE_IS_AWAY = (OperationalError, InterfaceError, RedisConnectionError, RedisTimeoutError)
_BACK_AFTER_S = 2
# What a person has to mend first is not asked for every two seconds.
_MENDED_AFTER_S = 30
_STORE_FAILED = (StoreError, BotoCoreError, ClientError)
_API = "/api/"
_STORE_DETAIL_CHARS = 300
_STORE_PLACE = re.compile(r"https?://[^/\s]+")
_STORE_STATUS = re.compile(r"status code: (\d{3})")


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
    return Response(body, status=problem.status, headers=problem.headers, content_type=PROBLEM_JSON)


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
    return _of_services(exc)


def _of_services(exc: BaseException) -> AtomError | None:
    """Translate what a service raised that is away, or answers that it cannot."""
    if (fault := faults.fault_of(exc)) is not None:
        return _of_fault(fault, exc)
    if isinstance(exc, DataError):
        # No field says so beforehand of what is inside a JSON document.
        log.warning("value_cannot_be_stored", error=str(exc))
        return Invalid("A value is larger than can be stored, or holds a NUL character.")
    if isinstance(exc, _SERVICE_IS_AWAY):
        log.warning("service_is_away", error=str(exc))
        return Unavailable(headers={"Retry-After": str(_BACK_AFTER_S)})
    if isinstance(exc, _STORE_FAILED):
        log.warning("object_store_failed", error=str(exc))
        return _of_store(exc)
    return None


def _of_fault(fault: str, exc: BaseException) -> AtomError:
    log.warning("writes_refused", fault=fault, error=str(exc))
    faults.note(fault)
    is_busy = fault == faults.DATABASE_BUSY
    headers = {"Retry-After": str(_BACK_AFTER_S if is_busy else _MENDED_AFTER_S)}
    return WritesRefused(faults.SAYS[fault][0], headers=headers, fault=fault)


def _of_store(exc: BaseException) -> AtomError:
    said = str(exc).split("\n", 1)[0]
    # Where the store is, is no business of the caller's; which object it was, is.
    detail = _STORE_PLACE.sub("", said).split(": <", 1)[0][:_STORE_DETAIL_CHARS]
    found = _STORE_STATUS.search(said)
    status = int(found.group(1)) if found else 0
    if isinstance(exc, ClientError):
        status = exc.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    is_refused = 400 <= status < 500 and status not in {408, 429}
    if is_refused:
        return StoreRefuses(detail)
    faults.note(faults.OBJECT_STORE_FAILING)
    return StoreAway(detail, headers={"Retry-After": str(_BACK_AFTER_S)})


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
        headers=error.headers,
        content_type=PROBLEM_JSON,
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> JsonResponse:
    """Django's `handler404` for paths that no view has."""
    path = request.path
    # Not sent on to it: a redirect would lose the body of a write.
    if path.startswith(_API) and is_valid_path(f"{path}/"):
        slash_missing = SlashMissing(f"There is {path}/ with a slash at its end.")
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
