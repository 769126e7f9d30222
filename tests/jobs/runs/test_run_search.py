"""The list of runs: what a search finds, in which order, on which page, and what it refuses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.models import Run, RunInput, Workflow
from atom.jobs.runs.engines.run_query import RunQueryError, Term, parse
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

URL = "/api/v1/projects/vision/runs/"
db = pytest.mark.django_db


def names(api: APIClient, **params: Any) -> list[str]:
    answer = api.get(URL, params)
    assert answer.status_code == 200, answer.json()
    return [row["name"] for row in answer.json()["results"]]


def search(api: APIClient, text: str) -> str:
    """Return the names that a search finds, in one word, in the order of the alphabet."""
    return "".join(sorted(names(api, search=text)))


def test_a_search_is_terms_that_must_all_hold() -> None:
    assert parse('lr>1e-2 -state:failed,cancelled metric."val loss"<=.3 "two words"') == [
        Term("either", ">", ("1e-2",), 1, "lr"),
        Term("state", "=", ("failed", "cancelled"), 9, negated=True),
        Term("metric", "<=", (".3",), 33, "val loss"),
        Term("word", "=", ("two words",), 55),
    ]
    assert parse("val/loss<0.3")[0].key == "val/loss"
    assert parse('tag:"a b",c')[0].values == ("a b", "c")
    assert parse("  ") == []


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("ok foo:bar", 4, "foo=VALUE"),
        ("stat:failed", 1, "Did you mean 'state'?"),
        ("lr>", 4, "lr>0.5"),
        ('a "open', 3, '"two words"'),
        ("state>failed", 1, "state:failed"),
        ("metric.>3", 1, "metric.loss<0.3"),
        ("lr>1,2", 1, "two conditions"),
        ("x " * 41, 81, "Leave some out"),
        ("x" * 2001, 2001, "Shorten"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_to_write(
    text: str, position: int, says: str
) -> None:
    with pytest.raises(RunQueryError) as caught:
        parse(text)
    assert caught.value.position == position
    assert says in str(caught.value)


@given(st.text(alphabet='ab.:=<>!,"-# 01', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except RunQueryError as error:
        place = error.position
    else:
        place = 1
    assert 1 <= place <= len(text) + 1


@pytest.fixture
def runs(project: Project) -> dict[str, Run]:
    """Four runs that differ in what can be searched for; `d` is archived."""
    ann = make_member(project, "researcher", username="ann")
    train = Workflow.objects.create(slug="train", version="1", title="Train")
    made = {
        "a": make_run(
            project,
            ann,
            name="a",
            state=states.FAILED,
            parameters={"lr": 0.1, "opt": "adam", "0": True},
            metrics_summary={"loss": 0.5},
            tags=["baseline", "50%"],
            workflow=train,
            ran_s=7200,
            cpus=2,
        ),
        "b": make_run(
            project,
            name="b",
            state=states.SUCCEEDED,
            # As an MLflow client logs it.
            logged_parameters={"lr": "1e-3", "opt": "sgd"},
            metrics_summary={"loss": 0.25, "val loss": 1.0},
            notes="Better than the baseline",
            starred=True,
            ran_s=60,
            gpus=1,
        ),
        "c": make_run(project, name="c", parameters={"lr": "auto"}),
        "d": make_run(project, ann, name="d", archived_at=timezone.now(), state=states.FAILED),
    }
    version = make_version(make_dataset(project, "digits"), {"a.png": "a"})
    RunInput.objects.create(run=made["a"], alias="d", version=version)
    Run.objects.filter(name="c").update(created_at=timezone.now() - timedelta(days=40))
    return made


FOUND = [
    ("", "abc"),
    ("lr>0.01", "a"),
    ("lr<0.01", "b"),
    ("lr=0.001", "b"),
    ("lr=auto", "c"),
    ("param.lr!=0.1", "b"),
    ("-lr=0.1", "bc"),
    ("opt=adam,sgd", "ab"),
    ("param.0=true", "a"),
    ("metric.loss<0.3", "b"),
    ("loss<=0.5", "ab"),
    ('metric."val loss">=1', "b"),
    ("metric.none>0", ""),
    ("state:failed", "a"),
    ("state:failed,succeeded", "ab"),
    ("-state:failed", "bc"),
    ("state!=failed", "bc"),
    ("tag:baseline", "a"),
    ("baseline", "ab"),
    ('"the baseline"', "b"),
    ("50%", "a"),
    ("author:ann", "a"),
    ("-author:ann", "bc"),
    ("author:me", ""),
    ("workflow:train", "a"),
    ("dataset:digits", "a"),
    ("dataset:digits@v1 state:failed", "a"),
    ("-dataset:digits@main", "bc"),
    ("notes:better", "b"),
    ("is:starred", "b"),
    ("is:archived", "d"),
    ("is:archived author:ann", "d"),
    ("is:waiting", "c"),
    ("is:finished", "ab"),
    ("duration>1h", "a"),
    ("cpu_hours>=4", "a"),
    ("gpu_hours>0", "b"),
    ("created<2020-01-01", ""),
    ("created>=2020-01-01", "abc"),
    ("created:2020-01-01..2999-12-31 -is:waiting", "ab"),
    ("node:nowhere", ""),
    ("lr>1e400", ""),
]


@db
def test_a_search_finds(api: APIClient, runs: dict[str, Run]) -> None:
    for text, found in FOUND:
        assert search(api, text) == found, text


REFUSED = [
    ("state:done", "Write one of"),
    ("is:good", "is:starred"),
    ("dataset:none", "no dataset 'none'"),
    ("dataset:digits@v9", "no version v9"),
    ("metric.loss<low", "metric.loss"),
    ("duration>soon", ">2h"),
    ("created>yesterday", "created>=2026-11-01"),
    ("created>9999-12-31", "created>=2026-11-01"),
    ("origin:other", "atom, mlflow"),
]


@db
def test_a_value_that_does_not_fit_is_refused(api: APIClient, runs: dict[str, Run]) -> None:
    for text, says in REFUSED:
        answer = api.get(URL, {"search": f"a {text}"})
        assert answer.status_code == 400
        problem = answer.json()
        assert (problem["code"], problem["position"]) == ("invalid_run_search", 3)
        assert says.removeprefix("metric.") in problem["errors"]["search"][0]


@db
def test_other_projects_are_not_searched(api: APIClient, runs: dict[str, Run]) -> None:
    make_run(make_project("other"), name="z", parameters={"lr": 5})
    assert search(api, "lr>0") == "ab"


SORTED = [
    ("name", "abc"),
    ("-name", "cba"),
    ("created", "cab"),
    ("number", "abc"),
    ("metric.loss", "bac"),
    ("-metric.loss", "abc"),
    ("param.lr", "bac"),
    ("-param.lr", "abc"),
    ("-duration", "abc"),
    ("-gpu_hours", "bca"),
]


@db
def test_runs_are_sorted_over_pages(api: APIClient, runs: dict[str, Run]) -> None:
    for sort, order in SORTED:
        assert paged(api, sort) == order, sort


def paged(api: APIClient, sort: str) -> str:
    """Return the names in an order, read one by one."""
    found, cursor = "", ""
    while cursor is not None:
        asked: dict[str, Any] = {"sort": sort, "limit": 1}
        answer = api.get(URL, {**asked, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.json()
        found += "".join(row["name"] for row in answer.json()["results"])
        cursor = answer.json()["next"]
    return found


LAST_VALUES = {
    "n": "NaN", "p": "Infinity", "m": "-Infinity", "a": 0.1, "b": 0.5,
}  # fmt: skip
# `x` has no such metric, and is found by nothing but what negates.
FOUND_BY_LOSS = [
    ("metric.loss!=0.1", "bmnp"),
    ("loss!=0.1", "bmnp"),
    ("metric.loss=0.1", "a"),
    ("metric.loss<0.3", "am"),
    ("metric.loss<=0.1", "am"),
    ("metric.loss>0.1", "bp"),
    ("loss>=0.1", "abp"),
    ("metric.loss<inf", "abm"),
    ("metric.loss>=-Infinity", "abmp"),
    ("metric.loss=nan", "n"),
    ("loss=NaN", "n"),
    ("metric.loss!=nan", "abmp"),
    ("loss!=nan", "abmp"),
    ("metric.loss=inf,-inf", "mp"),
    ("metric.loss=nan,0.5", "bn"),
    ("-metric.loss=0.1", "bmnpx"),
    ("-metric.loss=nan", "abmpx"),
    ("-metric.loss>0", "mnx"),
]


@db
def test_diverged_runs_are_found_as_their_values_compare(api: APIClient, project: Project) -> None:
    for name, value in LAST_VALUES.items():
        make_run(project, name=name, metrics_summary={"loss": value})
    make_run(project, name="x")
    assert {text: search(api, text) for text, _ in FOUND_BY_LOSS} == dict(FOUND_BY_LOSS)
    refused = api.get(URL, {"search": "metric.loss<nan"}).json()
    assert "Write loss=nan" in refused["errors"]["search"][0]


@db
@pytest.mark.parametrize(
    ("sort", "order"), [("metric.loss", "mabpnx"), ("-metric.loss", "pbamnx")], ids=["up", "down"]
)
def test_nan_comes_after_all_numbers_and_before_runs_without_the_metric(
    api: APIClient, project: Project, sort: str, order: str
) -> None:
    for name, value in LAST_VALUES.items():
        make_run(project, name=name, metrics_summary={"loss": value})
    make_run(project, name="x")
    assert paged(api, sort) == order


@db
def test_an_order_and_a_cursor_are_checked(api: APIClient, runs: dict[str, Run]) -> None:
    for sort in ("size", "metric.", "param"):
        assert api.get(URL, {"sort": sort}).json()["code"] == "invalid_run_sort"
    asked: dict[str, Any] = {"sort": "param.lr", "limit": 1}
    cursor = api.get(URL, asked).json()["next"]
    for sort in ("param.opt", "metric.loss"):
        assert api.get(URL, {"sort": sort, "cursor": cursor}).status_code == 400
    assert api.get(URL, {"sort": "name", "cursor": "WyJuYW1lIiwiPWEiLCJ4Il0"}).status_code == 400


@db
def test_chosen_columns_come_with_each_run(api: APIClient, runs: dict[str, Run]) -> None:
    asked: dict[str, Any] = {"column": ["param.lr", "metric.loss", "param.a,b"], "sort": "name"}
    rows = api.get(URL, asked).json()["results"]
    assert [row["values"] for row in rows] == [
        {"param.lr": 0.1, "metric.loss": 0.5},
        {"param.lr": "1e-3", "metric.loss": 0.25},
        {"param.lr": "auto"},
    ]
    assert api.get(URL, {"column": "lr"}).status_code == 400
    names_of = api.get(f"{URL}columns/").json()
    assert names_of == {"parameters": ["lr", "opt", "0"], "metrics": ["loss", "val loss"]}
    assert api.get(f"{URL}columns/", {"search": "state:failed"}).json()["metrics"] == ["loss"]


@db
def test_what_runs_cost_is_told_and_summed(api: APIClient, runs: dict[str, Run]) -> None:
    sums = api.get(f"{URL}sums/").json()
    assert sums["count"] == 3
    assert sums["states"] == {"failed": 1, "succeeded": 1, "queued": 1}
    assert sums["cpu_hours"] == pytest.approx(4 + 1 / 60, abs=0.001)
    assert sums["gpu_hours"] == pytest.approx(1 / 60, abs=0.001)
    assert api.get(f"{URL}sums/", {"search": "is:starred"}).json()["cpu_hours"] < 1
    assert api.get(f"{URL}sums/", {"search": "name:nobody"}).json()["cpu_hours"] == 0


@db
def test_a_searched_page_costs_the_same_queries_for_many_runs(
    api: APIClient, runs: dict[str, Run]
) -> None:
    def ask() -> int:
        with CaptureQueriesContext(connection) as queries:
            names(api, search="-state:cancelled", sort="-metric.loss")
        return len(queries)

    few = ask()
    for run in runs.values():
        make_attempt(make_run(run.project, metrics_summary={"loss": 1}))
    assert ask() == few
