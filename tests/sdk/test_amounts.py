"""Words for people that depend on a number."""

from __future__ import annotations

import pytest

from atom_sdk.amounts import counted, first_named


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 packs"), (1, "1 pack"), (2, "2 packs"), (1000000, "1000000 packs")]
)
def test_one_is_said_in_the_singular(count: int, said: str) -> None:
    assert counted(count, "pack") == said


def test_a_word_may_have_its_own_plural() -> None:
    assert counted(1, "process", "processes") == "1 process"
    assert counted(3, "process", "processes") == "3 processes"


def test_a_fraction_is_never_one() -> None:
    assert counted(0.5, "CPU") == "0.5 CPUs"
    assert counted(1.0, "CPU") == "1 CPU"


def test_the_first_of_many_are_named() -> None:
    assert first_named(["a", "b", "c"]) == "a, b, c"
    assert first_named(["a", "b", "c", "d", "e"], 2) == "a, b and 3 more"
    assert first_named([]) == ""
