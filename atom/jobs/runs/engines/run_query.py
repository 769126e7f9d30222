"""The search language of runs: `lr>0.01 state:failed tag:baseline metric.loss<0.3 "free words"`.

All terms must hold; a term with a minus sign must not. Grammar: docs/runs.md. The parser returns
values, and no part of the text becomes SQL.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Final

from atom_sdk.sentences import Sentence

MAX_CHARACTERS: Final = 2000
MAX_TERMS: Final = 40

WORD: Final = "word"
PARAM: Final = "param"
METRIC: Final = "metric"
# A bare name: a parameter, or else a metric.
EITHER: Final = "either"
OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=")

NAMES: Final = frozenset(
    {
        "state", "tag", "author", "workflow", "dataset", "experiment", "cluster", "accelerator",
        "node", "failure", "name", "notes", "origin", "is",
    }
)  # fmt: skip
NUMBERS: Final = frozenset(
    {"number", "cpus", "gpus", "duration", "cpu_hours", "gpu_hours", "progress"}
)
TIMES: Final = frozenset({"created", "started", "finished"})
# How much of a name must be that of a field, from 0 to 1, for it to be suggested.
_LIKENESS: Final = 0.7
_FIELDS: Final = NAMES | NUMBERS | TIMES
_PREFIXES: Final = {
    "param": PARAM, "params": PARAM, "parameter": PARAM, "metric": METRIC, "metrics": METRIC,
}  # fmt: skip

_TERM = re.compile(
    r"""
    (?P<minus>-?)
    (?:
        (?P<name>(?:[^\s"<>=!:,-][^\s"<>=!:,]*)?(?:"[^"]*")?)
        (?P<op><=|>=|!=|=|<|>|:)
        (?P<value>(?:"[^"]*"|[^\s",]+)(?:,(?:"[^"]*"|[^\s",]+))*)?
      | "(?P<quoted>[^"]*)"
      | (?P<word>[^\s"]+)
    )
    (?=\s|$)
    """,
    re.VERBOSE,
)
_PART = re.compile(r'"([^"]*)"|([^",]+)')


class RunQueryError(ValueError):
    """The text is not of the language; `position` counts characters from 1."""

    def __init__(self, problem: str, position: int, field: str = "", suggestion: str = "") -> None:
        """`problem` says what is wrong, and what to write instead.

        `field` is an unknown name, `suggestion` the field that it resembles, if any.
        """
        super().__init__(
            Sentence(
                "query.at_character",
                "Character {position}: {problem}",
                position=position,
                problem=problem,
            )
        )
        self.problem, self.position = problem, position
        self.field, self.suggestion = field, suggestion


@dataclass(frozen=True, slots=True)
class Term:
    """One condition. `kind` is a field's name, or WORD, PARAM, METRIC or EITHER with a `key`.

    `op` is one of OPERATORS; a term of several `values` holds for any of them.
    """

    kind: str
    op: str
    values: tuple[str, ...]
    at: int
    key: str = ""
    negated: bool = False

    def wrong(self, problem: str) -> RunQueryError:
        """Return an error that points at this term."""
        return RunQueryError(problem, self.at)


def parse(text: str) -> list[Term]:
    """Return the terms that must all hold. Raises RunQueryError."""
    if len(text) > MAX_CHARACTERS:
        raise RunQueryError(
            Sentence(
                "jobs.search_too_long",
                (
                    "a search has at most {max_characters} characters. Shorten it, or give the "
                    "runs a tag."
                ),
                max_characters=MAX_CHARACTERS,
            ),
            MAX_CHARACTERS + 1,
        )
    terms: list[Term] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _TERM.match(text, at)
        if found is None:
            raise _unreadable(text, at)
        terms.append(_term(found))
        at = found.end()
    if len(terms) > MAX_TERMS:
        raise RunQueryError(
            Sentence(
                "jobs.search_too_many_conditions",
                "a search has at most {max_conditions} conditions. Leave some out.",
                max_conditions=MAX_TERMS,
            ),
            terms[MAX_TERMS].at,
        )
    return terms


def _unreadable(text: str, at: int) -> RunQueryError:
    end = re.compile(r"\s|$").search(text, at)
    piece = text[at : end.start() if end else None]
    if text.count('"', at) % 2:
        place = text.rindex('"') + 1
        return RunQueryError(
            Sentence("jobs.quotation_open", 'a quotation mark is not closed. Write "two words".'),
            place,
        )
    return RunQueryError(
        Sentence(
            "jobs.term_not_understood",
            '{term} is not understood. Write NAME>NUMBER, FIELD:VALUE or "words".',
            term=repr(piece),
        ),
        at + 1,
    )


def _term(found: re.Match[str]) -> Term:
    at, negated = found.start() + 1, bool(found["minus"])
    if found["op"] is None:
        word = found["quoted"] if found["word"] is None else found["word"]
        return Term(WORD, "=", (word,), at, negated=negated)
    kind, key = _named(found["name"], at)
    op = found["op"]
    if not found["value"]:
        asked = found["name"] + op
        raise RunQueryError(
            Sentence(
                "jobs.search_value_missing",
                "nothing follows {term}. Write {example}.",
                term=repr(asked),
                example=_example(kind, key),
            ),
            found.end() + 1,
        )
    if op == ":" and kind == EITHER:
        raise _unknown_field(key, at)
    values = tuple(
        part[1] if part[1] is not None else part[2] for part in _PART.finditer(found["value"])
    )
    term = Term(kind, "=" if op == ":" else op, values, at, key, negated)
    _check_operator(term)
    return term


def _unknown_field(key: str, at: int) -> RunQueryError:
    near = difflib.get_close_matches(key.lower(), sorted(_FIELDS), 1, _LIKENESS)
    suggestion = near[0] if near else ""
    fields = ", ".join(sorted(_FIELDS))
    return RunQueryError(
        Sentence(
            "jobs.search_field_misspelt",
            (
                "Unknown field {field}. Did you mean {suggestion}? Write {parameter}=VALUE "
                "for a parameter."
            ),
            field=repr(key),
            suggestion=repr(suggestion),
            parameter=key,
        )
        if suggestion
        else Sentence(
            "jobs.search_field_unknown",
            (
                "Unknown field {field}. Fields are {fields}. Write {parameter}=VALUE for a "
                "parameter."
            ),
            field=repr(key),
            fields=fields,
            parameter=key,
        ),
        at,
        key,
        suggestion,
    )


def _named(name: str, at: int) -> tuple[str, str]:
    """Read `state`, `metric.val/loss` or `param."learning rate"`."""
    prefix, dot, rest = name.partition(".")
    if dot and prefix.lower() in _PREFIXES:
        key = rest.strip('"')
        kind = _PREFIXES[prefix.lower()]
    elif name.lower() in _FIELDS:
        return name.lower(), ""
    else:
        key, kind = name.strip('"'), EITHER
    if not key:
        raise RunQueryError(
            Sentence(
                "jobs.search_name_missing",
                "a name is missing here. Write metric.loss<0.3 or lr>0.01.",
            ),
            at,
        )
    return kind, key


def _check_operator(term: Term) -> None:
    ordered = term.op not in ("=", "!=")
    if ordered and term.kind in NAMES:
        raise term.wrong(
            Sentence(
                "jobs.field_has_no_order",
                "{field} has no order. Write {field}:{example}.",
                field=term.kind,
                example=term.values[0],
            )
        )
    if ordered and len(term.values) > 1:
        raise term.wrong(
            Sentence(
                "jobs.one_value_by_size",
                "only one value can be compared by size. Write two conditions.",
            )
        )


def _example(kind: str, key: str) -> str:
    examples = {"state": "state:failed", "tag": "tag:baseline", "is": "is:starred"}
    if kind in TIMES:
        return f"{kind}>=2026-11-01"
    if kind in (PARAM, METRIC, EITHER):
        return f"{key}>0.5"
    return examples.get(kind, f"{kind}:VALUE")


_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "": 1}
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][+-]?\d{1,3})?")


def is_number(text: str) -> bool:
    """Return whether a value can be compared as a number."""
    return _NUMBER.fullmatch(text) is not None


_WORDS: Final = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity"}


def word_of(text: str) -> str | None:
    """Return `NaN`, `Infinity` or `-Infinity` for a text that names one in any case."""
    sign = "-" if text.startswith("-") else ""
    word = _WORDS.get(text.removeprefix(sign or "+").lower())
    return None if word is None or (word == "NaN" and sign) else sign + word


def seconds_of(text: str) -> float | None:
    """Return the seconds of `90`, `90s`, `5m`, `2h` or `1d`; None for what is no time span."""
    unit = text[-1:].lower() if text[-1:].isalpha() else ""
    amount = text[: len(text) - len(unit)]
    if unit not in _SECONDS or not is_number(amount):
        return None
    return float(amount) * _SECONDS[unit]
