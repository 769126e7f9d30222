"""Attribute values as formats of plain text write them."""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


def text_of(value: Any) -> str:
    """Return a value as text: true, false, a number, a name; several names with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def attribute_value(text: str) -> Any:
    """Return a flag or a number where the text is that of one, else the text."""
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    return text


def xml_text(text: str | None) -> str:
    """Return a text for an element; characters that XML cannot hold become U+FFFD."""
    return escape(_NOT_XML.sub("\ufffd", text or ""), {"\r": "&#13;"})


def xml_value(text: str | None) -> str:
    """Return a text for an attribute, with its quotes."""
    marks = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    return quoteattr(_NOT_XML.sub("\ufffd", text or ""), marks)
