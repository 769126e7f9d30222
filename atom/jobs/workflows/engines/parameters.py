"""Typed parameters of a workflow: what a form may send and what a command gets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

from atom.core.field_errors import SLUG_PATTERN, SLUG_RULE
from atom.core.sentences import required
from atom_sdk.sentences import Sentence

ParameterType = Literal["int", "float", "string", "bool", "enum", "dataset", "model", "name"]
TYPES: frozenset[str] = frozenset(get_args(ParameterType))
MAX_STRING_LENGTH = 10_000


class WrongValueError(ValueError):
    """A value that a parameter cannot take; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One field of a workflow's form. `min` and `max` are inclusive."""

    name: str
    type: ParameterType
    title: str
    help: str = ""
    default: Any = None
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the shape that the REST API and the database hold."""
        return {**asdict(self), "choices": list(self.choices)}


@dataclass(frozen=True, slots=True)
class Checked:
    """Values with defaults filled in, and the sentences about those that were wrong."""

    values: dict[str, Any]
    errors: dict[str, list[str]]


def parse_parameter(data: Mapping[str, Any]) -> Parameter:
    """Build a parameter from its JSON. Raises ValueError if it is not well formed."""
    unknown = set(data) - set(Parameter.__dataclass_fields__)
    if unknown:
        raise ValueError(f"unknown keys {sorted(unknown)}")
    if data.get("type") not in TYPES:
        raise ValueError(f"type must be one of {sorted(TYPES)}, not {data.get('type')!r}")
    if data["type"] == "enum" and not data.get("choices"):
        raise ValueError("an enum needs choices")
    fields = {"title": data.get("name"), **data, "choices": tuple(data.get("choices") or ())}
    return Parameter(**fields)


def check_parameters(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> Checked:
    """Check what a person gave against the workflow's parameters, field by field."""
    values: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    known = {parameter.name for parameter in parameters}
    for name in given.keys() - known:
        choices = ", ".join(sorted(known)) or "none"
        errors[name] = [
            Sentence(
                "jobs.workflow_parameter_unknown",
                "This workflow has no parameter '{name}'. It has: {choices}.",
                name=name,
                choices=choices,
            )
        ]
    for parameter in parameters:
        try:
            values[parameter.name] = _value_of(parameter, given.get(parameter.name))
        except WrongValueError as error:
            errors[parameter.name] = [str(error)]
    return Checked(values, errors)


def _value_of(parameter: Parameter, given: Any) -> Any:
    if given is None or given == "":
        if parameter.default is None and parameter.required:
            raise WrongValueError(required())
        return parameter.default
    return _CONVERTERS[parameter.type](parameter, given)


def _to_int(parameter: Parameter, given: Any) -> int:
    try:
        # "1e3" and 3.0 are whole numbers to a person; True is not.
        number = float(given) if not isinstance(given, bool) else math.nan
        whole = int(given) if isinstance(given, (int, str)) and _is_digits(given) else int(number)
    except (TypeError, ValueError, OverflowError):
        raise WrongValueError(
            Sentence(
                "jobs.not_an_integer", "Expected a whole number, got {input}.", input=_shown(given)
            )
        ) from None
    if not number.is_integer():
        raise WrongValueError(
            Sentence(
                "jobs.not_an_integer", "Expected a whole number, got {input}.", input=_shown(given)
            )
        )
    return int(_in_range(parameter, whole))


def _is_digits(given: int | str) -> bool:
    return isinstance(given, int) or given.strip().lstrip("+-").isdigit()


def _to_float(parameter: Parameter, given: Any) -> float:
    try:
        number = float(given) if not isinstance(given, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        raise WrongValueError(
            Sentence("jobs.not_a_number", "Expected a number, got {input}.", input=_shown(given))
        ) from None
    if not math.isfinite(number):
        raise WrongValueError(
            Sentence(
                "jobs.not_finite", "Expected a finite number, got {input}.", input=_shown(given)
            )
        )
    return float(_in_range(parameter, number))


def _in_range(parameter: Parameter, number: float) -> float:
    if parameter.min is not None and number < parameter.min:
        raise WrongValueError(
            Sentence(
                "jobs.below_minimum",
                "Must be at least {min}, got {input}.",
                min=f"{parameter.min:g}",
                input=f"{number:g}",
            )
        )
    if parameter.max is not None and number > parameter.max:
        raise WrongValueError(
            Sentence(
                "jobs.above_maximum",
                "Must be at most {max}, got {input}.",
                max=f"{parameter.max:g}",
                input=f"{number:g}",
            )
        )
    return number


def _to_bool(parameter: Parameter, given: Any) -> bool:
    if isinstance(given, bool):
        return given
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    word = str(given).strip().lower()
    if word not in words:
        raise WrongValueError(
            Sentence(
                "jobs.not_a_boolean", "Expected true or false, got {input}.", input=_shown(given)
            )
        )
    return words[word]


def _to_string(parameter: Parameter, given: Any) -> str:
    if not isinstance(given, str):
        raise WrongValueError(
            Sentence("jobs.not_text", "Expected text, got {input}.", input=_shown(given))
        )
    if len(given) > MAX_STRING_LENGTH or "\0" in given:
        raise WrongValueError(
            Sentence(
                "jobs.text_too_long",
                "Text must be under {max_characters} characters, without NUL.",
                max_characters=MAX_STRING_LENGTH,
            )
        )
    return given


def _to_enum(parameter: Parameter, given: Any) -> str:
    chosen = str(given)
    if chosen not in parameter.choices:
        raise WrongValueError(
            Sentence(
                "jobs.not_a_choice",
                "Choose one of {choices}; got {input}.",
                choices=", ".join(parameter.choices),
                input=_shown(given),
            )
        )
    return chosen


def _to_reference(parameter: Parameter, given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        example = "digits@v3" if parameter.type == "dataset" else "digits@1"
        raise WrongValueError(
            Sentence(
                "jobs.not_a_reference",
                "Expected a reference such as {example}, got {input}.",
                example=example,
                input=_shown(given),
            )
        )
    return given.strip()


def _to_name(parameter: Parameter, given: Any) -> str:
    if not isinstance(given, str) or not re.fullmatch(SLUG_PATTERN, given.strip()):
        raise WrongValueError(SLUG_RULE)
    return given.strip()


def _shown(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"


_CONVERTERS = cast(
    "dict[ParameterType, Callable[[Parameter, Any], Any]]",
    {
        "int": _to_int,
        "float": _to_float,
        "bool": _to_bool,
        "string": _to_string,
        "enum": _to_enum,
        "dataset": _to_reference,
        "model": _to_reference,
        "name": _to_name,
    },
)
