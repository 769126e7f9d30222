"""The last traceback out of a log, and errors of memory."""

from __future__ import annotations

import pytest

from atom_sdk.runner.evidence import ran_out_of_memory, tail, traceback

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
