"""The output of containers: written by a kubelet, read and followed by clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from typing import Any

from .errors import ApiError, Cause, bad_request, internal, invalid
from .requests import Request
from .store import parse_time

Json = dict[str, Any]
Key = tuple[str, str, str]

PREVIOUS = "previous"


class Log:
    """One container's output: chunks with their times, and whether more can come."""

    def __init__(self) -> None:
        self.chunks: list[tuple[datetime, bytes]] = []
        self.ended = False
        self.rings: list[Callable[[], None]] = []

    def lines(self) -> list[tuple[datetime, bytes]]:
        """Return the lines, each with the time of its beginning."""
        lines: list[tuple[datetime, bytes]] = []
        for moment, chunk in self.chunks:
            for part in chunk.splitlines(keepends=True):
                if lines and not lines[-1][1].endswith(b"\n"):
                    lines[-1] = (lines[-1][0], lines[-1][1] + part)
                else:
                    lines.append((moment, part))
        return lines


class Logs:
    """The output of all containers."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.lock = threading.Lock()
        self._logs: dict[Key, Log] = {}
        # Nodes whose kubelet does not answer.
        self.silent_nodes: set[str] = set()

    def of(self, uid: str, container: str, attempt: str = "") -> Log | None:
        """Return a container's log, or None when it never wrote."""
        return self._logs.get((uid, container, attempt))

    def write(self, uid: str, container: str, data: bytes, attempt: str = "") -> None:
        """Add output of a container; `uid` is its pod's."""
        with self.lock:
            log = self._logs.setdefault((uid, container, attempt), Log())
            log.chunks.append((self.clock(), data))
            rings = list(log.rings)
        for ring in rings:
            ring()

    def rotate(self, uid: str, container: str) -> None:
        """Make a container's log that of its previous run, since it starts again."""
        with self.lock:
            if (log := self._logs.pop((uid, container, ""), None)) is not None:
                self._logs[uid, container, PREVIOUS] = log

    def end(self, uid: str, container: str, attempt: str = "") -> None:
        """Say that a container writes no more."""
        with self.lock:
            log = self._logs.setdefault((uid, container, attempt), Log())
            log.ended = True
            rings = list(log.rings)
        for ring in rings:
            ring()


def container_of(pod: Json, query: dict[str, str]) -> str:
    """Return whose log is meant; raise the recorded 400 when that is not clear."""
    name = pod["metadata"]["name"]
    if "stream" in query:
        # Its gate is off in the recorded server.
        cause = Cause("stream", "FieldValueForbidden", "Forbidden: may not be specified")
        raise invalid("", "PodLogOptions", name, [cause])
    groups = ("containers", "initContainers", "ephemeralContainers")
    names = [item["name"] for group in groups for item in pod["spec"].get(group) or ()]
    container = query.get("container", "")
    if container:
        if container not in names:
            raise bad_request(f"container {container} is not valid for pod {name}")
        return container
    main = [item["name"] for item in pod["spec"]["containers"]]
    if len(main) > 1:
        raise bad_request(
            f"a container name must be specified for pod {name}, choose one of: [{' '.join(main)}]"
        )
    return str(main[0])


def unreachable(pod: Json, container: str) -> ApiError:
    """Return the failure of a node without a kubelet."""
    node, metadata = pod["spec"].get("nodeName", ""), pod["metadata"]
    path = f"{metadata['namespace']}/{metadata['name']}/{container}"
    return internal(
        f'Get "https://{node}:10250/containerLogs/{path}": dial tcp 127.0.0.1:10250: connect: '
        "connection refused"
    )


_WAITING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def check_started(pod: Json, container: str) -> None:
    """Raise the recorded 400 while a container waits."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    for status in statuses:
        waiting = (status.get("state") or {}).get("waiting")
        if status["name"] == container and waiting:
            reason = waiting.get("reason", "")
            why = _WAITING.get(reason, reason)
            raise bad_request(
                f'container "{container}" in pod "{pod["metadata"]["name"]}" is waiting to start: '
                f"{why}"
            )


def select_lines(log: Log, request: Request, now: datetime) -> bytes:
    """Return the part of a log that a request asks for."""
    lines = log.lines()
    seconds, since = request.number("sinceSeconds"), request.query.get("sinceTime")
    start = now - timedelta(seconds=seconds) if seconds else None
    if since:
        start = parse_time(since)
    if start is not None:
        lines = [pair for pair in lines if pair[0] >= start]
    tail = request.number("tailLines")
    if tail is not None:
        lines = lines[len(lines) - tail :] if tail < len(lines) else lines
        lines = lines if tail else []
    stamped = request.query.get("timestamps") == "true"
    data = b"".join(_stamp(moment) + text if stamped else text for moment, text in lines)
    limit = request.number("limitBytes")
    return data if limit is None else data[:limit]


def _stamp(moment: datetime) -> bytes:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f000Z ").encode()


async def follow(logs: Logs, log: Log, request: Request) -> AsyncIterator[bytes]:
    """Yield the asked part of a log and what comes after it, until the container ends."""
    loop, wake = asyncio.get_running_loop(), asyncio.Event()

    def ring() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(wake.set)

    with logs.lock:
        log.rings.append(ring)
        at = len(log.chunks)
        first = select_lines(log, request, logs.clock())
    stamped = request.query.get("timestamps") == "true"
    try:
        if first:
            yield first
        while True:
            wake.clear()
            while at < len(log.chunks):
                moment, chunk = log.chunks[at]
                at += 1
                parts = chunk.splitlines(keepends=True)
                yield b"".join(_stamp(moment) + part for part in parts) if stamped else chunk
            if log.ended:
                return
            await wake.wait()
    finally:
        with logs.lock:
            log.rings.remove(ring)
