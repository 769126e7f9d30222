"""The examples of the API's description: each is what its schema says, and what its route takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.db import transaction
from django.test import Client, override_settings
from jsonschema import Draft4Validator, FormatChecker  # type: ignore[import-untyped]

from atom.settings.environment import BASE_DIR
from tests.fuzzing.test_description import NO_LIMITS
from tests.fuzzing.world import make_world

METHODS = ("get", "post", "put", "patch", "delete")


# Examples name objects that do not exist in the tests. An operation may report that one is missing,
# and nothing else, in these words:
MISSING = (
    "no such",
    "There is nobody",
    "There is no person",
    "There is no host",
    "has no changes upload",
    "has no dataset",
    "does not exist",
    "did not find",
    "This is not your password",
    "The code is wrong",
    "Give the revision of the run",
)


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    with (BASE_DIR / "docs" / "openapi.yaml").open() as file:
        found: dict[str, Any] = yaml.load(file, yaml.CSafeLoader)
    return found


def contents(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield `operation`, `request` or a status, and the JSON content, of each that there is."""
    for path, methods in described["paths"].items():
        for method in METHODS & methods.keys():
            name = f"{method} {path}"
            kinds = {"request": methods[method].get("requestBody", {})}
            for kind, one in (kinds | methods[method]["responses"]).items():
                content = one.get("content", {}).get("application/json")
                if content is not None:
                    yield name, kind, content


def strict(schema: Any) -> Any:
    """Return a schema of OpenAPI 3.0 as JSON Schema: `nullable` means that null is allowed."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(one) for key, one in schema.items() if key != "nullable"}
    return {"anyOf": [found, {"type": "null"}]} if schema.get("nullable") is True else found


def test_every_body_and_answer_has_an_example_that_its_schema_allows(
    described: dict[str, Any],
) -> None:
    components = strict(described["components"])
    wrong = []
    for name, kind, content in contents(described):
        if "example" not in content:
            wrong.append(f"{name} {kind}: no example")
            continue
        schema = {**strict(content["schema"]), "components": components}
        checker = Draft4Validator(schema, format_checker=FormatChecker())
        wrong += [
            f"{name} {kind}: {'.'.join(map(str, error.absolute_path))}: {error.message:.200}"
            for error in checker.iter_errors(content["example"])
        ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.django_db
def test_no_route_calls_its_own_example_invalid(described: dict[str, Any]) -> None:
    world = make_world()
    client = Client()
    refused = []
    with override_settings(ATOM_RATE_SIGNED_IN=NO_LIMITS, ATOM_RATE_ANONYMOUS=NO_LIMITS):
        for name, kind, content in contents(described):
            if kind != "request":
                continue
            method, path = name.split(" ")
            with transaction.atomic():
                answer = getattr(client, method)(
                    path.format(**world.values),
                    content["example"],
                    content_type="application/json",
                    headers=world.headers_for(path),
                )
                transaction.set_rollback(True)
            if answer.status_code == 400:
                problem = answer.json()
                said = f"{name}: {problem['code']} {problem.get('errors')} {problem['detail']}"
                if not any(one in said for one in MISSING):
                    refused.append(said)
    assert not refused, "\n".join(refused)
