"""Faults that tests switch on: refused and lost requests, broken and disturbed watches."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .answers import Answer
from .errors import ApiError, PlainError, forbidden, internal

Json = dict[str, Any]
_REASONS = {400: "BadRequest", 403: "Forbidden", 409: "Conflict", 422: "Invalid"}


@dataclass
class Stream:
    """An open watch of a path, as the faults see it."""

    ring: Callable[[], None]
    path: str
    # It ends at once; `broken` ends it without the last chunk.
    ended: bool = False
    broken: bool = False
    # It stays open and says nothing.
    silent: bool = False


@dataclass
class Rule:
    """A fault for the next requests that match."""

    kind: str
    times: int
    method: str
    path: re.Pattern[str]
    user: str
    code: int = 500
    seconds: float = 0.0
    # The answer in place of the server's own: a message of a Status, or a whole one.
    message: str = ""
    answer: Answer | None = None

    def covers(self, method: str, path: str, user: str) -> bool:
        """Return whether a request meets this rule."""
        return (
            self.times > 0
            and (not self.method or self.method == method)
            and (not self.user or self.user == user)
            and self.path.search(path) is not None
        )


@dataclass
class Faults:
    """All switches; each is off at the beginning."""

    random: random.Random = field(default_factory=lambda: random.Random(1))
    duplicate_share: float = 0.0
    late_seconds: float = 0.0
    reorder: bool = False
    _rules: list[Rule] = field(default_factory=list)
    _streams: list[Stream] = field(default_factory=list)
    # Watches of these paths are silent, None without any.
    _silent: re.Pattern[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # --- requests ---

    def refuse(
        self,
        times: int = 1,
        *,
        code: int = 429,
        method: str = "",
        path: str = "",
        user: str = "",
        message: str = "",
    ) -> None:
        """Answer the next matching requests with this code; `message` is that of the Status."""
        rule = Rule("refuse", times, method, re.compile(path), user, code, message=message)
        self._add(rule)

    def replace(self, answer: Answer, times: int = 1, *, method: str = "", path: str = "") -> None:
        """Give the next matching requests this answer, whatever they ask; watches too."""
        self._add(Rule("replace", times, method, re.compile(path), "", answer=answer))

    def stop(self) -> None:
        """Forget all faults of requests that are still to come."""
        with self._lock:
            self._rules.clear()

    def lose_response(self, times: int = 1, *, method: str = "", path: str = "") -> None:
        """Do the next matching requests, then close the connection without an answer."""
        self._add(Rule("lose", times, method, re.compile(path), ""))

    def drop_request(self, times: int = 1, *, method: str = "", path: str = "") -> None:
        """Close the connection before anything is done."""
        self._add(Rule("drop", times, method, re.compile(path), ""))

    def slow(self, seconds: float, times: int = 1, *, method: str = "", path: str = "") -> None:
        """Let the next matching requests wait, such as past the client's timeout."""
        self._add(Rule("slow", times, method, re.compile(path), "", seconds=seconds))

    def _add(self, rule: Rule) -> None:
        with self._lock:
            self._rules.append(rule)

    def take(self, method: str, path: str, user: str) -> Rule | None:
        """Return what happens to a request, and count it."""
        with self._lock:
            for rule in self._rules:
                if rule.covers(method, path, user):
                    rule.times -= 1
                    return rule
        return None

    def clear_rules(self) -> int:
        """Forget all rules for requests; return how many of them had nothing left to do."""
        with self._lock:
            used = sum(rule.times == 0 for rule in self._rules)
            self._rules.clear()
        return used

    # --- watches ---

    def open_stream(self, ring: Callable[[], None], path: str) -> Stream:
        """Note a watch that opens."""
        with self._lock:
            stream = Stream(ring, path)
            stream.silent = self._is_silent(stream)
            self._streams.append(stream)
        return stream

    def _is_silent(self, stream: Stream) -> bool:
        return self._silent is not None and self._silent.search(stream.path) is not None

    def close_stream(self, stream: Stream) -> None:
        """Forget a watch that ended."""
        with self._lock:
            if stream in self._streams:
                self._streams.remove(stream)

    @property
    def open_watches(self) -> int:
        """Return how many watches are open."""
        return len(self._streams)

    def drop_watches(self) -> None:
        """Break all open watches in the middle of a chunked body."""
        for stream in tuple(self._streams):
            stream.ended = stream.broken = True
            stream.ring()

    def end_watches(self) -> None:
        """End all open watches in good order, as a server does that stops."""
        for stream in tuple(self._streams):
            stream.ended = True
            stream.ring()

    def silence_watches(self, silent: bool = True, *, path: str = "") -> None:
        """Keep watches open without events, as half-open connections are; or lift it.

        `path`: a pattern of those that fall silent.
        """
        with self._lock:
            self._silent = re.compile(path) if silent else None
            streams = tuple(self._streams)
        for stream in streams:
            stream.silent = self._is_silent(stream)
            stream.ring()

    def disturb(self, lines: list[bytes]) -> Iterator[tuple[float, bytes]]:
        """Yield events with the time that each waits: twice, late or in another order."""
        if self.reorder:
            lines = self.random.sample(lines, len(lines))
        for text in lines:
            yield self.late_seconds, text
            if self.duplicate_share and self.random.random() < self.duplicate_share:
                yield 0.0, text


def refusal(code: int, message: str = "") -> ApiError | PlainError:
    """Return the answer of a refused request, as the server's own limits give it."""
    if message:
        return ApiError(code, message, _REASONS.get(code, "InternalError"))
    if code == 429:
        text = "Too many requests, please try again later.\n"
        return PlainError(429, text, {"Retry-After": "1"})
    if code == 503:
        return ApiError(
            503, "the server is currently unable to handle the request", "ServiceUnavailable"
        )
    if code == 504:
        return ApiError(
            504, "Timeout: request did not complete within the allotted timeout", "Timeout"
        )
    if code == 403:
        return forbidden("", "nodes", "", "no rule allows it")
    return internal("Internal error occurred: etcdserver: request timed out")
