"""Lists of datasets and branches read no history, however long it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atom.datasets.catalog import refs_listing
from atom.datasets.models import Dataset, Version
from atom.datasets.retention.actions.deletion import delete_dataset
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, new_pusher, png

LENGTH = 3000
_ROWS_OF_A_PAGE = 20


@pytest.fixture
def pushed(committing_db: None) -> Pusher:
    """A dataset of two versions on `main`, and one of another branch."""
    return made_once(push_some)


def push_some() -> Pusher:
    pusher = new_pusher()
    pusher.push({"a.png": png(1)})
    pusher.push({"b.png": png(2)})
    pusher.post("branches/", {"name": "experiment", "at": "v1"})
    pusher.push({"c.png": png(3)}, branch="experiment")
    return pusher


def grow(length: int) -> None:
    """Have the dataset so many numbered versions, all but the first two without a file."""
    one = Version.objects.get(number=2)
    made = [
        Version(
            dataset=one.dataset,
            number=number,
            commit=f"{number:064x}",
            root=one.root,
            content_digest=one.content_digest,
            file_count=0,
            size_bytes=0,
        )
        for number in range(3, length + 1)
    ]
    Version.objects.bulk_create(made)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE datasets_version")


def rows_read(sql: str) -> float:
    """Return how many rows of the table of versions the statement reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        answer = cursor.fetchone()[0]
    plan = answer if isinstance(answer, list) else json.loads(answer)
    read = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in walk(plan[0]["Plan"])
        if node.get("Relation Name") == "datasets_version"
    )
    return float(read)


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_the_number_of_versions_is_told_without_reading_them(
    pushed: Pusher, is_deleted: bool
) -> None:
    project = f"/api/v1/projects/{pushed.project.slug}/"
    address = f"{project}{'deleted-datasets' if is_deleted else 'datasets'}/"
    pushed.post(f"{project}datasets/", {"name": "empty"})
    grow(LENGTH)
    if is_deleted:
        for dataset in Dataset.objects.all():
            delete_dataset(dataset, None)

    with CaptureQueriesContext(connection) as asked:
        rows = pushed.client.get(address).json()["results"]

    # Those of other branches have no number, and count as little as before.
    counts = {row["name"]: row["versions_count"] for row in rows}
    assert counts["digits"] == LENGTH
    assert counts.get("empty", 0) == 0
    (sql,) = [one["sql"] for one in asked if "versions_count" in one["sql"]]
    assert rows_read(sql) <= _ROWS_OF_A_PAGE


def test_branches_of_a_long_history_are_listed_without_reading_it(
    pushed: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    (branch, _) = sorted(pushed.get("branches/")["results"], key=lambda row: row["name"])
    assert (branch["ahead"], branch["behind"]) == (1, 1)
    grow(LENGTH)
    monkeypatch.setattr(refs_listing, "MAX_COMPARED_VERSIONS", LENGTH - 1)

    with CaptureQueriesContext(connection) as asked:
        branches = pushed.get("branches/")["results"]

    assert {(row["ahead"], row["behind"]) for row in branches} == {(None, None)}
    read = [one["sql"] for one in asked if 'FROM "datasets_version"' in one["sql"]]
    assert sum(map(rows_read, read)) <= _ROWS_OF_A_PAGE
