"""Plans take turns by priority and waiting; none starves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from atom.cache.engines.turns import origin_room, turn_of

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def test_ten_of_priority_count_like_an_hour() -> None:
    assert turn_of(NOW, 60) < turn_of(NOW, 50)
    assert turn_of(NOW, 60) == turn_of(NOW - timedelta(hours=1), 50)
    assert turn_of(NOW - timedelta(hours=11), 0) < turn_of(NOW, 100)


@given(
    priorities=st.lists(st.integers(0, 100), min_size=1, max_size=8),
    ceiling=st.integers(8, 16),
)
def test_the_first_gets_most_reads_and_each_other_one(priorities: list[int], ceiling: int) -> None:
    turns = [
        turn_of(NOW + timedelta(seconds=at), priority) for at, priority in enumerate(priorities)
    ]
    held = [0] * len(turns)
    # All want more than there is, and reads end in any order.
    for step in range(200):
        at = step % len(turns)
        others = [turn for place, turn in enumerate(turns) if place != at]
        room = origin_room(turns[at], others, held[at], sum(held), ceiling)
        held[at] += room
        assert sum(held) <= ceiling
        if step < 150:
            held[(step * 7) % len(turns)] = max(held[(step * 7) % len(turns)] - 1, 0)
    first = turns.index(min(turns))
    assert held[first] == ceiling - len(turns) + 1
    assert all(count == 1 for place, count in enumerate(held) if place != first)


def test_a_plan_alone_gets_all_reads() -> None:
    assert origin_room(NOW, [], 3, 3, 64) == 61
    assert origin_room(NOW, [], 3, 70, 64) == 0
    # It holds more than its share until its reads end.
    assert origin_room(NOW, [NOW - timedelta(hours=1)], 40, 40, 64) == 0
