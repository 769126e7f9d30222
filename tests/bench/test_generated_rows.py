"""The rows that benchmarks write by SQL fit the tables as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection

from atom.jobs.models import Attempt, Rank, Run
from bench import runs, viewers
from tests.factories.accounts import make_project, make_user

pytestmark = pytest.mark.django_db


def generate(statement: str, **values: Any) -> list[Any]:
    """Run a statement of a benchmark for a new project; return its rows."""
    make_user("admin")
    given: Mapping[str, Any] = {"project": make_project("bench").slug, **values}
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return cursor.fetchall() if cursor.description else []


def test_runs_of_the_list() -> None:
    generate(runs._GENERATE, runs=5, first=0)
    assert [run.number for run in Run.objects.order_by("number")] == [1, 2, 3, 4, 5]


def test_runs_that_are_viewed() -> None:
    rows = generate(viewers._GENERATE, runs=2, hashes=["a", "b"])
    assert [digest for _, digest in rows] == ["a", "b"]
    assert Attempt.objects.count() == Rank.objects.count() == 2
