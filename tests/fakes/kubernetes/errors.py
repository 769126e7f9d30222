"""Failures of the API, as Status objects in the recorded words."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]


class Cause(NamedTuple):
    """One field of an invalid object, with the reason in the API's own terms."""

    field: str
    reason: str
    message: str

    def status(self) -> Json:
        """Return the cause as the Status carries it."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


class ApiError(Exception):
    """A Status that answers a request."""

    def __init__(
        self,
        code: int,
        message: str,
        reason: str = "",
        details: Json | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.details = details
        self.headers = headers or {}
        self.metadata: Json = {}

    def status(self) -> Json:
        """Return the Status object of this failure."""
        body: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        body["code"] = self.code
        return body


class PlainError(Exception):
    """A refusal as plain text, before the API's own machinery."""

    def __init__(self, code: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.headers = headers or {}


def details(group: str, kind: str, name: str = "") -> Json:
    """Return the details that name an object."""
    parts = {"name": name, "group": group, "kind": kind}
    return {key: value for key, value in parts.items() if value}


def qualified(group: str, name: str) -> str:
    """Return a resource or kind with its group, as messages show it."""
    return f"{name}.{group}" if group else name


def absent(group: str, plural: str, name: str) -> ApiError:
    """Return the failure for an object that does not exist."""
    text = f'{qualified(group, plural)} "{name}" not found'
    return ApiError(404, text, "NotFound", details(group, plural, name))


def already_exists(group: str, plural: str, name: str) -> ApiError:
    """Return the failure for a name that is taken."""
    text = f'{qualified(group, plural)} "{name}" already exists'
    return ApiError(409, text, "AlreadyExists", details(group, plural, name))


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def conflict(group: str, plural: str, name: str, why: str = MODIFIED) -> ApiError:
    """Return the failure of a write whose precondition does not hold."""
    text = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    return ApiError(409, text, "Conflict", details(group, plural, name))


def forbidden(group: str, plural: str, name: str, why: str) -> ApiError:
    """Return the refusal of a user or of an admission rule."""
    subject = qualified(group, plural) + (f' "{name}"' if name else "")
    text = f"{subject} is forbidden: {why}"
    return ApiError(403, text, "Forbidden", details(group, plural, name))


def bad_request(text: str) -> ApiError:
    """Return the failure of a request that cannot be read."""
    return ApiError(400, text, "BadRequest")


def internal(text: str) -> ApiError:
    """Return a failure of the server, which has no reason."""
    return ApiError(500, text)


def invalid(group: str, kind: str, name: str, causes: list[Cause]) -> ApiError:
    """Return the failure of an object whose fields are wrong."""
    # The message names equal causes once; the details name each.
    parts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    joined = parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"
    body = details(group, kind, name) | {"causes": [cause.status() for cause in causes]}
    text = f'{qualified(group, kind)} "{name}" is invalid: {joined}'
    return ApiError(422, text, "Invalid", body)


def unauthorized() -> ApiError:
    """Return the refusal of credentials that nobody knows."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def method_not_allowed() -> ApiError:
    """Return the refusal of a verb that the resource lacks."""
    text = "the server does not allow this method on the requested resource"
    return ApiError(405, text, "MethodNotAllowed", {})


def expired(text: str) -> ApiError:
    """Return the failure of a request for history that is gone."""
    return ApiError(410, text, "Expired")


def too_large_version(version: int, current: int) -> ApiError:
    """Return the failure of a read that waits for a version of the future."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return ApiError(
        504,
        f"Timeout: Too large resource version: {version}, current: {current}",
        "Timeout",
        {"causes": causes, "retryAfterSeconds": 1},
        {"Retry-After": "1"},
    )


def too_long(path: str, limit: int) -> Cause:
    """Return the cause for a value that is over its limit."""
    return Cause(path, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def wrong(path: str, value: str, why: str) -> Cause:
    """Return the cause for a value that a rule refuses."""
    return Cause(path, "FieldValueInvalid", f"Invalid value: {value}: {why}")


def required(path: str, why: str = "") -> Cause:
    """Return the cause for a field that is missing."""
    return Cause(path, "FieldValueRequired", "Required value" + (f": {why}" if why else ""))


def unsupported(path: str, value: str, allowed: list[str]) -> Cause:
    """Return the cause for a value outside of an enumeration."""
    names = ", ".join(f'"{name}"' for name in allowed)
    text = f'Unsupported value: "{value}": supported values: {names}'
    return Cause(path, "FieldValueNotSupported", text)
