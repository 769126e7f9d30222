"""A parsed query: a small tree of its own, and the canonical text that stands for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["text", "number", "flag"]
UNSPLIT_IS = "train"
# The kind of each column; None: every kind, row by row.
COLUMNS: dict[str, Kind | None] = {
    "path": "text",
    "name": "text",
    "folder": "text",
    "size": "number",
    "media_type": "text",
    "label": "text",
    "split": "text",
    "attributes": None,
    "objects": None,
}
# Columns of one object, and of all objects of a picture: `objects.counts.car`.
OBJECT_FIELDS: dict[str, Kind | None] = {
    "label": "text",
    "kind": "text",
    "area": "number",
    "x": "number",
    "y": "number",
    "width": "number",
    "height": "number",
    "ignore": "flag",
    "text": "text",
    "track": "text",
    "attributes": None,
}
PICTURE_FIELDS: dict[str, Kind | None] = {"count": "number", "counts": "number"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the entries; `keys` lead into the JSON object of `attributes`.

    The first key of `objects` is one of OBJECT_FIELDS or PICTURE_FIELDS.
    """

    name: str
    keys: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind | None:
        """Kind of all its values, None if each row may have another."""
        if self.name == "objects":
            return (OBJECT_FIELDS | PICTURE_FIELDS)[self.keys[0]]
        return COLUMNS[self.name]

    @property
    def is_of_object(self) -> bool:
        """Whether each object has a value of its own."""
        return self.name == "objects" and self.keys[0] in OBJECT_FIELDS

    def __str__(self) -> str:
        plain = self.keys[:1] if self.name == "objects" else ()
        quoted = map(_quoted_name, self.keys[len(plain) :])
        return ".".join((self.name, *plain, *quoted))


@dataclass(frozen=True, slots=True)
class Constant:
    """A value in the text: a string, a number (as float) or a truth value."""

    value: str | float | bool

    @property
    def kind(self) -> Kind:
        """Kind of the value."""
        if isinstance(self.value, bool):
            return "flag"
        return "text" if isinstance(self.value, str) else "number"

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return "TRUE" if self.value else "FALSE"
        if isinstance(self.value, str):
            return _quoted_text(self.value)
        exact = self.value.is_integer() and abs(self.value) < 2**53
        return str(int(self.value)) if exact else repr(self.value)


Operand = Column | Constant


@dataclass(frozen=True, slots=True)
class Comparison:
    """`operator` is one of = <> < <= > >=."""

    operator: str
    left: Operand
    right: Operand

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Membership:
    """Whether a column is one of some values, all of one kind."""

    column: Column
    values: tuple[Constant, ...]

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(str, self.values))})"


