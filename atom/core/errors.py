"""One error class per failure, and the one handler that renders them.

Every failure that a user can meet is an `AtomError`: a status, a stable code, a plain
sentence and what to do next. `exception_handler` turns them, and the framework's own
exceptions, into `application/problem+json` (RFC 9457).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import structlog
from botocore.exceptions import BotoCoreError, ClientError
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from obstore.exceptions import BaseError as StoreError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from rest_framework import exceptions as drf
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from atom.core.field_errors import codes_of

log = structlog.get_logger(__name__)

PROBLEM_JSON = "application/problem+json"
# PostgreSQL or Valkey cannot be reached, or let go of a connection: the launcher has them back
# within seconds.
_SERVICE_IS_AWAY = (OperationalError, InterfaceError, RedisConnectionError, RedisTimeoutError)
_BACK_AFTER_S = 2
_STORE_FAILED = (StoreError, BotoCoreError, ClientError)
_STORE_DETAIL_CHARS = 300
_CHOICE_CHARS = 200
_STORE_PLACE = re.compile(r"https?://[^/\s]+")
_STORE_STATUS = re.compile(r"status code: (\d{3})")


class AtomError(Exception):
    """A failure that is told to the user. Subclasses set the class attributes."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    title: ClassVar[str] = "The request could not be carried out."
    action: ClassVar[str] = "Check the request and send it again."

    def __init__(
        self,
        detail: str | None = None,
        *,
        errors: Mapping[str, list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.errors = dict(errors or {})
        self.headers = dict(headers or {})
        self.extra = extra

    def as_problem(self, request_id: str | None = None) -> dict[str, Any]:
        """Return the problem document, ready for JSON."""
        problem: dict[str, Any] = {
            "type": f"https://atom.dev/problems/{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            "action": self.action,
            "request_id": request_id,
        }
        if self.errors:
            problem["errors"] = self.errors
            problem["error_codes"] = codes_of(self.errors)
        whole: dict[str, Any] = encodable({**self.extra, **problem})
        return whole


def encodable(value: Any) -> Any:
    r"""Return a JSON value that UTF-8 can hold: half of a surrogate pair becomes its escape.

    JSON lets a client write one (`"\ud800"`), and a problem repeats what it refuses.
    """
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value


def action_of(code: str) -> str | None:
    """Return what to do next about a failure that was stored by its code; None if unknown."""
    classes = [AtomError]
    while classes:
        known = classes.pop()
        if known.code == code:
            return known.action
        classes += known.__subclasses__()
    return None


class NotFound(AtomError):
    """The thing does not exist, or the caller may not know that it does."""

    status = 404
    code = "not_found"
    title = "Nothing was found here."
    action = "Check the name or id, and that you are a member of the project."


class NotAuthenticated(AtomError):
    """The caller is nobody."""

    status = 401
    code = "not_authenticated"
    title = "You are not signed in."
    action = "Sign in, or send a valid API token."


class PermissionDenied(AtomError):
    """The caller sees the thing, but may not do this with it."""

    status = 403
    code = "permission_denied"
    title = "Your role does not allow this."
    action = "Ask an administrator of the project for a higher role."


class CsrfFailed(PermissionDenied):
    """A write with a session's cookie, without the token that only our own pages can read."""

    code = "csrf_failed"
    title = "This page is not allowed to write in your name."
    action = "Reload the page and try again; with an API token nothing else is needed."


class Invalid(AtomError):
    """The body or a parameter is wrong; `errors` says which field and why."""

    status = 400
    code = "invalid"
    title = "Some of the values are not valid."
    action = "Correct the fields listed under errors."


class MalformedBody(Invalid):
    """The body cannot be read as what it claims to be."""

    code = "malformed_body"
    title = "The body of the request is not valid JSON."
    action = "Correct the body at the place that is named, and send it again."


class MethodNotAllowed(AtomError):
    """The path exists, the verb does not."""

    status = 405
    code = "method_not_allowed"
    title = "This address does not support that method."
    action = "Use one of the methods that the Allow header names."


class NotAcceptable(AtomError):
    """The caller takes no form in which the answer exists."""

    status = 406
    code = "not_acceptable"
    title = "The answer does not exist in the form that was asked for."
    action = "Send the header Accept: application/json, or none."


class UnsupportedMediaType(AtomError):
    """The body comes in a form that this address does not read."""

    status = 415
    code = "unsupported_media_type"
    title = "This address does not read bodies of that type."
    action = "Send JSON with the header Content-Type: application/json."


class Conflict(AtomError):
    """The thing has changed since the caller last saw it, or already exists."""

    status = 409
    code = "conflict"
    title = "The request conflicts with the present state."
    action = "Reload and try again."


class AlreadyExists(Conflict):
    """A name is taken."""

    code = "already_exists"
    title = "That name is already taken."
    action = "Choose another name."


class IdempotencyKeyReused(Conflict):
    """The same key came with another body."""

    code = "idempotency_key_reused"
    title = "This Idempotency-Key was already used for a different request."
    action = "Send a new key with a new request."


class RequestInProgress(Conflict):
    """The first request with this key has not been answered yet."""

    code = "request_in_progress"
    title = "The first request with this Idempotency-Key is still running."
    action = "Wait a second and send the same request again."


class TooLarge(AtomError):
    """The body is larger than the server reads."""

    status = 413
    code = "too_large"
    title = "The request is too large."
    action = "Send it in smaller parts."


class Throttled(AtomError):
    """Too many requests."""

    status = 429
    code = "too_many_requests"
    title = "Too many requests."
    action = "Wait, then try again; the Retry-After header says how long."


class Unavailable(AtomError):
    """A part that the request needs is down."""

    status = 503
    code = "unavailable"
    title = "A service that this needs is not available."
    action = "Try again in a few seconds; if it lasts, look at /readyz."


class InternalError(AtomError):
    """A defect of ours."""

    status = 500
    code = "internal_error"
    title = "Something went wrong on the server."
    action = "Try again; if it happens again, report the request id."


class StoreRefuses(AtomError):
    """The object store does not let us do what we must."""

    status = 500
    code = "object_store_refuses"
    title = "The object store refuses a request of this server."
    action = "Nothing was lost. Have an administrator check the bucket and the rights of its key."


class StoreAway(AtomError):
    """The object store cannot be reached or has failed, also when tried again."""

    status = 503
    code = "object_store_away"
    title = "The object store does not answer as it should."
    action = "Nothing was lost. Try again in a moment; if it stays, look at the object store."


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
    if isinstance(exc, _SERVICE_IS_AWAY):
        log.warning("service_is_away", error=str(exc))
        return Unavailable(headers={"Retry-After": str(_BACK_AFTER_S)})
    if isinstance(exc, _STORE_FAILED):
        log.warning("object_store_failed", error=str(exc))
        return _of_store(exc)
    return None


def _of_store(exc: BaseException) -> AtomError:
    said = str(exc).split("\n", 1)[0]
    # Where the store is, is no business of the caller's; which object it was, is.
    detail = _STORE_PLACE.sub("", said).split(": <", 1)[0][:_STORE_DETAIL_CHARS]
    found = _STORE_STATUS.search(said)
    status = int(found.group(1)) if found else 0
    if isinstance(exc, ClientError):
        status = exc.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    is_refused = 400 <= status < 500 and status not in {408, 429}
    return StoreRefuses(detail) if is_refused else StoreAway(detail)


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


def flatten_errors(detail: Any, prefix: str = "") -> dict[str, list[str]]:
    """Return `{"field.0.name": [messages]}` for DRF's nested error detail, codes kept."""
    if isinstance(detail, Mapping):
        flat: dict[str, list[str]] = {}
        for key, value in detail.items():
            flat.update(flatten_errors(value, f"{prefix}.{key}" if prefix else str(key)))
        return flat
    if isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        flat = {}
        for index, item in enumerate(detail):
            if item:
                flat.update(flatten_errors(item, f"{prefix}.{index}" if prefix else str(index)))
        return flat
    messages = detail if isinstance(detail, list) else [detail]
    return {prefix or "non_field_errors": [_as_text(message) for message in messages]}


def _as_text(message: Any) -> str:
    if getattr(message, "code", "") == "invalid_choice" and len(message) > _CHOICE_CHARS:
        # It begins with what was sent, however long that is.
        message = drf.ErrorDetail(
            f'{message[:_CHOICE_CHARS]}…" is not a valid choice.', message.code
        )
    return message if isinstance(message, str) else str(message)


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
