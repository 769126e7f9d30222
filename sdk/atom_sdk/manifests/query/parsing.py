"""Reads the text of a query: sqlglot parses it, a whitelist turns its tree into ours.

Whatever the whitelist does not name is refused, also an unknown detail of a known node: a newer
sqlglot must not change silently what a stored query means.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import TokenType

from atom_sdk.manifests.query.errors import (
    EXAMPLE,
    QueryColumnError,
    QuerySyntaxError,
    QueryTermError,
    QueryTooLargeError,
    QueryTypeError,
)
from atom_sdk.manifests.query.limits import MAX_DEPTH, MAX_TEXT_CHARACTERS
from atom_sdk.manifests.query.object_groups import all_of, any_of, closed
from atom_sdk.manifests.query.tree import (
    COLUMNS,
    OBJECT_FIELDS,
    PICTURE_FIELDS,
    Both,
    Column,
    Comparison,
    Constant,
    Flag,
    IsNull,
    Like,
    Membership,
    Node,
    Not,
    Operand,
    Query,
)
from atom_sdk.sentences import Sentence

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
# How much of a name must be that of a column, from 0 to 1, for it to be suggested.
_LIKENESS = 0.7
_JOINING = frozenset({"AND", "OR", "NOT"})
_KIND_NAMES = {"text": "text", "number": "a number", "flag": "true or false"}


def parse(text: str) -> Query:
    """Read the text of a query.

    Raises QuerySyntaxError, QueryTermError, QueryColumnError, QueryTypeError, QueryTooLargeError:
    all of them a QueryError.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        raise QueryTooLargeError(
            Sentence(
                "query.too_long",
                "it has {count} characters; at most {max_characters} fit.",
                count=len(text),
                max_characters=MAX_TEXT_CHARACTERS,
            ),
            MAX_TEXT_CHARACTERS + 1,
        )
    _check_characters(text)
    try:
        _check_depth(text)
        where = closed(_node(sqlglot.parse_one(text, into=exp.Condition)))
    except ParseError as error:
        raise _misspelt_column(text) or _syntax_error(text, error) from error
    except SqlglotError as error:
        place = max(text.rfind("'"), text.rfind('"'), 0) + 1
        raise QuerySyntaxError(
            Sentence("query.quotation_open", "a quotation mark is not closed."), place
        ) from error
    except RecursionError as error:
        raise QueryTooLargeError(
            Sentence("query.nested_too_deeply", "it is nested too deeply."), 1
        ) from error
    return Query(str(where), where)


def _check_characters(text: str) -> None:
    if not text.strip():
        raise QuerySyntaxError(Sentence("query.empty", "it is empty."), 1)
    for place, character in enumerate(text, 1):
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise QuerySyntaxError(
                Sentence("query.bad_character", "the character cannot be part of a text."), place
            )


def _check_depth(text: str) -> None:
    """Count open brackets, and what can pile up without brackets: NOT and minus signs."""
    depth = run = 0
    for token in sqlglot.tokenize(text):
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        run = run + 1 if token.token_type in (TokenType.NOT, TokenType.DASH) else 0
        if depth + run > MAX_DEPTH:
            raise QueryTooLargeError(
                Sentence(
                    "query.too_deep",
                    "it is nested more than {max_levels} levels deep.",
                    max_levels=MAX_DEPTH,
                ),
                token.start + 1,
            )


def _misspelt_column(text: str) -> QueryColumnError | None:
    """Return an error for the first name that resembles a column; more helpful than the syntax."""
    tokens = sqlglot.tokenize(text)
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        is_part = TokenType.DOT in {before and before.token_type, after and after.token_type}
        is_name = token.token_type == TokenType.VAR and not is_part
        if is_name and token.text.lower() not in COLUMNS and _resembled(token.text):
            return _unknown_column(token.text, token.start + 1)
    return None


