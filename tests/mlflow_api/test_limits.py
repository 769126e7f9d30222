"""Bad input, people who may not, and the command of a run: through HTTP, without the client."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from atom.accounts.models import Project, User
from atom.jobs.attempts.actions import tracking_access
from atom.jobs.models import Run
from atom.jobs.reconcile import advance
from atom.jobs.runs.actions.runs import cancel_run
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt, make_run
from tests.mlflow_api.conftest import Mlflow, asks, run_of

pytestmark = pytest.mark.django_db
BAD = (400, "INVALID_PARAMETER_VALUE")
MISSING = (404, "RESOURCE_DOES_NOT_EXIST")
METRIC = {"key": "x", "value": 1, "timestamp": 1, "step": 0}


@pytest.mark.parametrize(
    "body",
    [
        [],
        [1],
        {"run_id": 5.5},
        {"run_id": {}},
        {"metrics": {}},
        {"metrics": ["x"]},
        {"metrics": [{**METRIC, "value": "much"}]},
        {"metrics": [{**METRIC, "value": True}]},
        {"metrics": [{**METRIC, "step": 1.5}]},
        {"metrics": [{**METRIC, "step": 1 << 63}]},
        {"metrics": [{**METRIC, "timestamp": 1 << 62}]},
        {"metrics": [{**METRIC, "key": ""}]},
        {"metrics": [{**METRIC, "key": "k" * 251}]},
        {"metrics": [METRIC] * 1001},
        {"params": [{"key": "k", "value": "v" * 6001}]},
        {"params": [{"key": "k", "value": "a"}, {"key": "k", "value": "b"}]},
        {"params": [{"key": f"k{at}", "value": ""} for at in range(101)]},
        {"tags": [{"key": f"k{at}", "value": ""} for at in range(101)]},
        {"tags": [{"key": "k", "value": "v\0"}]},
        '{"tags": [{"key": "k", "value": "\\ud800"}]}',
        "{",
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_malformed_batch_is_refused_and_leaves_nothing(mlflow: Mlflow, body: Any) -> None:
    run = mlflow.run(run_name="a")
    if isinstance(body, dict) and "run_id" not in body:
        body = {"run_id": run, **body}
    status, code = mlflow.refused("POST", "runs/log-batch", body)
    assert (status, code) in {BAD, MISSING}
    found = run_of(run)
    assert (found.parameters, found.labels, found.series.count()) == ({}, {}, 0)


def test_a_batch_of_more_than_a_megabyte_is_refused(mlflow: Mlflow) -> None:
    body = {"run_id": mlflow.run(), "tags": [{"key": "k", "value": "v" * (1 << 20)}]}
    assert mlflow.refused("POST", "runs/log-batch", body) == (413, "BAD_REQUEST")


def test_a_parameter_that_changes_takes_nothing_of_its_batch_along(mlflow: Mlflow) -> None:
    run = mlflow.run()
    assert mlflow("POST", "runs/log-parameter", {"run_id": run, "key": "a", "value": "1"})
    body = {
        "run_id": run,
        "metrics": [METRIC],
        "params": [{"key": "b", "value": "1"}, {"key": "a", "value": "2"}],
    }
    assert mlflow.refused("POST", "runs/log-batch", body) == BAD
    assert run_of(run).parameters == {"a": "1"}
    assert run_of(run).series.count() == 0


def test_what_is_sent_twice_is_there_once_but_for_points(mlflow: Mlflow) -> None:
    run = mlflow.run()
    body = {"run_id": run, "params": [{"key": "a", "value": "1"}], "metrics": [METRIC]}
    for _ in range(2):
        assert mlflow("POST", "runs/log-batch", body).status_code == 200
    answer = mlflow("GET", "metrics/get-history", run_id=run, metric_key="x").json()
    # As to MLflow: a metric is a series, and who sends a point twice has two.
    assert len(answer["metrics"]) == 2


def test_the_last_value_is_of_the_highest_step(mlflow: Mlflow) -> None:
    run = mlflow.run()
    points = [{**METRIC, "step": step, "value": step} for step in (0, 9, 3)]
    mlflow("POST", "runs/log-batch", {"run_id": run, "metrics": points})
    mlflow("POST", "runs/log-metric", {"run_id": run, **METRIC, "step": 5, "value": "Infinity"})
    data = mlflow("GET", "runs/get", run_id=run).json()["run"]["data"]
    assert [(one["key"], one["value"], one["step"]) for one in data["metrics"]] == [("x", 9.0, 9)]
    history = mlflow("GET", "metrics/get-history", run_id=run, metric_key="x").json()
    assert [one["value"] for one in history["metrics"]] == [0.0, 9.0, 3.0, "Infinity"]


def test_a_history_comes_in_pages_and_of_several_runs_at_once(mlflow: Mlflow) -> None:
    runs = [mlflow.run() for _ in range(2)]
    for run in runs:
        points = [{**METRIC, "step": step, "value": step} for step in range(5)]
        mlflow("POST", "runs/log-batch", {"run_id": run, "metrics": points})
    asked: dict[str, Any] = {"run_id": runs[0], "metric_key": "x", "max_results": 3}
    first = mlflow("GET", "metrics/get-history", **asked).json()
    token = first["next_page_token"]
    second = mlflow("GET", "metrics/get-history", **asked, page_token=token).json()
    assert [one["step"] for one in first["metrics"] + second["metrics"]] == [0, 1, 2, 3, 4]
    assert "next_page_token" not in second
    path = "metrics/get-history-bulk-interval"
    found = mlflow("GET", path, run_ids=runs, metric_key="x", start_step=1, end_step=2).json()
    assert [(one["run_id"], one["step"]) for one in found["metrics"]] == [
        (run, step) for run in runs for step in (1, 2)
    ]
    assert mlflow.refused("GET", path, run_ids=runs, metric_key="x", start_step=1) == BAD
    assert mlflow.refused("GET", "metrics/get-history", **asked, page_token="x") == BAD


@pytest.mark.parametrize(
    "text",
    ["metrics.x", "metrics.x >", "x = 'a", "metrics.x LIKE 'a'", "params.x > 'a'", "name = 'a' OR",
     "attributes.status = 5", "metrics.x > 1; DROP TABLE", "a" * 10_001, "datasets.x = 'a'"],
)  # fmt: skip
def test_a_filter_that_is_none_is_refused(mlflow: Mlflow, text: str) -> None:
    body = {"experiment_ids": ["0"], "filter": text}
    assert mlflow.refused("POST", "runs/search", body) == BAD


def test_names_and_values_of_a_filter_are_never_sql(mlflow: Mlflow) -> None:
    run = mlflow.run(run_name="it's")
    name = "a'); DROP TABLE jobs_run; --"
    mlflow("POST", "runs/set-tag", {"run_id": run, "key": name, "value": "100%s %(a)s"})
    wanted = f"tags.`{name}` = '100%s %(a)s' AND attributes.run_name = 'it''s'"
    found = mlflow("POST", "runs/search", {"experiment_ids": ["0"], "filter": wanted}).json()
    assert [one["info"]["run_id"] for one in found["runs"]] == [run]


def test_a_search_asks_as_often_for_one_run_as_for_twenty(
    mlflow: Mlflow, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        mlflow("POST", "runs/log-metric", {"run_id": mlflow.run(), **METRIC})
    with django_assert_max_num_queries(11):
        body = {"experiment_ids": ["0"], "filter": "metrics.x = 1", "order_by": ["metrics.x"]}
        assert len(mlflow("POST", "runs/search", body).json()["runs"]) == 20


def test_who_may_only_look_logs_nothing(mlflow: Mlflow, project: Project, ann: User) -> None:
    run = mlflow.run()
    denied = (403, "PERMISSION_DENIED")
    viewer = asks(make_member(project, "viewer"), "vision", "write")
    reader = asks(ann, "vision", "read")
    for who in (viewer, reader):
        assert who("GET", "runs/get", run_id=run).status_code == 200
        assert who("POST", "runs/search", {"experiment_ids": ["0"]}).status_code == 200
        assert who.refused("POST", "runs/create", {}) == denied
        assert who.refused("POST", "runs/log-batch", {"run_id": run}) == denied
        assert who.refused("POST", "registered-models/create", {"name": "m"}) == denied


def test_what_is_not_yours_is_not_there(mlflow: Mlflow) -> None:
    run = mlflow.run()
    other = make_project("other")
    stranger = make_member(other, "admin")
    assert asks(stranger, "vision", "write").refused("GET", "runs/get", run_id=run) == MISSING
    assert asks(stranger, "other", "write").refused("GET", "runs/get", run_id=run) == MISSING
    assert asks(stranger, "nothing", "write").refused("GET", "runs/get", run_id=run) == MISSING
    path = f"artifacts/runs/{run}/a.txt"
    foreign = asks(stranger, "other", "write")
    assert foreign.refused("GET", path, root="mlflow-artifacts") == MISSING
    assert Mlflow("vision", "atom_x_y").refused("GET", "runs/get", run_id=run)[0] == 401
    assert Mlflow("vision", "").refused("GET", "runs/get", run_id=run) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "nothing"), ("POST", "traces"), ("DELETE", "runs/get"), ("GET", "runs/create")],
)
def test_what_atom_does_not_have_is_said_in_mlflows_form(
    mlflow: Mlflow, method: str, path: str
) -> None:
    status, code = mlflow.refused(method, path)
    assert (status in {404, 405}, code) == (True, "ENDPOINT_NOT_FOUND")


@pytest.mark.parametrize("path", ["../secret", "a/../../b", "/etc/passwd", "a//b", "a\\b", "."])
def test_a_path_that_climbs_is_refused(mlflow: Mlflow, path: str) -> None:
    run = mlflow.run()
    assert mlflow.refused(
        "GET", "artifacts", root="mlflow-artifacts", path=f"runs/{run}/{path}"
    ) in {BAD, MISSING}
    assert mlflow.refused("GET", "artifacts/list", run_id=run, path=f"{path}/..") == BAD


def test_a_link_that_the_client_prints_leads_to_the_portal(client: Client) -> None:
    answer = client.get("/api/mlflow/vision/")
    assert (answer.status_code, answer["Location"]) == (302, "/runs")


def test_experiments_are_archived_with_their_runs_and_come_back(mlflow: Mlflow) -> None:
    pk = mlflow("POST", "experiments/create", {"name": "e"}).json()["experiment_id"]
    kept, gone = (mlflow.run(experiment_id=pk) for _ in range(2))
    mlflow("POST", "runs/delete", {"run_id": gone})
    assert mlflow("POST", "experiments/delete", {"experiment_id": pk}).status_code == 200
    assert mlflow.refused("POST", "runs/create", {"experiment_id": pk}) == BAD
    assert mlflow.refused("POST", "experiments/create", {"name": "e"})[1] == (
        "RESOURCE_ALREADY_EXISTS"
    )
    assert run_of(kept).archived_at is not None
    assert mlflow("POST", "experiments/restore", {"experiment_id": pk}).status_code == 200
    assert (run_of(kept).archived_at is None, run_of(gone).archived_at is None) == (True, False)
    for path in ("experiments/delete", "experiments/update"):
        body = {"experiment_id": "0", "new_name": "x"}
        assert mlflow.refused("POST", path, body) == BAD


def test_a_tracked_run_is_left_to_its_program(mlflow: Mlflow) -> None:
    run = run_of(mlflow.run())
    assert advance(run.pk) is None
    assert run_of(run.pk.hex).state == "running"
    mlflow("POST", "runs/update", {"run_id": run.pk.hex, "status": "FINISHED"})
    # A program may take its run up again, as `start_run(run_id=…)` does.
    mlflow("POST", "runs/update", {"run_id": run.pk.hex, "status": "RUNNING"})
    found = run_of(run.pk.hex)
    assert (found.state, found.finished_at) == ("running", None)
    assert mlflow.refused("POST", "runs/update", {"run_id": run.pk.hex, "status": "X"}) == BAD


def test_cancelling_a_tracked_run_only_notes_it(mlflow: Mlflow, ann: User) -> None:
    run = run_of(mlflow.run())
    cancel_run(run.pk, ann)
    found = run_of(run.pk.hex)
    assert (found.state, found.finished_at is None) == ("cancelled", False)
    # Its program goes on, and what it still logs is taken.
    assert mlflow("POST", "runs/log-metric", {"run_id": run.pk.hex, **METRIC}).status_code == 200
    assert mlflow("GET", "runs/get", run_id=run.pk.hex).json()["run"]["info"]["status"] == "KILLED"


def test_the_command_of_a_run_logs_to_that_run_only(
    mlflow: Mlflow, project: Project, ann: User
) -> None:
    run = make_run(project, ann, parameters={"epochs": 5})
    other = mlflow.run()
    attempt = make_attempt(run)
    granted = tracking_access.grant(attempt, "http://atom/")
    assert granted["MLFLOW_TRACKING_URI"] == "http://atom/api/mlflow/vision"
    assert granted["MLFLOW_RUN_ID"] == run.pk.hex
    own = Mlflow("vision", granted["MLFLOW_TRACKING_TOKEN"])
    body = {"run_id": run.pk.hex, "metrics": [METRIC], "params": [{"key": "lr", "value": "1"}]}
    assert own("POST", "runs/log-batch", body).status_code == 200
    # Atom knows how its own run stands.
    assert (
        own("POST", "runs/update", {"run_id": run.pk.hex, "status": "FINISHED"}).status_code == 200
    )
    found = own("GET", "runs/get", run_id=run.pk.hex).json()["run"]
    assert found["info"]["status"] == "RUNNING"
    assert {one["key"]: one["value"] for one in found["data"]["params"]} == {
        "epochs": "5",
        "lr": "1",
    }
    again = Run.objects.get(pk=run.pk)
    assert (again.parameters, again.logged_parameters) == ({"epochs": 5}, {"lr": "1"})
    assert own.refused("GET", "runs/get", run_id=other) == MISSING
    assert own.refused("POST", "runs/log-batch", {"run_id": other}) == MISSING
    for path in ("runs/create", "runs/search", "registered-models/create", "runs/delete"):
        assert own.refused("POST", path, {"run_id": run.pk.hex, "name": "m"})[0] == 403
    attempt.state = "succeeded"
    attempt.save()
    assert own.refused("GET", "runs/get", run_id=run.pk.hex) == (401, "UNAUTHENTICATED")


def test_who_names_a_tracking_server_of_their_own_keeps_it(project: Project) -> None:
    run = make_run(project, env={"MLFLOW_TRACKING_URI": "http://mine"})
    assert tracking_access.grant(make_attempt(run), "http://atom") == {}


def test_a_run_that_atom_has_not_started_yet_takes_nothing_either(
    mlflow: Mlflow, project: Project
) -> None:
    run = make_run(project)
    body = {"run_id": run.pk.hex, **METRIC}
    assert mlflow.refused("POST", "runs/log-metric", body) == (403, "PERMISSION_DENIED")


def test_only_files_of_a_run_become_a_version(mlflow: Mlflow) -> None:
    mlflow("POST", "registered-models/create", {"name": "Iris Model"})
    for source in ("s3://bucket/model", "file:///etc", "/etc/passwd", "mlflow-artifacts:/x/y"):
        body = {"name": "Iris Model", "source": source}
        assert mlflow.refused("POST", "model-versions/create", body) == BAD
    body = {"name": "Iris Model", "source": f"runs:/{mlflow.run()}/model"}
    assert mlflow.refused("POST", "model-versions/create", body) == BAD
    for name in ("", "a/b", "a:b", "n" * 257):
        assert mlflow.refused("POST", "registered-models/create", {"name": name}) == BAD
