"""Whether a value fits its attribute."""

from __future__ import annotations

import math
from typing import Any

from atom_sdk.annotations.json_values import shown
from atom_sdk.annotations.ontology_model import Attribute
from atom_sdk.annotations.patterns import matches
from atom_sdk.sentences import Sentence

MAX_TEXT_CHARACTERS = 10_000
# A number fits a step if it is this close to a multiple of it, in steps.
_STEP_TOLERANCE = 1e-6


def value_problem(attribute: Attribute, value: Any) -> Sentence | None:
    """Return why a value does not fit an attribute, None if it does."""
    return _CHECKS[attribute.kind](attribute, value) if attribute.kind in _CHECKS else None


def _choice(attribute: Attribute, value: Any) -> Sentence | None:
    known = {choice.id for choice in attribute.choices}
    if attribute.multiple:
        if not isinstance(value, tuple | list) or len(set(value)) != len(value):
            return Sentence(
                "annotations.choices_no_list",
                "Expected a list of different choices of “{name}”.",
                name=attribute.name,
            )
        unknown = [it for it in value if type(it) is not int or it not in known]
    else:
        unknown = [] if type(value) is int and value in known else [value]
    if unknown:
        return Sentence(
            "annotations.choice_unknown",
            "“{name}” has no choice {value}.",
            name=attribute.name,
            value=shown(unknown[0]),
        )
    return None


def _number(attribute: Attribute, value: Any) -> Sentence | None:
    name = attribute.name
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Sentence("annotations.value_no_number", "“{name}” is a number.", name=name)
    low, high = attribute.min, attribute.max
    if low is not None and value < low:
        return Sentence(
            "annotations.value_too_small", "“{name}” is {least} or more.", name=name, least=low
        )
    if high is not None and value > high:
        return Sentence(
            "annotations.value_too_large", "“{name}” is {most} or less.", name=name, most=high
        )
    if attribute.step:
        steps = (value - (low or 0)) / attribute.step
        if abs(steps - round(steps)) > _STEP_TOLERANCE:
            return Sentence(
                "annotations.value_off_step",
                "“{name}” goes in steps of {step}.",
                name=name,
                step=attribute.step,
            )
    return None


def _text(attribute: Attribute, value: Any) -> Sentence | None:
    name = attribute.name
    if not isinstance(value, str):
        return Sentence("annotations.value_no_text", "“{name}” is a text.", name=name)
    most = attribute.max_length or MAX_TEXT_CHARACTERS
    if len(value) > most:
        return Sentence(
            "annotations.value_too_long",
            "“{name}” has at most {most} characters.",
            name=name,
            most=most,
        )
    if attribute.pattern and not matches(attribute.pattern, value):
        return Sentence(
            "annotations.value_off_pattern",
            "“{name}” does not fit its pattern {pattern}.",
            name=name,
            pattern=attribute.pattern,
        )
    return None


def _flag(attribute: Attribute, value: Any) -> Sentence | None:
    if isinstance(value, bool):
        return None
    return Sentence("annotations.value_no_flag", "“{name}” is true or false.", name=attribute.name)


_CHECKS = {"choice": _choice, "number": _number, "text": _text, "flag": _flag}
