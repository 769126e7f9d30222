"""XML files of any size: chosen elements one after another, in flat memory.

A document type is refused: only it can define entities, by which a few lines become gigabytes or a
file of this machine is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO
from xml.parsers import expat

from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.sentences import at_line
from atom_sdk.importers.xml_documents import XmlRefusedError, document_type, nested_too_deeply
from atom_sdk.label_formats.xml_nodes import Node
from atom_sdk.sentences import Sentence

_CHUNK_BYTES = 1 << 16
_MAX_DEPTH = 64
_SHOWN_CHARACTERS = 40
_MAX_ELEMENT_BYTES = 256 << 20


def elements(stream: IO[bytes], root: str, names: Collection[str], name: str) -> Iterator[Node]:
    """Yield the elements below the root that have one of `names`; others are skipped.

    Raises AnnotationsUnreadableError; `name` is that of the file.
    """
    handler = _Handler(root, frozenset(names))
    parser = handler.parser
    try:
        while data := stream.read(_CHUNK_BYTES):
            parser.Parse(data, False)
            handler.pending += len(data)
            if handler.done:
                done, handler.done, handler.pending = handler.done, [], 0
                yield from done
            if handler.pending > _MAX_ELEMENT_BYTES:
                raise XmlRefusedError(_element_large())
        parser.Parse(b"", True)
    except XmlRefusedError as error:
        raise AnnotationsUnreadableError(_refused(name, error)) from error
    except (expat.ExpatError, LookupError, ValueError) as error:
        # The last two are of an encoding that is unknown, or has characters of several bytes.
        raise AnnotationsUnreadableError(_not_xml(name, error)) from error
    yield from handler.done


def _element_large() -> Sentence:
    return Sentence(
        "formats.xml_element_large",
        "an element has more than {limit} MiB",
        limit=_MAX_ELEMENT_BYTES >> 20,
    )


def _wrong_root(name: str, root: str) -> Sentence:
    return Sentence(
        "formats.xml_first_element",
        "its first element is {name!r}, not {root!r}",
        name=name[:_SHOWN_CHARACTERS],
        root=root,
    )


def _refused(name: str, error: XmlRefusedError) -> Sentence:
    return Sentence(
        "formats.xml_refused", "{path} is refused: {reason}.", path=name, reason=str(error)
    )


def _not_xml(name: str, error: Exception) -> Sentence:
    reason = str(error)
    if isinstance(error, expat.ExpatError):
        reason = at_line(expat.errors.messages[error.code], error.lineno, error.offset + 1)
    return Sentence("formats.not_xml", "{path} is not XML: {reason}.", path=name, reason=reason)


class _Handler:
    """Builds the wanted elements and forgets the others."""

    def __init__(self, root: str, names: frozenset[str]) -> None:
        self._root, self._names = root, names
        self._depth = 0
        self._stack: list[Node] = []
        self.done: list[Node] = []
        self.pending = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._add
        self.parser.StartDoctypeDeclHandler = _refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise nested_too_deeply()
        if self._depth == 1 and name != self._root:
            raise XmlRefusedError(_wrong_root(name, self._root))
        if self._stack or (self._depth == 2 and name in self._names):
            self._stack.append(Node(name, attributes))

    def _end(self, _name: str) -> None:
        self._depth -= 1
        if not self._stack:
            return
        node = self._stack.pop()
        if self._stack:
            self._stack[-1].children.append(node)
        else:
            self.done.append(node)

    def _add(self, text: str) -> None:
        if self._stack:
            self._stack[-1].text += text


def _refuse(*_: object) -> None:
    raise document_type()
