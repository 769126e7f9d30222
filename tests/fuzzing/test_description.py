"""Every operation of the API, asked what its description allows and what it does not.

Whatever comes, no answer is a 5xx, and each has the status, the type and the form that the
description says. The same requests are made each time: the seed is in the code.

The fast tier asks half of the operations once, the deep tier each of them a few times; `make fuzz`
asks each operation many times more (ATOM_FUZZ_EXAMPLES).
"""

from __future__ import annotations

import contextlib
import os
import random
import unittest
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

import pytest
import requests
import schemathesis
import yaml
from django.db import transaction
from django.test import Client, override_settings
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis import Response as Checked
from schemathesis import checks as schemathesis_checks
from schemathesis.core.failures import FailureGroup, ServerError
from schemathesis.core.result import Ok

from atom.settings.environment import BASE_DIR
from atom.settings.rates import parse_rate
from tests.fuzzing.world import World, make_world
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db

EXAMPLES = int(os.environ.get("ATOM_FUZZ_EXAMPLES", "1"))
DEEP_EXAMPLES = 3
DEEP_PARTS = 10
SEED = int(os.environ.get("ATOM_FUZZ_SEED", "7"))
ONLY = os.environ.get("ATOM_FUZZ_ONLY", "")
NO_LIMITS = parse_rate("100000/s:1000000")
# How many of its names and ids are those of things that exist.
KNOWN_SHARE = 0.7
# A 502 reports that a server which a person named does not work.
OF_OTHERS = frozenset({"source_away"})
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def described() -> Any:
    """Return the description, as schemathesis reads it."""
    with (BASE_DIR / "docs" / "openapi.yaml").open() as file:
        return schemathesis.openapi.from_dict(yaml.load(file, yaml.CSafeLoader))


def operations() -> Iterator[Any]:
    """Yield each operation."""
    for found in described().get_all_operations():
        assert isinstance(found, Ok), found
        if ONLY in f"{found.ok().method} {found.ok().path}":
            yield found.ok()


def checks() -> list[Any]:
    """Return what is asked of each answer."""
    schemathesis_checks.load_all_checks()
    return [schemathesis_checks.CHECKS.get_one(name) for name in CHECKS]


def with_known(value: Any, world: World, choice: random.Random) -> Any:
    """Return a body or a query whose names and ids are mostly those of things that exist."""
    if isinstance(value, list):
        return [with_known(one, world, choice) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: str(world.values[key])
        if key in world.values and isinstance(one, str) and choice.random() < KNOWN_SHARE
        else with_known(one, world, choice)
        for key, one in value.items()
    }


