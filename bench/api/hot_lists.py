"""`python -m bench.api.hot_lists`: prepared statements and fast rows beside plain ways.

Each variant answers the same request in the same process, over the test client and a real
PostgreSQL. Rounds are interleaved. One table has the processor's time of the process, which other
programs hardly change, the other one the time on the clock. Every variant must answer the same
bytes; the program ends with an error otherwise.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

ROUNDS = 60
_WARM_UP = 8
_ROWS = 50

Variant = Callable[[], Any]


@dataclass(frozen=True)
class Request:
    """A request and its variants by name; the first is the present way."""

    name: str
    ask: Callable[[], Any]
    variants: dict[str, Variant]


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

        # As in the web process: statements that came often keep their plan.
        connection.settings_dict["OPTIONS"]["prepare_threshold"] = PREPARED_AFTER
        connection.creation.create_test_db(verbosity=0)
        yield
        connection.close()
    finally:
        services.stop()


def measure(request: Request, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the median milliseconds of each variant: of the processor, and on the clock."""
    cpu: dict[str, list[float]] = {name: [] for name in request.variants}
    wall: dict[str, list[float]] = {name: [] for name in request.variants}
    answers = {}
    for number in range(_WARM_UP + rounds):
        names = list(request.variants)
        # Another one is first in each round: it finds the caches of the processor cold.
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            with request.variants[name]():
                began, began_cpu = time.perf_counter(), time.process_time()
                answer = request.ask()
                took_cpu, took = time.process_time() - began_cpu, time.perf_counter() - began
            if number >= _WARM_UP:
                cpu[name].append(took_cpu * 1000)
                wall[name].append(took * 1000)
            assert answer.status_code < 300, answer.content
            answers[name] = answer.content
    if len(set(answers.values())) > 1 and request.name not in _CHANGING:
        raise SystemExit(f"{request.name}: the answers differ: {answers}")
    return {
        name: (statistics.median(cpu[name]), statistics.median(wall[name]))
        for name in request.variants
    }


# Their answers carry a time.
_CHANGING = ("heartbeat of a runner",)


def requests() -> Iterator[Request]:
    """Make the rows, and yield a request for each user of the two modules."""
    from django.test import Client

    from atom.accounts import actions, authentication, reads
    from atom.jobs import reads as run_reads
    from atom.jobs.attempts.actions import attempts
    from atom.jobs.logs.actions import logs
    from tests.factories.accounts import make_member, make_project
    from tests.factories.datasets import make_dataset, make_version
    from tests.factories.jobs import runner_headers

    project = make_project("measured")
    user = make_member(project, "researcher")
    secret = actions.create_token(user, "bench", ["read", "write"]).secret
    client, headers = Client(), {"Authorization": f"Bearer {secret}"}
    version = make_version(make_dataset(project), {"a.png": "cat", "b.png": None})
    made = [_make_run(project, user, version, number) for number in range(_ROWS)]
    run = made[-1]
    runner = runner_headers(run.attempts.get())
    base = f"/api/v1/projects/{project.slug}"

    def get(path: str) -> Callable[[], Any]:
        return lambda: client.get(path, headers=headers)

    parts = [*run_reads._WHOLE_PARTS.values()]
    listed = [run_reads._LISTED, *run_reads._LISTED_PARTS.values()]
    whole = [run_reads._WHOLE, *parts]
    common = [authentication._LIVE, reads._PROJECT]
    yield Request("own account", get("/api/v1/auth/session/"), _by_orm(authentication._LIVE))
    yield Request("datasets of a project", get(f"{base}/datasets/"), _by_orm(reads._PROJECT))
    yield Request(
        "events of a run", get(f"/api/v1/runs/{run.pk}/events/"), _by_orm(run_reads._RUN)
    )
    yield Request(
        "a run",
        get(f"/api/v1/runs/{run.pk}/"),
        {
            **_by_orm(*whole),
            "framework's rows": _framework_rows,
            "both": _all(_orm(*whole, *common), _framework_rows),
        },
    )
    yield Request(
        f"{_ROWS} runs",
        get(f"{base}/runs/?limit={_ROWS}"),
        {
            **_by_orm(*listed),
            "framework's rows": _framework_rows,
            "both": _all(_orm(*listed), _framework_rows),
            "values, dicts": _values_lists("json"),
            "values, msgspec": _values_lists("msgspec"),
        },
    )
    yield Request(
        "attempts of a run",
        get(f"/api/v1/runs/{run.pk}/attempts/"),
        {"present": ExitStack, "framework's rows": _framework_rows},
    )
    yield Request(
        "workflows", get("/api/v1/workflows/"), {"present": ExitStack, "framework's rows": _framework_rows}
    )
    yield Request(
        "overview", get(f"{base}/overview/"), {"present": ExitStack, "framework's rows": _framework_rows}
    )
    yield Request(
        "heartbeat of a runner",
        lambda: client.post("/api/v1/runner/heartbeat/", headers=runner),
        _by_orm(attempts._OPEN),
    )
    yield Request("log of a run", get(f"/api/v1/runs/{run.pk}/logs/"), _by_orm(logs._STREAM))


