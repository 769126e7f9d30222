"""Searching a log: line by line, in time linear in its length, resumed where it stopped."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace

import re2

from atom.jobs.logs.engines import log_errors
from atom.jobs.logs.engines.log_lines import Line, Lines, strip_escapes
from atom_sdk.runner.frames import Frame
from atom_sdk.sentences import Sentence

MAX_PATTERN = 500
_MAX_SPANS = 50
# Memory of a compiled pattern, so that `(x{1000}){1000}` is refused.
_PATTERN_BYTES = 4 << 20
# A line that stays unfinished this long no longer holds the place to resume at back.
_HELD_BACK_BYTES = 4 << 20
_MAX_TRACEBACK_LINES = 1000
# Ends of the text and flags: they mean something else in many lines at once than in one.
_OF_ONE_LINE = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-?[a-zA-Z]*[:)]")


class PatternError(ValueError):
    """The regular expression cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search for a text, for a regular expression (RE2's), or for lines that report an error."""

    text: str = ""
    regex: bool = False
    case: bool = False
    errors: bool = False
    fds: frozenset[int] = frozenset({1, 2})
    # Lines to show before and after each match.
    context: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """Where a search goes on: at a byte, before which are `line` newlines; matches from `after`."""

    offset: int = 0
    line: int = 0
    after: int = 0


@dataclass(slots=True)
class Match:
    """A line that matches, its neighbours, and where in its text (in characters)."""

    line: Line
    text: str
    spans: list[tuple[int, int]]
    before: list[Line]
    after: list[Line] = field(default_factory=list)
    # Set for an error: its kind, and the exception that ends a traceback.
    kind: str = ""
    summary: str = ""


def compile_pattern(query: Query) -> re2._Regexp:
    """Return the query's pattern. Raises PatternError."""
    if query.errors:
        return log_errors.ANY
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES
    options.case_sensitive = query.case
    options.literal = not query.regex
    try:
        return re2.compile(query.text, options)
    except re2.error as error:
        said = error.args[0] if error.args else b""
        why = said.decode() if isinstance(said, bytes) else str(said)
        raise PatternError(
            Sentence(
                "jobs.pattern_unusable",
                "This regular expression cannot be used: {reason}.",
                reason=why,
            )
        ) from error


def _of_frames(query: Query, pattern: re2._Regexp) -> re2._Regexp | None:
    """Return a pattern that finds something in a frame if the query's does in a line of it."""
    if query.errors or not query.regex:
        return pattern
    if _OF_ONE_LINE.search(query.text.replace("(?:", "(")):
        return None
    return compile_pattern(replace(query, text=f"(?m){query.text}"))


class Search:
    """Takes the frames of a log in order and collects what matches."""

    def __init__(self, query: Query, position: Position = Position()) -> None:
        """Raises PatternError."""
        self.matches: list[Match] = []
        self._query = query
        self._pattern = compile_pattern(query)
        self._quick = _of_frames(query, self._pattern)
        self._from = position
        self._lines = Lines(position.line)
        self._before: deque[Line] = deque(maxlen=query.context)
        # Matches that still want lines after them, and tracebacks that have not ended.
        self._waiting: list[Match] = []
        self._tracebacks: dict[int, Match] = {}
        self._inside: dict[int, int] = {}
        # Places to resume at; the one before the last, so that a match keeps what is before it.
        self._marks: deque[Position] = deque([position], maxlen=2)

    @property
    def settled(self) -> bool:
        """Whether no match waits for what comes after it."""
        return not self._waiting and not self._tracebacks

    def feed(self, frame: Frame) -> None:
        """Look at the lines that end in the frame."""
        held_back = frame.byte_off - self._marks[-1].offset > _HELD_BACK_BYTES
        if self._lines.is_between or held_back:
            self._marks.append(Position(frame.byte_off, self._lines.next))
        if self._may_skip(frame):
            for line in self._lines.skip(frame, self._query.context):
                if line.fd in self._query.fds:
                    self._before.append(line)
            return
        for line in self._lines.feed(frame):
            self._see(line)

    def finish(self) -> None:
        """Look at the lines that have no newline yet."""
        for line in self._lines.unfinished():
            self._see(line)

    def resume_at(self) -> Position:
        """Return where a later search goes on so that it finds no line twice."""
        mark = self._marks[0]
        return Position(mark.offset, mark.line, max(self._from.after, self._lines.next))

    def _may_skip(self, frame: Frame) -> bool:
        """Return whether nothing in the frame can match: most frames hold no match at all."""
        if self._quick is None or not self._lines.is_between or not self.settled:
            return False
        if not frame.payload.endswith(b"\n"):
            return False
        plain = strip_escapes(frame.payload).replace(b"\r", b"\n")
        return self._quick.search(plain.decode("utf-8", "replace")) is None

    def _see(self, line: Line) -> None:
        if line.fd not in self._query.fds:
            return
        for match in self._waiting:
            match.after.append(line)
        self._waiting = [one for one in self._waiting if len(one.after) < self._query.context]
        if line.number >= self._from.after and not self._ends_traceback(line):
            self._try(line)
        self._before.append(line)

    def _try(self, line: Line) -> None:
        text = line.text
        if (found := self._pattern.search(text)) is None:
            return
        if self._query.errors:
            match = Match(line, text, [found.span()], list(self._before))
            match.kind = log_errors.kind_of(text)
            if match.kind == log_errors.TRACEBACK:
                self._tracebacks[line.fd] = match
        else:
            match = Match(line, text, self._spans(text), list(self._before))
        self.matches.append(match)
        if self._query.context:
            self._waiting.append(match)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        spans = []
        for found in self._pattern.finditer(text):
            spans.append(found.span())
            if len(spans) == _MAX_SPANS:
                break
        return spans

    def _ends_traceback(self, line: Line) -> bool:
        """Return whether the line belongs to a traceback that is a finding already."""
        match = self._tracebacks.get(line.fd)
        if match is None:
            return False
        text = line.text
        self._inside[line.fd] = self._inside.get(line.fd, 0) + 1
        if log_errors.is_inside(text) and self._inside[line.fd] < _MAX_TRACEBACK_LINES:
            return True
        del self._tracebacks[line.fd], self._inside[line.fd]
        match.summary = text
        kind = log_errors.kind_of(text)
        match.kind = kind if kind in ("out_of_memory", "gpu", "network") else match.kind
        return True
