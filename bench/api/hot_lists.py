"""`python -m bench.api.hot_lists`: fast paths of the API beside the plain way.

Each variant answers the same request in the same process, through the test client and with a real
PostgreSQL. Rounds are interleaved. One column is the processor's time of the process, which other
programs hardly change; the other is the time on the clock. Answers of the variants must be the
same bytes; the program ends with an error otherwise.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

ROUNDS = 60
_WARM_UP = 8
_ROWS = 50

Variant = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Request:
    """A request and its variants by name; the first is the present way."""

    name: str
    ask: Callable[[], Any]
    variants: dict[str, Variant]
    # Whether each answer carries another time.
    changes: bool = False


@contextmanager
def database() -> Iterator[None]:
    """Start the services of the tests and migrate an empty database."""
    from tests.services import claim_worker_share, start_services

    services = start_services()
    try:
        claim_worker_share()
        os.environ["DJANGO_SETTINGS_MODULE"] = "atom.settings.testing"
        import django

        django.setup()
        from django.db import connection

        from atom.settings.database import PREPARED_AFTER

        # As in the web process: PostgreSQL keeps the plan of statements that came often.
        connection.settings_dict["OPTIONS"]["prepare_threshold"] = PREPARED_AFTER
        connection.creation.create_test_db(verbosity=0)
        yield
        connection.close()
    finally:
        services.stop()


def measure(request: Request, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the median milliseconds of each variant: of the processor, and on the clock."""
    cpu: dict[str, list[float]] = {name: [] for name in request.variants}
    clock: dict[str, list[float]] = {name: [] for name in request.variants}
    answers = {}
    for number in range(_WARM_UP + rounds):
        names = list(request.variants)
        # Another variant begins each round, since the first one meets cold caches.
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            with request.variants[name]():
                began, began_cpu = time.perf_counter(), time.process_time()
                answer = request.ask()
                took_cpu, took = time.process_time() - began_cpu, time.perf_counter() - began
            if answer.status_code >= 300:
                raise SystemExit(f"{request.name}: {answer.content}")
            answers[name] = answer.content
            if number >= _WARM_UP:
                cpu[name].append(took_cpu * 1000)
                clock[name].append(took * 1000)
    if len(set(answers.values())) > 1 and not request.changes:
        raise SystemExit(f"{request.name}: the answers differ: {answers}")
    return {
        name: (statistics.median(cpu[name]), statistics.median(clock[name]))
        for name in request.variants
    }


def requests() -> Iterator[Request]:
    """Make the rows, and yield a request for each fast path."""
    from django.test import Client

    from atom.accounts import actions, authentication
    from atom.jobs import reads
    from atom.jobs.attempts.actions import attempts
    from tests.factories.accounts import make_member, make_project
    from tests.factories.datasets import make_dataset, make_version
    from tests.factories.jobs import runner_headers

    project = make_project("measured")
    user = make_member(project, "researcher")
    secret = actions.create_token(user, "bench", ["read", "write"]).secret
    client, headers = Client(), {"Authorization": f"Bearer {secret}"}
    version = make_version(make_dataset(project), {"a.png": "cat", "b.png": None})
    run = [_make_run(project, user, version, number) for number in range(_ROWS)][-1]
    runner = runner_headers(run.attempts.get())
    base, page = f"/api/v1/projects/{project.slug}", f"/api/v1/runs/{run.pk}/"

    def get(path: str) -> Callable[[], Any]:
        return lambda: client.get(path, headers=headers)

    whole = [reads._WHOLE, *reads._WHOLE_PARTS.values()]
    fields = {"present": ExitStack, "fields made anew": _fields_made_anew}
    yield Request("own account", get("/api/v1/auth/session/"), _by_orm(authentication._LIVE))
    yield Request("secrets of a project", get(f"{base}/secrets/"), _by_orm(authentication._LIVE))
    yield Request("events of a run", get(f"{page}events/"), _by_orm(reads._RUN))
    yield Request("a run", get(page), _by_orm(*whole) | fields)
    yield Request("attempts of a run", get(f"{page}attempts/"), fields)
    yield Request("overview", get(f"{base}/overview/"), fields)
    yield Request(
        f"{_ROWS} runs",
        get(f"{base}/runs/?limit={_ROWS}"),
        {"present": ExitStack, "serializer": _rows_by_the_serializer},
    )
    yield Request(
        "heartbeat of a runner",
        lambda: client.post("/api/v1/runner/heartbeat/", headers=runner),
        _by_orm(attempts._OPEN),
        changes=True,
    )


def _make_run(project: Any, user: Any, version: Any, number: int) -> Any:
    from atom.core import clock
    from atom.jobs import states
    from atom.jobs.models import RunInput
    from tests.factories.jobs import make_attempt, make_run

    now = clock.now()
    run = make_run(
        project,
        user,
        parameters={"lr": 0.01, "epochs": 20},
        tags=["baseline", f"n{number % 7}"],
        metrics_summary={"loss": 0.1 / (number + 1), "accuracy": 0.9, "steps": 1e-05},
        started_at=now,
        progress=0.5,
    )
    RunInput.objects.create(run=run, alias="train", version=version)
    evidence = {"exit": {"code": 0}}
    make_attempt(run, states.RUNNING, started_at=now, finished_at=now, evidence=evidence)
    return run


def _by_orm(*prepared: Any) -> dict[str, Variant]:
    """Return variants: the present way, and one where the ORM builds these queries each time."""

    def context() -> ExitStack:
        stack = ExitStack()
        for query in prepared:
            read = lambda *values, query=query: list(query._make(*values))  # noqa: E731
            stack.enter_context(patch.object(query, "rows", read))
        return stack

    return {"present": ExitStack, "plain ORM": context}


def _fields_made_anew() -> AbstractContextManager[Any]:
    from rest_framework.serializers import ModelSerializer

    from atom.core.fast_serializers import FieldsOnce

    return patch.object(FieldsOnce, "get_fields", ModelSerializer.get_fields)


def _rows_by_the_serializer() -> AbstractContextManager[Any]:
    """Have the ORM read instances and the serializer make the rows of the list."""
    from atom.jobs.models import Run
    from atom.jobs.runs.api import run_lists, run_rows
    from atom.jobs.runs.api.run_serializers import ListedRunSerializer

    def rows_of(page: list[Any], columns: list[str]) -> Any:
        return ListedRunSerializer(page, many=True, context={"columns": columns}).data

    stack = ExitStack()
    stack.enter_context(
        patch.object(run_lists, "listed_runs", lambda ids: Run.objects.for_lists().in_bulk(ids))
    )
    stack.enter_context(patch.object(run_rows, "rows_of", rows_of))
    return stack


def report(measures: dict[str, dict[str, tuple[float, float]]]) -> str:
    """Return a table: milliseconds, and each variant beside the present way."""
    lines = ["| request | variant | processor ms | | clock ms | |", "|---|---|---|---|---|---|"]
    for request, variants in measures.items():
        present_cpu, present_clock = next(iter(variants.values()))
        for name, (cpu, clock) in variants.items():
            lines.append(
                f"| {request} | {name} | {cpu:.2f} | {cpu / present_cpu:.2f} × | {clock:.2f} "
                f"| {clock / present_clock:.2f} × |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("only", nargs="*", help="names of requests; all of them by default")
    options = parser.parse_args()
    with database():
        measures = {
            request.name: measure(request, options.rounds)
            for request in requests()
            if not options.only or request.name in options.only
        }
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    sys.stdout.write(f"{report(measures)}\n\n{options.rounds} rounds, load {load}\n")


if __name__ == "__main__":
    main()
