"""Whose files, metrics and params a run has: those of Atom's own runs are their command's."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from rest_framework.test import APIClient

from atom.accounts.models import Project, User
from atom.jobs.attempts.actions import tracking_access
from atom.jobs.models import Artifact, Run
from atom.mlflow_api.upload import ArtifactUploads
from tests.factories.jobs import make_attempt, make_run
from tests.mlflow_api.conftest import Mlflow

pytestmark = pytest.mark.django_db(transaction=True)

PARTS = {"path": "/tmp/weights.bin", "num_parts": 1}


def put(who: Mlflow, run: str, path: str, body: bytes) -> int:
    """Send a file as MLflow's client does, through what stands before Django; return the status."""
    address = f"/api/mlflow/{who.project}/api/2.0/mlflow-artifacts/artifacts/runs/{run}/{path}"
    scope: Any = {
        "type": "http", "method": "PUT", "path": address, "raw_path": address.encode(),
        "headers": [(b"authorization", f"Bearer {who.token}".encode())],
    }  # fmt: skip
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    handler: Any = ArtifactUploads(None)  # type: ignore[arg-type]  # nothing is passed on
    async_to_sync(handler)(scope, receive, send)
    return int(said[0]["status"])


@pytest.fixture
def executed(project: Project, ann: User) -> Run:
    return make_run(project, ann)


def test_nobody_puts_a_file_among_those_of_a_run_that_atom_executed(
    mlflow: Mlflow, executed: Run
) -> None:
    own = Mlflow(mlflow.project, tracking_access.token_of(make_attempt(executed)))
    run = executed.pk.hex
    assert put(own, run, "model/weights.bin", b"trained") == 200
    assert put(mlflow, run, "model/weights.bin", b"swapped") == 403
    assert put(mlflow, run, "model/another.bin", b"added") == 403
    assert [one.size_bytes for one in Artifact.objects.filter(run=executed)] == [len(b"trained")]
    begin = ("POST", f"mpu/create/runs/{run}/model", PARTS)
    assert mlflow.refused(*begin, root="mlflow-artifacts") == (403, "PERMISSION_DENIED")
    assert own(*begin, root="mlflow-artifacts").status_code == 200


def test_nobody_logs_metrics_and_params_of_a_run_that_atom_executed(
    mlflow: Mlflow, executed: Run
) -> None:
    own = Mlflow(mlflow.project, tracking_access.token_of(make_attempt(executed)))
    run = {"run_id": executed.pk.hex}
    point = {"key": "accuracy", "value": 0.5, "timestamp": 1, "step": 1}
    forged = {**point, "value": 1.0, "step": 2}
    param = {"key": "lr", "value": "0.1"}
    assert own("POST", "runs/log-metric", {**run, **point}).status_code == 200
    for refused in (
        ("runs/log-metric", {**run, **forged}),
        ("runs/log-batch", {**run, "metrics": [forged]}),
        ("runs/log-parameter", {**run, **param}),
        ("runs/log-batch", {**run, "params": [param]}),
    ):
        assert mlflow.refused("POST", *refused) == (403, "PERMISSION_DENIED")
    assert mlflow("POST", "runs/set-tag", {**run, "key": "by", "value": "me"}).status_code == 200
    executed.refresh_from_db()
    assert executed.metrics_summary == {"accuracy": 0.5}
    assert executed.logged_parameters == {}


def test_a_program_puts_files_into_runs_that_programs_made(mlflow: Mlflow) -> None:
    run = mlflow.run()
    assert put(mlflow, run, "model/weights.bin", b"trained") == 200
    assert put(mlflow, run, "model/weights.bin", b"trained longer") == 200
    begin = ("POST", f"mpu/create/runs/{run}/model", PARTS)
    assert mlflow(*begin, root="mlflow-artifacts").status_code == 200


def test_runs_are_found_by_the_id_of_their_experiment_too(mlflow: Mlflow, ann: User) -> None:
    made = mlflow("POST", "experiments/create", {"name": "digits"}).json()["experiment_id"]
    run = mlflow.run(experiment_id=made)
    mlflow.run()
    api = APIClient()
    api.force_authenticate(ann)
    for experiment in (made, "digits"):
        listed = api.get(f"/api/v1/projects/{mlflow.project}/runs/?experiment={experiment}").json()
        assert [UUID(one["id"]).hex for one in listed["results"]] == [run]