@dataclass(frozen=True, slots=True)
class Like:
    r"""SQL's LIKE: `%` any text, `_` any one character, `\` before either of them itself."""

    column: Column
    pattern: str
    ignore_case: bool

    def __str__(self) -> str:
        operator = "ILIKE" if self.ignore_case else "LIKE"
        return f"{self.column} {operator} {_quoted_text(self.pattern)}"


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a column has no value."""

    column: Column

    def __str__(self) -> str:
        return f"{self.column} IS NULL"


@dataclass(frozen=True, slots=True)
class Flag:
    """An attribute that is itself true or false."""

    column: Column

    def __str__(self) -> str:
        return str(self.column)


@dataclass(frozen=True, slots=True)
class Not:
    """Negation; unknown stays unknown."""

    term: Node

    def __str__(self) -> str:
        return f"NOT {_in_brackets(self.term)}"


@dataclass(frozen=True, slots=True)
class AnyObject:
    """One object of the picture makes the term true; unknown where nobody looked for objects."""

    term: Node

    def __str__(self) -> str:
        return str(self.term)


@dataclass(frozen=True, slots=True)
class Both:
    """All terms hold."""

    terms: tuple[Node, ...]

    def __str__(self) -> str:
        objects = [term for term in self.terms if isinstance(term, AnyObject)]
        if len(objects) > 1:
            return " AND ".join(map(_in_own_brackets, self.terms))
        return " AND ".join(map(_joined_by_and, self.terms))


@dataclass(frozen=True, slots=True)
class Either:
    """At least one term holds."""

    terms: tuple[Node, ...]

    def __str__(self) -> str:
        return " OR ".join(map(_in_brackets, self.terms))


Node = Comparison | Membership | Like | IsNull | Flag | Not | Both | Either | AnyObject


@dataclass(frozen=True, slots=True)
class Query:
    """A query that may be evaluated. Two are equal when their canonical `text` is."""

    text: str
    # Not compared: Python takes TRUE and 1 for equal, queries do not.
    where: Node = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


def below(prefix: str, query: Query | None = None) -> Query:
    """Return the query for paths that begin with `prefix`, and that match `query` if given."""
    pattern = re.sub(r"[%_\\]", r"\\\g<0>", prefix) + "%"
    where = Like(Column("path"), pattern, ignore_case=False)
    only = Query(str(where), where)
    return only if query is None else both(only, query)


def both(first: Query, second: Query) -> Query:
    """Return the query for what matches the two."""
    where = Both((*_terms(first.where), *_terms(second.where)))
    return Query(str(where), where)


def object_terms(query: Query) -> list[AnyObject | Column]:
    """Return what a query asks of objects, each once: facts of a picture that its objects give."""
    return list(dict.fromkeys(_object_terms(query.where)))


def asks_about(query: Query, column: str) -> bool:
    """Whether a query compares this column."""
    return any(each.name == column for each in _columns(query.where))


def in_splits(names: Iterable[str]) -> Query:
    """Return the query for files of these splits; what has no split belongs to `train`.

    Raises ValueError without a name.
    """
    chosen = sorted(set(names))
    if not chosen:
        raise ValueError("Give at least one split.")
    where: Node = Membership(Column("split"), tuple(map(Constant, chosen)))
    if UNSPLIT_IS in chosen:
        where = Either((where, IsNull(Column("split"))))
    return Query(str(where), where)


def columns_of(node: Node) -> Iterator[Column]:
    """Yield the columns that a node compares."""
    return _columns(node)


def _object_terms(node: Node) -> Iterator[AnyObject | Column]:
    match node:
        case AnyObject():
            yield node
        case Both(terms) | Either(terms):
            for term in terms:
                yield from _object_terms(term)
        case Not(term):
            yield from _object_terms(term)
        case _:
            yield from (each for each in _columns(node) if each.name == "objects")


def _columns(node: Node) -> Iterator[Column]:
    match node:
        case Both(terms) | Either(terms):
            for term in terms:
                yield from _columns(term)
        case Not(term) | AnyObject(term):
            yield from _columns(term)
        case Comparison(_, left, right):
            yield from (side for side in (left, right) if isinstance(side, Column))
        case Membership(column) | Like(column) | IsNull(column) | Flag(column):
            yield column


def _terms(where: Node) -> tuple[Node, ...]:
    return where.terms if isinstance(where, Both) else (where,)


def _in_brackets(term: Node) -> str:
    inner = term.term if isinstance(term, AnyObject) else term
    return f"({term})" if isinstance(inner, Both | Either) else str(term)


def _joined_by_and(term: Node) -> str:
    """Conditions on one object stand without brackets, which would begin another object."""
    if isinstance(term, AnyObject) and isinstance(term.term, Both):
        return str(term)
    return _in_brackets(term)


def _in_own_brackets(term: Node) -> str:
    """Each object has brackets; alternatives of one have two pairs, as one pair joins others."""
    if not isinstance(term, AnyObject):
        return _in_brackets(term)
    return f"(({term}))" if isinstance(term.term, Either) else f"({term})"


def _quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
