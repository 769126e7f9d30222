"""Runs beside each other: what is answered, in how many queries, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom.jobs.comparing.actions import compare
from atom.jobs.metrics.actions import metrics
from atom.jobs.metrics.engines.metric_direction import best, goal_of
from atom.jobs.models import Run
from tests.datasets.commands import runner
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt, make_run

URL = "/api/v1/projects/vision/runs/compare/"


def trained(project: Project, losses: list[float], **fields: Any) -> Run:
    """Return a run that logged `loss` and `val/accuracy`."""
    run = make_run(project, **fields)
    rows = [("loss", step, 1000 * step, value) for step, value in enumerate(losses)]
    metrics.ingest(make_attempt(run), 0, [*rows, ("val/accuracy", 1, 5, 1 - losses[-1])])
    return run


def ask(api: APIClient, runs: list[Run], url: str = URL, **params: Any) -> Any:
    names = ",".join(str(run.number) for run in runs)
    answer = api.get(url, {"runs": names, **params})
    assert answer.status_code == 200, answer.json()
    return answer.json()


@pytest.mark.parametrize(
    ("key", "goal"),
    [
        ("loss", "min"),
        ("val/accuracy", "max"),
        ("valLoss", "min"),
        ("top1_error", "min"),
        ("test.mIoU", None),
        ("accuracy_loss", "min"),
        ("f1-macro", "max"),
        ("flossing", None),
        ("lr", None),
    ],
)
def test_a_goal_is_told_by_whole_words(key: str, goal: str | None) -> None:
    assert goal_of(key) == goal


def test_nobody_is_best_where_all_are_equal() -> None:
    assert best({"a": 1.0, "b": 1.0}, "max") == []
    assert best({"a": 1.0, "b": 2.0, "c": 2.0}, "max") == ["b", "c"]
    assert best({"a": 1.0, "b": 2.0}, None) == []


@pytest.mark.django_db
class TestComparing:
    def test_values_and_the_best_of_each_metric(self, api: APIClient, project: Project) -> None:
        good = trained(project, [0.9, 0.1, 0.2], parameters={"lr": 0.1})
        poor = trained(project, [0.9, 0.15, 0.5], parameters={"lr": 1})
        found = ask(api, [poor, good])
        assert [run["number"] for run in found["runs"]] == [poor.number, good.number]
        assert [run["parameters"] for run in found["runs"]] == [{"lr": 1}, {"lr": 0.1}]
        loss = {one["key"]: one for one in found["runs"][1]["metrics"]}["loss"]
        assert loss == {"key": "loss", "n": 3, "last": 0.2, "last_step": 2, "min": 0.1, "max": 0.9}
        assert [(one["key"], one["goal"], one["best"]) for one in found["metrics"]] == [
            ("loss", "min", [str(good.pk)]),
            ("val/accuracy", "max", [str(good.pk)]),
        ]
        by_id = api.get(URL, {"runs": f"{good.pk},{poor.number}", "value": "max"}).json()
        assert by_id["metrics"][0]["best"] == []

    def test_user_metrics_go_on_over_attempts(self, api: APIClient, project: Project) -> None:
        run, other = trained(project, [0.9, 0.3]), trained(project, [0.8])
        metrics.ingest(make_attempt(run), 0, [("loss", 2, 9000, 0.4)])
        (loss, _) = ask(api, [run, other])["runs"][0]["metrics"]
        assert (loss["n"], loss["last"], loss["min"]) == (3, 0.4, 0.3)
        (curve, _) = ask(api, [run, other], f"{URL}series/", key="loss")["series"]
        assert (curve["steps"], curve["values"]) == ([0, 1, 2], [0.9, 0.3, 0.4])

    def test_queries_do_not_grow_with_the_runs(self, api: APIClient, project: Project) -> None:
        runs = [trained(project, [0.5, 0.1 * index]) for index in range(12)]
        for url, params in ((URL, {}), (f"{URL}series/", {"key": "loss"})):
            counts = []
            for some in (runs[:2], runs):
                with CaptureQueriesContext(
                    connection,
                ) as made:
                    ask(api, some, url, **params)
                counts.append(len(made))
            assert counts[0] == counts[1]

    def test_long_curves_are_drawn_from_their_ranges_and_exact_when_zoomed(
        self, api: APIClient, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(compare, "DECODED_POINTS", 10_000)
        values = [1.0] * 20_000
        values[12_345] = 99.0
        runs = [trained(project, values), trained(project, [0.5])]
        (long, short) = ask(api, runs, f"{URL}series/", key="loss")["series"]
        assert (long["coarse"], short["coarse"]) == (True, False)
        assert max(long["values"]) == 99.0
        assert (long["ts"][0], long["ts"][-1]) == (0, 19_999_000)
        window = {"from_step": 12_300, "to_step": 12_400}
        (zoomed,) = [
            one
            for one in ask(api, runs, f"{URL}series/", key="loss", **window)["series"]
            if one["number"] == runs[0].number
        ]
        assert not zoomed["coarse"]
        assert zoomed["steps"][zoomed["values"].index(99.0)] == 12_345

    @pytest.mark.parametrize(("last", "word"), [("nan", "NaN"), ("-inf", "-Infinity")])
    def test_a_diverged_run_is_never_the_best(
        self, api: APIClient, project: Project, last: str, word: str
    ) -> None:
        runs = [trained(project, [0.5, float(last)]), trained(project, [0.5, 0.2])]
        found = ask(api, runs)
        loss = found["runs"][0]["metrics"][0]
        assert (loss["last"], loss["min"]) == (word, 0.5)
        assert found["metrics"][0]["best"] == [str(runs[1].pk)]

    @pytest.mark.parametrize(
        "runs", ["", "1", "1,1", "x,2", "1,2.5", "99999999999999999999,1", ",".join("123456" * 20)]
    )
    def test_what_is_no_choice_of_runs_is_refused(
        self, api: APIClient, project: Project, runs: str
    ) -> None:
        answer = api.get(URL, {"runs": runs})
        assert answer.status_code in (400, 404)
        assert answer.json()["code"] in ("invalid_comparison", "not_found")

    def test_runs_of_others_do_not_exist(self, api: APIClient, project: Project) -> None:
        mine, theirs = make_run(project), make_run(make_project("secret"))
        answer = api.get(URL, {"runs": f"{mine.number},{theirs.pk}"})
        assert answer.status_code == 404
        assert str(theirs.pk) in answer.json()["detail"]
        stranger = APIClient()
        stranger.force_authenticate(make_member(theirs.project))
        assert stranger.get(URL, {"runs": f"{mine.number},{mine.pk}"}).status_code == 404

    def test_bad_questions_about_curves_are_refused(self, api: APIClient, project: Project) -> None:
        runs = ",".join(str(make_run(project).number) for _ in range(2))
        wrong: list[dict[str, Any]] = [
            {},
            {"key": "x" * 251},
            {"key": "a", "points": "many"},
            {"key": "a", "q": 1},
        ]
        for params in wrong:
            answer = api.get(f"{URL}series/", {"runs": runs, **params})
            assert answer.status_code == 400, params
        huge: dict[str, Any] = {"key": "a", "from_step": 10**30}
        assert api.get(f"{URL}series/", {"runs": runs, **huge}).json()["series"] == []


def test_the_command_line_sets_runs_side_by_side(
    live: str,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = trained(project, [0.2], parameters={"lr": 0.1, "seed": 7})
    poor = trained(project, [0.5], parameters={"lr": 1, "seed": 7})
    token = create_token(make_member(project), "cli", ["read"])
    variables = {"ATOM_URL": live, "ATOM_TOKEN": token.secret, "ATOM_PROJECT": "vision"}
    atom = runner(monkeypatch, capsys, variables)
    code, printed, said = atom(
        "compare", str(good.number), poor.name, "--only-differences", "--metric", "loss"
    )
    assert code == 0, said
    lines = {line.split("  ")[0].strip(): line.split()[1:] for line in printed.splitlines()[1:]}
    assert lines["loss"] == ["0.2", "*", "0.5"]
    assert lines["parameter lr"] == ["lr", "0.1", "1"]
    assert "parameter seed" not in lines
    assert "val/accuracy" not in lines
    assert atom("compare", str(good.number))[0] != 0
