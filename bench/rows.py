"""How questions grow with the rows of a table: runs of a project, items of a task, versions.

The rows are generated below one real one each, ten times as many from size to size; the questions
go over HTTP as the portal, a labeler and CI ask them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from atom.settings.environment import Environment
from atom_sdk.client import Client
from bench import runs
from bench.corpus import write_files
from bench.growth import page, plot
from bench.harness import Result, say, seconds
from bench.processes import pss_mib

SIZES = (10_000, 100_000, 1_000_000)
ROUNDS = 7
_WARM_UP = 2
_LEASED = 25

# A copy of a row but for what is named: the columns are the table's, whatever it has.
_VERSIONS = """
INSERT INTO datasets_version
SELECT made.*
FROM datasets_version one, generate_series(%(first)s::int, %(until)s::int) AS n,
    LATERAL jsonb_populate_record(one, jsonb_build_object(
        'id', gen_random_uuid(), 'number', n, 'commit', md5(n::text) || md5(one.id::text),
        'created_at', one.created_at - (%(until)s - n) * interval '1 minute',
        'message', 'commit ' || n)) AS made
WHERE one.number = 1
    AND one.dataset_id = (SELECT id FROM datasets_dataset WHERE name = %(name)s)
"""
_ITEMS = """
WITH item AS (
    INSERT INTO labeling_workitem
    SELECT made.*
    FROM labeling_workitem one, generate_series(%(first)s::int, %(until)s::int) AS n,
        LATERAL jsonb_populate_record(one, jsonb_build_object(
            'id', gen_random_uuid(), 'path', 'generated/' || n || '.jpg', 'position', n)) AS made
    WHERE one.id = %(item)s
    RETURNING id, position)
INSERT INTO labeling_workslot
SELECT made.*
FROM labeling_workslot one, item,
    LATERAL jsonb_populate_record(one, jsonb_build_object(
        'id', gen_random_uuid(), 'work_item_id', item.id, 'position', item.position,
        'state', 'open', 'user_id', NULL, 'expires_at', NULL, 'lease_no', 0)) AS made
WHERE one.work_item_id = %(item)s
"""

Ask = Callable[[], object]


def run(scratch: Path, home: Path, client: Client, folder: Path, most: int) -> list[Result]:
    """Ask at each size up to `most`; write `service-growth.svg` and a page beside the results."""
    sizes = [size for size in SIZES if size <= most]
    results = [
        *_grow(home, "runs", sizes, lambda size: _runs_to(home, client, size), _of_runs(client)),
        *_versions(scratch, home, client, sizes),
        *_items(scratch, home, client, sizes),
    ]
    curves = curves_of(results)
    figure = plot(curves, folder / "service-growth.svg", "rows")
    text = page("Growth of the service", figure, curves, "rows")
    (folder / "service-growth.md").write_text(text)
    return results


def curves_of(results: list[Result]) -> dict[str, dict[int, float]]:
    """Return measures by what was asked and the number of rows, where there is more than one."""
    curves: dict[str, dict[int, float]] = {}
    for one in results:
        number, _, rest = one.name.removeprefix("of ").partition(" ")
        if one.value and one.name.startswith("of "):
            label = f"{rest} ({one.unit})"
            curves.setdefault(label, {})[int(number.replace(",", ""))] = one.value
    return {label: points for label, points in curves.items() if len(points) > 1}


def _grow(
    home: Path, what: str, sizes: list[int], grow: Callable[[int], None], asks: dict[str, Ask]
) -> list[Result]:
    results = []
    for size in sizes:
        took_s = seconds(partial(grow, size))
        say(f"  {size:,} {what} in {took_s:,.0f} s")
        for name, ask in asks.items():
            took_ms = [seconds(ask) * 1000 for _ in range(_WARM_UP + ROUNDS)][_WARM_UP:]
            median = round(statistics.median(took_ms), 1)
            results.append(Result(f"of {size:,} {what}: {name}", median, "ms"))
        memory = pss_mib(home)
        results += [
            Result(f"of {size:,} {what}: memory of {process}", round(memory[process]), "MiB")
            for process in ("web", "worker", "postgres")
        ]
    return results


def _execute(home: Path, statement: str, given: dict[str, Any], *tables: str) -> None:
    environment = Environment(_env_file=home / "run" / "stack.env", atom_home=home)
    address = environment.database_url.get_secret_value()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement, given)
        for table in tables:
            connection.execute(f"VACUUM ANALYZE {table}")


def _runs_to(home: Path, client: Client, size: int) -> None:
    there = client.http.get(f"projects/{client.project}/runs/sums/")["count"]
    if there < size:
        runs.generate(home, client.project, size - there)


def _of_runs(client: Client) -> dict[str, Ask]:
    path = f"projects/{client.project}/runs/"
    asked = {
        name: question
        for name, question in runs.QUESTIONS.items()
        if name in ("newest", "of a state", "by a rare tag", "by words", "sorted by a metric")
    }
    return {
        name: partial(client.http.get, path, limit="50", **question)
        for name, question in asked.items()
    }


def _versions(scratch: Path, home: Path, client: Client, sizes: list[int]) -> list[Result]:
    name, folder = f"versions-{time.time_ns()}", scratch / "versions"
    write_files(folder, 20)
    client.datasets.push(folder, name)
    there = 1

    def grow(size: int) -> None:
        nonlocal there
        given = {"name": name, "first": there + 1, "until": size}
        _execute(home, _VERSIONS, given, "datasets_version")
        there = size

    base = client.datasets.base(name)
    return _grow(
        home,
        "versions",
        sizes,
        grow,
        {
            "page of the log": lambda: client.http.get(f"{base}versions/", limit="50"),
            "one by its number": lambda: client.datasets.version(f"{name}@v1"),
            "the dataset": lambda: client.datasets.get(name),
            "list of datasets": lambda: list(client.datasets.list()),
        },
    )


def _items(scratch: Path, home: Path, client: Client, sizes: list[int]) -> list[Result]:
    name, folder = f"items-{time.time_ns()}", scratch / "items"
    write_files(folder, 20)
    client.datasets.push(folder, name)
    task = client.labelx.create(
        name=name, dataset=f"{name}@v1", labels=[{"id": 0, "name": "0"}], batch_size=_LEASED
    )
    client.labelx.act(task["id"], "start")
    while client.labelx.get(task["id"])["progress"]["total"] < 20:
        time.sleep(0.1)
    path = f"labelx/tasks/{task['id']}/"
    item = client.http.get(f"{path}items/", limit="1")["results"][0]["id"]
    there = 20

    def grow(size: int) -> None:
        nonlocal there
        given = {"item": item, "first": there + 1, "until": size}
        _execute(home, _ITEMS, given, "labeling_workitem", "labeling_workslot")
        there = size

    return _grow(
        home,
        "items",
        sizes,
        grow,
        {
            "page of items": lambda: client.http.get(f"{path}items/", limit="50"),
            "the task with its progress": lambda: client.labelx.get(task["id"]),
            f"lease of {_LEASED}": lambda: client.labelx.lease(task["id"], _LEASED),
        },
    )
