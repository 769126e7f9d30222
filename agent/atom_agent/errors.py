"""Failures of the agent, in the words of its protocol."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a fetch failed, as the server reads it."""

    STALLED = "stalled"
    DIGEST = "digest"
    REFUSED = "refused"
    MISSING = "missing"
    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    ORIGIN = "origin"


class AgentError(Exception):
    """The base of the agent's own failures."""


class SettingError(AgentError):
    """An environment variable is missing or has a value that cannot be used."""

    def __init__(self, variable: str, problem: str) -> None:
        """`problem` completes the sentence that begins with the variable's name."""
        super().__init__(f"{variable} {problem}")
        self.variable = variable


class FetchError(AgentError):
    """A pack could not be fetched; nothing of it is kept."""

    def __init__(self, reason: Reason, detail: str) -> None:
        """`detail` is a sentence for administrators."""
        super().__init__(detail)
        self.reason = reason


class FetchCancelled(AgentError):
    """The server took the order back, or the agent stops."""


class ControlError(AgentError):
    """The server did not answer, or its answer cannot be used. The same request may follow."""


class NotAccepted(ControlError):
    """The server does not accept the token: the agent joins again."""


class RequestRefused(ControlError):
    """The server refuses a request; the same request would be refused again."""


class VolumeError(AgentError):
    """A call of the kubelet failed; `status` is the name of its gRPC status."""

    status = "INTERNAL"


class VolumeRequestError(VolumeError):
    """A request has a wrong or missing part."""

    status = "INVALID_ARGUMENT"


class VolumeRefusedError(VolumeError):
    """The pod may not have the volume, or cannot get it."""

    status = "PERMISSION_DENIED"


class VolumeWaitsError(VolumeError):
    """The volume is not ready yet: the kubelet asks again."""

    status = "UNAVAILABLE"


class VolumeExistsError(VolumeError):
    """The volume is there with other attributes."""

    status = "ALREADY_EXISTS"


class VolumeFullError(VolumeError):
    """The disk is full."""

    status = "RESOURCE_EXHAUSTED"


class VolumeMountError(VolumeError):
    """The kernel refuses a mount, or something uses it."""
