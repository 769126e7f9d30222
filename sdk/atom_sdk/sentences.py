"""Sentences for people that programs can read: a text with its code and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SentenceCode(str):
    """The stable code of a sentence, with its parameters: frameworks keep the code of an error."""

    __slots__ = ("params",)

    params: dict[str, Any]

    def as_code(self) -> dict[str, Any]:
        """Return `{"code": …, "params": {…}}`, ready for JSON; a nested sentence likewise."""
        return {"code": str(self), "params": {k: _as_json(v) for k, v in self.params.items()}}


class Sentence(str):
    """An English text that keeps the stable code and the named parameters that it is made of.

    A parameter may be a `Sentence` itself. Clients translate by code and parameters.
    """

    __slots__ = ("code", "template")

    code: SentenceCode
    template: str

    def __new__(cls, code: str, template: str, /, **params: Any) -> Sentence:
        """Fill `{name}` in `template`; raises KeyError for a slot without a parameter."""
        sentence = super().__new__(cls, template.format(**params))
        sentence.code, sentence.template = SentenceCode(code), template
        sentence.code.params = params
        return sentence

    @classmethod
    def from_parts(cls, text: str, code: str, params: Mapping[str, Any]) -> Sentence:
        """Return a sentence that was stored as its text and as what `as_code` returns."""
        return cls(code, text.replace("{", "{{").replace("}", "}}"), **params)

    def __str__(self) -> str:
        """Return this sentence: `str(error)` keeps the code of what the error was raised with."""
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        """Return how `copy` and `pickle` make the sentence again."""
        return (str(self.code), self.template), self.params

    @property
    def params(self) -> dict[str, Any]:
        """The values that the sentence names, by name."""
        return self.code.params

    def as_code(self) -> dict[str, Any]:
        """Return `{"code": …, "params": {…}}`, ready for JSON; a nested sentence likewise."""
        return self.code.as_code()


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | Mapping):
        return value
    text = str(value)
    # An error may have been raised with a sentence.
    return text.as_code() if isinstance(text, Sentence) else text
