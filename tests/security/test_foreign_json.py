"""Texts that are JSON, or pretend to be: in cursors, keys, reports and what a runner tells."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from atom.core.errors import Invalid
from atom.core.foreign_json import read_json
from atom.core.pagination import decode_cursor
from atom.datasets.sources.pipelines.google_keys import read_service_account
from atom.jobs.attempts.api.runner_metrics import _batch
from atom.mlflow_api.api.base import _offset
from atom.mlflow_api.errors import BadParameter
from atom.models_registry.engines.evaluations import MalformedEvaluation, parse_evaluation
from tests.factories.accounts import make_member, make_project
from tests.factories.everything import one_of_everything

DEEP = "[" * 5_000
DESCRIPTION = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"


def _cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


# Too deep, no text of the database, half a character, of another list, not at all.
_TEXTS = (DEEP, r'["\u0000"]', r'["\ud800"]', '["a", "b"]', "{}", "[")
STRANGE = (*map(_cursor, _TEXTS), "é", "")
# These have the right length for lists by one key and by two, and are no keys.
CURSORS = tuple(map(_cursor, ('["a"]', '["a", {}]')))
# No number that can be read, and one that no column holds.
NUMBERS = ("9" * 5_000, "9" * 30)


def _lists() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Addresses that are read, a parameter of each, and what nobody would give it."""
    described = yaml.load(DESCRIPTION.read_text(), Loader=yaml.CSafeLoader)
    for path, operations in described["paths"].items():
        for given in operations.get("get", {}).get("parameters", []):
            name, kind = given["name"], given["schema"].get("type")
            if name == "cursor":
                yield path, name, CURSORS
            # All lists read their limit in one way.
            elif kind in {"integer", "number"} and (name != "limit" or path.endswith("/runs/")):
                yield path, name, NUMBERS if given["in"] == "query" else ()


@pytest.mark.django_db
def test_no_parameter_that_nobody_would_give_breaks_a_list() -> None:
    client = Client(raise_request_exception=False)
    project = make_project("vision")
    owner = make_member(project, "admin", "owner")
    values = one_of_everything(project, owner, "thing")
    client.force_login(owner)
    wrong, asked = [], 0
    for path, name, texts in _lists():
        address = re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), path)
        for text in texts:
            answer = client.get(address, {name: text})
            asked += 1
            if answer.status_code >= 500:
                wrong.append((path, name, text[:20], answer.status_code))
    assert (wrong, asked > 100) == ([], True)


@pytest.mark.parametrize("cursor", STRANGE)
def test_a_cursor_that_was_not_handed_out_is_refused(cursor: str) -> None:
    with pytest.raises(Invalid):
        decode_cursor(cursor, 1)


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 5_000, "[", "\ufeff1", "1" * 5_000])
def test_what_cannot_be_read_is_one_error(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as failed:
        read_json(text)
    assert len(str(failed.value)) < 200


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda: _batch(DEEP.encode()), Invalid),
        (lambda: _offset(_cursor(DEEP) + "="), BadParameter),
        (lambda: parse_evaluation(DEEP.encode()), MalformedEvaluation),
        (lambda: read_service_account(DEEP), Invalid),
    ],
)  # fmt: skip
def test_nesting_without_an_end_is_told_in_words(
    read: Callable[[], Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        read()