def _resembled(name: str) -> str:
    """Return the column that a name was probably meant to be, or an empty text."""
    return next(iter(difflib.get_close_matches(name.lower(), COLUMNS, 1, _LIKENESS)), "")


def _unknown_column(name: str, position: int) -> QueryColumnError:
    suggestion = _resembled(name)
    return QueryColumnError(
        Sentence(
            "query.column_misspelt",
            "Unknown column {column}. Did you mean {suggestion}?",
            column=repr(name),
            suggestion=repr(suggestion),
        )
        if suggestion
        else Sentence(
            "query.column_unknown",
            (
                "Unknown column {column}. Columns are {columns}; an attribute is written "
                "attributes.NAME."
            ),
            column=repr(name),
            columns=", ".join(COLUMNS),
        ),
        position,
        name,
        suggestion,
    )


def _syntax_error(text: str, error: ParseError) -> QuerySyntaxError:
    found: dict[str, Any] = error.errors[0] if error.errors else {}
    lines = text.splitlines(keepends=True)[: (found.get("line") or 1) - 1]
    highlight = found.get("highlight") or ""
    start = sum(map(len, lines)) + max((found.get("col") or 1) - len(highlight), 0) + 1
    position = min(start, len(text))
    if highlight.upper() in _JOINING and text.rstrip().endswith(highlight):
        return QuerySyntaxError(
            Sentence(
                "query.condition_missing",
                "a condition is missing after {place}.",
                place=repr(highlight),
            ),
            position,
        )
    return QuerySyntaxError(
        Sentence("query.unexpected", "{expression} does not fit here.", expression=repr(highlight))
        if highlight
        else Sentence("query.unreadable", "it cannot be read."),
        position,
    )


def _node(tree: exp.Expr) -> Node:
    if isinstance(tree, exp.Paren):
        _only(tree, "this")
        return _node(tree.this)
    if isinstance(tree, exp.And | exp.Or):
        chain = _chain(tree, type(tree))
        if isinstance(tree, exp.And):
            return all_of(closed(node) if _is_apart(term) else node for term, node in _read(chain))
        return any_of(node for _, node in _read(chain))
    for kinds, read in _READERS.items():
        if isinstance(tree, kinds):
            return read(tree)
    raise _not_allowed(tree)


