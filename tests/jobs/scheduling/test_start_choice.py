"""The choice of the way to start: data first where it costs no waiting."""

from __future__ import annotations

import pytest

from atom.jobs.scheduling.engines.start_choice import choose_way


@pytest.mark.parametrize(
    ("data_s", "queue_s", "when", "code"),
    [
        (0.0, 0.0, "data_there", "jobs.start_all_there"),
        (0.0, None, "data_there", "jobs.start_all_there"),
        (60.0, 60.0, "data_there", "jobs.start_data_first"),
        (61.0, 60.0, "now", "jobs.start_room_first"),
        (1.0, 0.0, "now", "jobs.start_room_first"),
        (None, 600.0, "now", "jobs.start_data_unknown"),
        (60.0, None, "now", "jobs.start_wait_unknown"),
    ],
)
def test_the_data_comes_first_where_the_run_waits_at_least_as_long(
    data_s: float | None, queue_s: float | None, when: str, code: str
) -> None:
    way, why = choose_way(data_s, queue_s)
    assert (way.when, why.code) == (when, code)
