"""Behaviour in which Atom differed from MLflow's own server, through HTTP without the client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atom.accounts.models import Project, User
from atom.core import clock
from atom.jobs.models import Run
from atom.mlflow_api.actions.registry import NewVersion, Origin, create_version
from atom.models_registry.models import Model, ModelVersion
from tests.factories.accounts import make_member
from tests.mlflow_api.conftest import Mlflow, asks, run_of
from tests.mlflow_api.test_facts_of_runs import put

pytestmark = pytest.mark.django_db


def logged(mlflow: Mlflow, **fields: Any) -> dict[str, Any]:
    """Make a logged model; return its info."""
    answer = mlflow("POST", "logged-models", {"experiment_id": "0", **fields})
    assert answer.status_code == 200, answer.content
    info: dict[str, Any] = answer.json()["model"]["info"]
    return info


def names_of(mlflow: Mlflow, path: str, body: dict[str, Any]) -> list[str]:
    """Return the names of the experiments, or the ids of the runs, that a search finds."""
    answer = mlflow("POST", path, body).json()
    if "runs" in answer:
        return [one["info"]["run_id"] for one in answer["runs"]]
    return [one["name"] for one in answer["experiments"]]


def test_runs_that_began_at_one_time_come_by_ascending_id(mlflow: Mlflow) -> None:
    runs = sorted(mlflow.run(start_time=1) for _ in range(5))
    body: dict[str, Any] = {"experiment_ids": ["0"], "max_results": 2}
    pages = []
    for _ in range(3):
        answer = mlflow("POST", "runs/search", body).json()
        pages.append([one["info"]["run_id"] for one in answer["runs"]])
        body["page_token"] = answer.get("next_page_token", "")
    assert pages == [runs[:2], runs[2:4], runs[4:]]


def test_a_new_project_has_the_default_experiment(
    mlflow: Mlflow, project: Project, ann: User
) -> None:
    reader = asks(make_member(project, "viewer"), "vision", "read")
    assert names_of(reader, "experiments/search", {"max_results": 1}) == ["Default"]
    for name in ("a", "ab"):
        mlflow("POST", "experiments/create", {"name": name})
    search = "experiments/search"
    assert names_of(mlflow, search, {}) == ["ab", "a", "Default"]
    assert names_of(mlflow, search, {"filter": "name != 'a'"}) == ["ab", "Default"]
    assert names_of(mlflow, search, {"filter": "experiment_id = '0'"}) == ["Default"]
    assert names_of(mlflow, search, {"order_by": ["name DESC"]}) == ["ab", "a", "Default"]
    assert names_of(mlflow, search, {"max_results": 2}) == ["ab", "a"]
    assert names_of(mlflow, search, {"view_type": "DELETED_ONLY"}) == []
    got = mlflow("GET", "experiments/get", experiment_id="0").json()["experiment"]
    assert (got["name"], got["experiment_id"]) == ("Default", "0")
    assert run_of(mlflow.run(experiment_id="0")).experiment is None


def test_a_logged_model_may_turn_out_to_be_broken(mlflow: Mlflow) -> None:
    model = logged(mlflow, name="m")["model_id"]
    for status, shown in ((2, "LOGGED_MODEL_READY"), (3, "LOGGED_MODEL_UPLOAD_FAILED")):
        answer = mlflow("PATCH", f"logged-models/{model}", {"model_id": model, "status": status})
        assert answer.json()["model"]["info"]["status"] == shown


def test_a_logged_model_has_its_own_name_and_only_the_programs_tags(mlflow: Mlflow) -> None:
    first, second = (logged(mlflow, tags=[{"key": "k", "value": "v"}]) for _ in range(2))
    assert first["tags"] == [{"key": "k", "value": "v"}]
    assert "" not in {first["name"], second["name"]}
    assert first["name"] != second["name"]
    body = {"experiment_ids": ["0"], "filter": f"name = '{first['name']}'"}
    answer = mlflow("POST", "logged-models/search", body).json()
    assert [one["info"]["model_id"] for one in answer["models"]] == [first["model_id"]]
    assert mlflow.refused("POST", "logged-models", {"experiment_id": "0", "name": "a/b"})[0] == 400


def test_a_logged_model_may_name_a_run_that_is_not_there(mlflow: Mlflow) -> None:
    run = mlflow.run()
    strange, own, none = (logged(mlflow, source_run_id=text) for text in ("run-1", run, ""))
    assert [one["source_run_id"] for one in (strange, own, none)] == ["run-1", run, ""]
    body = {"experiment_ids": ["0"], "filter": "source_run_id = 'run-1'"}
    answer = mlflow("POST", "logged-models/search", body).json()
    assert [one["info"]["model_id"] for one in answer["models"]] == [strange["model_id"]]
    # It has a run of its own, which ends with it.
    path = f"logged-models/{strange['model_id']}"
    mlflow("PATCH", path, {"model_id": strange["model_id"], "status": 2})
    assert Run.objects.get(logged_models__name=strange["name"]).state == "succeeded"
    assert run_of(run).state == "running"


def test_a_run_lists_the_models_that_it_says_it_has_made(mlflow: Mlflow) -> None:
    run = mlflow.run()
    models = [logged(mlflow, name=name)["model_id"] for name in ("a", "b")]
    rows = [{"model_id": model, "step": step} for step, model in enumerate(models, 3)]
    assert mlflow("POST", "runs/outputs", {"run_id": run, "models": rows}).status_code == 200
    outputs = mlflow("GET", "runs/get", run_id=run).json()["run"]["outputs"]
    assert outputs == {"model_outputs": rows}


def test_the_user_of_a_run_is_whom_its_program_names(mlflow: Mlflow) -> None:
    named = mlflow.run(user_id="bob")
    tagged = mlflow.run(user_id="unknown", tags=[{"key": "mlflow.user", "value": "cat"}])
    neither = mlflow.run(user_id="unknown")
    users = [
        mlflow("GET", "runs/get", run_id=run).json()["run"]["info"]["user_id"]
        for run in (named, tagged, neither)
    ]
    assert users == ["bob", "cat", "ann"]
    for user, run in zip(users, (named, tagged, neither), strict=True):
        body = {"experiment_ids": ["0"], "filter": f"attributes.user_id = '{user}'"}
        assert names_of(mlflow, "runs/search", body) == [run]


@pytest.mark.django_db(transaction=True)
def test_the_same_source_registered_again_is_the_next_version(
    mlflow: Mlflow, project: Project, ann: User
) -> None:
    run = mlflow.run()
    assert put(mlflow, run, "model/MLmodel", json.dumps({"flavors": {}}).encode()) == 200
    mlflow("POST", "registered-models/create", {"name": "m"})
    body = {"name": "m", "source": f"runs:/{run}/model", "tags": [{"key": "k", "value": "v"}]}
    answers = [mlflow("POST", "model-versions/create", body).json() for _ in range(2)]
    assert [one["model_version"]["version"] for one in answers] == ["1", "2"]
    assert [one["model_version"]["tags"] for one in answers] == [body["tags"]] * 2
    # A repeat that came before its like was done has that one's version.
    model, came_at = Model.objects.get(name="m"), clock.now()
    new = NewVersion(Origin(run_of(run), "model"), "", {}, came_at)
    numbers = [create_version(model, ann, new).number for _ in range(3)]
    assert numbers == [3, 3, 3]
    assert ModelVersion.objects.filter(model=model).count() == 3
