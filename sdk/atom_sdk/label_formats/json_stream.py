"""JSON files of any size: the elements of their lists one after another, in flat memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import IO, Any

from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.sentences import at_line, json_problem, not_json
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

CHUNK_BYTES = 1 << 20
MAX_VALUE_CHARACTERS = 256 << 20
_SPACE = re.compile(r"[ \t\r\n]*")


class JsonStream:
    """Reads one JSON value from a stream, as far as its lists, element by element.

    Every method raises AnnotationsUnreadableError where the text is no JSON or ends too soon.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text, self._at, self._ended = "", 0, False
        # Lines of the dropped text, and the characters of the last one.
        self._lines_before, self._columns_before = 0, 0

    def first(self) -> str:
        """Return the first character of the value, "" in an empty file."""
        return self._peek()

    def elements(self) -> Iterator[Any]:
        """Yield the elements of a list that begins here."""
        self._expect("[")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            if self._either(",", "]") == "]":
                return

    def members(self, lists: Collection[str]) -> Iterator[tuple[str, Any]]:
        """Yield pairs of an object that begins here; each element of one of `lists` is a pair.

        A member of `lists` that is no list is yielded as it is.
        """
        self._expect("{")
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            key = self._value()
            if not isinstance(key, str):
                raise self._error(Sentence("formats.json_key_no_text", "a key is no text"))
            self._expect(":")
            if key in lists and self._peek() == "[":
                for element in self.elements():
                    yield key, element
            else:
                yield key, self._value()
            if self._either(",", "}") == "}":
                return

    def end(self) -> None:
        """Check that nothing follows."""
        if self._peek():
            raise self._error(Sentence("formats.json_goes_on", "something follows its end"))

    def _value(self) -> Any:
        self._peek()
        step = CHUNK_BYTES
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self._error(json_problem(error)) from error
            except ValueError as error:
                if self._ended or len(self._text) - self._at > MAX_VALUE_CHARACTERS:
                    at = error.pos if isinstance(error, json.JSONDecodeError) else self._at
                    raise self._error(json_problem(error), at) from error
            else:
                # A number at the end of the buffer may go on behind it.
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            self._fill(step)
            step *= 2

    def _peek(self) -> str:
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._fill(CHUNK_BYTES)

    def _expect(self, character: str) -> None:
        if self._peek() != character:
            raise self._error(_missing(character))
        self._at += 1

    def _either(self, more: str, end: str) -> str:
        character = self._peek()
        if character not in (more, end) or not character:
            raise self._error(_missing(more) if character else _ends_too_soon())
        self._at += 1
        return character

    def _fill(self, count: int) -> None:
        data = self._stream.read(count)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise self._error(json_problem(error), len(self._text)) from error
        self._ended = not data
        self._forget()
        self._text, self._at = self._text[self._at :] + text, 0

    def _forget(self) -> None:
        """Count the lines and characters of the text that was read, before it is dropped."""
        self._lines_before, self._columns_before = self._place(self._at)

    def _place(self, at: int) -> tuple[int, int]:
        """Return the whole lines before a place of the text, and the characters in its own."""
        lines = self._text.count("\n", 0, at)
        start = self._text.rfind("\n", 0, at) + 1 if lines else -self._columns_before
        return self._lines_before + lines, at - start

    def _error(self, problem: str, at: int | None = None) -> AnnotationsUnreadableError:
        """Return the error of a problem at a place of the text, or where reading stands."""
        lines, columns = self._place(self._at if at is None else at)
        reason = at_line(problem, lines + 1, columns + 1)
        return AnnotationsUnreadableError(not_json(self._name, reason))


def check_json(tree: Tree, path: str) -> None:
    """Raise AnnotationsUnreadableError, with the place, where a list or object is broken."""
    with tree.files[path].open() as stream:
        value = JsonStream(stream, path)
        first = value.first()
        if first not in ("[", "{"):
            return
        for _ in value.elements() if first == "[" else value.members(()):
            pass
        value.end()


def _missing(character: str) -> Sentence:
    return Sentence("formats.json_missing", "{character} is missing", character=character)


def _ends_too_soon() -> Sentence:
    return Sentence("formats.json_ends_early", "it ends too soon")
