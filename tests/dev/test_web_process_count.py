"""How many web processes start where nobody says a number."""

import pytest

from atom.core.processors import processor_count, quota_of
from atom.dev.applications import application_specs, web_processes_for
from atom.dev.config import Installation


@pytest.mark.parametrize(
    ("cpu_max", "available", "expected"),
    [
        ("max 100000", 8, 8),
        ("", 8, 8),
        ("250000 100000", 8, 2),
        ("50000 100000", 8, 1),
        ("1600000 100000", 8, 8),
    ],
)
def test_a_control_group_limits_the_processors(cpu_max: str, available: int, expected: int) -> None:
    assert quota_of(cpu_max, available) == expected


@pytest.mark.parametrize(
    ("processors", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (7, 3), (8, 4), (64, 4)]
)
def test_one_for_every_two_cores_and_four_at_most(processors: int, expected: int) -> None:
    assert web_processes_for(processors) == expected


def test_the_number_that_is_asked_for_is_what_each_of_them_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATOM_WEB_PROCESSES", "3")
    assert _process_counts() == {"web": "3", "web-2": "3", "web-3": "3"}
    monkeypatch.delenv("ATOM_WEB_PROCESSES")
    own = web_processes_for(processor_count())
    assert len(_process_counts()) == own
    assert set(_process_counts().values()) == {str(own)}


def _process_counts() -> dict[str, str]:
    specs = application_specs(Installation.load())
    return {
        spec.name: spec.env["ATOM_WEB_PROCESSES"] for spec in specs if spec.name.startswith("web")
    }
