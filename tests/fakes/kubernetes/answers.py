"""Answers, before they are sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .errors import ApiError, PlainError
from .store import encode

_JSON = "application/json"


@dataclass
class Answer:
    """One answer."""

    status: int = 200
    body: bytes = b""
    content_type: str = _JSON
    headers: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def json_answer(status: int, body: Any, warnings: list[str] | None = None) -> Answer:
    """Return an answer with a JSON body."""
    return Answer(status, encode(body), warnings=warnings or [])


def error_answer(failure: ApiError | PlainError) -> Answer:
    """Return the answer of a failure."""
    if isinstance(failure, PlainError):
        text = failure.text.encode()
        return Answer(failure.code, text, "text/plain; charset=utf-8", failure.headers)
    return Answer(failure.code, encode(failure.status()), headers=failure.headers)
