"""How a rate is written in the environment."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from atom.settings.environment import Environment
from atom.settings.rates import Rate, parse_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("100/s:500", Rate(100, 1, 500)),
        (" 10/min ", Rate(10, 60, 10)),
        ("2/h:9", Rate(2, 3600, 9)),
    ],
)
def test_a_rate_is_read(text: str, rate: Rate) -> None:
    assert parse_rate(text) == rate


def test_off_is_no_limit() -> None:
    assert parse_rate("OFF").burst == 0


@pytest.mark.parametrize("text", ["", "10", "0/s", "10/s:0", "10/day", "-1/s", "1.5/s", "10 / s"])
def test_anything_else_is_refused_by_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        parse_rate(text)
    monkeypatch.setenv("ATOM_RATE_ANONYMOUS", text or "?")
    with pytest.raises(ValidationError, match="atom_rate_anonymous"):
        Environment()
