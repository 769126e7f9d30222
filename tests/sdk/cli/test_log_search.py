"""The output of `atom logs --search`, and the options that it refuses."""

from __future__ import annotations

import io
from typing import Any

import click
import pytest

from atom_sdk.cli.context import Context
from atom_sdk.cli.log_printing import LinePrinter
from atom_sdk.cli.log_search import print_matches, wanted_of

NONE = {"search": None, "regex": False, "case": False, "errors": False, "context_lines": 0}


def line(number: int) -> dict[str, Any]:
    return {"line": number, "text": f"line {number}"}


def match(number: int, summary: str = "") -> dict[str, Any]:
    before = [line(one) for one in (number - 1,) if one > 0]
    return {**line(number), "before": before, "after": [line(number + 1)], "summary": summary}


def test_each_line_is_printed_once_and_gaps_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_matches(Context(), [match(2), match(3, "ValueError: x"), match(8)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1-line 1", "2:line 2", "3:line 3", "    ValueError: x", "4-line 4",
        "--", "7-line 7", "8:line 8", "9-line 9",
    ]  # fmt: skip


def test_nothing_found_is_exit_code_1() -> None:
    assert print_matches(Context(), []) == 1


@pytest.mark.parametrize(
    ("given", "follow"),
    [
        ({"search": "a", "errors": True}, False),
        ({"regex": True}, False),
        ({"search": "a"}, True),
        ({"search": ""}, False),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    given: dict[str, Any], follow: bool
) -> None:
    with pytest.raises(click.UsageError):
        wanted_of({**NONE, "stream": None, **given}, follow)


def test_what_is_asked_of_the_server() -> None:
    given = {**NONE, "stream": "stderr", "search": "a+", "regex": True, "context_lines": 2}
    assert wanted_of(given, False) == {"q": "a+", "regex": 1, "stream": "stderr", "context": 2}
    assert wanted_of({**NONE, "stream": None}, True) == {}


def test_a_stream_alone_is_no_search() -> None:
    assert wanted_of({**NONE, "stream": "stderr"}, False) == {}
    assert wanted_of({**NONE, "stream": "stderr"}, True) == {}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


LONG_LINE = [("stdout", "epoch 1 "), ("stderr", "warning\n"), ("stdout", "done\n"), ("stderr", "x")]


def test_lines_of_two_streams_do_not_mix() -> None:
    out = io.StringIO()
    printer = LinePrinter(out)
    for stream, text in LONG_LINE:
        printer.add(stream, text)
    assert out.getvalue() == "warning\nepoch 1 done\n"
    printer.finish()
    assert out.getvalue() == "warning\nepoch 1 done\nx"


def test_a_terminal_shows_the_line_that_is_being_written_and_takes_it_back() -> None:
    out = Terminal()
    printer = LinePrinter(out)
    printer.add("stdout", "\r10%")
    printer.add("stdout", "\r20%")
    printer.add("stderr", "warning\n")
    printer.add("stdout", "\rdone\n")
    clear = "\r\x1b[K"
    assert out.getvalue() == (f"10%{clear}20%{clear}warning\n20%{clear}\r10%\r20%\rdone\n")
