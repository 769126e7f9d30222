"""Keys of classes: one character each, a digit's own where that is its name."""

from __future__ import annotations

import pytest

from atom.labeling.engines.ontologies import complete_labels


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["0", "7", "cat"], ["0", "7", "1"]),
        (["12", "23", "3"], ["1", "2", "3"]),
        ([str(n) for n in range(1, 13)], [*"123456789", "0", "", ""]),
        (["1234567890", "0"], ["1", "0"]),
    ],
)
def test_a_key_is_one_character(names: list[str], keys: list[str]) -> None:
    assert [label.hotkey for label in complete_labels([{"name": n} for n in names])] == keys


def test_a_key_that_was_asked_for_is_nobody_elses() -> None:
    given = [{"name": "cat", "hotkey": "1"}, {"name": "1"}, {"name": "21"}]
    assert [label.hotkey for label in complete_labels(given)] == ["1", "2", "3"]
