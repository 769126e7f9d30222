"""The audit trail has one grammar: the thing, a dot, what was done to it in the past tense."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ATOM = Path(__file__).resolve().parents[2] / "atom"
_VERB = re.compile(r"[a-z][a-z0-9_]*\.([a-z]+_)*[a-z]+ed")


def recorded() -> Iterator[tuple[str, str]]:
    """Yield file and verb of every event that the code records with a literal."""
    for path in sorted(ATOM.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "audit.record":
                verb = node.args[1]
                if isinstance(verb, ast.Constant) and isinstance(verb.value, str):
                    yield path.name, verb.value


def test_there_are_events_to_look_at() -> None:
    assert ("runs.py", "run.created") in set(recorded())


@pytest.mark.parametrize(("file", "verb"), sorted(set(recorded())))
def test_an_event_is_named_in_the_past_tense(file: str, verb: str) -> None:
    assert _VERB.fullmatch(verb), f"{file} records {verb}"
