"""XML files of any size: chosen elements one after another, in flat memory.

A document type is refused: only it can define entities, by which a few lines become gigabytes or a
file of this machine is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO
from xml.parsers import expat

from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.xml_documents import XmlRefusedError
from atom_sdk.label_formats.xml_nodes import Node

_CHUNK_BYTES = 1 << 16
_MAX_DEPTH = 64
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
                raise XmlRefusedError("an element has more than 256 MiB")
        parser.Parse(b"", True)
    except XmlRefusedError as error:
        raise AnnotationsUnreadableError(f"{name} is refused: {error}.") from error
    except (expat.ExpatError, LookupError, ValueError) as error:
        # The last two are of an encoding that is unknown, or has characters of several bytes.
        raise AnnotationsUnreadableError(f"{name} is not XML: {error}.") from error
    yield from handler.done


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
            raise XmlRefusedError("its elements are nested too deeply")
        if self._depth == 1 and name != self._root:
            raise XmlRefusedError(f"its first element is {name[:40]!r}, not {self._root!r}")
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
    raise XmlRefusedError("it has a document type, which may define entities")
