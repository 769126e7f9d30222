"""Random queries, each with the same condition as a plain Python function of one row."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]
Truth = bool | None
Case = tuple[str, Callable[[Row], Truth]]
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
texts = st.text("ab/%_\\'é\n", max_size=4)
numbers = st.integers(-3, 3) | st.sampled_from([0.5, -1.5, 2e30])
json_values = st.none() | texts | numbers | st.booleans() | st.lists(numbers, max_size=1)
documents = st.fixed_dictionaries(
    {}, optional={"x": json_values, "order": json_values, "n": st.dictionaries(texts, json_values)}
)
TEXT_COLUMNS = ("path", "name", "folder", "media_type", "label", "split")
KEYS = {"attributes.x": ["x"], "attributes.order": ["order"], 'attributes.n."a/"': ["n", "a/"]}


def value_of(row: Row, column: str) -> Any:
    """Value of a column in one row, None for none."""
    if column == "name":
        return row["path"].rpartition("/")[2]
    if column == "folder":
        return row["path"].rpartition("/")[0]
    if column not in KEYS:
        return row[column.lower()]
    found = json.loads(row["attributes"]) if row["attributes"] else None
    for key in KEYS[column]:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def written(value: Any) -> str:
    """The constant as SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def kind_of(value: Any) -> str | None:
    """Kind of a value: text, number, flag, or None for what cannot be compared."""
    if isinstance(value, bool):
        return "flag"
    return (
        "text" if isinstance(value, str) else "number" if isinstance(value, int | float) else None
    )


def compared(sign: str, left: Any, right: Any) -> Truth:
    """Compare two values; unknown unless both are of one kind that has this comparison."""
    kind = kind_of(left)
    if kind is None or kind != kind_of(right):
        return None
    return (
        None
        if kind == "flag" and sign[0] in "<>" and sign != "<>"
        else (OPERATORS[sign](left, right))
    )


def like(text: Any, pattern: str) -> Truth:
    """SQL's LIKE, character by character."""
    if not isinstance(text, str):
        return None
    signs = re.findall(r"\\[%_\\]|.", pattern, re.S)
    return _like(text, signs)


def _like(text: str, signs: list[str]) -> bool:
    if not signs:
        return not text
    if signs[0] == "%":
        return any(_like(text[start:], signs[1:]) for start in range(len(text) + 1))
    fits = bool(text) and (signs[0] == "_" or signs[0][-1] == text[0])
    return fits and _like(text[1:], signs[1:])


def negated(truth: Truth) -> Truth:
    """NOT: unknown stays unknown."""
    return None if truth is None else not truth


def all_of(truths: list[Truth]) -> Truth:
    """AND: false wins over unknown."""
    return False if False in truths else None if None in truths else True


def any_of(truths: list[Truth]) -> Truth:
    """OR: true wins over unknown."""
    return True if True in truths else None if None in truths else False


@st.composite
def leaves(draw: st.DrawFn) -> Case:
    """One comparison."""
    column = draw(st.sampled_from([*TEXT_COLUMNS, "SIZE", *KEYS]))
    values: st.SearchStrategy[Any] = texts
    if column == "SIZE":
        values = numbers
    elif column in KEYS:
        values = texts | numbers | st.booleans()
    kind = draw(st.sampled_from(["compare", "mirror", "in", "like", "null", "between"]))
    value = draw(values)
    if kind == "null":
        return f"{column} IS NULL", lambda row: value_of(row, column) is None
    if kind == "like" and column != "SIZE":
        pattern = draw(texts)
        return f"{column} LIKE {written(pattern)}", lambda row: like(value_of(row, column), pattern)
    if kind == "in":
        members = [value, *draw(st.lists(values.filter(lambda v: kind_of(v) == kind_of(value))))]
        listed = ", ".join(map(written, members))
        return f"{column} IN ({listed})", lambda row: any_of(
            [compared("=", value_of(row, column), member) for member in members]
        )
    if kind == "between" and not isinstance(value, bool):
        high = draw(values.filter(lambda v: kind_of(v) == kind_of(value)))
        return f"{column} BETWEEN {written(value)} AND {written(high)}", lambda row: all_of(
            [
                compared(">=", value_of(row, column), value),
                compared("<=", value_of(row, column), high),
            ]
        )
    signs = ["=", "<>", "!="] if isinstance(value, bool) else list(OPERATORS)
    sign = draw(st.sampled_from(signs))
    if kind == "mirror":
        return f"{written(value)} {sign} {column}", lambda row: compared(
            sign, value, value_of(row, column)
        )
    return f"{column} {sign} {written(value)}", lambda row: compared(
        sign, value_of(row, column), value
    )


def _combined(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    def negate(case: Case) -> Case:
        return f"NOT ({case[0]})", lambda row: negated(case[1](row))

    def join(word: str, cases: list[Case]) -> Case:
        decide = all_of if word == "and" else any_of
        text = f" {word} ".join(f"({text})" for text, _ in cases)
        return text, lambda row: decide([holds(row) for _, holds in cases])

    several = st.lists(inner, min_size=2, max_size=3)
    return inner.map(negate) | st.builds(join, st.sampled_from(["and", "OR"]), several)


cases = st.recursive(leaves(), _combined, max_leaves=5)