def _chain(tree: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """Terms of `a AND b AND c` in their order, however long the chain is."""
    terms = []
    while type(tree) is kind:
        _only(tree, "this", "expression")
        terms.append(tree.expression)
        tree = tree.this
    return [tree, *reversed(terms)]


def _read(chain: list[exp.Expr]) -> Iterator[tuple[exp.Expr, Node]]:
    return ((term, _node(term)) for term in chain)


def _is_apart(tree: exp.Expr) -> bool:
    """Whether brackets ask for an object of its own: all do but those around alternatives."""
    return isinstance(tree, exp.Paren) and not isinstance(tree.this, exp.Or)


def _not(tree: exp.Expr) -> Node:
    _only(tree, "this")
    return _negated(_node(tree.this))


def _negated(term: Node) -> Node:
    if isinstance(term, IsNull) and term.column.is_of_object:
        # IS NOT NULL asks for an object that has a value, not for a picture without one that lacks.
        return Not(term)
    whole = closed(term)
    return whole.term if isinstance(whole, Not) else Not(whole)


def _comparison(tree: exp.Expr) -> Node:
    _only(tree, "this", "expression")
    return _compare(tree, _OPERATORS[type(tree)], tree.this, tree.expression)


def _between(tree: exp.Expr) -> Node:
    _only(tree, "this", "low", "high")
    low = _compare(tree, ">=", tree.this, tree.args["low"])
    return Both((low, _compare(tree, "<=", tree.this, tree.args["high"])))


def _compare(tree: exp.Expr, operator: str, left: exp.Expr, right: exp.Expr) -> Comparison:
    found = Comparison(operator, _operand(left), _operand(right))
    kinds = {found.left.kind, found.right.kind} - {None}
    if isinstance(found.left, Constant) and isinstance(found.right, Constant):
        raise QueryTypeError(
            Sentence(
                "query.two_constants", "two constants are compared; one side must be a column."
            ),
            _at(tree),
        )
    columns = [side for side in (found.left, found.right) if isinstance(side, Column)]
    if len({column.is_of_object for column in columns}) > 1:
        raise QueryTypeError(
            Sentence(
                "query.object_beside_file",
                "{left} and {right}: a value of an object is compared with another of the object "
                "or with a constant.",
                left=found.left,
                right=found.right,
            ),
            _at(tree),
        )
    if len(kinds) > 1:
        one, other = (_KIND_NAMES[side.kind or ""] for side in (found.left, found.right))
        raise QueryTypeError(
            Sentence(
                "query.types_differ",
                "{left} is {left_type} and {right} is {right_type}: they cannot be compared.",
                left=found.left,
                left_type=one,
                right=found.right,
                right_type=other,
            ),
            _at(tree),
        )
    if "flag" in kinds and operator not in ("=", "<>"):
        raise QueryTypeError(
            Sentence("query.boolean_order", "TRUE and FALSE can only be compared with = and <>."),
            _at(tree),
        )
    return found


def _membership(tree: exp.Expr) -> Node:
    _only(tree, "this", "expressions")
    column = _column(tree.this)
    values = tuple(_constant(value) for value in tree.expressions)
    if not values:
        raise _not_allowed(tree)
    for value in values:
        expected = column.kind or values[0].kind
        if value.kind != expected:
            raise QueryTypeError(
                Sentence(
                    "query.list_of_two_types",
                    "{value} is {type}; every value of this list must be {expected}.",
                    value=value,
                    type=_KIND_NAMES[value.kind],
                    expected=_KIND_NAMES[expected],
                ),
                _at(tree),
            )
    return Membership(column, values)


def _like(tree: exp.Expr) -> Node:
    _only(tree, "this", "expression", "negate")
    column, pattern = _column(tree.this), _constant(tree.expression)
    if column.kind not in ("text", None) or not isinstance(pattern.value, str):
        raise QueryTypeError(
            Sentence("query.like_needs_text", "LIKE needs a column of text and a text pattern."),
            _at(tree),
        )
    found = Like(column, pattern.value, isinstance(tree, exp.ILike))
    return _negated(found) if tree.args.get("negate") else found


def _is(tree: exp.Expr) -> Node:
    _only(tree, "this", "expression")
    if isinstance(tree.expression, exp.Null):
        return IsNull(_column(tree.this))
    raise QueryTermError(Sentence("query.after_is", "after IS comes NULL or NOT NULL."), _at(tree))


def _flag(tree: exp.Expr) -> Node:
    column = _column(tree)
    if column.kind not in (None, "flag"):
        raise QueryTypeError(
            Sentence(
                "query.not_a_condition",
                "{column} alone is not true or false; compare it, such as: {example}",
                column=column,
                example=EXAMPLE,
            ),
            _at(tree),
        )
    return Flag(column)


_READERS: dict[tuple[type[exp.Expr], ...], Callable[[exp.Expr], Node]] = {
    (exp.Not,): _not,
    tuple(_OPERATORS): _comparison,
    (exp.Between,): _between,
    (exp.In,): _membership,
    (exp.Like, exp.ILike): _like,
    (exp.Is,): _is,
    (exp.Column, exp.Dot): _flag,
}


def _operand(tree: exp.Expr) -> Operand:
    return _column(tree) if isinstance(tree, exp.Column | exp.Dot) else _constant(tree)


def _column(tree: exp.Expr) -> Column:
    names = _names(tree)
    first = names[0].name
    if first.lower() not in COLUMNS or names[0].args.get("quoted"):
        if not names[0].args.get("quoted"):
            raise _unknown_column(first, _at(tree))
        raise QueryColumnError(
            Sentence(
                "query.text_without_quotes",
                "Unknown column {column}. A text stands in single quotes.",
                column=repr(first),
            ),
            _at(tree),
            first,
        )
    column = _named_column(first.lower(), tuple(name.name for name in names[1:]), tree)
    if column.name == "attributes" and not column.keys:
        raise QueryColumnError(
            Sentence("query.name_an_attribute", "name one of them, such as attributes.camera."),
            _at(tree),
        )
    if column.name not in ("attributes", "objects") and column.keys:
        raise QueryColumnError(
            Sentence(
                "query.no_parts", "{column} has no parts; attributes have.", column=column.name
            ),
            _at(tree),
        )
    return column


def _named_column(name: str, keys: tuple[str, ...], tree: exp.Expr) -> Column:
    if name != "objects":
        return Column(name, keys)
    fields = OBJECT_FIELDS | PICTURE_FIELDS
    first, *rest = keys or ("",)
    first = first.lower()
    counted = len(rest) >= 1 if first == "attributes" else len(rest) == (first == "counts")
    if first not in fields or not counted:
        raise QueryColumnError(
            Sentence(
                "query.object_field",
                "A query can ask for {fields}; an attribute is written objects.attributes.NAME, "
                "the number of a class objects.counts.NAME.",
                fields=", ".join(f"objects.{field}" for field in fields),
            ),
            _at(tree),
            ".".join(("objects", *keys)),
        )
    return Column("objects", (first, *rest))


def _names(tree: exp.Expr) -> list[exp.Identifier]:
    """Identifiers of `attributes.a.b`, left to right."""
    if isinstance(tree, exp.Identifier):
        return [tree]
    if isinstance(tree, exp.Dot):
        _only(tree, "this", "expression")
        return [*_names(tree.this), *_names(tree.expression)]
    if not isinstance(tree, exp.Column):
        raise _not_allowed(tree)
    _only(tree, "this", "table", "db", "catalog")
    return [name for part in tree.parts for name in _names(part)]


def _constant(tree: exp.Expr) -> Constant:
    if isinstance(tree, exp.Null):
        raise QueryTermError(
            Sentence("query.null_compared", "nothing equals NULL; write IS NULL or IS NOT NULL."),
            _at(tree),
        )
    if isinstance(tree, exp.Boolean):
        return Constant(bool(tree.this))
    if isinstance(tree, exp.Literal):
        return Constant(str(tree.this) if tree.is_string else _number(tree))
    if isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal) and tree.this.is_number:
        return Constant(-_number(tree.this))
    if isinstance(tree, exp.Column | exp.Dot):
        raise QueryTermError(
            Sentence(
                "query.constant_expected",
                "a constant must stand here, not {expression}.",
                expression=tree.sql(),
            ),
            _at(tree),
        )
    raise _not_allowed(tree)


def _number(tree: exp.Expr) -> float:
    value = float(tree.this)
    if not math.isfinite(value):
        raise QueryTypeError(
            Sentence("query.number_too_large", "the number is too large."), _at(tree)
        )
    # -0 and 0 are one number and must have one text.
    return value or 0.0


def _only(tree: exp.Expr, *known: str) -> None:
    """Refuse a node with a detail that is not known here."""
    if any(value not in (None, False, []) for key, value in tree.args.items() if key not in known):
        raise _not_allowed(tree)


def _not_allowed(tree: exp.Expr) -> QueryTermError:
    said = tree.sql()
    shown = said if len(said) <= 60 else f"{said[:60]}…"
    return QueryTermError(
        Sentence(
            "query.not_supported",
            (
                "{expression} cannot be used; a query has only comparisons, AND, OR, NOT, "
                "IN, LIKE, BETWEEN and IS NULL over columns."
            ),
            expression=shown,
        ),
        _at(tree),
    )


def _at(tree: exp.Expr) -> int:
    """First character of a node, from 1: the leaves know their places."""
    starts = [node.meta["start"] for node in tree.walk() if "start" in node.meta]
    return min(starts, default=0) + 1
