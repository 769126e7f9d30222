"""Why a git server could not be reached, in words: what libraries say names their own parts."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import urllib3
from paramiko import SSHException

from atom_sdk.public_hosts import HostUnknownError

AWAY, TLS = "git_away", "git_tls"


def reason_of(error: BaseException) -> tuple[str, str]:
    """Return the code of an error of `atom.jobs.code.errors`, and a sentence."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return TLS, f"Its certificate is not trusted: {cause.verify_message}."
        if isinstance(cause, ssl.SSLError):
            return TLS, "It answers, but not with TLS: perhaps it is another port, or plain http."
    for cause in causes:
        if said := _reason(cause):
            return AWAY, said
    return AWAY, "The connection to it failed."


def _reason(cause: BaseException) -> str:
    if isinstance(cause, HostUnknownError):
        return str(cause)
    if isinstance(cause, ConnectionRefusedError):
        return "It takes no connection at this port."
    if isinstance(cause, TimeoutError | urllib3.exceptions.TimeoutError):
        return "It does not answer in time."
    if isinstance(cause, ConnectionError | EOFError | urllib3.exceptions.ProtocolError):
        return "It ended the connection before it had answered."
    if isinstance(cause, SSHException):
        return "It does not speak SSH as is wanted: perhaps it is another port."
    if isinstance(cause, OSError) and not isinstance(cause, socket.gaierror) and cause.strerror:
        # Without the name of the file, if it was one.
        return f"The connection to it failed: {cause.strerror}."
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it came from, the innermost first."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one in found:
            continue
        found.append(one)
        within = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        waiting += [inner for inner in within if isinstance(inner, BaseException)]
    yield from reversed(found)
