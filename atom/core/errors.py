"""One error class per failure.

Every failure that a user can meet is an `AtomError`: a status, a stable code, a plain
sentence and what to do next. `atom.core.problems` renders them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from atom.core.field_errors import codes_of, encodable
from atom_sdk.sentences import Sentence

PROBLEM_JSON = "application/problem+json"


class AtomError(Exception):
    """A failure that the user sees. Subclasses set the class attributes."""

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
            **detail_parts(self.detail),
            "action": self.action,
            "request_id": request_id,
        }
        if self.errors:
            problem["errors"] = self.errors
            problem["error_codes"] = codes_of(self.errors)
        whole: dict[str, Any] = encodable({**self.extra, **problem})
        return whole


def detail_parts(detail: str) -> dict[str, Any]:
    """Return `detail`, and `detail_code` and `detail_params` if it is a sentence."""
    if not isinstance(detail, Sentence):
        return {"detail": detail}
    sentence = detail.as_code()
    return {
        "detail": detail,
        "detail_code": sentence["code"],
        "detail_params": sentence["params"],
    }


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


class SlashMissing(NotFound):
    """An address of the API without the slash at its end."""

    code = "slash_missing"
    title = "Addresses of the API end with a slash."
    action = "Ask again with a slash at the end, before any '?'."


class NotAuthenticated(AtomError):
    """The caller is not signed in."""

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


class WritesRefused(Unavailable):
    """A disk is full or read-only, or a limit is reached; `fault` says which."""

    code = "writes_refused"
    title = "A service that this needs cannot write, or take more, at present."
    action = "Nothing was lost. Have an administrator look at System health; then send it again."


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
