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
        source = path.read_text()
        # To parse everything takes seconds.
        if "audit.record" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "audit.record":
                verb = node.args[1]
                if isinstance(verb, ast.Constant) and isinstance(verb.value, str):
                    yield path.name, verb.value


@pytest.fixture(scope="module")
def verbs() -> set[tuple[str, str]]:
    """Every file and verb; found when it is asked for, not by each worker that collects tests."""
    return set(recorded())


def test_there_are_events_to_look_at(verbs: set[tuple[str, str]]) -> None:
    assert ("runs.py", "run.created") in verbs


def test_every_event_is_named_in_the_past_tense(verbs: set[tuple[str, str]]) -> None:
    assert [event for event in sorted(verbs) if not _VERB.fullmatch(event[1])] == []
