"""Tells from a range's first and last path whether a query can match anything in it."""

from __future__ import annotations

import re

from atom_sdk.manifests.listing import prefix_end
from atom_sdk.manifests.query.tree import (
    Both,
    Column,
    Comparison,
    Constant,
    Either,
    Like,
    Membership,
    Node,
    Query,
)

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def may_match(query: Query, first: str, last: str) -> bool:
    """Return False only if no path from `first` to `last` can match."""
    return _may(query.where, first, last)


def _may(node: Node, first: str, last: str) -> bool:
    match node:
        case Both(terms):
            return all(_may(term, first, last) for term in terms)
        case Either(terms):
            return any(_may(term, first, last) for term in terms)
        case Comparison(operator, Column() as column, Constant(str() as text)):
            return _may_compare(operator, column, text, first, last)
        case Comparison(operator, Constant(str() as text), Column() as column):
            return _may_compare(_MIRRORED.get(operator, ""), column, text, first, last)
        case Membership(column, values):
            texts = [value.value for value in values if isinstance(value.value, str)]
            return not texts or any(_may_compare("=", column, text, first, last) for text in texts)
        case Like(column, pattern, False):
            return _may_start(column, _literal_prefix(pattern), first, last)
    return True


def _may_compare(operator: str, column: Column, text: str, first: str, last: str) -> bool:
    if column.name == "folder" and operator == "=":
        return not text or _overlaps(f"{text}/", first, last)
    if column.name != "path":
        return True
    if operator == "=":
        return first <= text <= last
    if operator in ("<", "<="):
        return first <= text
    return text <= last if operator in (">", ">=") else True


def _may_start(column: Column, prefix: str, first: str, last: str) -> bool:
    return column.name not in ("path", "folder") or _overlaps(prefix, first, last)


def _overlaps(prefix: str, first: str, last: str) -> bool:
    end = prefix_end(prefix)
    return last >= prefix and (end is None or first < end)


def _literal_prefix(pattern: str) -> str:
    found = re.match(r"(?:\\[%_\\]|[^%_\\])*", pattern)
    return re.sub(r"\\([%_\\])", r"\1", found[0]) if found else ""
