"""Free and busy TCP ports of the loopback interface."""

import socket
import time
from collections.abc import Sequence
from pathlib import Path

# Below the ephemeral range, where the kernel would hand the same port to an outgoing connection.
FIRST_PORT, LAST_PORT = 20_000, 32_000
_POLL_S = 0.05


class PortBusyError(RuntimeError):
    """Another process listens on a port that Atom needs."""

    def __init__(self, port: int, purpose: str, variable: str) -> None:
        super().__init__(
            f"Port {port} ({purpose}) is taken by another process. "
            f"Stop that process, or set {variable} to a free port."
        )
        self.port, self.variable = port, variable


class SocketLeftError(PortBusyError):
    """Another user's server was killed and has left a socket that we may not remove."""

    def __init__(self, path: Path, port: int, variable: str) -> None:
        RuntimeError.__init__(
            self,
            f"Another user's server has left {path}, which stands in the way of port {port}. "
            f"Let that user remove it, or set {variable} to another port.",
        )
        self.port, self.variable = port, variable


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a port in TIME_WAIT is not busy.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def is_listening(port: int, host: str = "127.0.0.1") -> bool:
    """Whether something accepts connections on the port."""
    try:
        with socket.create_connection((host, port), timeout=1.0):
            return True
    except OSError:
        return False


def find_free(count: int, start: int) -> int:
    """Return the first of `count` consecutive free ports, searching from `start` round the range.

    Raises OSError when there are none.
    """
    span = LAST_PORT - FIRST_PORT
    for step in range(0, span, count):
        base = FIRST_PORT + (start + step) % (span - count)
        if all(is_free(port) for port in range(base, base + count)):
            return base
    raise OSError(f"no {count} consecutive free ports between {FIRST_PORT} and {LAST_PORT}")


def require_free(wanted: Sequence[tuple[int, str, str]], patience_s: float = 0.0) -> None:
    """Check `(port, purpose, variable)` triples, each until `patience_s` from now.

    Raises PortBusyError for the first that stays busy.
    """
    deadline = time.monotonic() + patience_s
    for port, purpose, variable in wanted:
        while not is_free(port):
            if time.monotonic() >= deadline:
                raise PortBusyError(port, purpose, variable)
            time.sleep(_POLL_S)
