"""How this API refuses, in MLflow's form: `{"error_code", "message"}` with its codes and statuses.

Refused
├── BadParameter        INVALID_PARAMETER_VALUE
├── ResourceMissing     RESOURCE_DOES_NOT_EXIST
├── ResourceExists      RESOURCE_ALREADY_EXISTS
├── NotPermitted        PERMISSION_DENIED
├── WrongState          RESOURCE_CONFLICT
├── BatchTooLarge       BAD_REQUEST
└── NoSuchEndpoint      ENDPOINT_NOT_FOUND
"""

from __future__ import annotations

from typing import Any, ClassVar

from atom.core import errors as core
from atom.core.errors import AtomError
from atom.core.field_errors import encodable
from atom.core.problems import to_atom_error


class Refused(Exception):
    """A failure that MLflow's client raises as an `MlflowException` with this code."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "BAD_REQUEST"


class BadParameter(Refused):
    """A parameter is missing, of the wrong type, or has a value that cannot be."""

    code = "INVALID_PARAMETER_VALUE"


class ResourceMissing(Refused):
    """There is no such thing, or the caller may not know that there is."""

    status = 404
    code = "RESOURCE_DOES_NOT_EXIST"


class ResourceExists(Refused):
    """The name is taken."""

    code = "RESOURCE_ALREADY_EXISTS"


class NotPermitted(Refused):
    """The caller may see it, but not do this."""

    status = 403
    code = "PERMISSION_DENIED"


class WrongState(Refused):
    """Not as things stand now."""

    status = 409
    code = "RESOURCE_CONFLICT"


class BatchTooLarge(Refused):
    """More bytes than are read at once."""

    status = 413


class NoSuchEndpoint(Refused):
    """A part of MLflow that Atom does not have."""

    status = 404
    code = "ENDPOINT_NOT_FOUND"


# The first class that fits decides.
_CODES: tuple[tuple[type[AtomError], str, int], ...] = (
    (core.NotFound, ResourceMissing.code, 404),
    (core.AlreadyExists, ResourceExists.code, 400),
    (core.Conflict, WrongState.code, 409),
    (core.PermissionDenied, NotPermitted.code, 403),
    (core.NotAuthenticated, "UNAUTHENTICATED", 401),
    (core.TooLarge, BatchTooLarge.code, 413),
    (core.MethodNotAllowed, NoSuchEndpoint.code, 405),
    (core.Throttled, "REQUEST_LIMIT_EXCEEDED", 429),
    (core.Unavailable, "TEMPORARILY_UNAVAILABLE", 503),
    (core.StoreAway, "TEMPORARILY_UNAVAILABLE", 503),
    (core.Invalid, BadParameter.code, 400),
)


def as_answer(exc: BaseException) -> tuple[int, dict[str, Any]] | None:
    """Return status and body for a failure; None for a defect of ours."""
    if isinstance(exc, Refused):
        return exc.status, {"error_code": exc.code, "message": str(encodable(str(exc)))}
    problem = to_atom_error(exc)
    if problem is None:
        return None
    code, status = "BAD_REQUEST", problem.status
    for kind, its_code, its_status in _CODES:
        if isinstance(problem, kind):
            code, status = its_code, its_status
            break
    else:
        code = "INTERNAL_ERROR" if status >= 500 else code
    return status, {"error_code": code, "message": encodable(_sentence(problem))}


def _sentence(problem: AtomError) -> str:
    named = [f"{name}: {' '.join(said)}" for name, said in problem.errors.items()]
    return " ".join([problem.detail, *named, problem.action])
