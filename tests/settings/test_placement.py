"""The value of an hour by priority, as a setting spells it."""

from __future__ import annotations

import pytest

from atom.settings.placement import parse_hour_values, value_at


@pytest.mark.parametrize(
    ("priority", "value"), [(-5, 1.0), (0, 1.0), (9, 1.0), (10, 30.5), (99, 30.5)]
)
def test_a_priority_has_the_value_of_the_next_lower_one(priority: int, value: float) -> None:
    assert value_at(parse_hour_values(" 10=30.5, 0=1"), priority) == value


@pytest.mark.parametrize("text", ["", "1", "0=1,", "0=-1", "a=1", "0=1,0=2", "0=1;1=2"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write each priority once"):
        parse_hour_values(text)
