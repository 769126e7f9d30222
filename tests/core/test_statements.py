"""Statements that are put together once find what the ORM finds."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models import Model, QuerySet
from django.test.utils import CaptureQueriesContext

from atom.core.prepared_queries import Prepared
from atom.jobs import reads
from atom.jobs.models import Attempt, Run, RunInput
from atom.jobs.runs.api.run_serializers import RunSerializer
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db


def values_of(row: Model) -> dict[str, Any]:
    """Return the columns that were read."""
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


def run_query(run_id: UUID) -> QuerySet[Run]:
    return Run.objects.filter(pk=run_id).select_related("project__unit", "workflow", "created_by")


def some(run_id: UUID) -> QuerySet[Attempt]:
    found = Attempt.objects.filter(run=run_id).select_related("node").order_by("-number")
    return found.only("number", "evidence", "node__name")


def test_a_row_is_that_of_the_orm_with_its_related_rows() -> None:
    run = make_run(parameters={"lr": [0.1, None]}, tags=["a"])
    prepared = Prepared(run_query, UUID)
    for wanted in (run, make_run()):
        found, known = prepared.first(wanted.pk), run_query(wanted.pk).get()
        assert found is not None
        assert values_of(found) == values_of(known)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert values_of(found.project.unit) == values_of(known.project.unit)
            assert found.workflow == known.workflow
            assert found.created_by == known.created_by
        assert not queries.captured_queries
    assert prepared.first(uuid4()) is None


def test_columns_that_were_left_out_are_read_when_they_are_needed() -> None:
    attempt = make_attempt(evidence={"a": 1}, suggestion="more memory")
    prepared = Prepared(some, UUID)
    (found,) = prepared.rows(attempt.run_id)
    assert found.get_deferred_fields() == some(attempt.run_id)[0].get_deferred_fields()
    assert (found.evidence, found.suggestion) == ({"a": 1}, "more memory")
    assert prepared.rows(uuid4()) == []


def test_the_statement_is_put_together_once() -> None:
    calls = []

    def make(run_id: UUID) -> QuerySet[Run]:
        calls.append(run_id)
        return run_query(run_id)

    prepared = Prepared(make, UUID)
    runs = [make_run() for _ in range(3)]
    assert [prepared.first(run.pk) for run in runs] == runs
    assert len(calls) == 1


def test_a_run_with_its_parts_is_that_of_the_orm() -> None:
    whole, bare = make_run(), make_run()
    version = make_version(make_dataset(whole.project), {"a.png": None})
    for alias in ("train", "eval"):
        RunInput.objects.create(run=whole, alias=alias, version=version)
    for state in ("failed", "running"):
        make_attempt(whole, state)
    context = {"now": whole.created_at}
    for run in (whole, bare):
        found, known = reads.find_whole_run(run.pk), Run.objects.with_parts().get(pk=run.pk)
        shown = RunSerializer(found, context=dict(context)).data
        assert shown == RunSerializer(known, context=dict(context)).data
    shown = RunSerializer(reads.find_whole_run(whole.pk), context=dict(context)).data
    assert [part["alias"] for part in shown["datasets"]] == ["eval", "train"]
