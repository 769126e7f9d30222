"""Reads plain JSON values strictly: each function returns its type or raises DocumentError."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from atom_sdk.annotations.problems import MAX_PROBLEMS, DocumentError, Problem, refusal
from atom_sdk.sentences import Sentence

T = TypeVar("T")
MAX_NAMED_CHARACTERS = 60
# Integers beyond this are not exact in the double precision that JavaScript reads.
_MAX_EXACT = 2**53
_HEX_ID = re.compile(r"[0-9a-f]{16}")
_NUMBER_TYPES = frozenset({int, float})


def shown(value: object) -> str:
    """Return a value as a sentence shows it, shortened."""
    # Nested values may be long, or deeper than Python can show.
    if isinstance(value, dict | list | tuple):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= MAX_NAMED_CHARACTERS else f"{text[:MAX_NAMED_CHARACTERS]}…"


def as_mapping(value: Any, pointer: str) -> Mapping[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        raise refusal(
            pointer,
            Sentence(
                "annotations.no_mapping", "Expected a JSON object, not {value}.", value=shown(value)
            ),
        )
    return value


def as_list(value: Any, pointer: str) -> Sequence[Any]:
    """Return a JSON list."""
    if not isinstance(value, (list, tuple)):
        raise refusal(
            pointer,
            Sentence("annotations.no_list", "Expected a list, not {value}.", value=shown(value)),
        )
    return value


def as_text(value: Any, pointer: str) -> str:
    """Return a text that UTF-8 can hold, without NUL, which databases refuse."""
    if not isinstance(value, str):
        raise refusal(
            pointer,
            Sentence("annotations.no_text", "Expected a text, not {value}.", value=shown(value)),
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise refusal(
            pointer, Sentence("annotations.half_character", "This text has half a character in it.")
        ) from None
    if "\0" in value:
        raise refusal(
            pointer, Sentence("annotations.nul_in_text", "This text has a NUL character in it.")
        )
    return value


def as_flag(value: Any, pointer: str) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise refusal(
            pointer,
            Sentence(
                "annotations.no_flag", "Expected true or false, not {value}.", value=shown(value)
            ),
        )
    return value


def as_integer(value: Any, pointer: str) -> int:
    """Return an integer that each reader of JSON reads alike."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or abs(value) >= _MAX_EXACT:
        raise refusal(
            pointer,
            Sentence(
                "annotations.no_integer", "Expected an integer, not {value}.", value=shown(value)
            ),
        )
    return value


def as_number(value: Any, pointer: str) -> float:
    """Return a finite number."""
    return numbers_of([value], pointer)[0]


def numbers_of(values: Any, pointer: str) -> tuple[float, ...]:
    """Return a list of finite numbers as floats."""
    listed = as_list(values, pointer)
    if not _NUMBER_TYPES.issuperset(map(type, listed)):
        value = next(it for it in listed if type(it) not in _NUMBER_TYPES)
        raise refusal(
            pointer,
            Sentence(
                "annotations.no_number", "Expected a number, not {value}.", value=shown(value)
            ),
        )
    try:
        numbers = tuple(map(float, listed))
    except OverflowError:
        numbers = (math.inf,)
    if not all(map(math.isfinite, numbers)):
        raise refusal(
            pointer,
            Sentence(
                "annotations.not_finite", "A number is infinite or no number. Use finite numbers."
            ),
        )
    return numbers


def as_id(value: Any, pointer: str) -> str:
    """Return an id of 16 lower-case hexadecimal digits."""
    if not isinstance(value, str) or not _HEX_ID.fullmatch(value):
        raise refusal(
            pointer,
            Sentence(
                "annotations.no_id",
                "An id has 16 lower-case hexadecimal digits, such as "
                "9f86d081884c7d65; not {value}.",
                value=shown(value),
            ),
        )
    return value


def check_fields(value: Mapping[str, Any], allowed: frozenset[str], pointer: str = "") -> None:
    """Raise DocumentError for a field that is not allowed here."""
    unknown = value.keys() - allowed
    if unknown:
        # A key of JSON is a text; a caller of Python may pass others.
        name = min(map(str, unknown))
        known = ", ".join(sorted(allowed))
        raise refusal(
            pointer,
            Sentence(
                "annotations.field_unknown",
                "The field {name} is unknown here. Allowed: {allowed}.",
                name=shown(name),
                allowed=known,
            ),
        )


def field(value: Mapping[str, Any], name: str) -> Any:
    """Return a field that must be there."""
    if name not in value:
        raise refusal(
            name, Sentence("annotations.field_missing", "The field {name} is missing.", name=name)
        )
    return value[name]


def read_all(items: Iterable[Any], pointer: str, read: Callable[[Any], T]) -> list[T]:
    """Read each item of a list; raises one error with the faults of all of them."""
    values: list[T] = []
    problems: list[Problem] = []
    for index, item in enumerate(items):
        try:
            values.append(read(item))
        except DocumentError as error:
            problems += [it.below(f"{pointer}/{index}") for it in error.problems]
            if len(problems) >= MAX_PROBLEMS:
                break
    if problems:
        raise DocumentError(problems[:MAX_PROBLEMS])
    return values


def plain_number(number: float) -> int | float:
    """Return the number that JSON shows shortest: 10 and not 10.0, as JavaScript does."""
    if not number:
        return 0 if math.copysign(1, number) > 0 else number
    return int(number) if number % 1 == 0 and abs(number) < _MAX_EXACT else number


def plain_numbers(numbers: Iterable[float]) -> list[int | float]:
    """Return numbers as JSON shows them shortest."""
    return [plain_number(number) for number in numbers]
