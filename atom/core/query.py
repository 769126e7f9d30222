"""Parameters in an address: unknown ones are refused instead of ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rest_framework.request import Request

from atom.core.errors import Invalid
from atom_sdk.sentences import Sentence

_SHOWN = 30


def refuse_unknown(request: Request, known: Collection[str]) -> None:
    """Raise Invalid for a parameter that is not one of `known`."""
    unknown: str = Sentence(
        "fields.parameter_unknown",
        "There is no such parameter. Give one of: {choices}.",
        choices=_first_of(known),
    )
    if errors := {name: [unknown] for name in request.query_params if name not in known}:
        raise Invalid(errors=errors)


def choice(request: Request, name: str, allowed: Iterable[str], default: str = "") -> str:
    """Return a parameter that has one of the `allowed` values. Raises Invalid, naming them."""
    value: str = request.query_params.get(name) or default
    if value != default:
        check_choices(name, [value], allowed)
    return value


def words(request: Request, name: str) -> str:
    """Return a parameter that is looked for in texts, empty if it is not given."""
    value: str = request.query_params.get(name, "")
    return value.strip()


def check_choices(name: str, values: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise Invalid, naming what is allowed, if one of the values is not."""
    known = set(allowed)
    if unknown := sorted(set(values) - known):
        raise Invalid(
            errors={
                name: [
                    Sentence(
                        "fields.not_one_of",
                        "{values}? Give one of: {choices}.",
                        values=", ".join(map(repr, unknown)),
                        choices=_first_of(known),
                    )
                ]
            }
        )


def _first_of(allowed: Collection[str]) -> str:
    names = sorted(allowed)
    more = ", …" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
