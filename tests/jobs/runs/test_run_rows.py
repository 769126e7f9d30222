"""Rows of the list of runs are what its serializer describes, byte for byte."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.renderers import JSONRenderer

from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Experiment, Run, RunInput, Workflow
from atom.jobs.reads import listed_runs
from atom.jobs.runs.api import run_rows
from atom.jobs.runs.api.run_serializers import ListedRunSerializer
from tests.factories.accounts import make_user
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db

COLUMNS = ["param.lr", "param.depth", "param.none", "metric.loss", "metric.nan", "metric.none"]


def bytes_of(rows: Any) -> str:
    return JSONRenderer().render(rows).decode()


def rows_by_hand(runs: list[Run], columns: list[str]) -> str:
    read = listed_runs([run.pk for run in runs], *(run_rows.VALUE_COLUMNS if columns else ()))
    return bytes_of(run_rows.rows_of([read[run.pk] for run in runs], columns))


def rows_of_the_serializer(runs: list[Run], columns: list[str]) -> str:
    known = Run.objects.with_parts().in_bulk([run.pk for run in runs])
    page = [known[run.pk] for run in runs]
    return bytes_of(ListedRunSerializer(page, many=True, context={"columns": columns}).data)


def make_runs() -> list[Run]:
    """Return runs that have everything, nothing, a failure, and values that are hard to write."""
    now = clock.now()
    began = now - timedelta(minutes=7, microseconds=3)
    bare = make_run()
    project = bare.project
    rich = make_run(
        project,
        make_user(full_name="Größe \u2028 空白"),
        workflow=Workflow.objects.order_by("slug").first(),
        workflow_version="1",
        experiment=Experiment.objects.create(project=project, name="first"),
        parameters={"lr": 1e-05, "none": None},
        logged_parameters={"depth": [3, "x"]},
        tags=["baseline", "größe"],
        metrics_summary={"loss": 1e-05, "big": 1e16, "whole": 3, "nan": "NaN", "none": None},
        progress=0.25,
        progress_text="epoch 1",
        starred=True,
        cpus=3,
        gpus=2,
        started_at=began,
        finished_at=now.replace(microsecond=0),
        archived_at=now,
    )
    dataset = make_dataset(project)
    version = make_version(dataset, {"a.png": None})
    beside = make_version(dataset, {"b.png": None})
    type(beside).objects.filter(pk=beside.pk).update(number=None)
    for alias, of, selector in (
        ("train", version, {"where": "label = 'a'", "split": ["train"], "labelled": True}),
        ("eval", beside, {"view": "small", "split": None, "unknown": 1}),
    ):
        RunInput.objects.create(
            run=rich,
            alias=alias,
            version=of,
            selector=selector,
            view="small",
            mounted_by="erofs",
            mount_skipped=[["fuse", "no /dev/fuse"]],
        )
    make_attempt(rich, states.FAILED, started_at=began, finished_at=now)
    make_attempt(rich, states.RUNNING, started_at=began, finished_at=now)
    failed = make_run(
        project, failure_class="out_of_memory", failure_reason="It took more memory than it has."
    )
    failure = {"code": "out_of_memory", "params": {"limit": "64 MiB"}}
    make_attempt(
        failed, states.FAILED, started_at=began, finished_at=now, evidence={"failure": failure}
    )
    older = make_run(project, failure_class="crash", failure_reason="It crashed.")
    make_attempt(older, states.FAILED, started_at=None, evidence={})
    tracked = make_run(project, origin=states.MLFLOW, cpus=4)
    make_attempt(tracked, states.SUCCEEDED, started_at=began, finished_at=now)
    return [bare, rich, failed, older, tracked]


@pytest.mark.parametrize("columns", [[], COLUMNS], ids=["no columns", "columns"])
def test_rows_are_the_bytes_of_the_serializer(columns: list[str]) -> None:
    runs = make_runs()
    assert rows_by_hand(runs, columns) == rows_of_the_serializer(runs, columns)


def test_rows_have_the_fields_of_the_description_in_their_order() -> None:
    (row,) = run_rows.rows_of([listed_runs([(run := make_run()).pk])[run.pk]], [])
    assert list(row) == list(ListedRunSerializer.Meta.fields)


def test_a_run_that_goes_on_is_told_by_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [make_attempt(started_at=clock.now()).run for _ in range(2)]
    times = [clock.now() + timedelta(hours=1)]
    monkeypatch.setattr(clock, "now", times.pop)
    read = listed_runs([run.pk for run in runs])
    rows = run_rows.rows_of([read[run.pk] for run in runs], [])
    assert all(row["duration_s"] >= 3590 for row in rows)


def test_runs_that_were_removed_are_left_out() -> None:
    run, removed = make_run(), make_run()
    gone = removed.pk
    removed.delete()
    assert list(listed_runs([run.pk, gone])) == [run.pk]
