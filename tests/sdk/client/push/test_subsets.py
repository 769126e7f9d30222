"""Parts of a listing, and what remembering them takes."""

from __future__ import annotations

import tracemalloc
from itertools import compress

from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.client.push.subsets import Subset

_COUNT = 400_000


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5000))
def test_what_is_selected_comes_in_its_order(pattern: list[bool], times: int) -> None:
    mask = bytes(pattern) * times
    some = Subset(range(len(mask)), mask)
    assert list(some) == list(compress(range(len(mask)), mask))
    assert len(some) == sum(mask)


def test_a_selection_takes_a_bit_an_item() -> None:
    tracemalloc.start()
    try:
        some = Subset(range(_COUNT), bytes(_COUNT - 1) + b"\1")
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert list(some) == [_COUNT - 1]
    assert held < _COUNT // 4
