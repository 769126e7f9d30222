"""Evaluates a query over a table of entries with `label` and `split`, in SQL's three values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.query.tree import (
    AnyObject,
    Both,
    Column,
    Comparison,
    Constant,
    Either,
    Flag,
    IsNull,
    Kind,
    Like,
    Membership,
    Node,
    Not,
    Operand,
    Query,
)

_TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "number": pa.float64(),
    "flag": pa.bool_(),
}
# Numbers are compared as float64; NaN and infinities are no JSON.
_DECODER = json.JSONDecoder(parse_int=float, parse_constant=lambda _: None)
_COMPARE: dict[str, Callable[[Any, Any], pa.Array]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def matches(query: Query, rows: pa.Table) -> pa.Array:
    """For each row whether it matches: true, false, or null where that is unknown.

    `rows` has the columns of entries and `label` and `split`. A comparison with a missing value,
    or with one of another kind, is unknown. For a query that asks of objects the table also has
    the columns of its facts, see `fact_name`.
    """
    return _Evaluation(rows).of(query.where)


def fact_name(term: AnyObject | Column) -> str:
    """Return the column of a table that has the answer to what a query asks of objects."""
    return f"objects: {term}"


def evaluate_objects(node: Node, objects: pa.Table) -> pa.Array:
    """For each object whether a condition holds; the columns are fields of the layer's objects."""
    return _ObjectEvaluation(objects).of(node)


class _Evaluation:
    """One table under one query; each attribute is read from the JSON once."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self._values: dict[tuple[Column, Kind], pa.Array] = {}
        self._attributes: tuple[pa.Array, list[Any]] | None = None

    def of(self, node: Node) -> pa.Array:
        match node:
            case Both(terms):
                return reduce(pc.and_kleene, map(self.of, terms))
            case Either(terms):
                return reduce(pc.or_kleene, map(self.of, terms))
            case Not(term):
                return pc.invert(self.of(term))
            case AnyObject():
                return self._column(fact_name(node))
        return self._leaf(node)

    def _leaf(self, node: Comparison | IsNull | Flag | Membership | Like) -> pa.Array:
        match node:
            case Comparison():
                return self._compare(node)
            case IsNull(column):
                return self._is_null(column)
            case Flag(column):
                return self._value(column, "flag")
            case Membership(column, values):
                return self._is_member(column, values)
            case Like(column, pattern, ignore_case):
                text = self._value(column, "text")
                return pc.match_substring_regex(text, _regex(pattern), ignore_case=ignore_case)

    def _compare(self, node: Comparison) -> pa.Array:
        """Compare kind by kind; a row has a value of at most one kind."""
        kinds: list[Kind] = ["text", "number"]
        if node.operator in ("=", "<>"):
            kinds.append("flag")
        compare = _COMPARE[node.operator]
        found = [
            compare(self._operand(node.left, kind), self._operand(node.right, kind))
            for kind in kinds
            if {node.left.kind, node.right.kind} <= {kind, None}
        ]
        return pc.coalesce(*found)

    def _operand(self, operand: Operand, kind: Kind) -> pa.Array | pa.Scalar:
        if isinstance(operand, Constant):
            return pa.scalar(operand.value, _TYPES[kind])
        return self._value(operand, kind)

    def _is_member(self, column: Column, values: tuple[Constant, ...]) -> pa.Array:
        kind = values[0].kind
        array = self._value(column, kind)
        wanted = pa.array([value.value for value in values], _TYPES[kind])
        return pc.if_else(array.is_valid(), pc.is_in(array, value_set=wanted), None)

    def _is_null(self, column: Column) -> pa.Array:
        if column.kind is not None:
            return self._value(column, column.kind).is_null()
        codes, documents = self._decoded()
        keys = self._keys(column)
        missing = [_at_keys(document, keys) is None for document in documents]
        return pc.fill_null(pa.array(missing, pa.bool_()).take(codes), True)

    def _value(self, column: Column, kind: Kind) -> pa.Array:
        """Values of one kind, null where the row has none of that kind."""
        key = (column, kind)
        if key not in self._values:
            read = self._attribute if column.kind is None else self._plain
            self._values[key] = read(column, kind)
        return self._values[key]

    def _plain(self, column: Column, kind: Kind) -> pa.Array:
        if column.name == "objects":
            return self._column(fact_name(column)).cast(_TYPES[kind], safe=False)
        if column.name == "name":
            return pc.replace_substring_regex(self._column("path"), r"(?s)^.*/", "")
        if column.name == "folder":
            return pc.replace_substring_regex(self._column("path"), r"(?s)/?[^/]*\z", "")
        return self._column(column.name).cast(_TYPES[kind], safe=False)

    def _attribute(self, column: Column, kind: Kind) -> pa.Array:
        codes, documents = self._decoded()
        keys = self._keys(column)
        found = [_of_kind(_at_keys(document, keys), kind) for document in documents]
        return pa.array(found, _TYPES[kind]).take(codes)

    def _keys(self, column: Column) -> tuple[str, ...]:
        """Keys into the JSON object of the attributes."""
        return column.keys

    def _decoded(self) -> tuple[pa.Array, list[Any]]:
        """Index of each row's document (null for none), and the distinct documents."""
        if self._attributes is None:
            encoded = self._column("attributes").dictionary_encode()
            documents = [_document(text) for text in encoded.dictionary.to_pylist()]
            self._attributes = encoded.indices, documents
        return self._attributes

    def _column(self, name: str) -> pa.Array:
        column = self._rows.column(name).combine_chunks()
        # An empty chunked array may stay one.
        return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


class _ObjectEvaluation(_Evaluation):
    """Objects under the conditions of a query on one of them."""

    def _keys(self, column: Column) -> tuple[str, ...]:
        return column.keys[1:]

    def _plain(self, column: Column, kind: Kind) -> pa.Array:
        name = column.keys[0]
        if name == "track":
            ids = self._column("track_id").to_pylist()
            return pa.array([None if each is None else each.hex() for each in ids], pa.string())
        return self._column(name).cast(_TYPES[kind], safe=False)


def _document(text: str) -> Any:
    """Decode the attributes of a file; what is no JSON counts as missing."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _at_keys(document: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _of_kind(value: Any, kind: Kind) -> Any:
    wanted = {"text": str, "number": float, "flag": bool}[kind]
    if isinstance(value, str) and not value.isprintable():
        # JSON may escape half of a surrogate pair, which is no text.
        value = value.encode(errors="replace").decode()
    return value if isinstance(value, wanted) else None


def _regex(pattern: str) -> str:
    """The regular expression (RE2) of a LIKE pattern."""
    parts = re.findall(r"\\[%_\\]|.", pattern, re.S)
    wild = {"%": ".*", "_": "."}
    return rf"(?s)\A{''.join(wild.get(part) or re.escape(part[-1]) for part in parts)}\z"
