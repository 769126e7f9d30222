"""The demo's bars: a step that has nothing to do has a line instead."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from demo.bars import bars


def drawn(*told: tuple[str, float, float]) -> str:
    out = StringIO()
    with bars(Console(file=out, force_terminal=True, width=80), "Nothing to do.") as shown:
        for name, done, total in told:
            shown.show(name, done, total)
    return out.getvalue()


def test_a_step_that_tells_nothing_has_a_line_instead_of_a_bar() -> None:
    said = drawn()
    assert "Nothing to do." in said
    assert "%" not in said


def test_a_step_that_tells_how_far_it_is_has_a_bar() -> None:
    said = drawn(("label", 250, 1000), ("label", 500, 1000))
    assert "Nothing" not in said
    assert "50%" in said
