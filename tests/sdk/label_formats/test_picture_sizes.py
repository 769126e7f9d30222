"""Sides of many pictures are kept in little memory, and each picture is read once."""

from __future__ import annotations

import random

from atom_sdk.label_formats.picture_sizes import KnownSides, Sides


def test_each_picture_is_read_once_in_any_order() -> None:
    known = KnownSides(1000)
    order = list(range(1000))
    random.Random(7).shuffle(order)
    read: list[int] = []
    for row in order:
        wanted = known.unread(row, 32)
        assert not wanted or wanted[0] == row
        read += wanted
        for one in wanted:
            known.put(one, None if one % 10 == 0 else Sides((one + 1, 2 * one + 1), one % 8 + 1))
    assert sorted(read) == list(range(1000))
    assert known.get(500) is None
    assert known.get(999) == Sides((1000, 1999), 8)


def test_sides_that_no_picture_has_are_none() -> None:
    known = KnownSides(1)
    known.put(0, Sides((2**40, 1), 1))
    assert known.get(0) is None
    assert known.unread(0, 5) == []
