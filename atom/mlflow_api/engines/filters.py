"""MLflow's filter language: `metrics.acc > 0.9 AND params."lr" = '0.1' AND tags.a LIKE '%b%'`.

Comparisons joined by AND. A name is quoted by backticks or double quotes where it needs to be, a
text by single (or double) quotes. The parser returns values; nothing of it becomes SQL text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

METRIC, PARAM, TAG, ATTRIBUTE, DATASET = "metric", "param", "tag", "attribute", "dataset"
_ENTITIES = {
    **dict.fromkeys(("metric", "metrics"), METRIC),
    **dict.fromkeys(("param", "params", "parameter", "parameters"), PARAM),
    **dict.fromkeys(("tag", "tags"), TAG),
    **dict.fromkeys(("attribute", "attributes", "attr", "run"), ATTRIBUTE),
    **dict.fromkeys(("dataset", "datasets"), DATASET),
}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^']|'')*')
      | (?P<quoted>"[^"]*"|`[^`]*`)
      | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<op>!=|<>|>=|<=|=|>|<)
      | (?P<mark>[(),.])
      | (?P<word>[^\s'"`=!<>(),.]+)
    )""",
    re.VERBOSE,
)
MAX_CHARACTERS = 10_000
_MAX_COMPARISONS = 50

Value = str | float | tuple[str, ...]


class BadFilter(ValueError):
    """The text is not of the language; the message says where."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison; `op` is in upper case, one of = != > >= < <= LIKE ILIKE IN, NOT IN."""

    entity: str
    key: str
    op: str
    value: Value


@dataclass(frozen=True, slots=True)
class Ordering:
    """One term of an order."""

    entity: str
    key: str
    ascending: bool


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def parse_filter(text: str) -> list[Comparison]:
    """Return the comparisons that must all hold. Raises BadFilter."""
    tokens = _Tokens(text)
    found: list[Comparison] = []
    while not tokens.is_at_end():
        if found:
            tokens.expect_word("AND")
        found.append(_comparison(tokens))
        if len(found) > _MAX_COMPARISONS:
            raise BadFilter(f"A filter has at most {_MAX_COMPARISONS} comparisons.")
    return found


def parse_order(text: str) -> Ordering:
    """Return the order that `metrics.acc DESC` asks for. Raises BadFilter."""
    tokens = _Tokens(text)
    entity, key = _name(tokens)
    direction = "ASC" if tokens.is_at_end() else tokens.take().text.upper()
    if direction not in {"ASC", "DESC"} or not tokens.is_at_end():
        raise BadFilter(f"Invalid order_by clause '{text}': expected ASC or DESC at its end.")
    return Ordering(entity, key, direction == "ASC")


class _Tokens:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise BadFilter(f"A filter has at most {MAX_CHARACTERS} characters.")
        self._text = text
        self._tokens = list(_split(text))
        self._at = 0

    def is_at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def peek(self) -> _Token:
        return _Token("end", "") if self.is_at_end() else self._tokens[self._at]

    def take(self) -> _Token:
        if self.is_at_end():
            raise BadFilter(f"Invalid filter '{self._text}': it ends too early.")
        self._at += 1
        return self._tokens[self._at - 1]

    def expect_word(self, word: str) -> None:
        found = self.take()
        if found.kind != "word" or found.text.upper() != word:
            raise BadFilter(
                f"Invalid filter '{self._text}': expected {word}, found '{found.text}'."
            )

    def expect_mark(self, mark: str) -> None:
        found = self.take()
        if found != _Token("mark", mark):
            raise BadFilter(
                f"Invalid filter '{self._text}': expected '{mark}', found '{found.text}'."
            )


def _split(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text) and text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise BadFilter(f"Invalid filter '{text}': not understood at character {at + 1}.")
        tokens.append(_Token(found.lastgroup, found[found.lastgroup]))
        at = found.end()
    return tokens


def _name(tokens: _Tokens) -> tuple[str, str]:
    """Read `entity.key`, or an attribute's bare name. A key may have dots without quotes."""
    first = tokens.take()
    if first.kind not in {"word", "quoted"}:
        raise BadFilter(f"Invalid filter: expected a name, found '{first.text}'.")
    entity = _ENTITIES.get(first.text.lower())
    if entity is None or tokens.peek() != _Token("mark", "."):
        return ATTRIBUTE, _dotted(tokens, first)
    tokens.take()
    return entity, _dotted(tokens, tokens.take())


def _dotted(tokens: _Tokens, first: _Token) -> str:
    if first.kind == "quoted":
        return first.text[1:-1]
    if first.kind not in {"word", "number"}:
        raise BadFilter(f"Invalid filter: expected a name, found '{first.text}'.")
    parts = [first.text]
    while tokens.peek() == _Token("mark", "."):
        tokens.take()
        parts.append(tokens.take().text)
    return ".".join(parts)


def _comparison(tokens: _Tokens) -> Comparison:
    entity, key = _name(tokens)
    op = _operator(tokens)
    if op in {"IN", "NOT IN"}:
        return Comparison(entity, key, op, _list(tokens))
    if op in {"IS NULL", "IS NOT NULL"}:
        return Comparison(entity, key, op, "")
    return Comparison(entity, key, op, _value(tokens.take()))


def _operator(tokens: _Tokens) -> str:
    found = tokens.take()
    if found.kind == "op":
        return "!=" if found.text == "<>" else found.text
    word = found.text.upper()
    if word == "NOT":
        tokens.expect_word("IN")
        return "NOT IN"
    if word == "IS":
        negated = tokens.peek().text.upper() == "NOT"
        if negated:
            tokens.take()
        tokens.expect_word("NULL")
        return "IS NOT NULL" if negated else "IS NULL"
    if found.kind == "word" and word in {"LIKE", "ILIKE", "IN"}:
        return word
    raise BadFilter(f"Invalid filter: '{found.text}' is no comparison.")


def _list(tokens: _Tokens) -> tuple[str, ...]:
    tokens.expect_mark("(")
    values = []
    while True:
        value = _value(tokens.take())
        if not isinstance(value, str):
            raise BadFilter("Invalid filter: a list holds quoted texts.")
        values.append(value)
        if tokens.peek() != _Token("mark", ","):
            break
        tokens.take()
    tokens.expect_mark(")")
    return tuple(values)


def _value(token: _Token) -> str | float:
    if token.kind == "number":
        return float(token.text)
    if token.kind == "text":
        return token.text[1:-1].replace("''", "'")
    if token.kind == "quoted":
        return token.text[1:-1]
    raise BadFilter(f"Invalid filter: expected a number or a quoted text, found '{token.text}'.")