def _make_run(project: Any, user: Any, version: Any, number: int) -> Any:
    from django.utils import timezone

    from atom.jobs import states
    from atom.jobs.models import RunInput
    from tests.factories.jobs import make_attempt, make_run

    now = timezone.now()
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
    make_attempt(
        run, states.RUNNING, started_at=now, finished_at=now, evidence={"exit": {"code": 0}}
    )
    return run


def _orm(*prepared: Any) -> Variant:
    """Return a context in which the ORM builds and sends these queries each time."""

    def context() -> ExitStack:
        stack = ExitStack()
        for query in prepared:
            read = lambda *values, query=query: list(query._make(*values))  # noqa: E731
            stack.enter_context(patch.object(query, "rows", read))
        return stack

    return context


def _by_orm(*prepared: Any) -> dict[str, Variant]:
    return {"present": ExitStack, "plain ORM": _orm(*prepared)}


def _all(*variants: Variant) -> Variant:
    def context() -> ExitStack:
        stack = ExitStack()
        for variant in variants:
            stack.enter_context(variant())
        return stack

    return context


def _framework_rows() -> Any:
    """Have the framework make each row."""
    from rest_framework.serializers import Serializer

    from atom.core.fast_serializers import PlainRows

    return patch.object(PlainRows, "to_representation", Serializer.to_representation)


def _values_lists(kind: str) -> Variant:
    """Return a context in which the list of runs reads columns and makes rows by hand."""
    from types import SimpleNamespace

    from bench.api import listed_values
    from atom.jobs.runs.api import run_lists

    def context() -> ExitStack:
        stack = ExitStack()
        stack.enter_context(patch.object(run_lists, "listed_runs", listed_values.read))
        rows = listed_values.structs if kind == "msgspec" else listed_values.dicts
        stack.enter_context(
            patch.object(
                run_lists,
                "ListedRunSerializer",
                lambda page, many, context: SimpleNamespace(data=rows(page)),
            )
        )
        if kind == "msgspec":
            from rest_framework.renderers import JSONRenderer

            stack.enter_context(patch.object(JSONRenderer, "render", listed_values.render))
        return stack

    return context


def report(measures: dict[str, dict[str, tuple[float, float]]]) -> str:
    """Return a table: milliseconds, and each variant beside the present way."""
    lines = ["| request | variant | processor ms | | clock ms | |", "|---|---|---|---|---|---|"]
    for request, variants in measures.items():
        first = next(iter(variants.values()))
        for name, (cpu, wall) in variants.items():
            lines.append(
                f"| {request} | {name} | {cpu:.2f} | {cpu / first[0]:.2f} × | {wall:.2f} "
                f"| {wall / first[1]:.2f} × |"
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