class Asker:
    """Sends made-up requests, each in a transaction that is rolled back."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._checks = checks()
        self._choice = random.Random(SEED)
        self.asked = 0
        self.found: dict[str, str] = {}

    def ask(self, case: Case[Any]) -> None:
        """Send one request; keep what is wrong with its answer."""
        if isinstance(case.body, dict | list):
            case.body = with_known(case.body, self._world, self._choice)
        if case.query:
            case.query = with_known(case.query, self._world, self._choice)
        sent = self._prepared(case)
        if sent is None:
            return
        self.asked += 1
        client = Client(raise_request_exception=False)
        try:
            with transaction.atomic():
                answer = _whole(self._send(client, sent))
                transaction.set_rollback(True)
        except Exception as error:  # an answer that broke off, whatever the reason
            self._keep(case, f"broke off: {type(error).__name__}", f"{error}\n  {sent.url}")
            return
        try:
            case.validate_response(_as_checked(answer, sent), checks=self._checks)
        except FailureGroup as group:
            for one in group.exceptions:
                if not (isinstance(one, ServerError) and _is_of_another(answer)):
                    start = answer.whole[:600].decode(errors="replace")
                    told = f"{one}\n  {sent.url}\n  {sent.body!r:.600}\n  {start}"
                    self._keep(case, f"{type(one).__name__} {answer.status_code}", told)

    def _keep(self, case: Case[Any], what: str, told: str) -> None:
        key = f"{case.method} {case.operation.path}: {what}"
        if key not in self.found:
            self.found[key] = told
            # A long search is watched.
            print(f"FOUND {key}\n{told}", flush=True)

    def _prepared(self, case: Case[Any]) -> Any:
        arguments = case.as_transport_kwargs(base_url="http://testserver")
        arguments["headers"] = {
            **arguments.get("headers", {}),
            **self._world.headers_for(case.operation.path),
        }
        known = ("method", "url", "params", "headers", "cookies", "data", "json", "files")
        try:
            return requests.Request(
                **{key: arguments[key] for key in known if key in arguments}
            ).prepare()
        except (requests.RequestException, UnicodeError):
            # No client can send it.
            return None

    def _send(self, client: Client, sent: Any) -> Any:
        body = sent.body or b""
        headers = {
            name: value.decode("latin-1") if isinstance(value, bytes) else value
            for name, value in sent.headers.items()
            if name.lower() not in {"content-type", "content-length"}
        }
        return client.generic(
            sent.method,
            sent.path_url,
            body.encode() if isinstance(body, str) else body,
            content_type=str(sent.headers.get("Content-Type", "application/octet-stream")),
            headers=headers,
        )


def _whole(answer: Any) -> Any:
    """Read an answer that comes in pieces while what it is about is there."""
    answer.whole = bytes_of(answer) if answer.streaming else answer.content
    return answer


def _is_of_another(answer: Any) -> bool:
    """Whether a 502 says that the server which a person named does not answer."""
    return answer.status_code == HTTPStatus.BAD_GATEWAY and answer.json()["code"] in OF_OTHERS


def _as_checked(answer: Any, sent: Any) -> Checked:
    body = answer.whole
    headers = {name.lower(): [value] for name, value in answer.headers.items()}
    return Checked(answer.status_code, headers, body, sent, 0.0, False)


def ask_operation(
    asker: Asker, operation: Any, world: World, mode: GenerationMode, examples: int
) -> None:
    """Ask one operation what its description allows, or what it does not."""
    known = {name: str(value) for name, value in world.values.items()}
    wanted = {one.name: known[one.name] for one in operation.path_parameters if one.name in known}
    strategy = operation.as_strategy(mode, path_parameters=wanted)

    @seeded(SEED)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def ask(case: Case[Any]) -> None:
        asker.ask(case)

    # An operation without parameters and body cannot be asked wrongly.
    with contextlib.suppress(Unsatisfiable, pytest.skip.Exception, unittest.SkipTest):
        ask()


def _only(number: int, modes: tuple[GenerationMode, ...]) -> tuple[GenerationMode, ...]:
    """Return how an operation is asked among all tests: half of them are, in turns."""
    return (modes[number // 2 % 2],) if number % 2 == 0 else ()


def test_every_answer_is_as_described() -> None:
    numbered = enumerate(operations())
    expect_described(
        (operation, MODES if EXAMPLES > 1 else _only(number, MODES), EXAMPLES)
        for number, operation in numbered
    )


@pytest.mark.deep
@pytest.mark.parametrize("part", range(DEEP_PARTS))
def test_more_answers_are_as_described(part: int) -> None:
    expect_described(
        (operation, MODES, DEEP_EXAMPLES)
        for number, operation in enumerate(operations())
        if number % DEEP_PARTS == part
    )


def expect_described(wanted: Iterable[tuple[Any, tuple[GenerationMode, ...], int]]) -> None:
    """Ask operations in some modes, so many times each; no answer is another than described."""
    asker = Asker(world := make_world())
    with override_settings(ATOM_RATE_SIGNED_IN=NO_LIMITS, ATOM_RATE_ANONYMOUS=NO_LIMITS):
        for operation, modes, examples in wanted:
            for mode in modes:
                ask_operation(asker, operation, world, mode, examples)
    report = [f"{key}\n  {said}" for key, said in asker.found.items()]
    assert asker.asked > 0
    assert not report, "\n".join(report)
