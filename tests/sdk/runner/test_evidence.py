"""The last traceback out of a log, and errors of memory."""

from __future__ import annotations

import pytest

from atom_sdk.runner.evidence import describe, ran_out_of_memory, storable, tail, traceback

SIMPLE = b"""Traceback (most recent call last):
  File "a.py", line 1, in <module>
    1 / 0
ZeroDivisionError: division by zero
"""


def test_only_the_last_traceback_counts() -> None:
    first = SIMPLE.replace(b"ZeroDivisionError", b"KeyError")
    assert traceback(first + b"retrying\n" + SIMPLE) == SIMPLE.decode().strip()


def test_chained_errors_stay_together() -> None:
    chained = (
        SIMPLE
        + b"\nThe above exception was the direct cause of the following exception:\n\n"
        + SIMPLE.replace(b"ZeroDivisionError: division by zero", b"RuntimeError: no")
    )
    assert traceback(b"noise\n" + chained) == chained.decode().strip()


def test_what_follows_the_error_is_left_out() -> None:
    assert traceback(SIMPLE + b"[atom] Ending the command.\n") == SIMPLE.decode().strip()


def test_no_traceback() -> None:
    assert traceback(b"just a warning\n") == ""


@pytest.mark.parametrize(
    "line",
    [
        b"MemoryError",
        b"MemoryError: cannot allocate",
        b"numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7 EiB",
        b"RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried",
    ],
)
def test_errors_of_memory(line: bytes) -> None:
    error = SIMPLE.replace(b"ZeroDivisionError: division by zero", line)
    assert ran_out_of_memory(error)
    assert not ran_out_of_memory(error + SIMPLE)


def test_the_tail_is_what_a_person_saw() -> None:
    assert tail(b"\x1b[31mred\x1b[0m\n1%\r2%\r3%\n") == "red\n3%"


def test_what_no_database_takes_is_replaced_by_a_mark() -> None:
    found = describe(b"name=\0\0\n", SIMPLE.replace(b"division", b"\0"), "ended", peak=3)
    assert (found["tail"], found["peak"]) == ("name=\ufffd\ufffd", 3)
    assert found["traceback"].endswith("ZeroDivisionError: \ufffd by zero")
    odd = {"caf\udce9": ["a\0b", ("\ud800",), float("nan"), 1, None, True, "😀"]}
    assert storable(odd) == {"caf\ufffd": ["a\ufffdb", ["\ufffd"], "nan", 1, None, True, "😀"]}
