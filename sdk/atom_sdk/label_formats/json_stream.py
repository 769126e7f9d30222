"""JSON files of any size: the elements of their lists one after another, in flat memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import IO, Any

from atom_sdk.importers.errors import AnnotationsUnreadableError

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
                raise self._error("a key is no text")
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
            raise self._error("something follows its end")

    def _value(self) -> Any:
        self._peek()
        step = CHUNK_BYTES
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self._error("its values are nested too deeply") from error
            except ValueError as error:
                if self._ended or len(self._text) - self._at > MAX_VALUE_CHARACTERS:
                    raise self._error(str(error)) from error
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
            raise self._error(f"{character} is missing")
        self._at += 1

    def _either(self, more: str, end: str) -> str:
        character = self._peek()
        if character not in (more, end) or not character:
            raise self._error("it ends too soon" if not character else f"{more} is missing")
        self._at += 1
        return character

    def _fill(self, count: int) -> None:
        data = self._stream.read(count)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise self._error("it is not UTF-8 text") from error
        self._ended = not data
        self._text, self._at = self._text[self._at :] + text, 0

    def _error(self, reason: str) -> AnnotationsUnreadableError:
        return AnnotationsUnreadableError(f"{self._name} is not JSON: {reason}.")
