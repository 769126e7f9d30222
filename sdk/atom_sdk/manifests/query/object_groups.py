"""Which conditions on objects are about one and the same object.

A node is open while all of it asks about objects and may still be joined with more such
conditions. Closing it says: one object must fulfil all of this.
"""

from __future__ import annotations

from collections.abc import Iterable

from atom_sdk.manifests.query.tree import (
    AnyObject,
    Both,
    Column,
    Comparison,
    Either,
    Flag,
    IsNull,
    Like,
    Membership,
    Node,
    Not,
)


def is_open(node: Node) -> bool:
    """Whether all conditions of a node are about one object that others may be about, too."""
    match node:
        case Both(terms) | Either(terms):
            return all(map(is_open, terms))
        case Not(IsNull(column)):
            return column.is_of_object
        case Comparison(_, left, right):
            return any(isinstance(side, Column) and side.is_of_object for side in (left, right))
        case Membership(column) | Like(column) | IsNull(column) | Flag(column):
            return column.is_of_object
    return False


def closed(node: Node) -> Node:
    """Return the node such that nothing more is about its object."""
    return AnyObject(node) if is_open(node) else node


def all_of(nodes: Iterable[Node]) -> Node:
    """Join by AND: what is open is about one object, which stands at the first place."""
    terms = _flat(Both, nodes)
    joined = tuple(term for term in terms if is_open(term))
    if not joined or len(joined) == len(terms):
        return Both(tuple(terms))
    one = AnyObject(joined[0] if len(joined) == 1 else Both(joined))
    at = terms.index(joined[0])
    others = [term for term in terms[at:] if not is_open(term)]
    return Both((*terms[:at], one, *others))


def any_of(nodes: Iterable[Node]) -> Node:
    """Join by OR: about one object where all alternatives are."""
    terms = _flat(Either, nodes)
    if all(map(is_open, terms)):
        return Either(tuple(terms))
    return Either(tuple(map(closed, terms)))


def _flat(kind: type[Both] | type[Either], nodes: Iterable[Node]) -> list[Node]:
    """Brackets around what is joined the same way change nothing."""
    nested = [node.terms if isinstance(node, kind) else (node,) for node in nodes]
    return [term for inner in nested for term in inner]
