"""MLflow's own client, unmodified, against a live server: what it saw, and what Atom has of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts import actions
from atom.accounts.models import AuditEvent
from atom.jobs.models import Run
from atom.jobs.reconcile import tick
from atom.settings.environment import BASE_DIR
from tests.factories.accounts import make_member, make_project
from tests.jobs.live import serve

SCRIPT = Path(__file__).with_name("client_script.py")
PACKAGES = BASE_DIR / ".make" / "mlflow-client"


def run_client(origin: str, token: str) -> dict[str, Any]:
    """Return what each check of the script saw."""
    assert PACKAGES.is_dir(), "MLflow's client is not installed: run make dev."
    environment = {
        **os.environ,
        "PYTHONPATH": str(PACKAGES),
        "MLFLOW_TRACKING_URI": f"{origin}/api/mlflow/vision",
        "MLFLOW_TRACKING_TOKEN": token,
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    ran = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    lines = [line for line in ran.stdout.splitlines() if line.startswith('{"check"')]
    found = {row["check"]: row["saw"] for row in map(json.loads, lines)}
    assert found, ran.stderr[-3000:]
    failed = {name: saw["error"] for name, saw in found.items() if "error" in saw}
    assert not failed, "\n".join(failed.values())
    return found


@pytest.mark.slow
def test_an_unmodified_client_logs_to_atom(transactional_db: None) -> None:
    project = make_project("vision")
    user = make_member(project, "researcher", "ann")
    with serve() as origin:
        saw = run_client(origin, actions.create_token(user, "laptop", ["write"]).secret)
    _check_runs(saw["fluent"], saw["client"])
    _check_search(saw["searching"])
    _check_files(saw["files"])
    assert saw["autolog"]["C"] == "0.5"
    assert "training_accuracy_score" in saw["autolog"]["metrics"]
    assert saw["autolog"]["datasets"] == 1
    assert saw["without_a_run"] == {"status": "READY", "tags": "v", "params": {"a": "b"}}
    _check_registry(saw["registry"])
    _check_as_mlflow(saw["as_mlflow"])
    api = APIClient()
    api.force_authenticate(user)
    # The reconciler leaves alone what Atom does not execute.
    tick()
    _check_atom_runs(api, saw["fluent"]["id"])
    _check_atom_models(api, saw["registry"]["id"])


def _check_runs(fluent: dict[str, Any], client: dict[str, Any]) -> None:
    assert fluent["status"] == "FINISHED"
    assert fluent["name"] == "first"
    assert fluent["params"] == {"lr": "0.1", "layers": "3", "name": "größe"}
    assert fluent["acc"] == 0.9
    assert fluent["f1_is_nan"]
    assert fluent["tags"] == {"team": "vision", "note": "100%", "mlflow.runName": "first"}
    assert fluent["history"] == [[step, 1 / (step + 1)] for step in range(5)]
    assert fluent["text"] == "hello"
    assert fluent["files"] == ["config.json", "notes"]
    assert fluent["below"] == ["notes/hello.txt"]
    assert client["x"] == 999.0
    assert client["points"] == 1000
    assert client["tags"] == ["t"]
    assert (client["status"], client["name"], client["deleted"]) == ("FAILED", "renamed", "deleted")
    for refused in ("again", "to_deleted", "too_long"):
        assert client[refused] == "INVALID_PARAMETER_VALUE", refused
    assert client["taken"] == "RESOURCE_ALREADY_EXISTS"
    assert client["missing"] == "RESOURCE_DOES_NOT_EXIST"


def _check_search(saw: dict[str, Any]) -> None:
    def runs(*numbers: int) -> list[str]:
        return [f"run {number}" for number in numbers]

    assert saw["metric"] == runs(6, 5, 4)
    assert saw["quoted"] == runs(1, 0)
    assert saw["param"] == runs(3, 1)
    assert saw["not"] == runs(0, 2, 4, 6)
    assert saw["like"] == saw["ilike"] == runs(4)
    assert saw["status"] == runs(2, 1, 0)
    assert saw["name"] == runs(5)
    assert saw["in"] == runs(2, 1)
    assert saw["time"] == runs(6, 5)
    assert saw["order"] == runs(0, 1, 2, 3, 4, 5, 6)
    assert saw["pages"] == [runs(6, 5, 4), runs(3, 2, 1), runs(0)]
    assert saw["deleted"] == []
    assert saw["bad"] == saw["unknown"] == "INVALID_PARAMETER_VALUE"
    assert saw["experiments"] == ["searched"]


def _check_files(saw: dict[str, Any]) -> None:
    assert saw["same"]
    assert saw["in_parts"]
    assert saw["text"] == "changed"
    assert saw["sizes"] == {"all/sub/large ö.bin": 6 << 20}
    assert saw["after"] == ["all", "small.txt"]


def _check_registry(saw: dict[str, Any]) -> None:
    assert saw["source"]
    assert saw["run_id"] == saw["id"]
    assert saw["status"] == "READY"
    assert saw["predicts"] == saw["again"] == [0, 1]
    assert saw["by_alias"] == ["1", {"checked": "yes"}, "The first."]
    assert saw["aliases"] == {"champion": "1", "production": "1"}
    assert (saw["tags"], saw["description"]) == ({"task": "iris"}, "Of irises.")
    assert saw["stage"] == "Production"
    assert saw["copy"] == ["copies", "1", saw["id"]]
    assert saw["renamed"] == "Second Copies"
    assert saw["searched"] == saw["by_tag"] == ["IrisClassifier"]
    assert saw["versions"] == [["IrisClassifier", "1"], ["Second Copies", "1"]]
    assert saw["latest"] == ["1"]
    assert saw["models"] == ["classifier"]
    assert saw["taken"] == "RESOURCE_ALREADY_EXISTS"
    for missing in ("missing", "no_version", "gone"):
        assert saw[missing] == "RESOURCE_DOES_NOT_EXIST", missing


def _check_as_mlflow(saw: dict[str, Any]) -> None:
    assert ["Default", "0"] in saw["new_project"]
    assert saw["ties"]
    assert saw["versions"] == saw["listed"] == ["1", "2"]
    assert (saw["names"], saw["tags"], saw["failed"]) == (2, {"a": "b"}, "FAILED")
    assert saw["outputs"]
    assert saw["source_run_id"] == "none"
    assert saw["user"] == "bob"
    assert saw["too_many"] == "INVALID_PARAMETER_VALUE"


def _check_atom_runs(api: APIClient, run_id: str) -> None:
    listed = api.get("/api/v1/projects/vision/runs/?experiment=digits&q=first").json()["results"]
    assert [(row["name"], row["state"], row["origin"]) for row in listed] == [
        ("first", "succeeded", "mlflow")
    ]
    run = Run.objects.get(pk=run_id)
    page = api.get(f"/api/v1/runs/{run.pk}/").json()
    assert page["parameters"] == {"lr": "0.1", "layers": "3", "name": "größe"}
    assert page["labels"]["team"] == "vision"
    assert page["metrics_summary"]["acc"] == 0.9
    curves = api.get(f"/api/v1/runs/{run.pk}/metrics/series/?key=loss").json()["series"]
    assert curves[0]["steps"] == [0, 1, 2, 3, 4]
    files = api.get(f"/api/v1/runs/{run.pk}/files/").json()["results"]
    assert {(file["path"], file["state"]) for file in files} == {
        ("notes/hello.txt", "persisted"),
        ("config.json", "persisted"),
    }
    assert api.get(f"/api/v1/runs/{run.pk}/explain/").json()["code"] == "tracked"
    for action in ("retry", "clone"):
        answer = api.post(f"/api/v1/runs/{run.pk}/{action}/")
        assert (answer.status_code, answer.json()["code"]) == (409, "run_is_tracked")
    assert Run.objects.get(pk=run_id).state == "succeeded"


def _check_atom_models(api: APIClient, run_id: str) -> None:
    version = api.get("/api/v1/projects/vision/models/irisclassifier/versions/1/").json()
    assert version["framework"] == "sklearn"
    assert {"champion"}.isdisjoint(version["aliases"])
    assert "production" in version["aliases"]
    lineage = api.get("/api/v1/projects/vision/models/irisclassifier/versions/1/lineage/").json()
    run = Run.objects.get(pk=run_id)
    assert f"run:{run.pk}" in {node["id"] for node in lineage["nodes"]}
    verbs = set(AuditEvent.objects.values_list("verb", flat=True))
    assert {"model.registered", "model.alias_moved", "model.renamed", "model.deleted"} <= verbs
