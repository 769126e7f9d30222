"""`atom …` in the tests' own process."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from atom_sdk.cli.context import Context
from atom_sdk.cli.main import _run

# Takes the arguments; gives the exit code and what was printed.
Atom = Callable[..., tuple[int, str, str]]


def runner(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    environment: dict[str, str],
) -> Atom:
    """Return what runs `atom …` with these variables."""
    monkeypatch.setenv("COLUMNS", "200")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["atom", *arguments])
        code = _run(Context())
        said = capsys.readouterr()
        return code, said.out, said.err

    return run
