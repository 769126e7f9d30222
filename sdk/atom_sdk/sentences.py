"""Sentences for people that programs can read: a text with its code and its parameters."""

from __future__ import annotations

from typing import Any


class Sentence(str):
    """An English text that keeps the stable code and the named parameters that it is made of.

    A parameter may be a `Sentence` itself. Clients translate by code and parameters.
    """

    __slots__ = ("code", "params", "template")

    code: str
    template: str
    params: dict[str, Any]

    def __new__(cls, code: str, template: str, /, **params: Any) -> Sentence:
        """Fill `{name}` in `template`; raises KeyError for a slot without a parameter."""
        sentence = super().__new__(cls, template.format(**params))
        sentence.code, sentence.template, sentence.params = code, template, params
        return sentence

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        """Return how `copy` and `pickle` make the sentence again."""
        return (self.code, self.template), self.params

    def as_code(self) -> dict[str, Any]:
        """Return `{"code": …, "params": {…}}`, ready for JSON; a nested sentence likewise."""
        return {"code": self.code, "params": {k: _as_json(v) for k, v in self.params.items()}}


def _as_json(value: Any) -> Any:
    if isinstance(value, Sentence):
        return value.as_code()
    return value if value is None or isinstance(value, bool | int | float) else str(value)
