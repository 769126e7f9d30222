"""XML as annotation tools write it: elements and text. Dangerous constructs are refused."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from atom_sdk.label_formats.xml_nodes import Node
from atom_sdk.sentences import Sentence

_MAX_DEPTH = 64


class XmlRefusedError(ValueError):
    """The text is no XML, or has what no annotation needs; the message says it in a few words."""


def nested_too_deeply() -> XmlRefusedError:
    """Return the refusal of elements in one another without end."""
    return XmlRefusedError(Sentence("formats.xml_too_deep", "its elements are nested too deeply"))


def document_type() -> XmlRefusedError:
    """Return the refusal of a document type."""
    return XmlRefusedError(
        Sentence("formats.xml_document_type", "it has a document type, which may define entities")
    )


def parse_xml(data: bytes) -> Node:
    """Return the root element. Raises XmlRefusedError, also for a document type.

    Only a document type can define entities, by which a few lines become gigabytes or a file of
    this machine is read.
    """
    root = Node("")
    stack = [root]

    def start(name: str, _attributes: Any) -> None:
        if len(stack) > _MAX_DEPTH:
            raise nested_too_deeply()
        element = Node(name)
        stack[-1].children.append(element)
        stack.append(element)

    def refuse(*_: Any) -> None:
        raise document_type()

    def add(text: str) -> None:
        stack[-1].text += text

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: stack.pop()
    parser.CharacterDataHandler = add
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except XmlRefusedError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        # The last two are of an encoding that is unknown, or has characters of several bytes.
        reason = Sentence("formats.xml_wrong", "it is not XML ({problem})", problem=str(error))
        raise XmlRefusedError(reason) from error
    return root.children[0]
